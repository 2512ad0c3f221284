/*
 * The division of a line of `size` ranks, which are identified by their positions on the row, 0 … size - 1: three
 * intervals whose sizes differ by at most one, each divided again in the same way. There are ceil(log3 size) levels for
 * every size, because ceil(ceil(a / 3) / 3) = ceil(a / 9). The intervals of level 0 are single positions, those of the
 * last level divide the whole line. In each level a position receives from one *partner* in each of the other two
 * intervals of its three; where sizes differ, one position of the smaller interval is the partner of two. The
 * *receivers* of a position are the positions whose partner it is.
 *
 *   line of 9   level 0   (0 1 2) (3 4 5) (6 7 8)      0 with 1 and 2, …
 *               level 1   (0 1 2   3 4 5   6 7 8)      0 with 3 and 6, 1 with 4 and 7, 2 with 5 and 8
 *
 * Two algorithms are built on it: one exchanges whole vectors from the smallest intervals up (line_l.c), the other is a
 * reduce-scatter and allgather (line_b.c).
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_LINE_H
#define TRIVANCE_ALGORITHMS_BUILDERS_LINE_H

#include "algorithms/builders/scatter.h"
#include "algorithms/builders/stage.h"

typedef struct trv_interval {
    int first, size;
} trv_interval_t;

/* The three intervals around `position` in `level`, from left to right; `own` is the index of the one that contains the
 * position. One or two of them may be empty. */
typedef struct trv_thirds {
    trv_interval_t interval[3];
    int own;
} trv_thirds_t;
trv_thirds_t trv_line_thirds(int size, int level, int position);

/* The partner of `position` in interval `i` of the three, which must not be empty. */
int trv_line_partner(const trv_thirds_t *thirds, int position, int i);

/* The receivers of `position` in interval `i`, ascending; returns their number, at most 2. */
int trv_line_receivers(const trv_thirds_t *thirds, int position, int i, int receiver[2]);

#define TRV_LINE_PARTNERS_MAX 4 /* receivers of one position in a level */

/* The cost of a level: the hops of its longest message, the maximum load of a link, the size of its largest message and
 * the number of messages. The unit of sizes is a vector where positions exchange vectors (line_l.c) and, with `blocks`,
 * a block of 1/size of the vector where they scatter them (line_b.c). The array has trv_log_ceil(3, size) levels. */
typedef struct trv_line_cost {
    int hops;
    double load, largest, messages;
} trv_line_cost_t;
int trv_line_costs(int size, bool blocks, trv_line_cost_t *cost);

/* line_b.c: the pattern of the reduce-scatter; level 0 has the smallest intervals. NULL when out of memory. */
trv_pattern_t *trv_line_pattern(int size);

/* folded.c: the pattern of a ring folded onto a line; takes ownership of `ring`. NULL when out of memory or if `ring`
 * is NULL. */
trv_pattern_t *trv_folded_pattern(trv_pattern_t *ring);

/* line_l.c: exchanges of whole vectors along all dimensions of the lattice together. With more than one dimension all
 * rows of a dimension must begin at the same coordinate. NULL when out of memory. */
trv_stage_t *trv_line_stage(const trv_stage_lattice_t *lattice);

/* Returns 0 if at least one dimension is a line, otherwise TRV_ERR_UNSUPPORTED with the reason
 * (trv_algorithm.supports). */
int trv_line_supports(const trv_torus_t *torus, trv_collective_t collective);

#endif
