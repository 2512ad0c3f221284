/*
 * Reduce-scatter and allgather on a torus, composed of one *pattern* per dimension, and a stage between the two.
 *
 * A pattern defines how the blocks of one ring of `size` coordinates travel in a reduce-scatter: for each level, which
 * coordinate sends the partial sums of which blocks to which other coordinate. On a torus the patterns multiply: a step
 * executes one level of one dimension d, and a rank's message contains the product of the pattern's blocks along d and
 * of the blocks that the rank still holds along every other dimension. The allgather is the exact reversal in time with
 * the direction of every message reversed, so patterns do not describe it. Therefore an algorithm file only provides
 * patterns and the order in which the dimensions are visited.
 *
 * The ring of a pattern may be smaller than the dimension (in a hybrid): its coordinates are then classes of ranks,
 * modulo its size. Blocks belong to classes, messages travel as far as in the small ring, and after the reduce-scatter
 * the ranks of a class hold partial sums of the same block, which a *stage* (stage.h) adds up.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_SCATTER_H
#define TRIVANCE_ALGORITHMS_BUILDERS_SCATTER_H

#include <stdbool.h>

#include "algorithms/builders/stage.h"
#include "algorithms/builders/visit.h"

/* A set of coordinates of one dimension, in ascending order. */
typedef struct trv_residues {
    int count;
    const int *value;
} trv_residues_t;

/* One message of a level of the reduce-scatter, in coordinates of the dimension. */
typedef struct trv_edge {
    int from, to;
    int sign;         /* direction of travel */
    int reverse_sign; /* direction of travel of the reversed message in the allgather */
    /* the receiver stores the data without adding it, because it holds no partial sum of these blocks */
    bool move;
    trv_residues_t blocks[2]; /* blocks of the message, per half */
} trv_edge_t;

#define TRV_EDGES_MAX    4
#define TRV_ARRIVALS_MAX 2 /* maximum number of messages that a coordinate receives in a level */

typedef struct trv_pattern trv_pattern_t;
struct trv_pattern {
    int size, levels;
    bool line;  /* coordinates are positions on a row that is a line (torus/rows.h), not on a ring */
    int halves; /* 2 if the two halves of a block travel differently, otherwise 1 */
    int radix;  /* level l distinguishes blocks by digit l of their coordinate in this radix; 0: it does not */
    /* Writes the messages that `coordinate` sends (or receives) in `level`; returns their number or an error. The
     * arrays that they refer to belong to the pattern or are allocated by trv_step_alloc(memory, …). */
    int (*edges)(const trv_pattern_t *pattern, int coordinate, int level, bool outgoing, trv_edge_t *edge,
                 trv_step_t *memory);
    /* The blocks of which `coordinate` has a partial sum before `level`; with level == levels, after the last level. */
    int (*held)(const trv_pattern_t *pattern, int coordinate, int level, int half, trv_residues_t *blocks,
                trv_step_t *memory);
    void (*destroy)(trv_pattern_t *pattern);
};

typedef struct trv_scatter_options {
    trv_visit_t visit;
    bool mirrored; /* 2D streams, of which the second D negate every coordinate; otherwise D streams */
    /* mirrored streams travel in direction - if both ways are equally long; otherwise all travel in direction + */
    bool ties_split;
    /* mirrored streams travel against the others if both ways are equally long */
    bool ties_mirrored;
    int ports;       /* maximum number of streams (name.h); 0: there is none */
    bool share_port; /* two messages of a rank may leave through one port; they then use different interfaces */
    /* creates a dimension's pattern; returns NULL when out of memory */
    trv_pattern_t *(*pattern)(int size, trv_collective_t collective);
    /* if `pattern` is NULL: the patterns of the dimensions larger than 1; owned by the schedule */
    trv_pattern_t **patterns;
    trv_pattern_t **later; /* patterns for the streams that do not begin in the dimension; NULL: the same; owned */
    trv_stage_t **stage;   /* the stage after each stream's reduce-scatter; NULL: there are none; owned */
    /* streams that begin in each dimension larger than 1, without mirrored ones; 0: one. Every second of them visits
     * the dimensions backwards, so that they do not all meet in the next dimension */
    int streams;
    int own; /* number of dimensions over which a stream scatters, its first one and those after it; 0: all */
    /* weights of the streams that begin in each dimension larger than 1, and of their mirrors; NULL: all 1 */
    const int *weight;
} trv_scatter_options_t;

/* Completes a schedule that consists of the patterns' reduce-scatter, their allgather, or both with the stages in
 * between. Takes ownership of `patterns`, `later` and `stage`, also on failure. TRV_ERR_MEMORY if one of the patterns
 * in `patterns` is NULL. */
int trv_scatter_create(trv_schedule_t *schedule, const trv_scatter_options_t *options);

#endif
