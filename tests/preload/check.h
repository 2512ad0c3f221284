/*
 * Checks of expectations for programs that do not use Trivance's interfaces. Failures are counted on every rank and
 * summed at the end.
 */
#ifndef TRIVANCE_TESTS_PRELOAD_CHECK_H
#define TRIVANCE_TESTS_PRELOAD_CHECK_H

#include <stdbool.h>

/* Counts the check, and prints the message unless `holds`. */
void check(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the sums and finalizes MPI; returns the program's exit code. */
int check_end(void);

#endif
