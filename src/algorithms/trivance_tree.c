/*
 * Trivance's tree: the tree along which Trivance B's allgather sends one block (paper section 4.1), from a root.
 *
 * In every step each rank that has the data sends it to both sides, over the distances 3^k in descending order, so that
 * three times as many ranks have it: ceil(log3 a) steps along a ring of size a, one dimension after another.
 *
 *   ring of 9, step 0   3 <- 0 -> 6
 *              step 1   2 <- 3 -> 4   8 <- 0 -> 1   5 <- 6 -> 7
 *
 * The reversal is a reduce with joint reductions; with the blocks of subtrees instead of the whole vector it is a
 * scatter or a gather. On a line, ranks beyond an end are left out; the number of steps then depends on the root.
 * Streams: D, stream i starting in dimension i.   Steps: sum of ceil(log3 a).   Exact: yes.   Symmetry: none.
 */
#include "base/radix.h"
#include "algorithms/builders/dimension_tree.h"
#include "algorithms/registry.h"

static int ring_edges(int size, int root, trv_row_edge_t *edge)
{
    const int levels = trv_log_ceil(3, size);
    for (int level = 0; level < levels; level++) {
        const int power = trv_power(3, levels - 1 - level), distance = level == 0 ? (size - power + 1) / 2 : power;
        for (int x = 0; x < size; x++)
            for (int sign = 1; sign >= -1; sign -= 2) {
                const int to = (x + sign * distance + size) % size;
                const bool has_data = x == root || (edge[x].parent >= 0 && edge[x].level < level);
                if (has_data && to != root && edge[to].parent < 0)
                    edge[to] = (trv_row_edge_t){x, level, sign};
            }
    }
    return levels;
}

/* The ranks on one side of a root that another rank of that side takes over, of `ranks`: about two thirds, so that at
 * most (reach - 1) / 2 remain for the root and at most `reach` are taken over, which the later levels reach. */
static int taken_over(int ranks, int reach)
{
    const int least = ranks - (reach - 1) / 2, two_thirds = (2 * ranks + 2) / 3;
    return two_thirds < least ? least : two_thirds > reach ? reach : two_thirds;
}

/* The tree in coordinates first … last of a line, from `root`, from level `level` on. In every level a root sends to
 * the middle of the ranks that are taken over on either side. */
static void line_edges(int first, int last, int root, int level, int levels, trv_row_edge_t *edge)
{
    if (first == last)
        return;
    const int reach = trv_power(3, levels - 1 - level);
    const int left = taken_over(root - first, reach), right = taken_over(last - root, reach);
    if (left > 0) {
        const int middle = first + (left - 1) / 2;
        edge[middle] = (trv_row_edge_t){root, level, -1};
        line_edges(first, first + left - 1, middle, level + 1, levels, edge);
    }
    if (right > 0) {
        const int middle = last - (right - 1) / 2;
        edge[middle] = (trv_row_edge_t){root, level, 1};
        line_edges(last - right + 1, last, middle, level + 1, levels, edge);
    }
    line_edges(first + left, last - right, root, level + 1, levels, edge);
}

static int trivance_row(int size, bool line, int root, bool mirrored, trv_row_edge_t *edge)
{
    (void)mirrored;
    for (int x = 0; x < size; x++)
        edge[x].parent = -1;
    if (!line)
        return ring_edges(size, root, edge);
    const int farther = root > size - 1 - root ? root : size - 1 - root, levels = trv_log_ceil(3, 2 * farther + 1);
    line_edges(0, size - 1, root, 0, levels, edge);
    return levels;
}

static int trivance_tree_create(trv_schedule_t *schedule)
{
    return trv_dimension_trees_create(schedule, trivance_row, false, 0);
}

const trv_algorithm_t trv_trivance_tree = {
    .name = "trivance-tree",
    .family = "trivance",
    .title = "Trivance, tree",
    .use = "short broadcasts and reduces; scatter and gather",
    .source = "Juerss, Addanki, Schmid: Trivance, section 4.1 (one block of the allgather)",
    .sizes = "any torus or mesh",
    .steps_formula = "sum of ceil(log3 a)",
    .bytes_formula = "m per child; scatter and gather: the blocks below",
    .collectives = TRV_TREE_COLLECTIVES,
    .latency_optimal = true,
    .lines = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .create = trivance_tree_create,
};
