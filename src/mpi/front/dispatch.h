/*
 * Dispatch of calls, for the TRV_ functions, interposed MPI functions and the component: find the communicator's state
 * and the decision, then run a schedule or fall back to the MPI library.
 */
#ifndef TRIVANCE_MPI_FRONT_DISPATCH_H
#define TRIVANCE_MPI_FRONT_DISPATCH_H

#include <stdbool.h>

#include "mpi/front/request.h"
#include "mpi/operations/movement.h"
#include "mpi/operations/call_arguments.h"
#include "mpi/selection/decide.h"

/* A call to dispatch. Exactly one of `reduction` and `movement` is set. */
typedef struct trv_mpi_call {
    const trv_mpi_reduction_t *reduction;
    const trv_mpi_movement_t *movement;
    const trv_mpi_counts_t *counts; /* of a Reduce-Scatter with a count per rank, instead of the count in `reduction`;
                                       else NULL */
    bool is_barrier;                /* `reduction` is the AllReduce of one byte that executes a Barrier */
} trv_mpi_call_t;

static inline trv_collective_t trv_mpi_call_collective(const trv_mpi_call_t *call)
{
    return call->movement ? call->movement->collective : call->reduction->collective;
}

/* The name in the log and the table of calls for a TRV_ call. */
static inline const char *trv_mpi_call_name(const trv_mpi_call_t *call)
{
    return call->is_barrier ? "barrier" : trv_collective_shape(trv_mpi_call_collective(call))->name;
}

/* The counts per rank of an Allgatherv or a Reduce_scatter, else NULL. */
static inline const trv_mpi_counts_t *trv_mpi_call_counts(const trv_mpi_call_t *call)
{
    return call->movement ? call->movement->counts : call->counts;
}

/* 0 for collectives without a root. */
static inline int trv_mpi_call_root(const trv_mpi_call_t *call)
{
    return !trv_collective_has_root(trv_mpi_call_collective(call)) ? 0
           : call->movement                                        ? call->movement->root
                                                                   : call->reduction->root;
}

/* Dispatches a call. True: it was executed, or it failed; *code is MPI_SUCCESS or an error class with the message in
 * trv_last_error(). False, on all ranks: fall back, that is, pass the program's arguments to the MPI library.
 * Collective. */
bool trv_mpi_dispatch(const trv_mpi_call_t *call, MPI_Comm comm, int *code);

/* The decision for a call, made collectively if there is none yet; trv_mpi_dispatches(state) must hold. NULL: fall back
 * if *code is MPI_SUCCESS, else *code is an error class. */
trv_mpi_decision_t *trv_mpi_get_decision(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, bool on_device,
                                         int *code);

/* Fills in the specification of a request for a call of a rank. False: there are no elements, or the arguments are
 * invalid (*code is then an error class). In any case the caller clears spec->arguments. */
bool trv_mpi_make_request_spec(const trv_mpi_call_t *call, int rank, int ranks, trv_mpi_request_spec_t *spec,
                               int *code);

/* Whether a schedule is decided for such calls, which means that the other ranks will send its messages. */
bool trv_mpi_has_schedule(trv_mpi_state_t *state, const trv_mpi_request_spec_t *spec, bool persistent);

/* Creates a request, which takes the block sizes from `spec`; does not wait for other ranks. *request is NULL after
 * TRV_OK, on all ranks: fall back, because no decision exists for this operation signature and size class, or no tags
 * are left for another persistent request. TRV_ERR_MEMORY or TRV_ERR_TRANSPORT: the communicator is broken on this
 * rank. */
int trv_mpi_make_request(trv_mpi_request_t **request, trv_mpi_state_t *state, trv_mpi_request_spec_t *spec,
                         bool persistent);

/* Why a non-blocking or persistent call of a kind that has schedules falls back. */
const char *trv_mpi_undecided_reason(bool persistent);

#define TRV_MPI_HINT_REASON "the hint trivance_algorithm=mpi"

/* Reports that a call of the function `name` falls back, as the settings require: counts it, logs the reason, or ends
 * the program (TRIVANCE_FALLBACK). `call`: its arguments; if a hint or an earlier decision leaves such calls to the MPI
 * library, that is the reason instead of `reason`. NULL: not known, or invalid. */
void trv_mpi_log_fallback_of(const char *name, const trv_mpi_call_t *call, const char *reason, MPI_Comm comm);

/* Whether calls on a communicator are dispatched; false if all fall back, as for a NULL state (an
 * intercommunicator). */
bool trv_mpi_dispatches(const trv_mpi_state_t *state);

#endif
