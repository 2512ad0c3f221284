/*
 * Weights of streams, where the streams of a torus schedule have unequal work: on uneven sides.
 *
 * Stream i begins in dimension i and loads its links most; in the other dimensions it has less left to move. With equal
 * slices the links of a long dimension are therefore busier than those of a short one, whose loss grows with the
 * difference of the sides. In a name there is a weight for each dimension larger than 1, for the stream that begins
 * there (and its mirror): bucket:9/7 on 8x64.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_WEIGHTS_H
#define TRIVANCE_ALGORITHMS_BUILDERS_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/schedule.h"

/* The weights that a name gives; with 0 of them all streams weigh the same. */
typedef struct trv_weights {
    int count; /* 0, or the dimensions larger than 1 */
    int value[TRV_DIMS_MAX];
} trv_weights_t;

#define TRV_WEIGHTS_TEXT_MAX (5 * TRV_DIMS_MAX + 1)

/* Gives stream s of a schedule weight[s % weights]; with no weights, on one rank, nothing. */
int trv_weights_apply(trv_schedule_t *schedule, const int *weight, int weights);

/* Reads "9/7", `length` characters. TRV_ERR_ARGUMENT, or TRV_ERR_UNSUPPORTED for another number of weights than the torus
 * has streams, with the reason, which ends with `example`. */
int trv_weights_parse(const char *text, size_t length, const trv_torus_t *torus, const char *example,
                      trv_weights_t *weights);

/* Writes "9/7" and returns `text`. */
const char *trv_weights_format(const trv_weights_t *weights, char text[TRV_WEIGHTS_TEXT_MAX]);

/* What the busiest link carries, as a fraction of the vector: load[i * streams + s] is what a link of dimension i carries
 * of stream s, as a fraction of its slice. */
double trv_weights_load(int streams, const double *load, const trv_weights_t *weights);

/* The smallest weights under which that is hardly more than it must be, a few of which no two are multiples of each
 * other: which of them is fastest is for a simulation to say. Returns how many; 0 if equal weights do as well. */
#define TRV_WEIGHTS_BALANCED_MAX 3
int trv_weights_balance(int streams, const double *load, trv_weights_t balanced[TRV_WEIGHTS_BALANCED_MAX]);

#endif
