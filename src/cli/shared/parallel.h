/*
 * Threads that work on one list together.
 */
#ifndef TRIVANCE_CLI_SHARED_PARALLEL_H
#define TRIVANCE_CLI_SHARED_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>

/* The cores that this process may use. */
int cli_cores(void);

/* Calls work(context, first) in `threads` threads and returns when all calls have returned. The calling thread is
 * the first of them; if a further thread cannot be created, the existing ones do the work. */
void cli_parallel_run(size_t threads, void (*work)(void *context, bool first), void *context);

#endif
