/*
 * The list of simulators, and an estimate of the cost of each. A simulation's cost is its number of packet-hops, which
 * is estimated from the messages of rank 0.
 */
#include "cli/shared/simulators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "simulate/network.h"
#include "torus/torus.h"

#define STEPS_SAMPLED 1024

static int add_hops(const trv_schedule_t *schedule, int stream, int step, double times, trv_step_t *work,
                    cli_simulator_t *entry)
{
    int rc = trv_schedule_step(schedule, 0, stream, step, work);
    const double part = (double)trv_schedule_weight(schedule, stream) / (double)trv_schedule_shares(schedule);
    for (int i = 0; i < work->sends && !rc; i++) {
        const trv_message_t *message = &work->send[i];
        trv_route_t route;
        trv_route_begin(&route, &entry->network.torus, 0, message->peer, message->port,
                        trv_schedule_mirrored(schedule, stream));
        double hops = times * trv_route_length(&route);
        entry->message_hops += hops;
        const double share = part * (double)trv_message_units(schedule, message);
        entry->byte_hops += hops * share;
        entry->largest = share > entry->largest ? share : entry->largest;
    }
    return rc;
}

static double reduced_ranks(const trv_schedule_t *schedule)
{
    double ranks = 1;
    for (int d = 0; d < trv_schedule_torus(schedule)->dims; d++)
        ranks *= trv_schedule_period(schedule, d);
    return ranks;
}

/* Estimates the cost from the messages of rank 0; schedules with very many steps are sampled. */
static int estimate(cli_simulator_t *entry)
{
    trv_schedule_t *schedule;
    int rc = trv_schedule_create_on(&schedule, &entry->network, entry->algorithm, entry->collective, entry->root);
    if (rc)
        return rc;
    trv_step_t step = TRV_STEP_INIT;
    int steps = trv_schedule_steps(schedule), stride = 1 + steps / STEPS_SAMPLED;
    entry->ranks_reduced = reduced_ranks(schedule);
    for (int stream = 0; stream < trv_schedule_streams(schedule) && !rc; stream++)
        for (int i = 0; i < steps && !rc; i += stride)
            rc = add_hops(schedule, stream, i, stride, &step, entry);
    trv_step_clear(&step);
    trv_schedule_destroy(schedule);
    return rc;
}

bool cli_network_equal(const trv_network_t *a, const trv_network_t *b)
{
    bool equal = trv_torus_equal(&a->torus, &b->torus) && a->routes == b->routes &&
                 a->no_forwarding == b->no_forwarding && a->slow_links == b->slow_links;
    for (int i = 0; equal && i < a->slow_links; i++) {
        const trv_slow_link_t *x = &a->slow_link[i], *y = &b->slow_link[i];
        equal = x->rank == y->rank && x->port == y->port && !(x->factor < y->factor) && !(x->factor > y->factor);
    }
    return equal;
}

int cli_simulators_find(cli_simulator_t **newest, const trv_network_t *network, const char *algorithm,
                        trv_collective_t collective, int root, cli_simulator_t **entry)
{
    for (cli_simulator_t *known = *newest; known; known = known->older)
        if (strcmp(known->algorithm, algorithm) == 0 && known->collective == collective && known->root == root &&
            cli_network_equal(&known->network, network)) {
            *entry = known;
            return TRV_OK;
        }
    cli_simulator_t *new = malloc(sizeof *new);
    if (!new)
        return trv_fail_memory();
    *new = (cli_simulator_t){.network = *network, .collective = collective, .root = root, .older = *newest};
    pthread_mutex_init(&new->lock, NULL);
    snprintf(new->algorithm, sizeof new->algorithm, "%s", algorithm);
    *entry = *newest = new;
    new->rc = estimate(new);
    if (new->rc != TRV_ERR_UNSUPPORTED)
        return new->rc;
    new->reason = strdup(trv_last_error());
    return new->reason ? TRV_OK : trv_fail_memory();
}

void cli_simulators_clear(cli_simulator_t *newest)
{
    while (newest) {
        cli_simulator_t *entry = newest;
        newest = entry->older;
        trv_simulator_destroy(entry->simulator);
        free(entry->reason);
        pthread_mutex_destroy(&entry->lock);
        free(entry);
    }
}

int cli_simulator_check(const cli_simulator_t *entry, uint64_t vector_bytes, uint32_t packet_bytes)
{
    const double bytes = entry->largest * (double)vector_bytes;
    if (bytes / packet_bytes < TRV_PACKETS_MAX)
        return TRV_OK;
    return trv_fail(
        TRV_ERR_UNSUPPORTED,
        "a message of %.0f bytes is more than %u packets of %u bytes; use larger packets, up to --packet=1M", bytes,
        TRV_PACKETS_MAX, packet_bytes);
}

int cli_simulator_acquire(cli_simulator_t *entry)
{
    if (entry->rc)
        return trv_fail(entry->rc, "%s", entry->reason);
    int rc = TRV_OK;
    pthread_mutex_lock(&entry->lock);
    if (!entry->simulator) {
        trv_schedule_t *schedule = NULL;
        rc = trv_schedule_create_on(&schedule, &entry->network, entry->algorithm, entry->collective, entry->root);
        if (!rc)
            rc = trv_simulator_create(&entry->simulator, schedule);
        trv_schedule_destroy(schedule);
        if (rc)
            entry->simulator = NULL;
    }
    pthread_mutex_unlock(&entry->lock);
    return rc;
}

void cli_simulator_release(cli_simulator_t *entry)
{
    pthread_mutex_lock(&entry->lock);
    if (--entry->users == 0) {
        trv_simulator_destroy(entry->simulator);
        entry->simulator = NULL;
    }
    pthread_mutex_unlock(&entry->lock);
}
