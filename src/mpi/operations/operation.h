/*
 * One collective, ready to run: its plan and its channel. Behind every TRV_Plan, behind the blocking calls, and lent to
 * requests. It runs at any count of the sizes that it was decided for.
 */
#ifndef TRIVANCE_MPI_OPERATIONS_OPERATION_H
#define TRIVANCE_MPI_OPERATIONS_OPERATION_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include <trivance/execute.h>

#include "mpi/communicator/state.h"
#include "mpi/operations/elements.h"
#include "mpi/operations/want.h"
#include "mpi/reports/log_table.h"
#include "mpi/reports/recorder.h"

/* How calls of a kind are served, spelled out: the same on all ranks. */
typedef struct trv_mpi_recipe {
    const trv_schedule_t *schedule; /* NULL: the MPI library's own function serves */
    const char *algorithm;          /* its name; "mpi" */
    size_t chunk_bytes, piece_bytes;
    int place;                 /* of this rank on the torus */
    const int *member;         /* the rank in the domain at every place; NULL: the place's number */
    const int *name;           /* the rank in the communicator at every place; NULL: the place's number */
    struct trv_mpi_node *node; /* that shares every place; NULL: one rank at each */
    const trv_plan_t *model;   /* whose compiled program operations share; NULL: each compiles its own */
} trv_mpi_recipe_t;

typedef struct trv_mpi_operation {
    trv_mpi_want_t want;    /* of the latest start: count and handles */
    trv_mpi_state_t *state; /* that it was made for; NULL for an intercommunicator */
    trv_plan_t *plan; /* NULL on ranks that a leader stands for, and where the MPI library's own function serves */
    struct trv_mpi_node_run *run; /* where several ranks share every place of the torus; else NULL */
    trv_mpi_channel_t *channel;
    trv_mpi_local_t local;
    const char *algorithm;
    const int *name;   /* the rank in the communicator at every place; NULL: the place's number */
    trv_torus_t torus; /* of the schedule */
    int steps;
    trv_mpi_tally_t *tally; /* where its runs are counted; NULL: nowhere */
    unsigned long call;     /* the number of its latest one, where calls are recorded */
    bool failed;            /* a run has: it is of no more use */
} trv_mpi_operation_t;

/* `shared`: runs at positions of the state's number (trv_mpi_operation_place); otherwise its tags begin at `tag`. TRV_OK
 * or a code of the core. */
int trv_mpi_operation_init(trv_mpi_operation_t *operation, trv_mpi_state_t *state, const trv_mpi_want_t *want,
                           const trv_mpi_recipe_t *recipe, bool shared, int tag);
void trv_mpi_operation_clear(trv_mpi_operation_t *operation);

/* The plan that operations of a recipe share the program of: it is never run. Counted as kept memory. */
int trv_mpi_model_create(trv_plan_t **model, const trv_mpi_want_t *want, const trv_mpi_recipe_t *recipe);
void trv_mpi_model_destroy(trv_plan_t *model);

/* Whether the operation is ours; otherwise the MPI library's own function serves, and the ones below are not called. */
bool trv_mpi_operation_serves(const trv_mpi_operation_t *operation);

/* Starts a run of want.count elements. A failure of start, test or run is this rank's alone and breaks the communicator
 * here; so does `fail`, for a rank that cannot start its part. It returns the code. */
int trv_mpi_operation_start(trv_mpi_operation_t *operation, const void *input, void *output);
int trv_mpi_operation_test(trv_mpi_operation_t *operation);
int trv_mpi_operation_wait(trv_mpi_operation_t *operation);
int trv_mpi_operation_fail(trv_mpi_operation_t *operation, int code);
/* Start and wait. */
int trv_mpi_operation_run(trv_mpi_operation_t *operation, const void *input, void *output);
/* The tags, and the memory of the node, of later starts: those of a position. */
void trv_mpi_operation_place(trv_mpi_operation_t *operation, int position);
/* Count and handles of later starts, of the same signature. */
static inline void trv_mpi_operation_take(trv_mpi_operation_t *operation, size_t count, MPI_Datatype datatype,
                                          MPI_Op op)
{
    operation->want.count = count;
    operation->want.datatype = operation->local.datatype = datatype;
    operation->want.op = operation->local.op = op;
}

/* Counts a run in the log's table, and records it, where that is wanted. */
void trv_mpi_operation_note(trv_mpi_operation_t *operation);
static inline void trv_mpi_operation_count(trv_mpi_operation_t *operation)
{
    if (trv_mpi_recording || operation->tally)
        trv_mpi_operation_note(operation);
}
/* What is waited for: trv_mpi_waiting_t of an operation. */
void trv_mpi_operation_describe(const void *operation, char *text, size_t size);

#endif
