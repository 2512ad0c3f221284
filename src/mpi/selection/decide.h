/*
 * Deciding how calls of a signature are served: rank 0 of the communicator chooses, all ranks know the decision before the
 * first message, and all carry it out or none does.
 */
#ifndef TRIVANCE_MPI_SELECTION_DECIDE_H
#define TRIVANCE_MPI_SELECTION_DECIDE_H

#include <stdbool.h>

#include "mpi/selection/instances.h"

typedef enum trv_mpi_verdict {
    TRV_MPI_DECIDED,
    TRV_MPI_DIFFER, /* the ranks' calls differ: nothing is decided */
    TRV_MPI_UNABLE, /* a rank has no memory: nothing is decided, and nothing will be */
    TRV_MPI_REFUSED /* the settings cannot be satisfied: the sentence has the reason */
} trv_mpi_verdict_t;

/* The decision for a call: the communicator's, or a new one, which is made collectively. The verdict is the same on all
 * ranks, and where it is not TRV_MPI_DECIDED so is the reason, in trv_last_error(). on_device: this rank's buffer is, or
 * may be, on a GPU. */
trv_mpi_verdict_t trv_mpi_decide(trv_mpi_state_t *state, const trv_mpi_want_t *want, bool on_device,
                                 trv_mpi_decision_t **decision);

/* Compares what all ranks are about to call (TRIVANCE_CHECK); `uneven`: a digest of counts that are not all equal, or 0;
 * `fault`: this rank's error class, or MPI_SUCCESS. The same answer on all ranks but for a rank's own fault: MPI_SUCCESS,
 * or an error class with the sentence. */
int trv_mpi_compare_calls(trv_mpi_state_t *state, const trv_mpi_want_t *want, uint64_t uneven, int fault);

#endif
