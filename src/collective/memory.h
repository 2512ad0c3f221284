/*
 * Accounting of the memory that a process keeps for plans between calls, against a limit (TRIVANCE_MEMORY). Any thread.
 */
#ifndef TRIVANCE_COLLECTIVE_MEMORY_H
#define TRIVANCE_COLLECTIVE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* The limit of what is kept; there is none until it is set. */
void trv_memory_limit(uint64_t bytes);
bool trv_memory_exceeds_limit(void);

/* Bytes that the library keeps for plans in this process, scratch and programs, and their maximum so far. */
uint64_t trv_memory_kept(void);
uint64_t trv_memory_most(void);
/* Adds bytes that are kept from now on; negative: released ones. */
void trv_memory_count(int64_t bytes);

#endif
