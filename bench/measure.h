/*
 * Functions for measuring, which the benchmarks share. Several sides take turns, so that they run under the same
 * conditions; the result is the median, which is printed with its limit.
 */
#ifndef TRIVANCE_BENCH_MEASURE_H
#define TRIVANCE_BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ascending.h"
#include "base/clock.h"

#define MEASURE_COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* Takes one sample of a side, in any unit; smaller is better. */
typedef double measure_sample_t(void *context, int side);

/* Computes the medians of `sides` sides over `rounds` rounds, each of which begins with another side, after `warmup`
 * rounds that are not counted. If `seconds` is above 0, it stops after that time, but not before five rounds. */
void measure_sides(measure_sample_t *sample, void *context, int sides, int warmup, int rounds, double seconds,
                   double *median);

/* Returns the code of a library function. If it is negative, prints the last error and exits with status 2. */
int measure_check(int code, const char *what);

/* Formats a size, such as "8 KiB". */
#define MEASURE_BYTES_TEXT_MAX 16
const char *measure_bytes(uint64_t bytes, char text[MEASURE_BYTES_TEXT_MAX]);

/* Returns "yes" or "NO", and counts the latter. */
const char *measure_mark(bool reached, int *missed);

/* Parses a whole number from 1 to `max`; returns 0 if the text is not one. */
int measure_number(const char *text, int max);

#endif
