/*
 * Decides how calls with an operation signature are executed. Rank 0 of the communicator chooses; all ranks have the
 * decision before the first message is sent; and either all ranks execute it or none does.
 */
#ifndef TRIVANCE_MPI_SELECTION_DECIDE_H
#define TRIVANCE_MPI_SELECTION_DECIDE_H

#include <stdbool.h>

#include "collective/agreement.h"
#include "mpi/selection/instances.h"

/* Finds the decision for a call on the communicator, or makes one collectively. All ranks return the same verdict,
 * except a rank on which an exchange fails: it returns TRV_UNABLE, and the communicator is broken on it. If the
 * verdict is not TRV_DECIDED, trv_last_error() has the reason. on_device: this rank's buffer is, or may be, on a
 * GPU. */
trv_vote_result_t trv_mpi_decide(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, bool on_device,
                                 trv_mpi_decision_t **decision);

/* Compares the calls that all ranks are about to make (TRIVANCE_CHECK). `fault`: the error class of this rank's
 * arguments, or MPI_SUCCESS. Returns MPI_SUCCESS, or an error class with the message in trv_last_error(); all ranks
 * return the same, except that a rank with a fault returns it. */
int trv_mpi_compare_calls(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, int fault);

#endif
