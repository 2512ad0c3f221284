/*
 * Schedules lowered to chunks of memory, for formats that specify the location of data: MSCCL++.
 *
 * The vector is cut into equal *chunks*, one for every unit of every stream. A rank's memory is an array of *cells*,
 * each of the size of a chunk: cells 0 … chunks - 1 are the vector, in place; the others are scratch. Register 0 is in
 * the vector, and every other register has a home in scratch.
 *
 * Messages are one-sided: the sender writes into the receiver's memory, possibly before the receiver reaches that step.
 * A home may be written if the messages received so far imply that the receiver has finished using its contents;
 * otherwise the message gets new cells, and the register is in these cells until it is written again.
 */
#ifndef TRIVANCE_FORMATS_LOWER_H
#define TRIVANCE_FORMATS_LOWER_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/schedule.h>

/* In the order of execution within a step. */
typedef enum trv_low_kind { TRV_LOW_SEND, TRV_LOW_RECEIVE, TRV_LOW_REDUCE } trv_low_kind_t;

typedef struct trv_low_op {
    trv_low_kind_t kind;
    int stream, step; /* step = steps: final copies */
    int peer;         /* of a message */
    int sources;      /* number of sources of a reduction; a copy or a message has one */
    int64_t count;    /* cells of the destination, and of every source */
    size_t cell;      /* index into trv_lowered_t.cell: `count` of the destination, then those of each source. A message
                         has a source in cells of the sender and a destination in cells of the receiver */
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

/* Returns the number of chunks of a schedule's vector: the number of units of all streams together. */
int64_t trv_lower_chunks(const trv_schedule_t *schedule);

/* The size in bytes of every chunk of an MSCCL++ plan is a multiple of this. */
enum { TRV_MSCCLPP_ALIGNMENT = 16 };

/* Lowers a schedule. TRV_ERR_UNSUPPORTED if it is too large or not exact; TRV_ERR_INVALID if a message lacks its
 * send or its receive. */
int trv_lower(const trv_schedule_t *schedule, trv_lowered_t *lowered);
void trv_lowered_clear(trv_lowered_t *lowered);

/* Adds cells for the use of a format's writer after all other cells of the rank; returns the first. */
int64_t trv_low_scratch(trv_lowered_t *lowered, int rank, int64_t count);

/* The cells of an operation: source `index` (from 0), or the destination (-1). */
static inline int32_t *trv_low_cells(const trv_lowered_t *lowered, const trv_low_op_t *op, int index)
{
    return lowered->cell + op->cell + (size_t)(index + 1) * (size_t)op->count;
}

#endif
