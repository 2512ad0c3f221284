/*
 * Caches: what a communicator has decided so far, the latest used first. Only the order of calls determines what a cache
 * keeps, so all ranks keep the same. Whoever owns the cache serialises its calls.
 *
 * Communicators with the same ranks can share what they keep. Up to TRV_CACHE_GROUP of them, which have an index each, do
 * so without allocating memory, because every object has an entry for each index.
 */
#ifndef TRIVANCE_COLLECTIVE_CACHE_H
#define TRIVANCE_COLLECTIVE_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>

enum { TRV_CACHE_GROUP = 8 };

typedef struct trv_cached trv_cached_t;

typedef struct trv_cache_entry {
    trv_cached_t *object;
    struct trv_cache_entry *next;
} trv_cache_entry_t;

/* The first member of a cached object. */
struct trv_cached {
    atomic_int references;
    void (*destroy)(trv_cached_t *object);
    trv_cache_entry_t entry[TRV_CACHE_GROUP];
};

/* Zeros are an empty cache with index 0. */
typedef struct trv_cache {
    trv_cache_entry_t *first;
    int index;                 /* of its entries in the objects */
    trv_cache_entry_t *copied; /* entries of its own, for objects of a cache of another group; or NULL */
} trv_cache_t;

/* The caller holds one reference. `destroy` is called when the last one is released. */
void trv_cached_init(trv_cached_t *object, void (*destroy)(trv_cached_t *object));
void trv_cached_hold(trv_cached_t *object);
void trv_cached_release(trv_cached_t *object);

/* Takes over the caller's reference, and drops all but the `objects_max` latest used. */
void trv_cache_add(trv_cache_t *cache, trv_cached_t *object, int objects_max);
/* Drops all. */
void trv_cache_clear(trv_cache_t *cache);
/* The empty cache keeps what `other` keeps: as number `index` of its group; or outside of it, which returns false where
 * there is no memory. */
void trv_cache_share(trv_cache_t *cache, const trv_cache_t *other, int index);
bool trv_cache_copy(trv_cache_t *cache, const trv_cache_t *other);

/* The object at `place`, which becomes the latest used. Places are &cache->first and the entries' &next. */
static inline trv_cached_t *trv_cache_use(trv_cache_t *cache, trv_cache_entry_t **place)
{
    trv_cache_entry_t *entry = *place;
    if (place != &cache->first) {
        *place = entry->next;
        entry->next = cache->first;
        cache->first = entry;
    }
    return entry->object;
}

#endif
