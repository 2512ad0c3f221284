/*
 * Schedules lowered to chunks of memory, for formats that say where data lies: MSCCL and MSCCL++.
 *
 * The vector is cut into equal *chunks*, one for every unit of every stream. A rank's memory is a row of *cells*, each
 * of the size of a chunk: cells 0 … chunks - 1 are the vector, in place; the others are scratch. Register 0 lies in the
 * vector, and every other register has a home in scratch.
 *
 * Two-sided (MSCCL): a receive writes into the home of its register when the receiver's program comes to it.
 *
 * One-sided (MSCCL++): the sender writes into the receiver's memory, maybe before the receiver comes to that step. A
 * home may be written if the sender knows, from the messages on the way, that the receiver is done with what was there;
 * otherwise the message gets cells of its own, and the register is there until it is next written.
 */
#ifndef TRIVANCE_FORMATS_LOWER_H
#define TRIVANCE_FORMATS_LOWER_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/schedule.h>

/* In the order in which they stand in a step. */
typedef enum trv_low_kind { TRV_LOW_SEND, TRV_LOW_RECEIVE, TRV_LOW_REDUCE } trv_low_kind_t;

typedef struct trv_low_op {
    trv_low_kind_t kind;
    int stream, step; /* step = steps: what is left to do in the end */
    int peer;         /* of a message */
    int sources;      /* of a reduction; one source is a copy. A message has one */
    int64_t count;    /* cells of the destination, and of every source */
    size_t cell;      /* index into trv_lowered_t.cell: `count` of the destination, then those of each source. Of a
                         message the source's cells are the sender's, the destination's the receiver's */
} trv_low_op_t;

/* The operations of one rank, by stream, then step, then kind. */
typedef struct trv_low_rank {
    trv_low_op_t *op;
    int64_t ops, capacity;
    int64_t cells; /* vector and scratch */
} trv_low_rank_t;

typedef struct trv_lowered {
    int ranks, streams, steps;
    int64_t chunks;
    int64_t input, output; /* chunks of the collective's input and output: fewer than `chunks` for reduce-scatter's
                              output and allgather's input */
    trv_low_rank_t *rank;
    int32_t *cell;
    size_t cells;
    int64_t capacity;
} trv_lowered_t;

/* TRV_ERR_UNSUPPORTED where the schedule is too large, or not exact; TRV_ERR_INVALID where a message lacks a side. */
int trv_lower(const trv_schedule_t *schedule, bool one_sided, trv_lowered_t *lowered);
void trv_lowered_clear(trv_lowered_t *lowered);

/* Cells for a writer's own use, behind all others of the rank; returns the first. */
int64_t trv_low_scratch(trv_lowered_t *lowered, int rank, int64_t count);

/* The cells of an operation: source `index` (from 0), or the destination (-1). */
static inline const int32_t *trv_low_cells(const trv_lowered_t *lowered, const trv_low_op_t *op, int index)
{
    return lowered->cell + op->cell + (size_t)(index + 1) * (size_t)op->count;
}

/* How many cells from `first` on follow each other in the destination and in all sources, at most `max`. */
int64_t trv_low_run(const trv_lowered_t *lowered, const trv_low_op_t *op, int64_t first, int64_t max);

#endif
