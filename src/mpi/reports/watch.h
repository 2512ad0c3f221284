/*
 * Timeouts (TRIVANCE_TIMEOUT): a rank that waits longer (collective/timeout.h) logs what it waits for, prints the
 * flight recorder of the communicator, and continues or ends the program (TRIVANCE_ON_TIMEOUT). These functions do not
 * communicate, so ranks may have different timeouts or none.
 */
#ifndef TRIVANCE_MPI_REPORTS_WATCH_H
#define TRIVANCE_MPI_REPORTS_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include "collective/recorder.h"
#include "collective/timeout.h"

/* Sets the timeout. Called once, before the other functions. */
void trv_mpi_watch_begin(const trv_settings_t *settings);

/* The subject of a wait. `describe` is called when the timeout expires, for a text like "comm 1 (9 ranks, 3x3), call
 * 302: allreduce of 4000 bytes, by trivance-b; waits for ranks 3, 6". It is called again if the wait ends after that;
 * the part before the first semicolon must then be the same. */
typedef struct trv_mpi_waiting {
    void (*describe)(const void *context, char *text, size_t size);
    const void *context;
    trv_recorder_t *recorder;
} trv_mpi_waiting_t;

/* trv_mpi_watch_poll is called after every unsuccessful poll, with the number of polls so far. It reads the clock after
 * every 64th poll. */
void trv_mpi_watch_check(trv_watch_t *watch, const trv_mpi_waiting_t *waiting);
static inline void trv_mpi_watch_poll(trv_watch_t *watch, const trv_mpi_waiting_t *waiting, unsigned polls)
{
    if (trv_recording && polls % 64 == 0)
        trv_mpi_watch_check(watch, waiting);
}

/* Called at the end of a wait: logs that the rank continues, if the timeout was reported. */
void trv_mpi_watch_end(const trv_watch_t *watch, const trv_mpi_waiting_t *waiting);

/* Reports that the timeout has expired: `what` is the text of `describe`. */
void trv_mpi_watch_report(const trv_watch_t *watch, const char *what, trv_recorder_t *recorder);

/* Cancels requests and waits for them; afterwards MPI does not write to their buffers. */
void trv_mpi_cancel_all(int requests, MPI_Request *request);

/* Calls `test` until it does not return 0, and returns its last result; it waits for all ranks of a communicator.
 * `action` names the action that the ranks must take, such as "make the same call", for the report of a timeout. */
int trv_mpi_watch_until(int ranks, int (*test)(void *context), void *context, const char *action);
/* The same for a request. Returns MPI's code; on failure the request is cancelled. */
int trv_mpi_watch_request(int ranks, MPI_Request *request, const char *action);

#endif
