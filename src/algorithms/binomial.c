/*
 * Binomial trees, a baseline: in every step each rank that has the data sends it to one other, so that twice as many
 * ranks have it.
 *
 * Ranks are numbered from the root, around the torus. Distances 2^k descend; trees start in every dimension and run in
 * both directions, so that all 2D ports of the root are used.
 * Streams: 2D.   Steps: sum of ceil(log2 a).   Exact: yes.   Symmetry: none.
 */
#include "base/radix.h"
#include "algorithms/builders/dimension_tree.h"
#include "algorithms/registry.h"

static int binomial_row(int size, bool line, int root, bool mirrored, trv_row_edge_t *edge)
{
    const int levels = trv_log_ceil(2, size), step = mirrored ? -1 : 1;
    (void)line;
    edge[root] = (trv_row_edge_t){.parent = -1};
    for (int x = 1; x < size; x++) {
        int bit = 0; /* the lowest bit of x: that of the last level on the way from the root */
        while (!(x >> bit & 1))
            bit++;
        const int to = ((root + step * x) % size + size) % size, distance = 1 << bit;
        edge[to] = (trv_row_edge_t){.parent = ((root + step * (x - distance)) % size + size) % size,
                                    .level = levels - 1 - bit,
                                    .sign = 2 * distance <= size ? step : -step};
    }
    return levels;
}

static int binomial_create(trv_schedule_t *schedule)
{
    return trv_dimension_trees_create(schedule, binomial_row, true, 0);
}

const trv_algorithm_t trv_binomial = {
    .name = "binomial",
    .family = "binomial",
    .title = "Binomial trees",
    .use = "the usual tree; a baseline",
    .source = "Thakur, Rabenseifner, Gropp: IJHPCA 2005",
    .sizes = "any torus or mesh",
    .steps_formula = "sum of ceil(log2 a)",
    .bytes_formula = "m per child; scatter and gather: the blocks below",
    .collectives = TRV_TREE_COLLECTIVES,
    .latency_optimal = true,
    .baseline = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .create = binomial_create,
};
