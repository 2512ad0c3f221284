/*
 * Waiting that is watched: TRIVANCE_TIMEOUT. A rank that waits longer says for what, prints the flight recorder of the
 * communicator, and goes on or ends the program (TRIVANCE_ON_TIMEOUT).
 *
 * Only time spent waiting counts: a rank that was stopped, or that computes between two looks, does not accuse others.
 */
#ifndef TRIVANCE_MPI_WATCH_H
#define TRIVANCE_MPI_WATCH_H

#include <stdbool.h>

#include <mpi.h>

#include "mpi/operation.h"
#include "mpi/recorder.h"

typedef struct trv_mpi_watch {
    long long waited_ms, looked_ms;
    bool told;
} trv_mpi_watch_t;

/* After every poll in vain. `started`: else it waits for its turn. */
void trv_mpi_watch_look(trv_mpi_watch_t *watch, const trv_mpi_operation_t *operation, bool started);
static inline void trv_mpi_watch_poll(trv_mpi_watch_t *watch, const trv_mpi_operation_t *operation, bool started,
                                      unsigned polls)
{
    if (trv_mpi_recording && polls % 64 == 0)
        trv_mpi_watch_look(watch, operation, started);
}

/* At the end of waiting: says so if anything was said. */
void trv_mpi_watch_end(const trv_mpi_watch_t *watch, const trv_mpi_operation_t *operation);

/* Waits for a request that all ranks of the communicator take part in; `what` they have to do. MPI's code. */
int trv_mpi_watch_all(MPI_Comm comm, MPI_Request *request, const char *what);

/* Where waiting is watched, waits for all ranks of a communicator to come here, before what the MPI library does
 * without telling where it waits: the first collective of all on the communicator. MPI's code. */
int trv_mpi_watch_arrival(MPI_Comm comm);

#endif
