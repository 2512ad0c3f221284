/*
 * Memory that is never freed, because a message that could not be cancelled may still access it. It stays reachable, so
 * that leak checkers do not report it.
 */
#ifndef TRIVANCE_BASE_ABANDON_H
#define TRIVANCE_BASE_ABANDON_H

#include <stdatomic.h>
#include <stdlib.h>

typedef struct trv_abandoned {
    void *memory;
    struct trv_abandoned *next;
} trv_abandoned_t;

/* Abandons a block of memory; NULL is ignored. */
static inline void trv_abandon(void *memory)
{
    static _Atomic(trv_abandoned_t *) first;
    trv_abandoned_t *entry = memory ? malloc(sizeof *entry) : NULL;
    if (!entry)
        return;
    entry->memory = memory;
    entry->next = atomic_load(&first);
    while (!atomic_compare_exchange_weak(&first, &entry->next, entry))
        continue;
}

#endif
