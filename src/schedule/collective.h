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

typedef struct trv_collective_shape {
    const char *name, *title; /* as written in commands and rules; as shown to people */
    bool reduces;             /* contributions are combined */
    bool all_before;          /* every rank contributes to every unit; otherwise only the unit's owner does */
    bool all_after;           /* every rank ends with every unit; otherwise only the unit's owner does */
} trv_collective_shape_t;

static const trv_collective_shape_t trv_collective_shapes[] = {
    [TRV_ALLREDUCE] = {"allreduce", "AllReduce", true, true, true},
    [TRV_REDUCE_SCATTER] = {"reduce-scatter", "Reduce-Scatter", true, true, false},
    [TRV_ALLGATHER] = {"allgather", "AllGather", false, false, true},
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

/* TRV_ERR_ARGUMENT if there is no such collective, or if it has no such root. */
int trv_collective_check(trv_collective_t collective, int root);

/* Whether units have owners. The vector then consists of one block per rank, and the count of a call is that of a
 * block. */
static inline bool trv_collective_has_owners(trv_collective_t collective)
{
    return !trv_collective_shapes[collective].all_before || !trv_collective_shapes[collective].all_after;
}

/* The number of blocks, each of a call's count, of which the vector consists. */
static inline size_t trv_collective_blocks(trv_collective_t collective, int ranks)
{
    return trv_collective_has_owners(collective) ? (size_t)ranks : 1;
}

#endif
