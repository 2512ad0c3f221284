/*
 * A plan of MSCCL++ while it runs symbolically: what threadblocks know of each other, and what memory holds.
 */
#ifndef TRIVANCE_FORMATS_MSCCLPP_RUN_H
#define TRIVANCE_FORMATS_MSCCLPP_RUN_H

#include "formats/mscclpp_program.h"

#define TRV_PP_ROOM_MAX UINT64_C(100000000) /* numbers, of each kind */
#define TRV_PP_BARRIERS 1024                /* of a GPU */

typedef struct block {
    int at, launch;
    bool moved, waited;      /* since the last nop */
    int barrier;             /* the turn that it waits for, or -1 */
    struct news *waited_for; /* since the last nop */
} block_t;

typedef struct barrier {
    int arrived, blocks, turn;
    int32_t *coming, *gone; /* clocks: what is known, and behind that what is visible */
} barrier_t;

typedef struct news { /* of a signal */
    struct news *next;
    bool relaxed; /* it, or the wait for it */
    int count;
    int32_t clock[]; /* what is known; unless it is relaxed, what is visible */
} news_t;

typedef struct end {       /* of a channel */
    news_t *first, **last; /* signals to it that nobody has waited for */
    int user[2], used[2];  /* the threadblock that signalled, or waited, last, and its clock then */
} end_t;

typedef struct cell {
    int writer;                    /* or -1 */
    int32_t written;               /* the writer's clock then */
    bool launched;                 /* a launch has written it */
    int read_within, wrote_within; /* the stretches in which it was touched last */
} cell_t;

typedef struct run {
    const trv_mscclpp_t *program;
    trv_msccl_verdict_t *verdict;
    bool in_place;
    int width, blocks;
    uint64_t room;   /* numbers that barriers and signals hold */
    int *first_cell; /* of each GPU; one more */
    int32_t *memory, *row;
    int32_t *clock; /* [threadblock][2][threadblock]: what it knows, what is visible to it */
    int32_t *read;  /* [cell][threadblock]: the reader's clock then */
    cell_t *cell;
    int stretch, *own_stretch; /* of each threadblock: between two nops */
    block_t *block;
    barrier_t *barrier; /* [GPU][BARRIERS], made when they are used */
    end_t *end;
} run_t;

static inline int32_t *clock_of(const run_t *run, int block)
{
    return run->clock + 2 * (size_t)block * (size_t)run->blocks;
}
static inline int32_t *visible_to(const run_t *run, int block) { return clock_of(run, block) + run->blocks; }
static inline int32_t *row_of(const run_t *run, int cell) { return run->memory + (size_t)cell * (size_t)run->width; }

static inline void join(int32_t *mine, const int32_t *known, int count)
{
    for (int i = 0; i < count; i++)
        mine[i] = known[i] > mine[i] ? known[i] : mine[i];
}

static inline void go_on(const run_t *run, int block)
{
    clock_of(run, block)[block]++;
    visible_to(run, block)[block]++;
}

/* Always 1: that there is one. The threadblock may be -1. */
__attribute__((format(printf, 3, 4))) int trv_pp_fault(run_t *run, int block, const char *format, ...);

/* What begins when the threads of a threadblock have waited for each other. */
void trv_pp_begin_stretch(run_t *run, int block);

/* Operations: 1 a fault. *done: false where they have to wait. */
int trv_pp_signal(run_t *run, int block, const trv_pp_op_t *op);
int trv_pp_wait(run_t *run, int block, const trv_pp_op_t *op, bool *done);
int trv_pp_meet(run_t *run, int block, const trv_pp_op_t *op, bool *done);

void trv_pp_order_clear(run_t *run);

#endif
