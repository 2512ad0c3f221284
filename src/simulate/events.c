/*
 * The parts of events.h that run rarely: growing the lanes, and the heap.
 */
#include "simulate/events.h"
#include "base/array.h"

#include <string.h>

/* Copies a ring buffer of `capacity` elements into a new one of `new_capacity`, the oldest element first. */
static void *unroll(const void *old, size_t size, uint32_t first, uint32_t capacity, uint32_t new_capacity)
{
    char *at = malloc(new_capacity * size);
    if (!at) {
        trv_fail_memory();
        return NULL;
    }
    if (capacity) {
        memcpy(at, (const char *)old + first * size, (capacity - first) * size);
        memcpy(at + (capacity - first) * size, old, first * size);
    }
    return at;
}

enum { FIRST_CAPACITY = 256, LAST_CAPACITY = 1 << 30 };

static int new_capacity(uint32_t capacity, uint32_t *grown)
{
    if (capacity == LAST_CAPACITY)
        return trv_fail_memory();
    *grown = capacity ? 2 * capacity : FIRST_CAPACITY;
    return TRV_OK;
}

int trv_flight_lane_grow(flight_lane_t *lane)
{
    uint32_t capacity = lane->at ? lane->mask + 1 : 0, grown = 0;
    if (new_capacity(capacity, &grown))
        return TRV_ERR_MEMORY;
    flight_t *at = unroll(lane->at, sizeof *at, lane->first, capacity, grown);
    if (!at)
        return TRV_ERR_MEMORY;
    free(lane->at);
    *lane = (flight_lane_t){at, 0, capacity, grown - 1};
    return TRV_OK;
}

int trv_tick_lane_grow(tick_lane_t *lane)
{
    uint32_t capacity = lane->at ? lane->mask + 1 : 0, grown = 0;
    if (new_capacity(capacity, &grown))
        return TRV_ERR_MEMORY;
    tick_t *at = unroll(lane->at, sizeof *at, lane->first, capacity, grown);
    if (!at)
        return TRV_ERR_MEMORY;
    free(lane->at);
    *lane = (tick_lane_t){at, 0, capacity, grown - 1};
    return TRV_OK;
}

static bool before(const due_t *a, const due_t *b) { return a->time != b->time ? a->time < b->time : a->key < b->key; }

int trv_due_push(due_heap_t *heap, int64_t time, uint64_t key)
{
    if (trv_array_reserve(&heap->at, &heap->capacity, (int64_t)heap->count, 1, sizeof *heap->at))
        return TRV_ERR_MEMORY;
    due_t due = {time, key};
    size_t i = heap->count++;
    for (; i > 0 && before(&due, &heap->at[(i - 1) / 2]); i = (i - 1) / 2)
        heap->at[i] = heap->at[(i - 1) / 2];
    heap->at[i] = due;
    return TRV_OK;
}

due_t trv_due_pop(due_heap_t *heap)
{
    due_t top = heap->at[0], last = heap->at[--heap->count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= heap->count)
            break;
        child += child + 1 < heap->count && before(&heap->at[child + 1], &heap->at[child]);
        if (!before(&heap->at[child], &last))
            break;
        heap->at[i] = heap->at[child];
        i = child;
    }
    heap->at[i] = last;
    return top;
}
