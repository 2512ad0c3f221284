/*
 * Lines, bandwidth-optimal: reduce-scatter and allgather on a line, with messages that are as short as those on a ring.
 *
 * The allgather divides the line, from the whole line down to single ranks (line.h): a rank sends all blocks that it
 * holds to its partner in each of the other two intervals, so that every interval holds every block once. The
 * reduce-scatter is the reversal, from the smallest intervals up: in level k it sends m / 3^(k+1) bytes over distances
 * 3^k and 2 * 3^k, which loads every link with 2/3 of the vector, and adds the data from both sides jointly.
 *
 *   line of 9   level 0   (0 1 2)        0 keeps the blocks 0 3 6, sends 1 4 7 to rank 1 and 2 5 8 to rank 2
 *               level 1   (0 … 3 … 6)    0 keeps block 0, sends block 3 to rank 3 and block 6 to rank 6
 *
 * Sizes: any.   On a torus or mesh: rings as in Trivance B.   Streams: D, stream i starting in dimension i.
 * Steps: 2 * sum of ceil(log3 a).   Exact: yes.   Consistent: yes.   Symmetry: none.
 */
#include <stdlib.h>

#include "algorithms/hybrid.h"
#include "algorithms/builders/line.h"
#include "algorithms/registry.h"
#include "base/ascending.h"
#include "base/radix.h"

/* Counts the blocks of which a position holds a partial sum before `level`, and lists them if `block` is not NULL:
 * those that it holds in the next level, and those of all its receivers. */
static int line_collect(int size, int level, int position, int *block)
{
    if (level == trv_log_ceil(3, size)) {
        if (block)
            *block = position;
        return 1;
    }
    const trv_thirds_t thirds = trv_line_thirds(size, level, position);
    int count = line_collect(size, level + 1, position, block);
    for (int i = 0; i < 3; i++) {
        int receiver[2];
        for (int s = 0, receivers = i == thirds.own ? 0 : trv_line_receivers(&thirds, position, i, receiver);
             s < receivers; s++)
            count += line_collect(size, level + 1, receiver[s], block ? block + count : NULL);
    }
    return count;
}

static int line_held(const trv_pattern_t *pattern, int position, int level, int half, trv_residues_t *blocks,
                     trv_step_t *memory)
{
    (void)half;
    const int count = line_collect(pattern->size, level, position, NULL);
    int *value = trv_step_alloc(memory, (size_t)count * sizeof *value);
    if (!value)
        return TRV_ERR_MEMORY;
    line_collect(pattern->size, level, position, value);
    qsort(value, (size_t)count, sizeof *value, trv_compare_int);
    *blocks = (trv_residues_t){count, value};
    return TRV_OK;
}

static int line_edge(const trv_pattern_t *pattern, int level, int from, int to, trv_edge_t *edge, trv_step_t *memory)
{
    const int sign = to > from ? 1 : -1;
    *edge = (trv_edge_t){.from = from, .to = to, .sign = sign, .reverse_sign = -sign};
    return line_held(pattern, to, level + 1, 0, &edge->blocks[0], memory);
}

/* A position sends to its receivers, which return the blocks in the allgather, and receives from its partners. */
static int line_edges(const trv_pattern_t *pattern, int position, int level, bool outgoing, trv_edge_t *edge,
                      trv_step_t *memory)
{
    const trv_thirds_t thirds = trv_line_thirds(pattern->size, level, position);
    int edges = 0, rc = TRV_OK;
    for (int i = 0; i < 3 && !rc; i++) {
        int other[2] = {0}, count = 1;
        if (i == thirds.own || thirds.interval[i].size == 0)
            continue;
        if (outgoing)
            count = trv_line_receivers(&thirds, position, i, other);
        else
            other[0] = trv_line_partner(&thirds, position, i);
        for (int k = 0; k < count && !rc; k++, edges++)
            rc = outgoing ? line_edge(pattern, level, position, other[k], &edge[edges], memory)
                          : line_edge(pattern, level, other[k], position, &edge[edges], memory);
    }
    return rc ? rc : edges;
}

static void line_destroy(trv_pattern_t *pattern) { free(pattern); }

trv_pattern_t *trv_line_pattern(int size)
{
    trv_pattern_t *pattern = malloc(sizeof *pattern);
    if (pattern)
        *pattern = (trv_pattern_t){.size = size,
                                   .levels = trv_log_ceil(3, size),
                                   .line = true,
                                   .halves = 1,
                                   .radix = trv_is_power(3, size) ? 3 : 0,
                                   .edges = line_edges,
                                   .held = line_held,
                                   .destroy = line_destroy};
    return pattern;
}

static int line_b_create(trv_schedule_t *schedule)
{
    trv_hybrid_t hybrid = {.form = TRV_HYBRID_GROUPED};
    for (int d = 0; d < schedule->torus.dims; d++)
        hybrid.dimension[d].g = schedule->torus.size[d];
    return trv_hybrid_make(schedule, &hybrid);
}

const trv_algorithm_t trv_line_b = {
    .name = "line-b",
    .family = "line",
    .title = "Lines, bandwidth-optimal: for meshes and rings with a cut link",
    .use = "meshes and rings with a cut link, medium vectors",
    .source = "docs/networks.md; after Juerss, Addanki, Schmid: Trivance",
    .sizes = "tori and meshes with at least one line",
    .steps_formula = "2 * sum of ceil(log3 a)",
    .bytes_formula = "2m (n-1)/n",
    .lines = true,
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = true,
    .supports = trv_line_supports,
    .create = line_b_create,
};
