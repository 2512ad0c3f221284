/*
 * What the library says. (A line per new decision and the table of calls: log_table.h.)
 *
 * Lines begin with "trivance: " and are written in one piece, to stderr or to TRIVANCE_DEBUG_FILE. Of a communicator's
 * ranks the first speaks; with a file per process all do, each into its own. Any thread may call all of it.
 */
#ifndef TRIVANCE_MPI_REPORTS_LOG_H
#define TRIVANCE_MPI_REPORTS_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "settings/settings.h"

/* Called once with the settings, before anything below. */
void trv_mpi_log_begin(const trv_settings_t *settings);

/* Those settings; before they are there, ones by which warnings alone are heard. */
const trv_settings_t *trv_mpi_log_settings(void);

/* The rank in MPI_COMM_WORLD, also before MPI_Init, by the launcher's environment. */
int trv_mpi_log_rank(void);

/* Whether a line of this level about a communicator in which this process has `rank` is written. */
bool trv_mpi_heard(trv_debug_t level, int rank);

/* Writes a line. The caller has asked trv_mpi_heard (or, where one speaks for all, `info` and for rank 0) first. */
void trv_mpi_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A warning, from rank 0 of MPI_COMM_WORLD, once per text. Of 4096 different lines, decisions included, the last one
 * says that no more are told. */
void trv_mpi_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Logs a failure of this rank alone, on any rank, and then sleeps 0.2 s, because the job may end and launchers lose fresh
 * output; does neither with TRIVANCE_DEBUG=off. */
void trv_mpi_log_failure(const char *line);

/* What was asked for cannot be had, so the MPI library serves: a warning from `rank` 0 of the communicator concerned,
 * once per text; with TRIVANCE_FALLBACK=error that rank ends the program. Every rank calls it that knows the reason:
 * with a file per process each writes its own. */
void trv_mpi_refuse(int rank, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether this text was not said before; from now on it was. */
bool trv_mpi_log_is_new(const char *text);

/* With TRIVANCE_FALLBACK=error, `rank` 0 says the line and ends the program. */
void trv_mpi_log_stop(int rank, const char *line);

/* TRIVANCE_FALLBACK=error is set on some rank, and holds for all. */
void trv_mpi_log_strict(void);

#endif
