/*
 * A pool of objects that are used by one run at a time: a run takes an object and returns it at its end. Objects in the
 * pool are not in use. Any thread may take and return objects; if one object suffices, neither acquires the lock.
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
    pthread_mutex_t lock; /* protects the members below, the list of further objects */
    trv_pooled_t *other;
    int others, others_max;
} trv_pool_t;

/* The capacity is one object and others_max further ones. */
void trv_pool_init(trv_pool_t *pool, int others_max);
/* Called after all objects have been taken. */
void trv_pool_clear(trv_pool_t *pool);

/* Access to the list of further objects, for trv_pool_take and trv_pool_give. */
trv_pooled_t *trv_pool_take_other(trv_pool_t *pool);
bool trv_pool_give_other(trv_pool_t *pool, trv_pooled_t *pooled);

/* Takes an object; NULL if the pool is empty. */
static inline trv_pooled_t *trv_pool_take(trv_pool_t *pool)
{
    trv_pooled_t *taken = atomic_exchange_explicit(&pool->first, NULL, memory_order_acquire);
    return taken ? taken : trv_pool_take_other(pool);
}

/* Returns an object to the pool; false if the pool is full, and the caller still owns the object. */
static inline bool trv_pool_give(trv_pool_t *pool, trv_pooled_t *pooled)
{
    trv_pooled_t *none = NULL;
    return atomic_compare_exchange_strong_explicit(&pool->first, &none, pooled, memory_order_release,
                                                   memory_order_relaxed) ||
           trv_pool_give_other(pool, pooled);
}

#endif
