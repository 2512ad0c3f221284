/*
 * By dimension: along one dimension after another, every rank sends directly to all others of its row.
 *
 *   ring of 5, step 0   4 <- 0 -> 1
 *              step 1   3 <- 0 -> 2
 *
 * An all-to-all sends each block the shortest way, as the direct algorithm does, in far fewer messages: sum of (a - 1)
 * instead of n - 1. Streams start in every dimension; on even sizes mirrored ones reach the opposite rank the other
 * way, so that all links carry the same load.
 * Streams: D, or 2D with an even size.   Steps: sum of floor(a/2).   Exact: yes.   Symmetry: translation (all-to-all).
 */
#include "algorithms/builders/dimension_tree.h"
#include "algorithms/registry.h"

static int row_edges(int size, bool line, int root, bool mirrored, trv_row_edge_t *edge)
{
    int levels = 0;
    for (int x = 0; x < size; x++) {
        const int up = line ? x - root : (x - root + size) % size;
        const bool forward = line ? up > 0 : 2 * up < size || (2 * up == size && !mirrored);
        const int distance = forward ? up : line ? -up : size - up;
        edge[x] = (trv_row_edge_t){x == root ? -1 : root, distance - 1, forward ? 1 : -1};
        if (x != root && distance > levels)
            levels = distance;
    }
    return levels;
}

static int by_dimension_create(trv_schedule_t *schedule)
{
    bool even = false;
    for (int d = 0; d < schedule->torus.dims; d++)
        even |= schedule->torus.size[d] % 2 == 0;
    return trv_dimension_trees_create(schedule, row_edges, even, 0);
}

const trv_algorithm_t trv_by_dimension = {
    .name = "by-dimension",
    .family = "by-dimension",
    .title = "By dimension: every rank of a row directly",
    .use = "an all-to-all of medium and long blocks",
    .source = "Suh, Shin: IEEE TPDS 12(1), 2001",
    .sizes = "any torus or mesh",
    .steps_formula = "sum of floor(a/2)",
    .bytes_formula = "blocks: at most D m (n-1)/n",
    .collectives = TRV_TREE_COLLECTIVES,
    .latency_optimal = true,
    .lines = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .create = by_dimension_create,
};
