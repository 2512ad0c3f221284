/*
 * Accounting of the memory that a process keeps for plans between calls, with a limit (TRIVANCE_MEMORY). Any thread may
 * call the functions.
 */
#ifndef TRIVANCE_COLLECTIVE_MEMORY_H
#define TRIVANCE_COLLECTIVE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Sets the limit of the memory that is kept. Initially there is none. */
void trv_memory_limit(uint64_t bytes);
bool trv_memory_exceeds_limit(void);

/* Bytes of scratch memory and programs that the library keeps for plans in this process, and their maximum so far (the
 * peak). */
uint64_t trv_memory_kept(void);
uint64_t trv_memory_peak(void);
/* Counts bytes that are kept from now on; a negative number counts released bytes. */
void trv_memory_count(int64_t bytes);

#endif
