/*
 * AllReduce written by hand for 2 and for 3 ranks, in the two ways that there are: what a library's overhead is
 * measured against. The messages are MPI's, by PMPI_ names, so that a preload library leaves them alone.
 */
#ifndef TRIVANCE_BENCH_BY_HAND_H
#define TRIVANCE_BENCH_BY_HAND_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#define RANKS_MAX 3
#define BYTES_MAX ((size_t)1 << 20)

typedef struct hand {
    int rank, ranks;
    bool crowded; /* more ranks than cores */
    MPI_Comm comm;
    double *part[RANKS_MAX]; /* what the others send */
} hand_t;

/* False after a sentence on rank 0 that begins with `name`: not 2 or 3 ranks. */
bool hand_begin(hand_t *hand, MPI_Comm comm, const char *name);
void hand_end(hand_t *hand);

/* Everybody's whole vector to everybody. */
void hand_whole(const hand_t *hand, const double *input, double *output, size_t count);
/* Part r of the vector is added on rank r and sent to all. */
void hand_parts(const hand_t *hand, const double *input, double *output, size_t count);

/* Barrier and maximum over the ranks, waiting as the exchanges do. */
void hand_barrier(const hand_t *hand);
double hand_most(const hand_t *hand, double value);

/* Of `count` values, which are sorted. */
double hand_median(double *value, int count);

#endif
