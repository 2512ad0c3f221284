/*
 * Trivance, bandwidth-optimal (paper section 4.1; any size: section 4.4; tori: section 5).
 *
 * A reduce-scatter in s = ceil(log3 a) steps per dimension, with the allgather as its exact reversal. In step k every
 * rank sends to both sides over distance d_k = 3^k, and adds both received messages to its own partial sums jointly:
 *
 *   ring of 9, step 0   … 8 <-1-> 0 <-1-> 1 <-1-> 2 …      blocks of three classes mod 3: keep one, send one each way
 *              step 1   … 6 <-3-> 0 <-3-> 3 <-3-> 6 …      of the three blocks left: keep one, send one each way
 *
 * Sizes: any. The last distance is ceil((a - 3^(s-1)) / 2). The direction of each block follows from the tree over
 * which the allgather sends one block (tree.c). The tree is mirror-symmetric, so that both directions carry the same
 * load; a displacement a/2 is reached from both sides, by one half of its block each. Every block is sent over one edge
 * per rank and phase: a - 1 blocks. Messages are contiguous if every dimension is 3^s (blocks are numbered by their
 * digits in the order of the steps).
 * Streams: D, stream i starting in dimension i.   Steps: 2 * sum of ceil(log3 a).   Exact: yes.   Consistent: yes.
 * Symmetry: translation.
 */
#include "base/radix.h"
#include "algorithms/paper.h"
#include "algorithms/builders/tree.h"
#include "algorithms/registry.h"

static trv_pattern_t *trivance_b_pattern(int size, trv_collective_t collective)
{
    (void)collective;
    int offset[2 * 20];
    int levels = trv_log_ceil(3, size);
    for (int k = 0; k < levels; k++) {
        int power = trv_power(3, k);
        int distance = k < levels - 1 ? power : (size - power + 1) / 2;
        offset[2 * k] = distance;
        offset[2 * k + 1] = -distance;
    }
    return trv_tree_pattern(&(trv_tree_options_t){.size = size,
                                                  .levels = levels,
                                                  .offset = offset,
                                                  .balanced = true,
                                                  .radix = trv_is_power(3, size) ? 3 : 0});
}

static int trivance_b_create(trv_schedule_t *schedule)
{
    return trv_scatter_create(schedule,
                              &(trv_scatter_options_t){.visit = TRV_INTERLEAVED, .pattern = trivance_b_pattern});
}

static double trivance_b_congestion(int step) { return pow(3, step); }

static void trivance_b_paper_cost(int side, int dims, trv_paper_cost_t *paper)
{
    const double three = pow(3, dims);
    trv_paper_scatter(side, dims, 3, trivance_b_congestion, paper);
    paper->theta_limit = dims == 1 ? 2.0 / 3.0 * log(side) / log(3) : (three - 1) / (three - 3);
}

const trv_algorithm_t trv_trivance_b = {
    .name = "trivance-b",
    .family = "trivance",
    .title = "Trivance, bandwidth-optimal",
    .use = "medium and long vectors",
    .source = "Juerss, Addanki, Schmid: Trivance, section 4.1",
    .sizes = "any torus or mesh",
    .steps_formula = "2 * sum of ceil(log3 a)",
    .bytes_formula = "2m (n-1)/n",
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = true,
    .paper_cost = trivance_b_paper_cost,
    .create = trivance_b_create,
};
