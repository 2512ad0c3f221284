/*
 * Algorithms of pairwise exchanges on one ring: in every level each coordinate has one partner, and the levels together
 * connect everybody (Recursive Doubling, Swing). They are made for powers of two.
 *
 * Other sizes fold, as Rabenseifner's algorithm does: with a = 2^s + e, the first 2e coordinates form neighbour pairs;
 * the even one of a pair gives its data to the odd one before the first level and gets the result after the last one.
 * What is left, the odd ones and those above 2e, is renumbered 0 … 2^s - 1: the *core index*, ascending with the
 * coordinate.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_PAIRS_H
#define TRIVANCE_ALGORITHMS_BUILDERS_PAIRS_H

#include "algorithms/builders/scatter.h"

typedef struct trv_pairs {
    int size;                                       /* of the ring */
    int levels;                                     /* s: the core has 2^s members */
    int extra;                                      /* e: the number of folded coordinates */
    int (*partner)(int index, int level, int core); /* of core index `index` */
} trv_pairs_t;

trv_pairs_t trv_pairs(int size, int (*partner)(int index, int level, int core));

/* The core index of a coordinate, -1 for a folded one; and the coordinate of a core index. */
int trv_pairs_index(const trv_pairs_t *pairs, int coordinate);
int trv_pairs_coordinate(const trv_pairs_t *pairs, int index);

/* The shorter way from one coordinate to the other; + when it is half way round. */
int trv_pairs_sign(const trv_pairs_t *pairs, int from, int to);

/* Recursive Doubling's and Swing's partners. */
int trv_recdoub_partner(int index, int level, int core);
int trv_swing_partner(int index, int level, int core);
/* How far Swing's are apart. */
int trv_swing_distance(int level);

/* Whether no dimension of the torus folds. */
bool trv_pairs_natural(const trv_torus_t *torus);

/* Completes a latency-optimal schedule: whole vectors, one stream, one port at a time; fold, levels, unfold. */
int trv_pairs_l_create(trv_schedule_t *schedule, int (*partner)(int index, int level, int core));

/* The pattern of a bandwidth-optimal one (pairs_b.c), with its folding. NULL when out of memory. */
trv_pattern_t *trv_pairs_pattern(const trv_pairs_t *pairs, trv_collective_t collective);

#endif
