/*
 * Threads that work on one list together.
 */
#ifndef TRIVANCE_CLI_SHARED_PARALLEL_H
#define TRIVANCE_CLI_SHARED_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>

/* The cores that this process may use. */
int cli_cores(void);

/* Calls work(context, first) in `threads` threads and returns when all calls have. This thread is one of them, the
 * first; where another cannot be had, those that there are do the work. */
void cli_work_together(size_t threads, void (*work)(void *context, bool first), void *context);

#endif
