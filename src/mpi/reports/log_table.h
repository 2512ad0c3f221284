/*
 * The log of decisions and calls: a line per new decision, and a table of all calls, which is printed at MPI_Finalize.
 */
#ifndef TRIVANCE_MPI_REPORTS_LOG_TABLE_H
#define TRIVANCE_MPI_REPORTS_LOG_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* A row of the table: the calls of one collective that used one algorithm, or that fell back to the MPI library for one
 * reason. The table has 128 rows, and the last one counts all calls for which no row is left. Rows are never freed. */
typedef struct trv_mpi_tally trv_mpi_tally_t;

/* Logs a decision about vectors of `bytes` on the communicator named `label` ("comm 4 (64 ranks, 8x8)"), if the same
 * line was not logged before. `type`: the name of the elements' type and operation, or "". `algorithm`: NULL if calls
 * fall back to the MPI library; then `requested` is true if a setting requests that, and otherwise TRIVANCE_FALLBACK
 * applies. Returns the row for trv_mpi_log_call, or NULL if calls are not counted. */
trv_mpi_tally_t *trv_mpi_log_decision(int rank, const char *label, const char *collective, size_t bytes,
                                      const char *type, const char *algorithm, const char *reason, bool requested);

/* Counts a call with a vector of `bytes`. Does nothing if the row is NULL. */
void trv_mpi_log_call(trv_mpi_tally_t *tally, size_t bytes);

/* Logs and counts a call that fell back to the MPI library without a decision, for example because its form is not
 * supported. `bytes`: 0 if it is not known. */
void trv_mpi_log_call_fallback(int rank, const char *collective, size_t bytes, const char *reason);

/* Prints the table, at MPI_Finalize. */
void trv_mpi_log_end(void);

#endif
