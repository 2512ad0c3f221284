/*
 * The hand-written baseline of the benchmarks: the exchanges of exchange.h over MPI, with PMPI_ functions, which a
 * preload library does not intercept; and functions for measuring with MPI ranks.
 */
#ifndef TRIVANCE_BENCH_BASELINE_H
#define TRIVANCE_BENCH_BASELINE_H

#include <mpi.h>

#include "exchange.h"
#include "measure.h"

typedef struct baseline {
    exchange_t exchange;
    bool oversubscribed; /* more ranks than cores */
    MPI_Comm comm;
    double *input, *output; /* BYTES_MAX each */
    size_t count;           /* elements of the AllReduce that is measured */
} baseline_t;

/* Initializes the exchange; false if there are not 2 or 3 ranks, after rank 0 has printed a message that begins with
 * `name`. */
bool baseline_create(baseline_t *baseline, MPI_Comm comm, const char *name);
void baseline_destroy(baseline_t *baseline);

/* An AllReduce of input to output. */
void baseline_run(const baseline_t *baseline, bool parts);

/* One call of a side, whose time baseline_measure measures. */
typedef void baseline_call_t(const baseline_t *baseline, void *context, int side);

/* measure_sides with three rounds of warm-up. A sample is the time per call of the slowest rank in microseconds, over a
 * number of calls that depends on the size, after one call that is not counted. */
void baseline_measure(const baseline_t *baseline, baseline_call_t *call, void *context, int sides, int rounds,
                      double *median);

/* Barrier and maximum over the ranks, which wait in the same way as the exchanges. */
void baseline_barrier(const baseline_t *baseline);
double baseline_max(const baseline_t *baseline, double value);

#endif
