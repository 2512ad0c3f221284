/*
 * Schedules of decisions for the roots of calls; roots.h describes them.
 */
#include "mpi/selection/roots.h"

#include "schedule/collective.h"

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
    const trv_prepared_t *base = &decision->base;
    const trv_mpi_places_t *places = &decision->places;
    const bool has_root = trv_collective_has_root(base->collective);
    return trv_prepared_create_schedule(&decision->base, network,
                                        has_root ? trv_mpi_root_coordinate(places->node, places->comm_rank, base->root)
                                                 : 0);
}

static trv_prepared_t *create_at_root(void *context, trv_prepared_t *prepared, int root)
{
    trv_mpi_state_t *state = context;
    const trv_mpi_decision_t *origin = (const trv_mpi_decision_t *)(const void *)prepared;
    trv_mpi_decision_t *decision = trv_mpi_decision_create(&origin->signature, root);
    if (!decision)
        return NULL;
    trv_prepared_set_origin(&decision->base, prepared);
    decision->places = origin->places;
    decision->tally = origin->tally;
    if (trv_mpi_decision_create_schedule(decision, &state->config.network) == TRV_OK &&
        trv_mpi_decision_prepare(decision, state) == TRV_OK)
        return &decision->base;
    trv_mpi_decision_release(decision);
    return NULL;
}

trv_mpi_decision_t *trv_mpi_decision_prepare_root(trv_mpi_decision_t *decision, trv_mpi_state_t *state, int root)
{
    return (trv_mpi_decision_t *)(void *)trv_prepared_at_root(&decision->base, &state->roots, root, create_at_root,
                                                              state);
}
