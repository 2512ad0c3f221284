/*
 * Collectives that run while the program does something else: non-blocking ones, and persistent ones that were started.
 *
 * Requests are matched by the order of the calls: the k-th non-blocking request on a communicator has position
 * 1 + k mod TRV_MPI_TURNS, and with it the same tags everywhere. It begins when this rank's earlier request at that
 * position is complete, so at each position the requests of all ranks follow each other in the same order; ranks may
 * begin them at different times. Persistent requests have a position each that is not used again (trv_mpi_state_position):
 * they are freed, and started, in any order.
 *
 * Progress of all requests of the process is made wherever one waits or tests.
 */
#ifndef TRIVANCE_MPI_OPERATIONS_REQUEST_H
#define TRIVANCE_MPI_OPERATIONS_REQUEST_H

#include <stdbool.h>

#include "mpi/operations/gather.h"
#include "mpi/operations/operation.h"

typedef struct trv_mpi_job {
    trv_mpi_want_t want; /* with the handles of this call */
    const void *input;   /* or MPI_IN_PLACE */
    void *output;
    const trv_mpi_gather_t *packed;         /* AllGather of types with gaps: its arguments, instead of the two above */
    void (*done)(void *context, int class); /* called at the end with MPI_SUCCESS or an error class, by the thread
                                               that makes progress; may be NULL */
    void *context;
} trv_mpi_job_t;

typedef struct trv_mpi_request trv_mpi_request_t;

/* The pool that requests take their operations from: a non-blocking one while it runs, a persistent one all its life. */
typedef struct trv_mpi_lender {
    void *source; /* held until `release` */
    trv_mpi_operation_t *(*take)(void *source, trv_mpi_state_t *state,
                                 const trv_mpi_want_t *want); /* NULL: no memory */
    void (*give)(trv_mpi_operation_t *operation);
    void (*release)(void *source);
} trv_mpi_lender_t;

/* A non-blocking request; or a persistent one, whose position is given: `numbers` is released with it. Local; does not
 * wait for other ranks. TRV_OK or TRV_ERR_MEMORY, which breaks the communicator on this rank; then source and numbers are the
 * caller's. */
int trv_mpi_request_create(trv_mpi_request_t **request, trv_mpi_state_t *state, const trv_mpi_lender_t *lender,
                           const trv_mpi_job_t *job, trv_mpi_numbers_t *numbers, int tag);
/* Each non-blocking request once, in the order of their creation; persistent ones when they are not active. */
void trv_mpi_request_start(trv_mpi_request_t *request);
bool trv_mpi_request_active(const trv_mpi_request_t *request);
/* Of a request that is not active: TRV_OK or the code of its latest run, with the sentence in trv_last_error(). */
int trv_mpi_request_outcome(const trv_mpi_request_t *request);
/* Whether send and receive buffer of the latest run overlapped. */
trv_mpi_alias_t trv_mpi_request_alias(const trv_mpi_request_t *request);
/* When it is not active. */
void trv_mpi_request_free(trv_mpi_request_t *request);

/* Makes what progress there is to make; returns how many requests became complete. Never blocks. */
int trv_mpi_requests_progress(void);

#endif
