/*
 * A pool of objects that are used by one run at a time: taken for a run, given back after it. Objects in the pool are
 * not in use. Any thread may take and give; where one object is enough, neither takes the lock.
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

/* The list behind the first object: trv_pool_take and trv_pool_give call these. */
trv_pooled_t *trv_pool_take_other(trv_pool_t *pool);
bool trv_pool_give_other(trv_pool_t *pool, trv_pooled_t *pooled);

/* NULL: none is free. */
static inline trv_pooled_t *trv_pool_take(trv_pool_t *pool)
{
    trv_pooled_t *taken = atomic_exchange_explicit(&pool->first, NULL, memory_order_acquire);
    return taken ? taken : trv_pool_take_other(pool);
}

/* false: the pool is full, and the object stays the caller's. */
static inline bool trv_pool_give(trv_pool_t *pool, trv_pooled_t *pooled)
{
    trv_pooled_t *none = NULL;
    return atomic_compare_exchange_strong_explicit(&pool->first, &none, pooled, memory_order_release,
                                                   memory_order_relaxed) ||
           trv_pool_give_other(pool, pooled);
}

#endif
