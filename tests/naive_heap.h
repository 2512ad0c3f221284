/*
 * For the naive simulator: its events, in one binary heap, by time, kind and key.
 */
#ifndef TRIVANCE_TESTS_NAIVE_HEAP_H
#define TRIVANCE_TESTS_NAIVE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct event {
    int64_t at;
    int kind;
    int64_t key; /* order among simultaneous events of the same kind */
    int which;   /* index of the server, message or cell */
    int64_t amount;
    struct packet *packet;
} event_t;

typedef struct naive_heap {
    event_t *at;
    size_t events, capacity;
} naive_heap_t;

static inline void *require(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static inline bool before(const event_t *a, const event_t *b)
{
    if (a->at != b->at)
        return a->at < b->at;
    return a->kind != b->kind ? a->kind < b->kind : a->key < b->key;
}

static inline void naive_push(naive_heap_t *heap, event_t event)
{
    if (heap->events == heap->capacity)
        heap->at = require(realloc(heap->at, (heap->capacity = 2 * heap->capacity + 64) * sizeof *heap->at));
    size_t i = heap->events++;
    for (; i > 0 && before(&event, &heap->at[(i - 1) / 2]); i = (i - 1) / 2)
        heap->at[i] = heap->at[(i - 1) / 2];
    heap->at[i] = event;
}

static inline event_t naive_pop(naive_heap_t *heap)
{
    event_t top = heap->at[0], last = heap->at[--heap->events];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < heap->events; i = child) {
        if (child + 1 < heap->events && before(&heap->at[child + 1], &heap->at[child]))
            child++;
        if (!before(&heap->at[child], &last))
            break;
        heap->at[i] = heap->at[child];
    }
    heap->at[i] = last;
    return top;
}

#endif
