/*
 * How the benchmarks of this folder measure: several sides take turns, so that all see the same machine; what counts is
 * the median, which is printed beside the limit.
 */
#ifndef TRIVANCE_BENCH_MEASURE_H
#define TRIVANCE_BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ascending.h"
#include "base/clock.h"

#define MEASURE_COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* One sample of a side, in whatever unit: smaller is better. */
typedef double measure_sample_t(void *context, int side);

/* The medians of `sides` sides over `rounds` rounds, each beginning with another side, after `warmup` rounds that do
 * not count. With `seconds` above 0 it stops after that time, but not before five rounds. */
void measure_sides(measure_sample_t *sample, void *context, int sides, int warmup, int rounds, double seconds,
                   double *median);

/* Ends the program with a sentence and exit status 2 where the code of a function of the library is negative. Returns
 * the code. */
int measure_check(int code, const char *what);

/* "8 KiB". */
#define MEASURE_BYTES_TEXT_MAX 16
const char *measure_bytes(uint64_t bytes, char text[MEASURE_BYTES_TEXT_MAX]);

/* "yes" or "NO", which is counted. */
const char *measure_mark(bool kept, int *missed);

/* A whole number from 1 to `max`; 0 where the text is none. */
int measure_number(const char *text, int max);

#endif
