/*
 * Roots of decisions: the ranks at torus coordinates, and decisions prepared for further roots (collective/prepared.h).
 * If a rank has no memory for these, the communicator breaks on that rank, because the other ranks may have sent
 * messages of the schedule.
 */
#ifndef TRIVANCE_MPI_SELECTION_ROOTS_H
#define TRIVANCE_MPI_SELECTION_ROOTS_H

#include "mpi/selection/instances.h"

/* The torus coordinate of a root. `node`: the ranks at this rank's coordinate; NULL: there is one rank at each, that of
 * `comm_rank`, or if that is NULL, too, that with the same number. */
int trv_mpi_root_coordinate(const trv_mpi_node_t *node, const int *comm_rank, int root);

/* Creates the schedule of a decision, which has its full name and its places, on `network`, for the root in its
 * signature. TRV_OK or a code of the core. */
int trv_mpi_decision_create_schedule(trv_mpi_decision_t *decision, const trv_network_t *network);

/* The decision, prepared for calls with this root: the decision itself if it is for this root. Valid until the next
 * call on the communicator. NULL, with the message in trv_last_error(): no memory. */
trv_mpi_decision_t *trv_mpi_decision_prepare_root(trv_mpi_decision_t *decision, trv_mpi_state_t *state, int root);
static inline trv_mpi_decision_t *trv_mpi_decision_at_root(trv_mpi_decision_t *decision, trv_mpi_state_t *state,
                                                           int root)
{
    return decision->base.root == root ? decision : trv_mpi_decision_prepare_root(decision, state, root);
}

#endif
