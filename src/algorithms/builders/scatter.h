/*
 * Reduce-scatter and allgather on a torus, put together from one *pattern* per dimension, and a stage between the two.
 *
 * A pattern says how the blocks of one ring of `size` coordinates travel in a reduce-scatter: in level l, which
 * coordinate sends the partial sums of which blocks to which other one. On a torus the patterns multiply: a step works
 * on one level of one dimension d, and a rank's message holds the product of the pattern's blocks along d and of what
 * the rank still holds along every other dimension. The allgather is the exact reversal in time, with every message
 * turned round, so it is never written down. An algorithm file therefore only makes patterns and says in which order
 * the dimensions are visited.
 *
 * A pattern's ring may be smaller than the torus (a hybrid's): its coordinates are then classes, those of the ranks
 * modulo its size. Blocks belong to classes, messages travel as far as in the small ring, and after the reduce-scatter
 * the ranks of a class hold partial sums of the same block, which a *stage* (stage.h) adds up.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_SCATTER_H
#define TRIVANCE_ALGORITHMS_BUILDERS_SCATTER_H

#include <stdbool.h>

#include "algorithms/builders/stage.h"
#include "algorithms/builders/visit.h"

/* A set of coordinates of one dimension, ascending. */
typedef struct trv_residues {
    int count;
    const int *value;
} trv_residues_t;

/* One message of a level of the reduce-scatter, in coordinates of the dimension. */
typedef struct trv_edge {
    int from, to;
    int sign;                 /* direction it travels in */
    int reverse_sign;         /* direction of its reversal in the allgather */
    bool move;                /* the receiver keeps it as it is (it holds no partial sum of its own to add) */
    trv_residues_t blocks[2]; /* per half of the blocks */
} trv_edge_t;

#define TRV_EDGES_MAX    4
#define TRV_ARRIVALS_MAX 2 /* of those that a coordinate receives in a reduce-scatter */

typedef struct trv_pattern trv_pattern_t;
struct trv_pattern {
    int size, levels;
    bool line;  /* its coordinates are places on a row that is a line (torus/rows.h), not those of a ring */
    int halves; /* 2 where the two halves of a block travel differently, else 1 */
    int radix;  /* level l tells blocks apart by digit l of their coordinate in this radix; 0: it does not */
    /* Writes the messages that `coordinate` sends (or receives) in `level`; returns their number or an error. What they
     * refer to is the pattern's own, or comes from trv_step_alloc(memory, …). */
    int (*edges)(const trv_pattern_t *pattern, int coordinate, int level, bool outgoing, trv_edge_t *edge,
                 trv_step_t *memory);
    /* The blocks of which `coordinate` has a partial sum before `level` (after all: level == levels). */
    int (*held)(const trv_pattern_t *pattern, int coordinate, int level, int half, trv_residues_t *blocks,
                trv_step_t *memory);
    void (*destroy)(trv_pattern_t *pattern);
};

typedef struct trv_scatter_options {
    trv_visit_t visit;
    bool mirrored;   /* 2D streams, the second D of them with every coordinate negated; else D streams */
    bool ties_split; /* half way round goes - in the mirrored streams; else + everywhere */
    trv_pattern_t *(*pattern)(int size, trv_collective_t collective); /* makes one dimension's; NULL: no memory */
    trv_pattern_t **made;  /* or, with pattern NULL: those of the dimensions larger than 1, taken over, as are … */
    trv_pattern_t **later; /* those for the streams that do not begin there; NULL: the same */
    trv_stage_t **stage;   /* … the stages after each stream's reduce-scatter; NULL: there are none */
    int streams; /* that begin in each dimension larger than 1, of those not mirrored; 0: one. Every second one visits
                           * the dimensions backwards, so that they do not all meet in the next one */
    int own;     /* a stream scatters over so many dimensions only, its own and those after it; 0: all */
    const int *weight; /* of the stream that begins in each dimension larger than 1 and its mirror; NULL: all 1 */
} trv_scatter_options_t;

/* Completes a schedule whose steps are those of the patterns' reduce-scatter, allgather, or both. NULL among `made` is
 * TRV_ERR_MEMORY. */
int trv_scatter_create(trv_schedule_t *schedule, const trv_scatter_options_t *options);

#endif
