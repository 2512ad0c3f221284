/*
 * Caches of decisions; cache.h describes them.
 */
#include "collective/cache.h"

#include <stdlib.h>

void trv_cached_init(trv_cached_t *object, void (*destroy)(trv_cached_t *object))
{
    atomic_init(&object->references, 1);
    object->destroy = destroy;
}

void trv_cached_hold(trv_cached_t *object) { atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed); }

void trv_cached_release(trv_cached_t *object)
{
    if (atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) == 1)
        object->destroy(object);
}

/* Drops the entries from `link` on. */
static void cache_drop(trv_cache_entry_t **link)
{
    while (*link) {
        trv_cache_entry_t *entry = *link;
        *link = entry->next;
        trv_cached_release(entry->object);
    }
}

void trv_cache_add(trv_cache_t *cache, trv_cached_t *object, int objects_max)
{
    trv_cache_entry_t *entry = &object->entry[cache->index], **link = &cache->first;
    *entry = (trv_cache_entry_t){object, cache->first};
    cache->first = entry;
    for (int i = 0; *link && i < objects_max; i++)
        link = &(*link)->next;
    cache_drop(link);
}

void trv_cache_clear(trv_cache_t *cache)
{
    cache_drop(&cache->first);
    free(cache->copied);
    cache->copied = NULL;
}

static void cache_hold_all(trv_cache_t *cache, const trv_cache_t *other)
{
    trv_cache_entry_t **end = &cache->first, *own = cache->copied;
    for (const trv_cache_entry_t *entry = other->first; entry; entry = entry->next) {
        trv_cached_hold(entry->object);
        *end = own ? own++ : &entry->object->entry[cache->index];
        (*end)->object = entry->object;
        end = &(*end)->next;
    }
    *end = NULL;
}

void trv_cache_share(trv_cache_t *cache, const trv_cache_t *other, int index)
{
    *cache = (trv_cache_t){.index = index};
    cache_hold_all(cache, other);
}

bool trv_cache_copy(trv_cache_t *cache, const trv_cache_t *other)
{
    size_t objects = 0;
    for (const trv_cache_entry_t *entry = other->first; entry; entry = entry->next)
        objects++;
    *cache = (trv_cache_t){.copied = calloc(objects + 1, sizeof *cache->copied)};
    if (cache->copied)
        cache_hold_all(cache, other);
    return cache->copied;
}
