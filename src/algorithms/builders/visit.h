/*
 * The order in which the streams of a torus schedule visit the dimensions.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_VISIT_H
#define TRIVANCE_ALGORITHMS_BUILDERS_VISIT_H

#include <trivance/torus.h>

typedef enum trv_visit {
    TRV_INTERLEAVED = 0, /* step t of stream i is on dimension (i + t) mod D; completed dimensions are skipped */
    TRV_SEQUENTIAL = 1,  /* stream i completes all levels of dimension i, then those of i + 1, … */
    TRV_BACKWARDS = 2    /* or-ed to either: descending order, i - 1, i - 2 … after i */
} trv_visit_t;

/* The dimension that is visited after dimension `index`. */
static inline int trv_visit_next(trv_visit_t visit, int active, int index)
{
    return (index + (visit & TRV_BACKWARDS ? active - 1 : 1)) % active;
}

/* The progress of a stream before a step: it executes level `level` of dimension `index` next, and has executed done[d]
 * levels of every dimension d. Dimensions are numbered among the `active` ones (those with more than one rank), of
 * which dimension d has levels[d] levels. */
typedef struct trv_turn {
    int index, level;
    int done[TRV_DIMS_MAX];
} trv_turn_t;

trv_turn_t trv_visit_turn(trv_visit_t visit, int active, const int *levels, int stream, int step);

#endif
