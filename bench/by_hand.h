/*
 * The exchanges of exchange.h over MPI, by PMPI_ names, so that a preload library leaves them alone; and what measuring
 * among MPI ranks needs.
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
    size_t count;           /* of what is measured */
} hand_t;

/* False after a sentence on rank 0 that begins with `name`: not 2 or 3 ranks. */
bool hand_begin(hand_t *hand, MPI_Comm comm, const char *name);
void hand_end(hand_t *hand);

/* An AllReduce of input to output. */
void hand_run(const hand_t *hand, bool parts);

/* One call of a side, of which hand_sides takes the time. */
typedef void hand_call_t(const hand_t *hand, void *context, int side);

/* measure_sides, after three rounds: a sample is the slowest rank's time per call in microseconds, of as many calls as
 * suit the size, behind one that does not count. */
void hand_sides(const hand_t *hand, hand_call_t *call, void *context, int sides, int rounds, double *median);

/* Barrier and maximum over the ranks, waiting as the exchanges do. */
void hand_barrier(const hand_t *hand);
double hand_most(const hand_t *hand, double value);

#endif
