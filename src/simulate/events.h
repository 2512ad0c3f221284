/*
 * The queue of future events, in order of time.
 *
 * Nearly all delays of a network are one of a few constants: the time of a full packet on a link, the latency of a hop,
 * and so on. Events that are pushed in order of time with a constant delay become due in the order in which they were
 * pushed. Each such delay therefore has a *lane*, a plain ring buffer, and finding the next event takes a comparison of
 * the heads of a few lanes. Events with other delays are kept in a binary heap.
 */
#ifndef TRIVANCE_SIMULATE_EVENTS_H
#define TRIVANCE_SIMULATE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"

/* A packet that reaches a router. `link` is the next link in its direction or, if it enters the network, its first. */
typedef struct flight {
    int64_t time;
    uint32_t link, message, info;
    uint32_t packet; /* index of its record or, when it enters the network, its number within the message */
} flight_t;

/* An event that is identified by a number. */
typedef struct tick {
    int64_t time;
    uint32_t id;
} tick_t;

typedef struct flight_lane {
    flight_t *at;
    uint32_t first, count, mask; /* capacity = mask + 1, a power of two */
} flight_lane_t;

typedef struct tick_lane {
    tick_t *at;
    uint32_t first, count, mask;
} tick_lane_t;

/* An event in the heap. Events with the same time are ordered by `key`: kind (8 bits), then id. */
typedef struct due {
    int64_t time;
    uint64_t key;
} due_t;

typedef struct due_heap {
    due_t *at;
    size_t count;
    int64_t capacity;
} due_heap_t;

#define TRV_NEVER INT64_MAX

int trv_flight_lane_grow(flight_lane_t *lane);
int trv_tick_lane_grow(tick_lane_t *lane);
int trv_due_push(due_heap_t *heap, int64_t time, uint64_t key);
due_t trv_due_pop(due_heap_t *heap);

static inline int flight_push(flight_lane_t *lane, const flight_t *flight)
{
    if (lane->count == lane->mask + 1 || !lane->at) {
        int rc = trv_flight_lane_grow(lane);
        if (rc)
            return rc;
    }
    lane->at[(lane->first + lane->count++) & lane->mask] = *flight;
    return TRV_OK;
}

static inline flight_t flight_pop(flight_lane_t *lane)
{
    flight_t flight = lane->at[lane->first];
    lane->first = (lane->first + 1) & lane->mask;
    lane->count--;
    return flight;
}

static inline int64_t flight_next(const flight_lane_t *lane)
{
    return lane->count ? lane->at[lane->first].time : TRV_NEVER;
}

static inline int tick_push(tick_lane_t *lane, int64_t time, uint32_t id)
{
    if (lane->count == lane->mask + 1 || !lane->at) {
        int rc = trv_tick_lane_grow(lane);
        if (rc)
            return rc;
    }
    lane->at[(lane->first + lane->count++) & lane->mask] = (tick_t){time, id};
    return TRV_OK;
}

static inline tick_t tick_pop(tick_lane_t *lane)
{
    tick_t tick = lane->at[lane->first];
    lane->first = (lane->first + 1) & lane->mask;
    lane->count--;
    return tick;
}

static inline int64_t tick_next(const tick_lane_t *lane)
{
    return lane->count ? lane->at[lane->first].time : TRV_NEVER;
}

static inline int64_t due_next(const due_heap_t *heap) { return heap->count ? heap->at[0].time : TRV_NEVER; }

#endif
