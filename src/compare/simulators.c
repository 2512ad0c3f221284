/*
 * The list of simulators, and an estimate of the cost of each. A simulation's cost is its number of packet-hops, which
 * is estimated from the messages of rank 0.
 */
#include "compare/simulators.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/schedule.h>

#include "base/error.h"
#include "simulate/simulator.h"
#include "torus/torus.h"

#define STEPS_SAMPLED 1024

void trv_simulators_init(trv_simulators_t *simulators)
{
    simulators->newest = NULL;
    pthread_mutex_init(&simulators->lock, NULL);
}

void trv_simulators_clear(trv_simulators_t *simulators)
{
    while (simulators->newest) {
        trv_shared_simulator_t *entry = simulators->newest;
        simulators->newest = entry->older;
        trv_simulator_destroy(entry->simulator);
        free(entry->reason);
        pthread_mutex_destroy(&entry->lock);
        free(entry);
    }
    pthread_mutex_destroy(&simulators->lock);
}

/* ---- Estimates --------------------------------------------------------------------------------------------------- */

static int add_hops(const trv_schedule_t *schedule, int stream, int step, double times, trv_step_t *work,
                    trv_shared_simulator_t *entry)
{
    int rc = trv_schedule_step(schedule, 0, stream, step, work);
    const double part = (double)trv_schedule_weight(schedule, stream) / (double)trv_schedule_shares(schedule);
    for (int i = 0; i < work->sends && !rc; i++) {
        const trv_message_t *message = &work->send[i];
        trv_route_t route;
        trv_route_begin(&route, trv_schedule_torus(schedule), 0, message->peer, message->port,
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

/* Creates the schedule, unless it is the caller's. */
static int schedule_create(const trv_shared_simulator_t *entry, trv_schedule_t **created,
                           const trv_schedule_t **schedule)
{
    *created = NULL;
    int rc = entry->schedule
                 ? TRV_OK
                 : trv_schedule_create_on(created, &entry->network, entry->algorithm, entry->collective, entry->root);
    *schedule = entry->schedule ? entry->schedule : *created;
    return rc;
}

/* Estimates the cost from the messages of rank 0; schedules with very many steps are sampled. The messages of the
 * caller's schedule are not known to be valid before its simulator is created; that of one message is taken. */
static int estimate(trv_shared_simulator_t *entry)
{
    trv_schedule_t *created;
    const trv_schedule_t *schedule;
    int rc = schedule_create(entry, &created, &schedule);
    if (rc)
        return rc;
    trv_step_t step = TRV_STEP_INIT;
    int steps = entry->schedule ? 0 : trv_schedule_steps(schedule), stride = 1 + steps / STEPS_SAMPLED;
    entry->ranks_reduced = reduced_ranks(schedule);
    entry->covers = trv_schedule_exactness(schedule) == TRV_COVERS;
    entry->message_hops = entry->byte_hops = entry->schedule ? 1 : 0;
    for (int stream = 0; stream < trv_schedule_streams(schedule) && !rc; stream++)
        for (int i = 0; i < steps && !rc; i += stride)
            rc = add_hops(schedule, stream, i, stride, &step, entry);
    trv_step_clear(&step);
    trv_schedule_destroy(created);
    return rc;
}

double trv_shared_simulator_hops(const trv_shared_simulator_t *entry, const trv_simulate_options_t *options,
                                 uint64_t vector_bytes)
{
    const double ranks = trv_simulate_may_fold(options) ? entry->ranks_reduced : entry->network.torus.ranks;
    const double byte_hops = ranks * entry->byte_hops * (double)vector_bytes / options->packet_bytes;
    return 1 + ranks * entry->message_hops +
           (trv_simulate_may_enlarge(options) ? fmin(byte_hops, TRV_SIMULATE_HOPS_MAX) : byte_hops);
}

int trv_shared_simulator_check(const trv_shared_simulator_t *entry, const trv_simulate_options_t *options,
                               uint64_t vector_bytes)
{
    const double bytes = entry->largest * (double)vector_bytes;
    if (trv_simulate_may_enlarge(options) || bytes / options->packet_bytes < TRV_PACKETS_MAX)
        return TRV_OK;
    return trv_fail(TRV_ERR_UNSUPPORTED,
                    "a message of %.0f bytes is more than %u packets of %u bytes; use larger packets, up to 1 MiB",
                    bytes, TRV_PACKETS_MAX, options->packet_bytes);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

bool trv_network_same_schedules(const trv_network_t *a, const trv_network_t *b)
{
    bool equal = trv_torus_equal(&a->torus, &b->torus) && a->routes == b->routes &&
                 a->no_forwarding == b->no_forwarding && a->slow_links == b->slow_links;
    for (int i = 0; equal && i < a->slow_links; i++) {
        const trv_slow_link_t *x = &a->slow_link[i], *y = &b->slow_link[i];
        equal = x->rank == y->rank && x->port == y->port && !(x->factor < y->factor) && !(x->factor > y->factor);
    }
    return equal;
}

static bool entry_matches(const trv_shared_simulator_t *entry, const trv_shared_simulator_t *key)
{
    return entry->schedule == key->schedule && entry->collective == key->collective && entry->root == key->root &&
           strcmp(entry->algorithm, key->algorithm) == 0 && trv_network_same_schedules(&entry->network, &key->network);
}

static int entry_create(const trv_shared_simulator_t *key, trv_shared_simulator_t **created)
{
    trv_shared_simulator_t *entry = *created = malloc(sizeof *entry);
    if (!entry)
        return trv_fail_memory();
    *entry = *key;
    pthread_mutex_init(&entry->lock, NULL);
    entry->code = estimate(entry);
    if (entry->code != TRV_ERR_UNSUPPORTED)
        return entry->code;
    entry->reason = strdup(trv_last_error());
    return entry->reason ? TRV_OK : trv_fail_memory();
}

int trv_simulators_hold(trv_simulators_t *simulators, const trv_shared_simulator_t *key, trv_shared_simulator_t **entry)
{
    int rc = TRV_OK;
    pthread_mutex_lock(&simulators->lock);
    trv_shared_simulator_t *known = simulators->newest;
    while (known && !entry_matches(known, key))
        known = known->older;
    if (!known) {
        rc = entry_create(key, &known);
        if (known) {
            known->older = simulators->newest;
            simulators->newest = known;
        }
    }
    if (known) {
        pthread_mutex_lock(&known->lock);
        known->holders++;
        pthread_mutex_unlock(&known->lock);
    }
    *entry = known;
    pthread_mutex_unlock(&simulators->lock);
    return rc;
}

int trv_shared_simulator_acquire(trv_shared_simulator_t *entry)
{
    trv_schedule_t *created = NULL;
    const trv_schedule_t *schedule;
    int rc = entry->code ? trv_fail(entry->code, "%s", entry->reason) : TRV_OK;
    pthread_mutex_lock(&entry->lock);
    if (!rc && !entry->simulator) {
        rc = schedule_create(entry, &created, &schedule);
        if (!rc)
            rc = trv_simulator_create(&entry->simulator, schedule);
        trv_schedule_destroy(created);
    }
    pthread_mutex_unlock(&entry->lock);
    return rc;
}

void trv_shared_simulator_release(trv_shared_simulator_t *entry)
{
    pthread_mutex_lock(&entry->lock);
    if (--entry->holders == 0) {
        trv_simulator_destroy(entry->simulator);
        entry->simulator = NULL;
    }
    pthread_mutex_unlock(&entry->lock);
}
