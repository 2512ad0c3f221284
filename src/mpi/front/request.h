/*
 * Requests: collectives that run while the program continues. They are non-blocking, or persistent and started.
 *
 * Requests are matched by the order of the calls: the k-th non-blocking request on a communicator has position 1 + k
 * mod TRV_MPI_REQUEST_POSITIONS, and so the same tags on all ranks. It begins when this rank's previous request at that
 * position is complete. At each position the requests of all ranks therefore follow each other in the same order, but
 * ranks may begin them at different times. A persistent request has its own position, which is not reused
 * (trv_mpi_state_allocate_persistent), so persistent requests may be started and freed in any order.
 *
 * A thread that waits for a request or tests it makes progress on all active requests of the process.
 */
#ifndef TRIVANCE_MPI_FRONT_REQUEST_H
#define TRIVANCE_MPI_FRONT_REQUEST_H

#include <stdbool.h>

#include "mpi/operations/movement.h"
#include "mpi/selection/instances.h"

typedef struct trv_mpi_request_spec {
    trv_mpi_arguments_t arguments; /* with the handles of this call */
    const void *input;             /* or MPI_IN_PLACE */
    void *output;
    bool is_barrier;                        /* the buffers are two bytes that the request owns */
    const trv_mpi_movement_t *packed;       /* movement of types with gaps: replaces input and output; else NULL */
    void (*done)(void *context, int class); /* called at the end with MPI_SUCCESS or an error class, by the thread
                                               that makes progress; may be NULL */
    void *context;
} trv_mpi_request_spec_t;

typedef struct trv_mpi_request trv_mpi_request_t;

/* Creates a non-blocking request (`context_ids` is NULL), or a persistent one whose tags begin at `tag`; it owns
 * `context_ids` and the block sizes of the arguments, and releases them when it is freed. Its operation is an instance
 * of the decision: a non-blocking request has one while it runs, a persistent request until it is freed. Local; does
 * not wait for other ranks. TRV_OK; or TRV_ERR_MEMORY, which breaks the communicator on this rank, and then the caller
 * still owns them. */
int trv_mpi_request_create(trv_mpi_request_t **request, trv_mpi_state_t *state, trv_mpi_decision_t *decision,
                           const trv_mpi_request_spec_t *spec, trv_mpi_context_ids_t *context_ids, int tag);
/* Starts a request. Each non-blocking request is started once, in the order of creation. A persistent request must not
 * be active. */
void trv_mpi_request_start(trv_mpi_request_t *request);
bool trv_mpi_request_active(trv_mpi_request_t *request);
/* The result of the latest run of a request that is not active: MPI_SUCCESS, or an error class with the message in
 * trv_last_error(). */
int trv_mpi_request_outcome(const trv_mpi_request_t *request);
/* The request must not be active. */
void trv_mpi_request_free(trv_mpi_request_t *request);

/* Makes progress on all active requests and returns the number of those that became complete. Never blocks. */
int trv_mpi_requests_progress(void);

#endif
