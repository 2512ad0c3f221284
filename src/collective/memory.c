/*
 * Counters of the memory that is kept, updated atomically.
 */
#include "collective/memory.h"

#include <stdatomic.h>

static _Atomic int64_t kept, peak;
static _Atomic uint64_t limit = UINT64_MAX;

void trv_memory_limit(uint64_t bytes) { atomic_store_explicit(&limit, bytes, memory_order_relaxed); }

bool trv_memory_exceeds_limit(void) { return trv_memory_kept() > atomic_load_explicit(&limit, memory_order_relaxed); }

void trv_memory_count(int64_t bytes)
{
    int64_t now = atomic_fetch_add_explicit(&kept, bytes, memory_order_relaxed) + bytes;
    int64_t before = atomic_load_explicit(&peak, memory_order_relaxed);
    while (now > before &&
           !atomic_compare_exchange_weak_explicit(&peak, &before, now, memory_order_relaxed, memory_order_relaxed))
        ;
}

uint64_t trv_memory_kept(void) { return (uint64_t)atomic_load_explicit(&kept, memory_order_relaxed); }

uint64_t trv_memory_peak(void) { return (uint64_t)atomic_load_explicit(&peak, memory_order_relaxed); }
