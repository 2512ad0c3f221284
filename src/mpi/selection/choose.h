/*
 * Which schedule serves calls of a kind: what rank 0 of a communicator thinks, who alone is asked.
 */
#ifndef TRIVANCE_MPI_SELECTION_CHOOSE_H
#define TRIVANCE_MPI_SELECTION_CHOOSE_H

#include "mpi/selection/choice.h"

/* TRV_OK, or a code of the core with the sentence. */
int trv_mpi_choose(const trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_mpi_choice_t *choice);

#endif
