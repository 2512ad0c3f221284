/*
 * One collective, ready to run: its plan and its channel. Each TRV_Plan owns one; blocking calls and requests take
 * theirs from the pool of a decision. It can run with every count in the range of sizes of its decision.
 */
#ifndef TRIVANCE_MPI_OPERATIONS_OPERATION_H
#define TRIVANCE_MPI_OPERATIONS_OPERATION_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include <trivance/execute.h>

#include "collective/prepared.h"
#include "mpi/communicator/state.h"
#include "mpi/operations/buffers.h"
#include "mpi/operations/elements.h"
#include "mpi/operations/call_arguments.h"
#include "mpi/reports/log_table.h"
#include "collective/recorder.h"

/* The places of the ranks in a schedule. A "coordinate" is the index of a torus coordinate, in row-major order. */
typedef struct trv_mpi_places {
    size_t fragment_bytes;     /* the same on all ranks */
    int coordinate;            /* the coordinate of this rank */
    const int *member;         /* the rank in the domain at every coordinate; NULL: the same number */
    const int *comm_rank;      /* the rank in the communicator at every coordinate; NULL: the same number */
    struct trv_mpi_node *node; /* the ranks that share this rank's coordinate; NULL: one rank at each */
} trv_mpi_places_t;

typedef struct trv_mpi_operation {
    trv_pooled_t pooled;               /* must be first: the pointers of pools are cast */
    struct trv_mpi_decision *decision; /* that has it in its pool, or NULL (selection/instances.h) */
    trv_mpi_arguments_t arguments;     /* count and handles are those of the latest start */
    trv_mpi_state_t *state;            /* the communicator of the latest start; NULL for an intercommunicator */
    trv_plan_t *plan; /* NULL on a rank that is not its node's leader, and if the MPI library's collective is used */
    struct trv_mpi_node_run *run; /* if several ranks share every coordinate of the torus; else NULL */
    trv_mpi_channel_t *channel;
    trv_mpi_local_t local;
    trv_mpi_buffers_t buffers; /* of the latest run */
    const char *algorithm;
    const int *comm_rank; /* as in trv_mpi_places_t */
    trv_torus_t torus;    /* of the schedule */
    int steps;
    trv_mpi_tally_t *tally; /* its runs are counted here; NULL: they are not counted */
    unsigned long call;     /* the number of its latest run in the flight recorder; 0: not recorded */
    bool failed;            /* a run failed: the operation must not be started again */
} trv_mpi_operation_t;

/* Creates an operation that runs the schedule of a prepared decision. It shares the program, if that is compiled;
 * otherwise it compiles one of its own. `shared`: runs use the tags of a position of the communicator, which is chosen
 * for each run (trv_mpi_operation_set_position); otherwise its tags begin at `tag`. TRV_OK or a code of the core. */
int trv_mpi_operation_init(trv_mpi_operation_t *operation, trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments,
                           const trv_prepared_t *prepared, const trv_mpi_places_t *places, bool shared, int tag);
void trv_mpi_operation_clear(trv_mpi_operation_t *operation);

/* Bytes of scratch memory that this rank needs for the other ranks of its node, if it is their leader. */
size_t trv_mpi_node_bytes(const trv_mpi_arguments_t *arguments, const trv_mpi_places_t *places);

/* Compiles the schedule of a prepared decision; on a rank that is not its node's leader there is nothing to compile.
 * TRV_OK or a code of the core. */
int trv_mpi_operation_compile(trv_prepared_t *prepared, const trv_mpi_arguments_t *arguments,
                              const trv_mpi_places_t *places);

/* Whether the operation runs a schedule; otherwise the MPI library's collective is used, and of the functions below
 * only trv_mpi_operation_count may be called. */
bool trv_mpi_operation_has_schedule(const trv_mpi_operation_t *operation);

/* Starts a run of arguments.count elements, on the program's buffers or on copies of them (buffers.h), and counts it.
 * `packed`: the arguments of a movement of types with gaps, which replace input and output; else NULL. A failure of
 * begin, test or wait concerns this rank only and breaks the communicator on it. In any case the caller then ends the
 * run: trv_mpi_operation_end copies the result of a run that returned `code`, and returns `code` or an error of
 * copying. */
int trv_mpi_operation_begin(trv_mpi_operation_t *operation, const trv_mpi_movement_t *packed, const void *input,
                            void *output);
int trv_mpi_operation_test(trv_mpi_operation_t *operation);
int trv_mpi_operation_wait(trv_mpi_operation_t *operation);
int trv_mpi_operation_end(trv_mpi_operation_t *operation, int code);
/* The error class of a run that ended with `code`, and whose buffers have this alias. */
static inline int trv_mpi_operation_class(int code, trv_mpi_alias_t alias)
{
    return code < 0 ? trv_mpi_class(code) : trv_mpi_alias_class(alias);
}
/* Sets the position of the communicator whose tags, and whose memory of the node, later starts use. */
void trv_mpi_operation_set_position(trv_mpi_operation_t *operation, int position);
/* Sets count, block sizes (NULL: equal blocks) and handles of the next start; the operation signature must be the
 * same. The operation does not own the block sizes. */
static inline void trv_mpi_operation_set_call(trv_mpi_operation_t *operation, size_t count, trv_mpi_blocks_t *blocks,
                                              MPI_Datatype datatype, MPI_Op op)
{
    operation->arguments.count = count;
    operation->arguments.blocks = blocks;
    operation->arguments.datatype = operation->local.datatype = datatype;
    operation->arguments.op = operation->local.op = op;
}

/* Counts a run in the log's table and records it in the flight recorder, if these are enabled. */
void trv_mpi_operation_report(trv_mpi_operation_t *operation);
static inline void trv_mpi_operation_count(trv_mpi_operation_t *operation)
{
    if (trv_recording || operation->tally)
        trv_mpi_operation_report(operation);
}
/* Describes the messages that an operation waits for, as a callback of trv_mpi_waiting_t. */
void trv_mpi_operation_describe(const void *operation, char *text, size_t size);

#endif
