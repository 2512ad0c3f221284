/*
 * A line of `size` places, divided into three intervals whose sizes differ by at most one, each divided again, and so
 * on: ceil(log3 size) levels for every size, because ceil(ceil(a / 3) / 3) = ceil(a / 9). Level 0 has single places,
 * the last level the whole line. In each level a place deals with one *partner* in each of the other two intervals of
 * its three; where sizes differ, one place of the smaller interval is the partner of two.
 *
 *   9 places   level 0   (0 1 2) (3 4 5) (6 7 8)      0 with 1 and 2, …
 *              level 1   (0 1 2   3 4 5   6 7 8)      0 with 3 and 6, 1 with 4 and 7, 2 with 5 and 8
 *
 * Two algorithms are made of it: whole vectors from the smallest intervals up (line_l.c), and reduce-scatter and
 * allgather (line_b.c).
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_LINE_H
#define TRIVANCE_ALGORITHMS_BUILDERS_LINE_H

#include "algorithms/builders/scatter.h"
#include "algorithms/builders/stage.h"

typedef struct trv_interval {
    int first, size;
} trv_interval_t;

/* The three intervals, from left to right, that meet in `level` around `place`; `own` is the one with the place. One of
 * them or two may be empty. */
typedef struct trv_trio {
    trv_interval_t interval[3];
    int own;
} trv_trio_t;
trv_trio_t trv_line_trio(int size, int level, int place);

/* The partner in interval `i` of the trio, which has one or more places. */
int trv_line_partner(const trv_trio_t *trio, int place, int i);

/* Those in interval `i` whose partner `place` is, ascending; returns how many, at most 2. */
int trv_line_served(const trv_trio_t *trio, int place, int i, int served[2]);

#define TRV_LINE_PARTNERS_MAX 4 /* all that a place serves in a level */

/* The maximum number of messages that leave a place in one direction in one level. */
int trv_line_messages_per_port(int size);

/* What a level's messages are like: the longest way, the most that a link and a message carry, how many there are. In
 * vectors where the line exchanges them (line_l.c); in `blocks`, of as many as the line has places, where it scatters
 * them (line_b.c). The array holds trv_log_ceil(3, size) levels. */
typedef struct trv_line_cost {
    int hops;
    double load, largest, messages;
} trv_line_cost_t;
int trv_line_costs(int size, bool blocks, trv_line_cost_t *cost);

/* line_b.c: the reduce-scatter, its levels from the smallest intervals up. NULL: no memory. */
trv_pattern_t *trv_line_pattern(int size);

/* folded.c: the ring's pattern, which is taken over, laid along a line twofold; from a place two messages may leave in one
 * direction. NULL: no memory, or `ring` is. */
#define TRV_FOLDED_MESSAGES_PER_PORT 2
trv_pattern_t *trv_folded_pattern(trv_pattern_t *ring);

/* line_l.c: whole vectors along all dimensions of the lattice together; their rows all begin at one coordinate if there is
 * more than one. NULL: no memory. */
trv_stage_t *trv_line_stage(const trv_lattice_t *lattice);

/* 0 where a dimension is a line, else TRV_ERR_UNSUPPORTED with the reason (trv_algorithm.supports). */
int trv_line_supports(const trv_torus_t *torus, trv_collective_t collective);

#endif
