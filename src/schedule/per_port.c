/*
 * Counts messages per port. Translations that map a schedule's messages onto themselves form classes of ranks; only the
 * messages of one rank per class are read, and each counts for the class of its receiver.
 */
#include "schedule/per_port.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "schedule/schedule.h"
#include "torus/torus.h"

int trv_message_first_port(const trv_torus_t *torus, bool mirrored, int from, const trv_message_t *message)
{
    trv_route_t route;
    trv_route_begin(&route, torus, from, message->peer, message->port, mirrored);
    for (int leg = 0; leg < torus->dims; leg++)
        if (route.hops[route.order[leg]] > 0)
            return trv_port(route.order[leg], route.sign[route.order[leg]]);
    return message->port;
}

int trv_rank_ports(const trv_torus_t *torus, int rank)
{
    int ports = 0;
    for (int port = 0; port < 2 * torus->dims; port++)
        ports += torus->size[trv_port_dimension(port)] > 1 && trv_torus_neighbour(torus, rank, port) >= 0;
    return ports;
}

int trv_port_load_add(trv_port_load_t *load, const trv_torus_t *torus, bool mirrored, int from,
                      const trv_message_t *message, bool leaves)
{
    if (leaves)
        return ++load->leaving[trv_message_first_port(torus, mirrored, from, message)];
    const int ports = trv_rank_ports(torus, message->peer);
    return (load->arriving++ + ports) / ports;
}

/* The class of a rank under the translations; *first: the rank represents it. */
static int class_of(const trv_schedule_t *schedule, const int *period, int rank, bool *first)
{
    int at[TRV_DIMS_MAX], class = 0;
    trv_torus_coordinates(&schedule->torus, rank, at);
    *first = true;
    for (int d = 0; d < schedule->torus.dims; d++) {
        *first = *first && at[d] < period[d];
        class = class * period[d] + at[d] % period[d];
    }
    return class;
}

/* Whether the verifier accepts the message's peer and port; others are not counted. */
static bool is_valid(const trv_schedule_t *schedule, int rank, const trv_message_t *message)
{
    return message->peer >= 0 && message->peer < schedule->torus.ranks && message->peer != rank && message->port >= 0 &&
           message->port < 2 * schedule->torus.dims;
}

/* Counts the messages of a step, and raises *most to the maximum, or to a number larger than `enough`. */
static int count_step(const trv_schedule_t *schedule, const int *period, int stream, int step, trv_step_t *one,
                      trv_port_load_t *load, int enough, int *most)
{
    const bool mirrored = trv_schedule_mirrored(schedule, stream);
    int rc = TRV_OK;
    for (int rank = 0; rank < schedule->torus.ranks && !rc && *most <= enough; rank++) {
        bool first, other;
        const int class = class_of(schedule, period, rank, &first);
        if (!first)
            continue;
        rc = trv_schedule_step(schedule, rank, stream, step, one);
        for (int i = 0; i < one->sends && !rc; i++) {
            const trv_message_t *send = &one->send[i];
            if (!is_valid(schedule, rank, send))
                continue;
            trv_port_load_t *theirs = &load[class_of(schedule, period, send->peer, &other)];
            const int leaving = trv_port_load_add(&load[class], &schedule->torus, mirrored, rank, send, true);
            const int arriving = trv_port_load_add(theirs, &schedule->torus, mirrored, rank, send, false);
            *most = leaving > *most ? leaving : *most;
            *most = arriving > *most ? arriving : *most;
        }
    }
    return rc;
}

int trv_schedule_find_per_port(const trv_schedule_t *schedule, int enough, int *most)
{
    int period[TRV_DIMS_MAX], rc = TRV_OK;
    size_t classes = 1;
    *most = schedule->messages_per_port;
    if (*most > 0)
        return TRV_OK;
    *most = 1;
    for (int d = 0; d < schedule->torus.dims; d++)
        classes *= (size_t)(period[d] = trv_schedule_period(schedule, d));
    trv_port_load_t *load = malloc(classes * sizeof *load);
    trv_step_t step = TRV_STEP_INIT;
    if (!load)
        return trv_fail_memory();
    for (int at = 0; at < schedule->streams * schedule->steps && !rc && *most <= enough; at++) {
        memset(load, 0, classes * sizeof *load);
        rc = count_step(schedule, period, at / schedule->steps, at % schedule->steps, &step, load, enough, most);
    }
    trv_step_clear(&step);
    free(load);
    return rc;
}

int trv_schedule_messages_per_port(const trv_schedule_t *schedule)
{
    int most = 0;
    const int rc = trv_schedule_find_per_port(schedule, INT_MAX, &most);
    return rc ? rc : most;
}
