/*
 * The state of a symbolic run of a GPU program: clocks of threadblocks, messages and signals under way, contents of
 * memory.
 *
 *     gpu_run.c     operations, launches, the order in which threadblocks run, the end
 *     gpu_memory.c  chunks: which contributions they hold, and whether accesses are ordered
 *     gpu_order.c   the order of threadblocks: messages, signals, dependencies, barriers
 */
#ifndef TRIVANCE_VERIFY_GPU_STATE_H
#define TRIVANCE_VERIFY_GPU_STATE_H

#include <string.h>

#include "verify/vector_clock.h"
#include "verify/gpu_program.h"

typedef struct news { /* a message or a signal that was sent and is not received yet */
    struct news *next;
    bool relaxed;     /* the wait for it; a relaxed signal has no clock of what is visible */
    int count;        /* numbers of the clock */
    int chunks;       /* of a message */
    int32_t number[]; /* the sender's clock, then the message's rows */
} news_t;

typedef struct queue { /* messages and signals of a connection (MSCCL) or of one end of a channel (MSCCL++) */
    news_t *first, **last;
    int held;
    int user[2], used[2]; /* the threadblock that sent, or received, last (-1: none), and its clock then */
} queue_t;

typedef struct block {
    int at, launch;
    int to;             /* MSCCL: the queue that it sends to, or -1 */
    int stretch;        /* the present one, between two nops; 0 in MSCCL, whose steps need none between them */
    bool moved, waited; /* within the stretch */
    news_t *waited_for; /* within the stretch */
    int barrier;        /* the turn that it waits for, or -1 */
} block_t;

typedef struct barrier {
    int arrived, blocks, turn;
    int32_t *coming, *gone; /* clocks */
} barrier_t;

typedef struct cell {              /* a chunk of a GPU's memory */
    int writer;                    /* or -1 */
    int32_t written;               /* the writer's clock then */
    bool launched;                 /* a launch has written it */
    int read_within, wrote_within; /* the stretches in which it was touched last */
} cell_t;

typedef struct run {
    const trv_gpu_program_t *program;
    trv_gpu_program_verdict_t *verdict;
    trv_span_t part; /* of the caller's work */
    bool in_place;
    int blocks, stretch;
    int width;             /* of a row: the chunk of the vector that it is of (-1: nothing), then per GPU how often */
    int planes;            /* of a clock: what a threadblock knows and, in a plan, what is visible to it */
    uint64_t held_numbers; /* by barriers and signals */
    double work, all_work; /* done, and of all ways to run it */
    int *first_cell;       /* of each GPU; one more */
    size_t *first_reader;  /* of each GPU's cells in `read` */
    int32_t *memory;       /* a row for each cell */
    int32_t *row;          /* what an operation has read: a row for each chunk of it */
    cell_t *cell;
    int32_t *read;  /* [cell][threadblock that may read it]: the reader's clock then */
    int32_t *clock; /* [threadblock][plane][threadblock]: steps that are known to be done; the own ones: that are */
    int32_t **kept; /* of each operation that others have to wait for: the clock behind it, once it is done */
    block_t *block;
    barrier_t *barrier; /* [GPU][TRV_GPU_BARRIERS_MAX], made when they are used */
    queue_t *queue;     /* of each end of a channel; in MSCCL of each threadblock */
    int queues, barriers;
} run_t;

static inline int32_t *clock_of(const run_t *run, int block)
{
    return run->clock + (size_t)block * (size_t)run->planes * (size_t)run->blocks;
}
static inline int32_t *visible_to(const run_t *run, int block)
{
    return clock_of(run, block) + (run->planes - 1) * run->blocks;
}
static inline int32_t *row_of(const run_t *run, int cell) { return run->memory + (size_t)cell * (size_t)run->width; }

/* Counts the threadblock's present operation as done, in the first `count` numbers of a clock. */
static inline void clock_tick(const run_t *run, int block, int32_t *clock, int count)
{
    for (int at = block; at < count; at += run->blocks)
        clock[at]++;
}

/* Always 1: that there is one. The threadblock may be -1. Other functions that return an int return 1 for a fault, too,
 * and negative errors. */
__attribute__((format(printf, 3, 4))) int trv_run_fault(run_t *run, int block, const char *format, ...);
/* TRV_ERR_UNSUPPORTED where a run would hold too many numbers of a kind. */
int trv_run_limit(const run_t *run, uint64_t numbers, const char *what);

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* The number of cells of a GPU, and of the threadblocks that may read them: those from *first on. */
int trv_run_cells(const run_t *run, int gpu);
int trv_run_readers(const run_t *run, int gpu, int *first);

/* The cell of the i-th chunk of a span; -1 after a fault, because there is none. */
int trv_run_find(run_t *run, int block, const trv_gpu_span_t *span, int i);
/* The other threadblock whose access of the cell is not ordered before this one, or -1. */
int trv_run_unordered(const run_t *run, int block, int gpu, int cell, bool writes);
/* Notes an access: a fault where it is not ordered, with another threadblock or the other threads of the own one. */
int trv_run_touch(run_t *run, int block, int gpu, int cell, bool writes);

/* The i-th chunk of a span into a row, or added to it, and from a row; `touched`: the access is noted already. */
int trv_run_take(run_t *run, int block, const trv_gpu_span_t *span, int i, int32_t *row, bool add);
int trv_run_store(run_t *run, int block, const trv_gpu_span_t *span, int i, const int32_t *row, bool touched);

void trv_run_fill_inputs(run_t *run, int gpu); /* and nothing else is in the GPU's memory */
int trv_run_check_outputs(run_t *run, int gpu);

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* Begins a stretch: the threads of the threadblock have waited for each other. */
void trv_run_begin_stretch(run_t *run, int block);

/* Operations of plans. *done: false where they have to wait. */
int trv_run_signal(run_t *run, int block, const trv_gpu_op_t *op);
int trv_run_wait(run_t *run, int block, const trv_gpu_op_t *op, bool *done);
int trv_run_barrier(run_t *run, int block, const trv_gpu_op_t *op, bool *done);

/* Steps of MSCCL. Before the run: connects senders with receivers, and checks that the steps that others wait for
 * exist. */
int trv_run_connect(run_t *run);
/* Whether a step can be performed; if so, the threadblock takes over the clock of the step that it waited for. */
bool trv_run_is_ready(run_t *run, int block, const trv_gpu_op_t *op);
/* A message of that many chunks, into and from run->row. */
int trv_run_receive(run_t *run, int block, int chunks);
int trv_run_send(run_t *run, int block, int chunks);
/* Keeps the clock behind a step that others wait for. */
int trv_run_keep(run_t *run, int block);

void trv_run_clear_order(run_t *run);

#endif
