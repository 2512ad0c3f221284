/*
 * Scratch memory that plans share: a plan holds a block while it runs, and plans that run one after the other use the
 * same block. Unused blocks are kept for the next run as long as all memory kept stays within a limit
 * (TRIVANCE_MEMORY).
 */
#ifndef TRIVANCE_COLLECTIVE_SCRATCH_H
#define TRIVANCE_COLLECTIVE_SCRATCH_H

#include <stddef.h>

/* Implementations of the executor's scratch_allocate and scratch_free. The context is not used. Any thread may call
 * them; they acquire no lock. */
void *trv_scratch_take(void *context, size_t bytes);
void trv_scratch_give(void *context, void *memory, size_t bytes);

/* Frees the unused blocks. */
void trv_scratch_clear(void);

#endif
