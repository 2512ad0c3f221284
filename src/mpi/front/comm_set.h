/*
 * TRV_Comm_set: the torus and the algorithm of one communicator.
 */
#ifndef TRIVANCE_MPI_FRONT_COMM_SET_H
#define TRIVANCE_MPI_FRONT_COMM_SET_H

#include <stdbool.h>

#include "mpi/communicator/state.h"

/* Collective; all ranks pass the same texts. NULL: none. With `leave`, calls go to the MPI library from now on.
 * MPI_SUCCESS, or an error class on all ranks with the sentence in trv_last_error(). */
int trv_mpi_set(trv_mpi_state_t *state, const char *torus, const char *algorithm, bool leave);

#endif
