/*
 * A small array of free blocks, each taken and returned by one atomic exchange. A block that is too small is freed and
 * not put back, so that the blocks grow to the size that the program needs, and their number to that of the plans that
 * run at the same time.
 */
#include "collective/scratch.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "collective/memory.h"

#define FREE_BLOCKS_MAX 8
#define ALIGNMENT       64 /* also the size of the header with its padding */

typedef struct block {
    size_t bytes; /* of memory after the header */
} block_t;

static _Atomic(block_t *) free_block[FREE_BLOCKS_MAX];

static void *block_memory(block_t *block) { return (char *)block + ALIGNMENT; }

static void block_free(block_t *block)
{
    trv_memory_count(-(int64_t)block->bytes);
    free(block);
}

void trv_scratch_clear(void)
{
    for (int i = 0; i < FREE_BLOCKS_MAX; i++) {
        block_t *block = atomic_exchange(&free_block[i], NULL);
        if (block)
            block_free(block);
    }
}

static block_t *block_create(size_t bytes)
{
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    block_t *block = bytes + ALIGNMENT > bytes ? aligned_alloc(ALIGNMENT, bytes + ALIGNMENT) : NULL;
    if (!block)
        return NULL;
    block->bytes = bytes;
    trv_memory_count((int64_t)bytes);
    return block;
}

void *trv_scratch_take(void *context, size_t bytes)
{
    (void)context;
    for (int i = 0; i < FREE_BLOCKS_MAX; i++) {
        block_t *block = atomic_load_explicit(&free_block[i], memory_order_relaxed)
                             ? atomic_exchange_explicit(&free_block[i], NULL, memory_order_acquire)
                             : NULL;
        if (!block)
            continue;
        if (block->bytes >= bytes)
            return block_memory(block);
        block_free(block);
    }
    block_t *block = block_create(bytes);
    return block ? block_memory(block) : NULL;
}

void trv_scratch_give(void *context, void *memory, size_t bytes)
{
    (void)context, (void)bytes;
    block_t *block = (block_t *)(void *)((char *)memory - ALIGNMENT);
    const bool keep = !trv_memory_exceeds_limit();
    for (int i = 0; keep && i < FREE_BLOCKS_MAX; i++) {
        block_t *none = NULL;
        if (atomic_compare_exchange_strong_explicit(&free_block[i], &none, block, memory_order_release,
                                                    memory_order_relaxed))
            return;
    }
    block_free(block);
}
