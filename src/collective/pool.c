/*
 * Pools: one place that is exchanged atomically, and a list behind it.
 */
#include "collective/pool.h"

#include <stddef.h>

void trv_pool_init(trv_pool_t *pool, int others_max)
{
    atomic_init(&pool->first, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pool->other = NULL;
    pool->others = 0;
    pool->others_max = others_max;
}

void trv_pool_clear(trv_pool_t *pool) { pthread_mutex_destroy(&pool->lock); }

trv_pooled_t *trv_pool_take(trv_pool_t *pool)
{
    trv_pooled_t *taken = atomic_exchange_explicit(&pool->first, NULL, memory_order_acquire);
    if (taken)
        return taken;
    pthread_mutex_lock(&pool->lock);
    taken = pool->other;
    if (taken) {
        pool->other = taken->next;
        pool->others--;
    }
    pthread_mutex_unlock(&pool->lock);
    return taken;
}

bool trv_pool_give(trv_pool_t *pool, trv_pooled_t *pooled)
{
    trv_pooled_t *none = NULL;
    if (atomic_compare_exchange_strong_explicit(&pool->first, &none, pooled, memory_order_release,
                                                memory_order_relaxed))
        return true;
    pthread_mutex_lock(&pool->lock);
    const bool has_room = pool->others < pool->others_max;
    if (has_room) {
        pooled->next = pool->other;
        pool->other = pooled;
        pool->others++;
    }
    pthread_mutex_unlock(&pool->lock);
    return has_room;
}
