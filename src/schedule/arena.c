/*
 * Arenas (arena.h). An arena is a list of slabs. trv_arena_empty replaces several slabs by one of their total size, so
 * that a reader that walks many steps allocates memory only during the first few.
 */
#include "schedule/arena.h"

#include <stdalign.h>
#include <stdlib.h>

#define SLAB_MIN 512

typedef struct slab {
    struct slab *older;
    size_t size, used;
    alignas(max_align_t) unsigned char bytes[];
} slab_t;

struct trv_arena {
    slab_t *newest;
};

static slab_t *slab_create(size_t size, slab_t *older)
{
    slab_t *slab = malloc(sizeof *slab + size);
    if (slab) {
        slab->older = older;
        slab->size = size;
        slab->used = 0;
    }
    return slab;
}

static size_t slabs_destroy(slab_t *slab)
{
    size_t total = 0;
    while (slab) {
        slab_t *older = slab->older;
        total += slab->size;
        free(slab);
        slab = older;
    }
    return total;
}

trv_arena_t *trv_arena_create(void) { return calloc(1, sizeof(trv_arena_t)); }

void trv_arena_destroy(trv_arena_t *arena)
{
    if (!arena)
        return;
    slabs_destroy(arena->newest);
    free(arena);
}

void *trv_arena_alloc(trv_arena_t *arena, size_t bytes)
{
    size_t align = alignof(max_align_t);
    bytes = (bytes + align - 1) / align * align;
    slab_t *slab = arena->newest;
    if (!slab || slab->size - slab->used < bytes) {
        size_t size = slab ? 2 * slab->size : SLAB_MIN;
        slab = slab_create(size > bytes ? size : bytes, arena->newest);
        if (!slab)
            return NULL;
        arena->newest = slab;
    }
    void *memory = slab->bytes + slab->used;
    slab->used += bytes;
    return memory;
}

void trv_arena_empty(trv_arena_t *arena)
{
    if (!arena->newest)
        return;
    if (arena->newest->older) {
        size_t total = slabs_destroy(arena->newest);
        arena->newest = slab_create(total, NULL);
    } else {
        arena->newest->used = 0;
    }
}
