/*
 * Selects the schedule for an operation signature. Only rank 0 of a communicator evaluates this.
 */
#ifndef TRIVANCE_MPI_SELECTION_CHOOSE_H
#define TRIVANCE_MPI_SELECTION_CHOOSE_H

#include "collective/choice.h"
#include "mpi/communicator/state.h"
#include "mpi/operations/call_arguments.h"

/* Returns TRV_OK, or an error code of the core with the message in trv_last_error(). choice->algorithm is "" if calls
 * fall back to the MPI library. */
int trv_mpi_choose(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, trv_choice_t *choice);

#endif
