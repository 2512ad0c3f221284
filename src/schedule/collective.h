/*
 * Collectives: what every rank holds of each unit of the vector before and after. The verifier checks schedules against
 * this table; the executor, the readers and the collective runtime take from it which buffers are whole vectors.
 */
#ifndef TRIVANCE_SCHEDULE_COLLECTIVE_H
#define TRIVANCE_SCHEDULE_COLLECTIVE_H

#include <stdbool.h>
#include <stddef.h>

#include <trivance/schedule.h>

typedef struct trv_collective_shape {
    const char *name, *title; /* as commands and rules have it; for people */
    bool reduces;             /* contributions are added */
    bool all_before;          /* every rank contributes to every unit; else the unit's owner alone */
    bool all_after;           /* every rank ends with every unit; else the unit's owner alone */
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

/* Whether units have owners: the vector then consists of a block for each rank, and a count is that of a block. */
static inline bool trv_collective_has_owners(trv_collective_t collective)
{
    return !trv_collective_shapes[collective].all_before || !trv_collective_shapes[collective].all_after;
}

/* How many blocks of a call's count the vector consists of. */
static inline size_t trv_collective_blocks(trv_collective_t collective, int ranks)
{
    return trv_collective_has_owners(collective) ? (size_t)ranks : 1;
}

#endif
