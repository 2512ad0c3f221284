/*
 * Collectives: which units of the vector every rank holds before and after. The verifier checks schedules against this
 * table; the executor, the readers of schedules and the collective runtime use it to determine which buffers hold whole
 * vectors.
 */
#ifndef TRIVANCE_SCHEDULE_COLLECTIVE_H
#define TRIVANCE_SCHEDULE_COLLECTIVE_H

#include <stdbool.h>
#include <stddef.h>

#include <trivance/schedule.h>

#include "base/error.h"

/* The ranks that hold a unit. */
typedef enum trv_holders { TRV_EVERY_RANK, TRV_OWNER, TRV_ROOT } trv_holders_t;

typedef struct trv_collective_shape {
    const char *name, *title;    /* as written in commands and rules; as shown to people */
    bool reduces;                /* contributions are combined */
    bool exchanges;              /* every rank sends other data to each rank; units are numbered by displacement */
    trv_holders_t before, after; /* the ranks that contribute to a unit, and those that end with it */
} trv_collective_shape_t;

static const trv_collective_shape_t trv_collective_shapes[] = {
    [TRV_ALLREDUCE] = {"allreduce", "AllReduce", true, false, TRV_EVERY_RANK, TRV_EVERY_RANK},
    [TRV_REDUCE_SCATTER] = {"reduce-scatter", "Reduce-Scatter", true, false, TRV_EVERY_RANK, TRV_OWNER},
    [TRV_ALLGATHER] = {"allgather", "AllGather", false, false, TRV_OWNER, TRV_EVERY_RANK},
    [TRV_BROADCAST] = {"broadcast", "Broadcast", false, false, TRV_ROOT, TRV_EVERY_RANK},
    [TRV_REDUCE] = {"reduce", "Reduce", true, false, TRV_EVERY_RANK, TRV_ROOT},
    [TRV_SCATTER] = {"scatter", "Scatter", false, false, TRV_ROOT, TRV_OWNER},
    [TRV_GATHER] = {"gather", "Gather", false, false, TRV_OWNER, TRV_ROOT},
    [TRV_ALLTOALL] = {"alltoall", "All-to-All", false, true, TRV_EVERY_RANK, TRV_EVERY_RANK},
};
enum { TRV_COLLECTIVES = sizeof trv_collective_shapes / sizeof trv_collective_shapes[0] };

static inline const trv_collective_shape_t *trv_collective_shape(trv_collective_t collective)
{
    return &trv_collective_shapes[collective];
}

static inline const trv_collective_shape_t *trv_schedule_shape(const trv_schedule_t *schedule)
{
    return trv_collective_shape(trv_schedule_collective(schedule));
}

static inline bool trv_collective_has_root(trv_collective_t collective)
{
    const trv_collective_shape_t *shape = trv_collective_shape(collective);
    return shape->before == TRV_ROOT || shape->after == TRV_ROOT;
}

/* TRV_ERR_ARGUMENT if there is no such collective, or if it has no such root among this many ranks. */
static inline int trv_collective_check(trv_collective_t collective, int root, int ranks)
{
    if ((int)collective < 0 || (int)collective >= TRV_COLLECTIVES)
        return trv_fail(TRV_ERR_ARGUMENT, "there is no collective %d; collectives are 0 (%s) to %d (%s)",
                        (int)collective, trv_collective_shapes[0].title, TRV_COLLECTIVES - 1,
                        trv_collective_shapes[TRV_COLLECTIVES - 1].title);
    if (root != 0 && !trv_collective_has_root(collective))
        return trv_fail(TRV_ERR_ARGUMENT, "root %d: %s has no root; pass 0", root,
                        trv_collective_shape(collective)->title);
    return root >= 0 && root < ranks
               ? TRV_OK
               : trv_fail(TRV_ERR_ARGUMENT, "there is no root %d among %d ranks; roots are 0 to %d", root, ranks,
                          ranks - 1);
}

/* Whether units have owners. */
static inline bool trv_collective_has_owners(trv_collective_t collective)
{
    const trv_collective_shape_t *shape = trv_collective_shape(collective);
    return shape->before == TRV_OWNER || shape->after == TRV_OWNER;
}

/* Whether the vector consists of one block for each rank, because units have owners or destinations. The count of a
 * call is then that of a block. */
static inline bool trv_collective_has_blocks(trv_collective_t collective)
{
    return trv_collective_has_owners(collective) || trv_collective_shape(collective)->exchanges;
}

/* The number of blocks, each of a call's count, of which the vector consists. */
static inline size_t trv_collective_blocks(trv_collective_t collective, int ranks)
{
    return trv_collective_has_blocks(collective) ? (size_t)ranks : 1;
}

/* The number of these blocks that a rank has in its input (before) or output (after); `is_root`: the rank is the
 * root. */
static inline size_t trv_blocks_held(trv_collective_t collective, trv_holders_t holders, int ranks, bool is_root)
{
    if (holders == TRV_OWNER)
        return 1;
    return holders == TRV_EVERY_RANK || is_root ? trv_collective_blocks(collective, ranks) : 0;
}

/* Whether `rank` is one of the holders of a unit. */
static inline bool trv_holds(const trv_schedule_t *schedule, trv_holders_t holders, int rank, int64_t unit)
{
    switch (holders) {
    case TRV_OWNER: return trv_schedule_owner(schedule, unit) == rank;
    case TRV_ROOT: return trv_schedule_root(schedule) == rank;
    default: return true;
    }
}

/* The only rank whose contribution the unit of `rank` must have at the end; -1: those of all ranks. */
TRV_API int trv_schedule_source(const trv_schedule_t *schedule, int rank, int64_t unit);

#endif
