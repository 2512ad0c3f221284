/*
 * Selects the schedule for an operation signature. Only rank 0 of a communicator evaluates this.
 */
#ifndef TRIVANCE_MPI_SELECTION_CHOOSE_H
#define TRIVANCE_MPI_SELECTION_CHOOSE_H

#include "collective/choice.h"
#include "mpi/communicator/state.h"
#include "mpi/operations/want.h"

/* TRV_OK, or a code of the core with the sentence. choice->algorithm is "" where the MPI library serves. */
int trv_mpi_choose(const trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_choice_t *choice);

#endif
