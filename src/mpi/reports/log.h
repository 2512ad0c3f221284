/*
 * The log. (log_table.h has the lines about decisions and the table of calls.)
 *
 * Lines begin with "trivance: ". Each is written at once, to stderr or to TRIVANCE_DEBUG_FILE. Only rank 0 of a
 * communicator logs; with a file per process all ranks log, each to its own file. Any thread may call these functions.
 */
#ifndef TRIVANCE_MPI_REPORTS_LOG_H
#define TRIVANCE_MPI_REPORTS_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "settings/settings.h"

/* Sets the settings. Called once, before the other functions. */
void trv_mpi_log_begin(const trv_settings_t *settings);

/* Sets a function by which lines name variables: it returns whether `variable` ("TRIVANCE_TORUS") has another name,
 * which it then writes to `name`. Called once, before lines are written. */
#define TRV_MPI_ALIAS_MAX 64
void trv_mpi_log_set_alias(bool (*alias)(const char *variable, char name[TRV_MPI_ALIAS_MAX]));

/* These settings; before they are set, default settings by which only warnings are logged. */
const trv_settings_t *trv_mpi_log_settings(void);

/* The rank in MPI_COMM_WORLD; before MPI_Init and after MPI_Finalize, from the launcher's environment variables. */
int trv_mpi_log_rank(void);

/* Whether a line of this level about a communicator in which this process has `rank` is written. */
bool trv_mpi_log_enabled(trv_debug_t level, int rank);

/* Writes a line. The caller checks trv_mpi_log_enabled first, or, for a line that only rank 0 writes, the setting
 * `info`. */
void trv_mpi_log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for a text; the context is not used. */
void trv_mpi_log_text(void *context, const char *line);

/* Logs a warning on rank 0 of MPI_COMM_WORLD, once per text. After 4096 different lines, decisions included, a last
 * line reports that no more are logged. */
void trv_mpi_log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same as a callback (trv_warn_t). The context is not used. */
void trv_mpi_log_warn(void *context, const char *sentence);
/* Logs a failure of a single rank, on that rank, and then sleeps 0.2 s, because the job may end and launchers lose
 * recent output. Does neither with TRIVANCE_DEBUG=off. */
void trv_mpi_log_failure(const char *line);

/* Reports that a request of the settings cannot be satisfied and calls fall back to the MPI library. Logs a warning if
 * `rank`, the rank in the communicator concerned, is 0, once per text; with TRIVANCE_FALLBACK=error that rank then ends
 * the program. All ranks with this error call the function, because with a file per process each rank logs it. */
void trv_mpi_log_fallback(int rank, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether this text was not logged before; marks it as logged. */
bool trv_mpi_log_is_new(const char *text);

/* With TRIVANCE_FALLBACK=error, logs the line and ends the program if `rank` is 0. */
void trv_mpi_log_stop(int rank, const char *line);

/* Applies TRIVANCE_FALLBACK=error on this rank, because it is set on another one. */
void trv_mpi_log_strict(void);

#endif
