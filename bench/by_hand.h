/*
 * The exchanges of exchange.h over MPI, with PMPI_ functions, which a preload library does not intercept; and functions
 * for measuring with MPI ranks.
 */
#ifndef TRIVANCE_BENCH_BY_HAND_H
#define TRIVANCE_BENCH_BY_HAND_H

#include <mpi.h>

#include "exchange.h"
#include "measure.h"

typedef struct hand {
    exchange_t exchange;
    bool crowded; /* more ranks than cores */
    MPI_Comm comm;
    double *input, *output; /* BYTES_MAX each */
    size_t count;           /* elements of the AllReduce that is measured */
} hand_t;

/* Initializes the exchange; false if there are not 2 or 3 ranks, after rank 0 has printed a message that begins with
 * `name`. */
bool hand_begin(hand_t *hand, MPI_Comm comm, const char *name);
void hand_end(hand_t *hand);

/* An AllReduce of input to output. */
void hand_run(const hand_t *hand, bool parts);

/* One call of a side, whose time hand_sides measures. */
typedef void hand_call_t(const hand_t *hand, void *context, int side);

/* measure_sides with three rounds of warm-up. A sample is the time per call of the slowest rank in microseconds, over a
 * number of calls that depends on the size, after one call that is not counted. */
void hand_sides(const hand_t *hand, hand_call_t *call, void *context, int sides, int rounds, double *median);

/* Barrier and maximum over the ranks, which wait in the same way as the exchanges. */
void hand_barrier(const hand_t *hand);
double hand_most(const hand_t *hand, double value);

#endif
