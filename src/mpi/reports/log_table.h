/*
 * Between the two halves of the log: log.c writes lines, log_table.c counts.
 */
#ifndef TRIVANCE_MPI_REPORTS_LOG_TABLE_H
#define TRIVANCE_MPI_REPORTS_LOG_TABLE_H

#include <stdbool.h>

/* Whether this text was not said before; from now on it was. */
bool trv_mpi_log_is_new(const char *text);

/* With TRIVANCE_FALLBACK=error, `rank` 0 says the line and ends the program. */
void trv_mpi_log_stop(int rank, const char *line);

#endif
