/*
 * A pool of objects that are used by one run at a time: taken for a run, given back after it. Objects in the pool are not in use.
 * Any thread may take and give; where one object is enough, neither takes the lock.
 */
#ifndef TRIVANCE_COLLECTIVE_POOL_H
#define TRIVANCE_COLLECTIVE_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* The first member of a pooled object. */
typedef struct trv_pooled {
    struct trv_pooled *next;
} trv_pooled_t;

typedef struct trv_pool {
    _Atomic(trv_pooled_t *) first;
    pthread_mutex_t lock; /* of the others: */
    trv_pooled_t *other;
    int others, others_max;
} trv_pool_t;

/* Capacity: one object, and others_max more. */
void trv_pool_init(trv_pool_t *pool, int others_max);
/* After everything in it is taken. */
void trv_pool_clear(trv_pool_t *pool);
/* NULL: none is free. */
trv_pooled_t *trv_pool_take(trv_pool_t *pool);
/* false: the pool is full, and the object stays the caller's. */
bool trv_pool_give(trv_pool_t *pool, trv_pooled_t *pooled);

#endif
