/*
 * The agreement by which a communicator gets its state.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_ADOPT_H
#define TRIVANCE_MPI_COMMUNICATOR_ADOPT_H

#include "mpi/communicator/state.h"

/* Fills a new state of `comm`, collectively. `state` is NULL on a rank that has no memory for it; such a rank takes part
 * all the same. One that was inherited, by all its ranks, gets its number; where not all have inherited, what was is
 * forgotten (`configured` tells). MPI_SUCCESS on all ranks, or an error class on all of them, with the sentence. */
int trv_mpi_adopt(MPI_Comm comm, trv_mpi_state_t *state);

/* A position of its own for a plan: its tags begin at *tag until `numbers` is released. Collective; MPI_ERR_OTHER, on all
 * ranks, where there is none. */
int trv_mpi_state_position(trv_mpi_state_t *state, trv_mpi_numbers_t **numbers, int *tag);

#endif
