/*
 * Scratch memory that plans share: a plan has some while it runs, and plans that run one after the other have the same.
 *
 * What is not in use is kept for the next run as long as all of it stays within a limit (TRIVANCE_MEMORY).
 */
#ifndef TRIVANCE_COLLECTIVE_SCRATCH_H
#define TRIVANCE_COLLECTIVE_SCRATCH_H

#include <stddef.h>

/* As the executor's scratch_take and scratch_give; the context is not used. Any thread, no lock. */
void *trv_scratch_take(void *context, size_t bytes);
void trv_scratch_give(void *context, void *memory, size_t bytes);

/* Frees what is kept. */
void trv_scratch_clear(void);

#endif
