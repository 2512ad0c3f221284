/*
 * AllReduce on a communicator whose nodes form no torus: a plan for a line or ring of ranks laid along them.
 *
 * Under the drop-in it must be faster than what an MPI library does that does not know the network: Recursive Doubling
 * and the ring, simulated on the same nodes in the order of the communicator's ranks. Otherwise the MPI library serves.
 */
#ifndef TRIVANCE_MPI_SELECTION_NODE_SETS_H
#define TRIVANCE_MPI_SELECTION_NODE_SETS_H

#include "collective/choice.h"
#include "mpi/communicator/state.h"
#include "mpi/operations/want.h"

/* On a state with sites, for commutative operations. Appends the reason to choice->reason; choice->algorithm = "" where
 * there is no plan, or it must win and does not. TRV_OK, or a code of the core. */
int trv_mpi_planned_on_nodes(const trv_mpi_state_t *state, const trv_mpi_want_t *want, bool must_win,
                             trv_choice_t *choice);

#endif
