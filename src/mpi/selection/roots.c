/*
 * Schedules of a decision for further roots; roots.h describes them.
 */
#include "mpi/selection/roots.h"

#include <stdio.h>

#include "base/error.h"
#include "collective/memory.h"
#include "schedule/collective.h"
#include "torus/rows.h"

enum { ROOTS_MAX = 128 }; /* per communicator, over all decisions */

bool trv_mpi_any_root(const trv_mpi_state_t *state, trv_collective_t collective)
{
    return trv_collective_has_root(collective) && trv_network_is_uniform(&state->config.network);
}

int trv_mpi_root_coordinate(const trv_mpi_node_t *node, const int *comm_rank, int root)
{
    if (node)
        return trv_mpi_node_coordinate_of(node, root);
    int coordinate = comm_rank ? 0 : root;
    while (comm_rank && comm_rank[coordinate] != root)
        coordinate++;
    return coordinate;
}

int trv_mpi_decision_create_schedule(trv_mpi_decision_t *decision, const trv_network_t *network)
{
    const trv_mpi_arguments_t *signature = &decision->signature;
    const bool has_root = trv_collective_has_root(signature->collective);
    int code = trv_schedule_create_on(&decision->schedule, network, decision->full_name, signature->collective,
                                      has_root ? trv_mpi_root_coordinate(decision->spec.node, decision->spec.comm_rank,
                                                                         signature->root)
                                               : 0);
    decision->spec.schedule = decision->schedule;
    return code;
}

/* A decision about the same calls, with another root. NULL, with the message in trv_last_error(): no memory. */
static trv_mpi_decision_t *create(trv_mpi_decision_t *origin, trv_mpi_state_t *state, int root)
{
    trv_mpi_decision_t *decision = trv_mpi_decision_create(&origin->signature, origin->bytes_min, origin->bytes_max);
    if (!decision) {
        trv_fail_memory();
        return NULL;
    }
    decision->signature.root = decision->mpi.arguments.root = root;
    decision->spec = origin->spec;
    decision->spec.algorithm = decision->algorithm;
    decision->spec.schedule = NULL;
    decision->spec.model = NULL;
    decision->tally = origin->tally;
    decision->origin = origin;
    trv_mpi_decision_hold(origin);
    snprintf(decision->reason, sizeof decision->reason, "%s", origin->reason);
    snprintf(decision->algorithm, sizeof decision->algorithm, "%s", origin->algorithm);
    snprintf(decision->full_name, sizeof decision->full_name, "%s", origin->full_name);
    if (trv_mpi_decision_create_schedule(decision, &state->config.network) == TRV_OK &&
        trv_mpi_decision_prepare(decision, state) == TRV_OK)
        return decision;
    trv_mpi_decision_release(decision);
    return NULL;
}

trv_mpi_decision_t *trv_mpi_decision_prepare_root(trv_mpi_decision_t *origin, trv_mpi_state_t *state, int root)
{
    trv_cache_t *cache = &state->roots;
    for (trv_cache_entry_t **link = &cache->first; *link; link = &(*link)->next) {
        const trv_mpi_decision_t *decision = (const trv_mpi_decision_t *)(void *)(*link)->object;
        if (decision->origin == origin && decision->signature.root == root)
            return (trv_mpi_decision_t *)(void *)trv_cache_use(cache, link);
    }
    trv_mpi_decision_t *decision = create(origin, state, root);
    if (decision)
        trv_cache_add(cache, &decision->cached, trv_memory_exceeds_limit() ? 1 : ROOTS_MAX);
    return decision;
}
