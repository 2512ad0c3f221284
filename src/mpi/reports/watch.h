/*
 * Timeouts (TRIVANCE_TIMEOUT): a rank that waits longer logs what it waits for, prints the flight recorder of the
 * communicator, and continues or ends the program (TRIVANCE_ON_TIMEOUT).
 *
 * Only waiting time counts: a rank that was stopped, or that computes between two polls, reports nothing. These
 * functions do not communicate, so ranks may have different timeouts or none.
 */
#ifndef TRIVANCE_MPI_REPORTS_WATCH_H
#define TRIVANCE_MPI_REPORTS_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include "collective/recorder.h"

/* Sets the timeout. Called once, before the other functions. */
void trv_mpi_watch_begin(const trv_settings_t *settings);

/* Milliseconds of a monotonic clock, with the resolution of the system's tick, which is cheap to read. */
long long trv_mpi_now_ms(void);

/* The subject of a wait. `describe` is called when the timeout expires, for a text like "comm 1 (9 ranks, 3x3), call
 * 302: allreduce of 4000 bytes, by trivance-b; waits for ranks 3, 6". It is called again if the wait ends after that;
 * the part before the first semicolon must then be the same. */
typedef struct trv_mpi_waiting {
    void (*describe)(const void *context, char *text, size_t size);
    const void *context;
    trv_recorder_t *recorder;
} trv_mpi_waiting_t;

/* The state of a wait, initially zeros. Only one thread at a time may use it. */
typedef struct trv_mpi_watch {
    long long waited_ms, polled_ms;
    bool reported;
} trv_mpi_watch_t;

/* trv_mpi_watch_poll is called after every unsuccessful poll, with the number of polls so far. It reads the clock after
 * every 64th poll. */
void trv_mpi_watch_check(trv_mpi_watch_t *watch, const trv_mpi_waiting_t *waiting);
static inline void trv_mpi_watch_poll(trv_mpi_watch_t *watch, const trv_mpi_waiting_t *waiting, unsigned polls)
{
    if (trv_recording && polls % 64 == 0)
        trv_mpi_watch_check(watch, waiting);
}

/* Called at the end of a wait: logs that the rank continues, if the timeout was reported. */
void trv_mpi_watch_end(const trv_mpi_watch_t *watch, const trv_mpi_waiting_t *waiting);

/* Cancels requests and waits for them; afterwards MPI does not write to their buffers. */
void trv_mpi_cancel_all(int requests, MPI_Request *request);

/* Calls `test` until it does not return 0, and returns its last result; it waits for all ranks of a communicator.
 * `action` names the action that the ranks must take, such as "make the same call", for the report of a timeout. */
int trv_mpi_watch_until(int ranks, int (*test)(void *context), void *context, const char *action);
/* The same for a request. Returns MPI's code; on failure the request is cancelled. */
int trv_mpi_watch_request(int ranks, MPI_Request *request, const char *action);

#endif
