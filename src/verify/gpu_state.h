/*
 * The state of a symbolic run of a GPU program: clocks of threadblocks, signals in flight, contents of memory.
 *
 *     gpu_run.c     operations, launches, the order in which threadblocks run, the end
 *     gpu_memory.c  chunks: which contributions they hold, and whether accesses are ordered
 *     gpu_order.c   the order of threadblocks: signals, waits, barriers
 */
#ifndef TRIVANCE_VERIFY_GPU_STATE_H
#define TRIVANCE_VERIFY_GPU_STATE_H

#include <string.h>

#include "verify/vector_clock.h"
#include "verify/gpu_program.h"

typedef struct pending { /* a signal that was sent and is not received yet */
    struct pending *next;
    bool relaxed;    /* the wait for it is relaxed; the clock of a relaxed signal has no part for visible data */
    int count;       /* number of entries of the clock */
    int32_t clock[]; /* of the sender */
} pending_t;

typedef struct queue { /* signals to one end of a channel */
    pending_t *first, **last;
    int user[2], used[2]; /* the threadblock that signalled, or waited, last (-1: none), and its clock at that time */
} queue_t;

typedef struct block {
    int at, launch;
    int epoch;           /* number of the present epoch, the interval between two nops */
    bool moved, waited;  /* whether it moved data, or waited, within the epoch */
    pending_t *acquired; /* entries received within the epoch */
    int barrier;         /* the turn of the barrier at which it waits, or -1 */
} block_t;

typedef struct barrier {
    int arrived, blocks, turn;
    int32_t *arriving, *released; /* joined clocks of the threadblocks that arrived in this turn, and in the last one */
} barrier_t;

typedef struct cell {            /* a chunk of a GPU's memory */
    int writer;                  /* or -1 */
    int32_t written;             /* the writer's clock at that time */
    bool launched;               /* the last write was a launch */
    int read_epoch, write_epoch; /* the epochs of the last accesses */
} cell_t;

typedef struct run {
    const trv_gpu_program_t *program;
    trv_gpu_program_verdict_t *verdict;
    trv_span_t progress; /* for progress reports */
    int blocks, epoch;
    int width;             /* length of a row: the chunk of the vector (-1: empty), then one count per GPU */
    uint64_t held_values;  /* values in the clocks of barriers and signals */
    double work, all_work; /* work so far, and of all launches of the program */
    int *first_cell;       /* per GPU, and one more entry */
    int32_t *memory;       /* a row for each cell */
    int32_t *row;          /* the data that an operation has read */
    cell_t *cell;
    int32_t *read; /* [cell][threadblock]: the clock of the threadblock when it last read the cell */
    /* [threadblock][part][threadblock]: number of operations known to be complete (for the threadblock itself the
     * actual number), and number of those whose writes are visible */
    int32_t *clock;
    block_t *block;
    barrier_t *barrier; /* [GPU][TRV_GPU_BARRIERS_MAX], created on first use */
    queue_t *queue;     /* per end of a channel */
    int barriers;
} run_t;

static inline int32_t *clock_of(const run_t *run, int block)
{
    return run->clock + (size_t)block * 2 * (size_t)run->blocks;
}
static inline int32_t *visible_to(const run_t *run, int block) { return clock_of(run, block) + run->blocks; }
static inline int32_t *row_of(const run_t *run, int cell) { return run->memory + (size_t)cell * (size_t)run->width; }

/* Counts the threadblock's present operation as complete, in the first `count` entries of a clock. */
static inline void clock_tick(const run_t *run, int block, int32_t *clock, int count)
{
    for (int at = block; at < count; at += run->blocks)
        clock[at]++;
}

/* Reports a fault and returns 1. `block` may be -1. Other functions that return an int also return 1 after a fault, and
 * a negative value for an error. */
__attribute__((format(printf, 3, 4))) int trv_run_fault(run_t *run, int block, const char *format, ...);
/* Returns TRV_ERR_UNSUPPORTED if a run would need too much memory; `what` names the data. */
int trv_run_limit(uint64_t values, const char *what);

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* The number of cells of a GPU. */
int trv_run_cells(const run_t *run, int gpu);

/* The cell of the i-th chunk of a span. Returns -1 after a fault if the chunk does not exist. */
int trv_run_find(run_t *run, int block, const trv_gpu_span_t *span, int i);
/* Another threadblock whose access of the cell is not ordered before this one, or -1. */
int trv_run_unordered(const run_t *run, int block, int cell, bool writes);
/* Records an access. It is a fault if it is unordered with respect to another threadblock, or to other threads of the
 * same threadblock. */
int trv_run_touch(run_t *run, int block, int cell, bool writes);

/* Copies the i-th chunk of a span into a row, or adds it to the row; and stores a row. `touched`: the access is
 * recorded already. */
int trv_run_take(run_t *run, int block, const trv_gpu_span_t *span, int i, int32_t *row, bool add);
int trv_run_store(run_t *run, int block, const trv_gpu_span_t *span, int i, const int32_t *row, bool touched);

void trv_run_fill_inputs(run_t *run, int gpu); /* clears all other memory of the GPU */
int trv_run_check_outputs(run_t *run, int gpu);

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* Begins an epoch: all threads of the threadblock have waited for each other, and earlier waits take effect. */
void trv_run_begin_epoch(run_t *run, int block);

/* *done is set to false if the threadblock has to wait. */
int trv_run_signal(run_t *run, int block, const trv_gpu_op_t *op);
int trv_run_wait(run_t *run, int block, const trv_gpu_op_t *op, bool *done);
int trv_run_barrier(run_t *run, int block, const trv_gpu_op_t *op, bool *done);

void trv_run_clear_order(run_t *run);

#endif
