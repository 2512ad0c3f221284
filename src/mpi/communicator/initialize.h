/*
 * Communicator initialization: the exchanges by which the ranks of a communicator agree on its state and context ids.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_INITIALIZE_H
#define TRIVANCE_MPI_COMMUNICATOR_INITIALIZE_H

#include "mpi/communicator/state.h"

/* Initializes the state of `comm`. Collective. `state` is NULL on a rank that has no memory for it; that rank still
 * takes part. If all ranks have inherited the state, only a context id is added; if some have not, the inherited parts
 * are dropped, and config.configured is false afterwards. MPI_SUCCESS on all ranks, or an error class on all ranks with
 * the message in trv_last_error(). */
int trv_mpi_communicator_init(MPI_Comm comm, trv_mpi_state_t *state);

/* Reserves a position (a range of tags) for a plan: the tags from *tag on belong to it until `context_ids` is released.
 * Collective. MPI_ERR_OTHER on all ranks if none is left. */
int trv_mpi_state_allocate_position(trv_mpi_state_t *state, trv_mpi_context_ids_t **context_ids, int *tag);

#endif
