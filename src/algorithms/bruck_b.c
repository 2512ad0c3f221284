/*
 * Bruck, bandwidth-optimal (Bruck and Ho 1994 with two ports; paper section 2.4 and appendix C).
 *
 * Radix 3: in step k of the reduce-scatter rank r sends to the ranks r - 3^k and r - 2 * 3^k; the allgather is the
 * exact reversal, the largest distances first, as PAT orders it (Jeaugey 2025). Each message takes the shorter way
 * around the ring, so both may leave through one port:
 *
 *   ring of 9, allgather step 0   r -> r + 3 (right, 3 hops), r -> r + 6 (left, 3 hops)
 *              allgather step 1   r -> r + 1 (right, 1 hop),  r -> r + 2 (right, 2 hops)
 *
 * Sizes: any; a displacement that both offsets can reach is reached over the shorter one.
 * Streams: D, stream i starting in dimension i.   Steps: 2 * sum of ceil(log3 a).   Exact: yes.   Consistent: yes.
 * Symmetry: translation.
 */
#include "base/radix.h"
#include "algorithms/paper.h"
#include "algorithms/builders/tree.h"
#include "algorithms/registry.h"

static trv_pattern_t *bruck_b_pattern(int size, trv_collective_t collective)
{
    (void)collective;
    int offset[2 * 20];
    int levels = trv_log_ceil(3, size);
    for (int k = 0; k < levels; k++) {
        offset[2 * k] = trv_power(3, k);
        offset[2 * k + 1] = 2 * offset[2 * k];
    }
    return trv_tree_pattern(&(trv_tree_options_t){.size = size,
                                                  .levels = levels,
                                                  .offset = offset,
                                                  .shortest = true,
                                                  .radix = trv_is_power(3, size) ? 3 : 0});
}

static int bruck_b_create(trv_schedule_t *schedule)
{
    const trv_scatter_options_t options = {.visit = TRV_INTERLEAVED, .pattern = bruck_b_pattern, .share_port = true};
    return trv_scatter_create(schedule, &options);
}

static double bruck_b_congestion(int step) { return 3 * pow(3, step); }

static void bruck_b_paper_cost(int side, int dims, trv_paper_cost_t *paper)
{
    const double three = pow(3, dims);
    trv_paper_scatter(side, dims, 3, bruck_b_congestion, paper);
    paper->theta_limit = dims == 1 ? 2.0 * log(side) / log(3) : 3 * (three - 1) / (three - 3);
}

const trv_algorithm_t trv_bruck_b = {
    .name = "bruck-b",
    .family = "bruck",
    .title = "Bruck, bandwidth-optimal",
    .use = "comparison",
    .source = "Bruck, Ho: IPPS 1994; Jeaugey: PAT, 2025",
    .sizes = "any torus or mesh",
    .steps_formula = "2 * sum of ceil(log3 a)",
    .bytes_formula = "2m (n-1)/n",
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = true,
    .paper_cost = bruck_b_paper_cost,
    .create = bruck_b_create,
};
