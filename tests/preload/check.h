/*
 * Expectations of programs that know nothing of Trivance, counted on every rank and summed at the end.
 */
#ifndef TRIVANCE_TESTS_PRELOAD_CHECK_H
#define TRIVANCE_TESTS_PRELOAD_CHECK_H

#include <stdbool.h>

/* Counts, and prints the sentence unless `holds`. */
void check(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the sums and ends MPI; the program's exit code. */
int check_end(void);

#endif
