/*
 * Interception of MPI calls, for the preload libraries and the Open MPI component.
 *
 * trv_mpi_intercept returns true when the call has been executed or has failed; *code is then the return value of the
 * program's call, and the communicator's error handler has been called if it is an error. False means fall back: the
 * caller passes the program's arguments to the PMPI_ function. All ranks make the same choice (dispatch.c), except a
 * rank on which the communicator is broken: there the call returns an error. Calls with invalid arguments fall back, so
 * that the MPI library reports them.
 */
#ifndef TRIVANCE_MPI_FRONT_INTERCEPT_H
#define TRIVANCE_MPI_FRONT_INTERCEPT_H

#include <stdbool.h>

#include <mpi.h>

#include "mpi/front/dispatch.h"
#include "mpi/reports/log_table.h"

/* Initializes the library, after the MPI library's MPI_Init, on all ranks: they compare their versions and settings,
 * and create the global state. `enabled`: see trv_mpi_job_init. Calls before it fall back. Later calls of this function
 * do nothing. */
void trv_mpi_intercept_init(bool enabled);

/* A blocking call. */
bool trv_mpi_intercept(const trv_mpi_call_t *call, MPI_Comm comm, int *code);

/* Non-blocking and persistent calls: returns a request that can be started, or NULL: the call falls back, or *code is
 * an error. The function does not wait for other ranks, so it needs the decision of an earlier blocking call with the
 * same operation signature and size class on the same communicator. `name`: the MPI function, for the log. A caller
 * that has no memory for its own part passes NULL as `done` and `context`; this is an error if a schedule is
 * decided. */
trv_mpi_request_t *trv_mpi_intercept_post(const char *name, const trv_mpi_call_t *call, MPI_Comm comm, bool persistent,
                                          void (*done)(void *context, int class), void *context, int *code);

/* Applies the hint trivance_algorithm to a communicator: later calls use this algorithm, the MPI library (`mpi`) or the
 * environment's choice (`default`). NULL: this rank has no hint, but others may have one. Collective. A name that
 * cannot be used, or that is not the same on all ranks, is reported in the log and changes nothing. */
void trv_mpi_intercept_hint(MPI_Comm comm, const char *algorithm);

/* Reports that a call of the function `name` falls back, as the settings require: counts it, logs the reason, or ends
 * the program (TRIVANCE_FALLBACK). `call`: its arguments; if a hint or an earlier decision leaves such calls to the MPI
 * library, that is the reason instead of `reason`. NULL: not known. */
void trv_mpi_intercept_log_fallback(const char *name, const trv_mpi_call_t *call, const char *reason, MPI_Comm comm);

/* Whether this thread executes code of Trivance, so that a call is not the program's. */
bool trv_mpi_intercept_is_inside(void);

/* Ends the span, whose number is not 0, of a call on `comm` that began with trv_mpi_span_begin
 * (mpi/reports/log_table.h). `unsupported`: the reason why calls of this function always fall back, or NULL. */
#define TRV_MPI_NO_SCHEDULES "Trivance has no schedules for it"
void trv_mpi_intercept_end(trv_mpi_span_t span, const char *unsupported, MPI_Comm comm);

#endif
