/*
 * Operations in the log: the line of a decision, the count of a call.
 */
#ifndef TRIVANCE_MPI_REPORT_H
#define TRIVANCE_MPI_REPORT_H

#include "mpi/choose.h"
#include "mpi/operation.h"

/* Says which algorithm serves the operation, and why, if that is new, and finds the operation's row of the table. */
void trv_mpi_report_choice(trv_mpi_operation_t *operation, const trv_mpi_state_t *state,
                           const trv_mpi_choice_t *choice);

/* Counts a run of the operation, and records it (recorder.h). */
void trv_mpi_report_call(trv_mpi_operation_t *operation, trv_mpi_state_t *state);

/* What a wait is for (trv_mpi_waiting_t.describe): the operation, which runs, or waits for earlier requests. */
void trv_mpi_report_running(const void *operation, char *text, size_t size);
void trv_mpi_report_queued(const void *operation, char *text, size_t size);

/* "comm 4 (64 ranks, 8x8)" */
#define TRV_MPI_WHERE_MAX (64 + TRV_TORUS_TEXT_MAX)
const char *trv_mpi_report_where(const trv_mpi_state_t *state, char text[TRV_MPI_WHERE_MAX]);

#endif
