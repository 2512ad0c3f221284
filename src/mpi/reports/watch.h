/*
 * TRIVANCE_TIMEOUT: a rank that waits longer reports what it waits for, prints the flight recorder of the communicator,
 * and continues or ends the program (TRIVANCE_ON_TIMEOUT).
 *
 * Only time spent waiting counts: a rank that was stopped, or that computes between two polls, reports nothing. Nothing
 * here communicates, so ranks may have different timeouts, or none.
 */
#ifndef TRIVANCE_MPI_REPORTS_WATCH_H
#define TRIVANCE_MPI_REPORTS_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include "mpi/reports/recorder.h"

/* Reads the timeout. Before any of the functions below. */
void trv_mpi_watch_begin(const trv_settings_t *settings);

/* What is waited for, told only when time is up: "comm 1 (9 ranks, 3x3), call 302: allreduce of 4000 bytes, by
 * trivance-b; waits for ranks 3, 6". What stands before the first semicolon is told again when the wait is over after
 * all: it must say the same then. */
typedef struct trv_mpi_waiting {
    void (*describe)(const void *context, char *text, size_t size);
    const void *context;
    trv_mpi_recorder_t *recorder;
} trv_mpi_waiting_t;

/* One per wait, of zeros at first, used by one thread at a time. */
typedef struct trv_mpi_watch {
    long long waited_ms, looked_ms;
    bool told;
} trv_mpi_watch_t;

/* After every poll in vain, the `polls`-th. It looks at the clock every 64 of them. */
void trv_mpi_watch_look(trv_mpi_watch_t *watch, const trv_mpi_waiting_t *waiting);
static inline void trv_mpi_watch_poll(trv_mpi_watch_t *watch, const trv_mpi_waiting_t *waiting, unsigned polls)
{
    if (trv_mpi_recording && polls % 64 == 0)
        trv_mpi_watch_look(watch, waiting);
}

/* At the end of waiting: says that it goes on, if anything was said. */
void trv_mpi_watch_end(const trv_mpi_watch_t *watch, const trv_mpi_waiting_t *waiting);

/* Cancels requests, after which nothing is written to their buffers any more. */
void trv_mpi_cancel_all(int requests, MPI_Request *request);

/* Waits for requests that all ranks of a communicator take part in; `what` they have to do. MPI's code; on failure the
 * requests that are not complete have been cancelled. */
int trv_mpi_watch_all(int ranks, int requests, MPI_Request *request, const char *what);

#endif
