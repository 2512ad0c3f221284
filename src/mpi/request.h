/*
 * Collectives that run while the program does something else: non-blocking ones, and persistent ones that were started.
 *
 * Ranks find together by the order of their calls: the k-th non-blocking request on a communicator has position
 * 1 + k mod TRV_MPI_TURNS, and with it the same tags everywhere. It begins when this rank's earlier request at that
 * position is complete, so at each position the requests of all ranks follow each other in the same order; when exactly
 * is each rank's own affair. Persistent requests have a position each, from TRV_MPI_TURNS + 1 on, which is not used
 * again: they are freed, and started, in any order.
 *
 * Progress of all requests of the process is made wherever one waits or tests.
 */
#ifndef TRIVANCE_MPI_REQUEST_H
#define TRIVANCE_MPI_REQUEST_H

#include <stdbool.h>

#include "mpi/gather.h"
#include "mpi/operation.h"
#include "mpi/state.h"

typedef struct trv_mpi_job {
    trv_mpi_want_t want;        /* with the handles of this call */
    const void *input;          /* or MPI_IN_PLACE */
    void *output;
    const trv_mpi_gather_t *packed; /* AllGather of types with gaps: its arguments, instead of the two above */
    void (*done)(void *context, int code); /* told of the end, in any thread, inside the progress; may be NULL */
    void *context;
} trv_mpi_job_t;

typedef struct trv_mpi_request trv_mpi_request_t;

/* Whether the communicator has a position for one more: the same answer on all ranks. */
bool trv_mpi_request_possible(const trv_mpi_state_t *state, bool persistent);

/* A request that runs operations like `kept`, which serves. Local, blocks on nobody. TRV_OK or TRV_ERR_MEMORY. */
int trv_mpi_request_create(trv_mpi_request_t **request, trv_mpi_state_t *state, trv_mpi_operation_t *kept,
                           const trv_mpi_job_t *job, bool persistent);
/* Each non-blocking request once, in the order of their creation; persistent ones when they are not active. */
void trv_mpi_request_start(trv_mpi_request_t *request);
bool trv_mpi_request_active(const trv_mpi_request_t *request);
/* Of a request that is not active: TRV_OK or the code of its latest run, with the sentence in trv_last_error(). */
int trv_mpi_request_outcome(const trv_mpi_request_t *request);
/* Whether send and receive buffer of the latest run overlapped. */
bool trv_mpi_request_overlapped(const trv_mpi_request_t *request);
/* When it is not active. */
void trv_mpi_request_free(trv_mpi_request_t *request);

/* Makes what progress there is to make; returns how many requests became complete. Never blocks. */
int trv_mpi_requests_progress(void);

#endif
