/*
 * Spanning trees that reach one dimension after another, by the same tree in every row of a dimension.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_DIMENSION_TREE_H
#define TRIVANCE_ALGORITHMS_BUILDERS_DIMENSION_TREE_H

#include "algorithms/builders/spanning.h"

/* The edge by which a coordinate of a row is reached: from coordinate `parent` in level `level`, in direction
 * `sign`. */
typedef struct trv_row_edge {
    int parent; /* -1: the root */
    int level, sign;
} trv_row_edge_t;

/* Fills in the edges of a row of `size` ranks whose root has coordinate `root`; returns the number of levels.
 * `mirrored`: the opposite directions. */
typedef int trv_row_tree_t(int size, bool line, int root, bool mirrored, trv_row_edge_t *edge);

/* Completes a schedule of a tree (spanning.h) or an all-to-all (exchange.h) with a tree that starts in each dimension
 * with more than one rank and, with `mirrored`, as many in which all directions are reversed; of these, the first
 * `ports`, unless that is 0. */
int trv_dimension_trees_create(trv_schedule_t *schedule, trv_row_tree_t *tree, bool mirrored, int ports);

#endif
