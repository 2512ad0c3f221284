/*
 * Bine trees, a baseline (De Sensi et al., SC 2025): binomial trees whose distances are those of negabinary numbers,
 * d_k = (1 - (-2)^(k+1)) / 3: 1, -1, 3, -5, 11, … An even rank sends over +d_k, an odd one over -d_k, counted from the
 * root, so that messages alternate between both directions and travel less far than in a binomial tree.
 *
 *   ring of 8, step 0   0 -> 3
 *              step 1   7 <- 0   3 -> 4
 *              step 2   0 -> 1   2 <- 3   6 <- 7   4 -> 5
 *
 * Sizes: powers of two. Trees start in every dimension, each also mirrored.
 * Name: bine[:PORTS], the number of streams (name.h).
 * Streams: 2D.   Steps: sum of log2 a.   Exact: yes.   Symmetry: none.
 */
#include "base/radix.h"
#include "algorithms/builders/dimension_tree.h"
#include "algorithms/builders/pairs.h"
#include "algorithms/registry.h"
#include "base/error.h"

static int bine_row(int size, bool line, int root, bool mirrored, trv_row_edge_t *edge)
{
    const int levels = trv_log_ceil(2, size), side = mirrored ? -1 : 1;
    (void)line;
    for (int x = 0; x < size; x++)
        edge[x] = (trv_row_edge_t){.parent = -1, .level = levels};
    edge[root].level = -1;
    for (int level = 0; level < levels; level++)
        for (int x = 0; x < size; x++) { /* counted from the root */
            const int from = ((root + side * x) % size + size) % size;
            const int partner = trv_swing_partner(x, levels - 1 - level, size), up = (partner - x + size) % size;
            const int to = ((root + side * partner) % size + size) % size;
            if (edge[from].level < level && edge[to].level == levels)
                edge[to] = (trv_row_edge_t){from, level, 2 * up <= size ? side : -side};
        }
    return levels;
}

static int bine_supports(const trv_torus_t *torus, trv_collective_t collective)
{
    char text[TRV_TORUS_TEXT_MAX];
    (void)collective;
    for (int d = 0; d < torus->dims; d++)
        if (!trv_is_power(2, torus->size[d]))
            return trv_fail(TRV_ERR_UNSUPPORTED,
                            "bine supports only sizes that are powers of two, not %s; use binomial",
                            trv_torus_format(torus, text, sizeof text));
    return TRV_OK;
}

static int bine_create(trv_schedule_t *schedule)
{
    return trv_dimension_trees_create(schedule, bine_row, true, schedule->parameters->value[0].number);
}

const trv_algorithm_t trv_bine = {
    .name = "bine",
    .family = "bine",
    .title = "Bine trees",
    .use = "a baseline",
    .source = "De Sensi et al.: Bine Trees, SC 2025",
    .sizes = "powers of two",
    .parameters = "PORTS",
    .example = "bine:1",
    .field = {TRV_FIELD_PORTS},
    .steps_formula = "sum of log2 a",
    .bytes_formula = "m per child; scatter and gather: the blocks below",
    .collectives = TRV_TREE_COLLECTIVES,
    .latency_optimal = true,
    .baseline = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .supports = bine_supports,
    .create = bine_create,
};
