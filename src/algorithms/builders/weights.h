/*
 * Weights of streams, for torus schedules whose streams have unequal work because the sides of the torus differ.
 *
 * Stream i begins in dimension i and loads its links most; in the other dimensions it has less data left to move. With
 * equal slices the links of a long dimension are therefore busier than those of a short one, and the loss grows with
 * the difference of the sides. A name has one weight for each dimension larger than 1, which applies to the stream that
 * begins there and to its mirror, for example bucket:9/7 on 8x64.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_WEIGHTS_H
#define TRIVANCE_ALGORITHMS_BUILDERS_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/schedule.h"

/* The weights that a name specifies. If there are none, all streams have the same weight. */
typedef struct trv_weights {
    int count; /* 0, or the number of dimensions larger than 1 */
    int value[TRV_DIMS_MAX];
} trv_weights_t;

/* Sets the weight of stream s of a schedule to weight[s % weights]. Has no effect on one rank, where `weights` is 0. */
int trv_weights_apply(trv_schedule_t *schedule, const int *weight, int weights);

/* The load of the busiest link, as a fraction of the vector. load[i * streams + s] is the load that stream s puts on a
 * link of dimension i, as a fraction of its slice. */
double trv_weights_load(int streams, const double *load, const trv_weights_t *weights);

/* The smallest weights whose maximum load is close to the optimum: a few of them, no two of which are multiples of each
 * other. A simulation has to determine which are fastest. Returns their number; 0 if equal weights are as good. */
#define TRV_WEIGHTS_BALANCED_MAX 3
int trv_weights_balance(int streams, const double *load, trv_weights_t balanced[TRV_WEIGHTS_BALANCED_MAX]);

#endif
