/*
 * Caches of objects, most recently used first: those that a communicator has created for its calls, and the plans that
 * rank 0 has found for sets of nodes. Only the order of calls determines the contents of a cache, so that all ranks of
 * a communicator keep the same objects. The owner of a cache must serialize its calls.
 *
 * Communicators with the same ranks can share objects. Up to TRV_CACHE_GROUP caches form a group, in which each has an
 * index. Within a group, sharing allocates no memory, because every object has a list entry for each index.
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

/* A cache of zeros is empty and has index 0. */
typedef struct trv_cache {
    trv_cache_entry_t *first;
    int index;                 /* within the group; selects the list entry of each object that this cache uses */
    trv_cache_entry_t *copied; /* separate list entries, for objects of a cache of another group; or NULL */
} trv_cache_t;

/* The caller holds one reference. `destroy` is called when the last one is released. */
void trv_cached_init(trv_cached_t *object, void (*destroy)(trv_cached_t *object));
void trv_cached_hold(trv_cached_t *object);
void trv_cached_release(trv_cached_t *object);

/* Adds an object and takes over the caller's reference. Drops all but the `objects_max` most recently used objects. */
void trv_cache_add(trv_cache_t *cache, trv_cached_t *object, int objects_max);
/* Drops all objects. */
void trv_cache_clear(trv_cache_t *cache);
/* Initialize a cache with the objects of `other`. trv_cache_share makes it the member `index` of the group of `other`.
 * trv_cache_copy does not; it allocates list entries, and returns false if memory is exhausted. */
void trv_cache_share(trv_cache_t *cache, const trv_cache_t *other, int index);
bool trv_cache_copy(trv_cache_t *cache, const trv_cache_t *other);

/* Returns the object at `link`, and makes it the most recently used. link: &cache->first, or &next of an entry. */
static inline trv_cached_t *trv_cache_use(trv_cache_t *cache, trv_cache_entry_t **link)
{
    trv_cache_entry_t *entry = *link;
    if (link != &cache->first) {
        *link = entry->next;
        entry->next = cache->first;
        cache->first = entry;
    }
    return entry->object;
}

#endif
