/*
 * Dispatch of calls, of the TRV_ functions, interposed MPI functions and the component alike: find the communicator and
 * the decision, then run a schedule or fall back to the MPI library.
 */
#ifndef TRIVANCE_MPI_FRONT_SERVE_H
#define TRIVANCE_MPI_FRONT_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/operations/gather.h"
#include "mpi/operations/request.h"
#include "mpi/operations/want.h"
#include "mpi/selection/decide.h"

/* One of the two. */
typedef struct trv_mpi_call {
    const trv_mpi_arguments_t *reduction;
    const trv_mpi_gather_t *gather;
    uint64_t uneven; /* a Reduce-Scatter whose counts are not all equal: a digest of them; else 0 */
} trv_mpi_call_t;

/* True: the call was served, or failed; *code is MPI_SUCCESS or an error class with the sentence in trv_last_error().
 * False: it is the MPI library's, with the program's own arguments, on all ranks alike. Collective. */
bool trv_mpi_serve(const trv_mpi_call_t *call, MPI_Comm comm, int *code);

/* The decision for a call on a state that serves, made collectively if there is none yet. NULL: pass, or an error class
 * in *code. */
trv_mpi_decision_t *trv_mpi_find_decision(trv_mpi_state_t *state, const trv_mpi_want_t *want, bool on_device,
                                          int *code);

/* The job of a request for a call: false: there is nothing to do, or wrong arguments (*code). */
bool trv_mpi_make_job(const trv_mpi_call_t *call, trv_mpi_job_t *job, int *code);

/* Whether a schedule is decided for such calls, so that the other ranks begin its messages. */
bool trv_mpi_has_schedule(trv_mpi_state_t *state, const trv_mpi_job_t *job, bool persistent);

/* A request for a job; does not wait for other ranks. TRV_OK with *request = NULL: pass, on all ranks alike, because no blocking call
 * of the same kind and size has been decided on yet, or no position is left for a persistent one. TRV_ERR_MEMORY or
 * TRV_ERR_TRANSPORT: the communicator is broken on this rank. */
int trv_mpi_make_request(trv_mpi_request_t **request, trv_mpi_state_t *state, const trv_mpi_job_t *job,
                         bool persistent);

/* Whether a state serves, or leaves all calls to the MPI library. */
bool trv_mpi_serves(const trv_mpi_state_t *state);

#endif
