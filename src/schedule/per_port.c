/*
 * Counts messages per port. Translations that map a schedule's messages onto themselves form classes of ranks; only the
 * messages of one rank per class are read, and each counts for the class of its receiver.
 */
#include "schedule/per_port.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "schedule/schedule.h"
#include "torus/torus.h"

typedef struct load {
    int sent, received; /* messages of one rank in one step of a stream */
} load_t;

int trv_messages_per_port(const trv_torus_t *torus, int messages)
{
    const int ports = trv_torus_ports(torus);
    return ports > 0 ? (messages + ports - 1) / ports : messages;
}

/* The class of a rank under the translations. */
static int class_of(const trv_schedule_t *schedule, const int *period, int rank)
{
    int at[TRV_DIMS_MAX], class = 0;
    trv_torus_coordinates(&schedule->torus, rank, at);
    for (int d = schedule->torus.dims - 1; d >= 0; d--)
        class = class * period[d] + at[d] % period[d];
    return class;
}

/* The first rank of a class: its coordinates are less than the periods. */
static int first_of(const trv_schedule_t *schedule, const int *period, int class)
{
    int at[TRV_DIMS_MAX];
    for (int d = 0; d < schedule->torus.dims; d++, class /= period[d - 1])
        at[d] = class % period[d];
    return trv_torus_rank(&schedule->torus, at);
}

/* Counts the messages of a step, and raises *most to the maximum of a rank. */
static int count_step(const trv_schedule_t *schedule, const int *period, int classes, int stream, int step,
                      trv_step_t *one, load_t *load, int *most)
{
    int rc = TRV_OK;
    memset(load, 0, (size_t)classes * sizeof *load);
    for (int kind = 0; kind < classes && !rc; kind++) {
        const int rank = first_of(schedule, period, kind);
        rc = trv_schedule_step(schedule, rank, stream, step, one);
        for (int i = 0; i < one->sends && !rc; i++)
            if (one->send[i].peer >= 0 && one->send[i].peer < schedule->torus.ranks) { /* the verifier rejects others */
                load[kind].sent++;
                load[class_of(schedule, period, one->send[i].peer)].received++;
            }
    }
    for (int kind = 0; kind < classes && !rc; kind++) {
        const int larger = load[kind].sent > load[kind].received ? load[kind].sent : load[kind].received;
        *most = larger > *most ? larger : *most;
    }
    return rc;
}

int trv_schedule_messages_per_port(const trv_schedule_t *schedule)
{
    int period[TRV_DIMS_MAX], classes = 1, most = 1, rc = TRV_OK;
    if (schedule->messages_per_port > 0)
        return schedule->messages_per_port;
    for (int d = 0; d < schedule->torus.dims; d++)
        classes *= period[d] = trv_schedule_period(schedule, d);
    load_t *load = malloc((size_t)classes * sizeof *load);
    trv_step_t step = TRV_STEP_INIT;
    if (!load)
        return trv_fail_memory();
    for (int at = 0; at < schedule->streams * schedule->steps && !rc; at++)
        rc = count_step(schedule, period, classes, at / schedule->steps, at % schedule->steps, &step, load, &most);
    trv_step_clear(&step);
    free(load);
    return rc ? rc : trv_messages_per_port(&schedule->torus, most);
}
