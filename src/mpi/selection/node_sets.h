/*
 * AllReduce on a communicator whose nodes are a set of machine nodes (communicator/fit.h): a plan for a line or a ring
 * of ranks, or for the mesh of a box that cut links divide, which is embedded in the nodes.
 *
 * Under the drop-in the plan must be faster than the algorithms of an MPI library without knowledge of the network:
 * Recursive Doubling and the ring, simulated on the same nodes in the order of the communicator's ranks. Otherwise
 * calls fall back to the MPI library.
 */
#ifndef TRIVANCE_MPI_SELECTION_NODE_SETS_H
#define TRIVANCE_MPI_SELECTION_NODE_SETS_H

#include "collective/choice.h"
#include "mpi/communicator/state.h"
#include "mpi/operations/call_arguments.h"

/* Requires a state with machine nodes (config.machine_node) and a commutative operation. Appends the reason to
 * choice->reason. choice->algorithm is "" if there is no plan, or if `must_be_faster` is set and the plan is not
 * faster. TRV_OK, or a code of the core. */
int trv_mpi_choose_on_nodes(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, bool must_be_faster,
                            trv_choice_t *choice);

#endif
