/*
 * Algorithms of pairwise exchanges on one ring: in every level each coordinate has one partner, and all levels together
 * connect all coordinates (Recursive Doubling, Swing). They are designed for powers of two.
 *
 * Other sizes are folded, as in Rabenseifner's algorithm: with a = 2^s + e, the first 2e coordinates form neighbour
 * pairs; the even coordinate of a pair sends its data to the odd one before the first level and receives the result
 * after the last one. The remaining coordinates, the odd ones and those from 2e on, are renumbered 0 … 2^s - 1: this is
 * the *core index*, which ascends with the coordinate.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_PAIRS_H
#define TRIVANCE_ALGORITHMS_BUILDERS_PAIRS_H

#include "algorithms/builders/scatter.h"

typedef struct trv_pairs {
    int size;                                       /* size of the ring */
    int levels;                                     /* s: the core has 2^s members */
    int extra;                                      /* e: the number of folded coordinates */
    int (*partner)(int index, int level, int core); /* the partner of core index `index` in a level */
    bool ties_alternate; /* messages half way round leave in direction - from odd coordinates */
} trv_pairs_t;

trv_pairs_t trv_pairs(int size, int (*partner)(int index, int level, int core));

/* The core index of a coordinate, -1 for a folded one; and the coordinate of a core index. */
int trv_pairs_index(const trv_pairs_t *pairs, int coordinate);
int trv_pairs_coordinate(const trv_pairs_t *pairs, int index);

/* The direction of the shorter way from one coordinate to the other; if both ways are equally long, + or that of
 * ties_alternate. */
int trv_pairs_sign(const trv_pairs_t *pairs, int from, int to);

/* The partners in Recursive Doubling and in Swing. */
int trv_recdoub_partner(int index, int level, int core);
int trv_swing_partner(int index, int level, int core);
/* The distance between Swing's partners. */
int trv_swing_distance(int level);

/* Whether no dimension of the torus needs folding. */
bool trv_pairs_are_unfolded(const trv_torus_t *torus);

/* Completes a latency-optimal schedule: its streams send whole slices by one port at a time; its steps fold, exchange
 * in all levels, and unfold. `ports`: the number of streams (name.h); 0: one, of which all messages half way round
 * travel in direction +. */
int trv_pairs_l_create(trv_schedule_t *schedule, int (*partner)(int index, int level, int core), int ports);

/* The pattern of a bandwidth-optimal schedule (pairs_b.c), including its folding. NULL when out of memory. */
trv_pattern_t *trv_pairs_pattern(const trv_pairs_t *pairs, trv_collective_t collective);

#endif
