/*
 * Scratch memory that plans share: a plan has some while it runs, and plans that run one after the other have the same.
 *
 * What is not in use is kept for the next run as long as all of it stays within a limit (TRIVANCE_MEMORY).
 */
#ifndef TRIVANCE_COLLECTIVE_SCRATCH_H
#define TRIVANCE_COLLECTIVE_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As the executor's scratch_take and scratch_give; the context is not used. Any thread, no lock. */
void *trv_scratch_take(void *context, size_t bytes);
void trv_scratch_give(void *context, void *memory, size_t bytes);

/* Frees what is kept. */
void trv_scratch_clear(void);

/* The limit of what is kept; there is none until it is set. */
void trv_memory_limit(uint64_t bytes);
bool trv_memory_exceeds_limit(void);

/* Bytes that the library keeps for plans in this process, scratch and programs, and the most there ever were. */
uint64_t trv_memory_kept(void);
uint64_t trv_memory_most(void);
/* Counts the bytes of a program that is kept (negative: given up). */
void trv_memory_count(int64_t bytes);

#endif
