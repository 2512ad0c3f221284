/*
 * One collective, compiled: which algorithm serves it, its plan and its channel. Behind every TRV_Plan, and behind the
 * blocking calls, which keep the last ones per communicator.
 */
#ifndef TRIVANCE_MPI_OPERATION_H
#define TRIVANCE_MPI_OPERATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include <trivance/execute.h>

#include "mpi/elements.h"
#include "mpi/state.h"
#include "mpi/transport/channel.h"

/* What the caller wants. For AllGather count, datatype and op are those of bytes: see trv_mpi_bytes. */
typedef struct trv_mpi_want {
    trv_collective_t collective;
    size_t count; /* of the executor: the vector for AllReduce, a block for the others */
    MPI_Datatype datatype;
    MPI_Op op;
    trv_mpi_elements_t elements;
    const trv_schedule_t *schedule; /* the user's own; NULL: one is chosen */
} trv_mpi_want_t;

typedef struct trv_mpi_operation {
    trv_mpi_want_t want;
    const trv_mpi_state_t *state; /* that it was made for; NULL for an intercommunicator */
    trv_plan_t *plan; /* NULL on ranks that a leader stands for, and where the MPI library's own function serves */
    struct trv_mpi_node_run *run; /* where several ranks share every place of the torus; else NULL */
    trv_mpi_channel_t *channel;
    trv_mpi_tags_t *tags; /* that `range` was taken from */
    int range;            /* the first of its own tags; 0: it takes those of a position */
    trv_mpi_local_t local;
    const char *algorithm;
    trv_torus_t torus; /* of the schedule */
    int steps;
    struct trv_mpi_tally *tally; /* where its runs are counted; NULL: nowhere */
    unsigned long call;          /* the number of its latest one, where calls are recorded */
    atomic_int users;            /* requests that were started and run it, or wait for their turn to */
    bool busy, failed;           /* a request runs it; one has failed */
} trv_mpi_operation_t;

/* Bytes of the whole vector that `want` describes. */
size_t trv_mpi_vector_bytes(const trv_mpi_state_t *state, const trv_mpi_want_t *want);

/* `shared`: runs only between others of the same kind (a blocking call's). TRV_OK or a code of the core. */
int trv_mpi_operation_init(trv_mpi_operation_t *operation, trv_mpi_state_t *state, const trv_mpi_want_t *want,
                           bool shared);
void trv_mpi_operation_clear(trv_mpi_operation_t *operation);

/* Whether the operation is ours; otherwise the MPI library's own function serves, and the ones below are not called. */
bool trv_mpi_operation_serves(const trv_mpi_operation_t *operation);
/* As trv_plan_start, trv_plan_test, trv_plan_wait, trv_plan_run and trv_plan_describe. */
int trv_mpi_operation_start(trv_mpi_operation_t *operation, const void *input, void *output);
int trv_mpi_operation_test(trv_mpi_operation_t *operation);
int trv_mpi_operation_wait(trv_mpi_operation_t *operation);
int trv_mpi_operation_run(trv_mpi_operation_t *operation, const void *input, void *output);
/* The tags, and the memory of the node, of later starts: those of a position. `run` runs kept ones, at position 0. */
void trv_mpi_operation_place(trv_mpi_operation_t *operation, int position);
/* Waits for the requests that run it. */
void trv_mpi_operation_await(const trv_mpi_operation_t *operation);
/* The type and the operation of later starts: those of `want`, which is of the same shape. */
void trv_mpi_operation_handles(trv_mpi_operation_t *operation, const trv_mpi_want_t *want);
void trv_mpi_operation_describe(const trv_mpi_operation_t *operation, char *text, size_t size);

/* The operation of a blocking call, made at its first use and kept with the latest ones. `look` finds a kept one, or
 * NULL; `make` makes one that is not kept yet; `get` does either. `peek` finds one for a request to borrow. */
trv_mpi_operation_t *trv_mpi_cache_peek(trv_mpi_state_t *state, const trv_mpi_want_t *want);
trv_mpi_operation_t *trv_mpi_cache_look(trv_mpi_state_t *state, const trv_mpi_want_t *want);
int trv_mpi_cache_make(trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_mpi_operation_t **operation);
int trv_mpi_cache_get(trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_mpi_operation_t **operation);
/* The same without a look at the type, for predefined types and operations; NULL if there is none. */
trv_mpi_operation_t *trv_mpi_cache_find(trv_mpi_state_t *state, trv_collective_t collective, size_t count,
                                        MPI_Datatype datatype, MPI_Op op);
/* An operation like `kept` for a request. Where there is no memory for another one it is `kept` itself, shared by turns
 * with whoever else has it: run it when it is not busy. Never fails. */
trv_mpi_operation_t *trv_mpi_cache_borrow(trv_mpi_state_t *state, trv_mpi_operation_t *kept);
void trv_mpi_cache_give_back(trv_mpi_state_t *state, trv_mpi_operation_t *operation);
void trv_mpi_cache_clear(trv_mpi_state_t *state);

#endif
