/*
 * Decisions and calls: a line per new decision, a row per kind of call, the table at MPI_Finalize.
 */
#ifndef TRIVANCE_MPI_REPORTS_LOG_TABLE_H
#define TRIVANCE_MPI_REPORTS_LOG_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* A row of the table: calls of one collective that one algorithm served, or that the MPI library did for one reason. Of
 * 128 rows the last one takes all for which there is no other. Rows last as long as the process. */
typedef struct trv_mpi_tally trv_mpi_tally_t;

/* A decision about vectors of `bytes` on the communicator called `where` ("comm 4 (64 ranks, 8x8)"). `type` is that of
 * the elements in words, or "". With algorithm NULL the MPI library serves; `meant`: because somebody wanted it so,
 * else TRIVANCE_FALLBACK applies. Says it if it is new, and returns the row for trv_mpi_log_call; NULL where nobody
 * counts. */
trv_mpi_tally_t *trv_mpi_log_decision(int rank, const char *where, const char *collective, size_t bytes,
                                      const char *type, const char *algorithm, const char *why, bool meant);

/* Counts a call of a vector of `bytes`; nothing for a row that is NULL. */
void trv_mpi_log_call(trv_mpi_tally_t *tally, size_t bytes);

/* A call that went to the MPI library before there was anything to decide (a buffer on a device, a form that is not
 * served): decision and call in one. `bytes` 0 where it is not known. */
void trv_mpi_log_passed(int rank, const char *collective, size_t bytes, const char *why);

/* Prints the table, at MPI_Finalize. */
void trv_mpi_log_end(void);

#endif
