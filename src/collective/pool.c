/*
 * Pools: one object that is exchanged atomically, and a list of further ones under a lock.
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

trv_pooled_t *trv_pool_take_other(trv_pool_t *pool)
{
    pthread_mutex_lock(&pool->lock);
    trv_pooled_t *taken = pool->other;
    if (taken) {
        pool->other = taken->next;
        pool->others--;
    }
    pthread_mutex_unlock(&pool->lock);
    return taken;
}

bool trv_pool_give_other(trv_pool_t *pool, trv_pooled_t *pooled)
{
    pthread_mutex_lock(&pool->lock);
    const bool has_space = pool->others < pool->others_max;
    if (has_space) {
        pooled->next = pool->other;
        pool->other = pooled;
        pool->others++;
    }
    pthread_mutex_unlock(&pool->lock);
    return has_space;
}
