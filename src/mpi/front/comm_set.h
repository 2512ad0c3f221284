/*
 * TRV_Comm_set: the torus and the algorithm of one communicator.
 */
#ifndef TRIVANCE_MPI_FRONT_COMM_SET_H
#define TRIVANCE_MPI_FRONT_COMM_SET_H

#include <stdbool.h>

#include "mpi/communicator/state.h"

/* Sets the torus and the algorithm of a communicator. Collective; all ranks must give the same texts, and NULL leaves
 * the choice to the environment. With `leave_to_library`, all later calls on the communicator use the MPI library.
 * Returns MPI_SUCCESS, or an error class on all ranks with the message in trv_last_error(). */
int trv_mpi_comm_set(trv_mpi_state_t *state, const char *torus, const char *algorithm, bool leave_to_library);

#endif
