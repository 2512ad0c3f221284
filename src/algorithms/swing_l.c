/*
 * Swing, latency-optimal (De Sensi et al., NSDI 2024; paper section 2.4).
 *
 * In step k rank r exchanges its vector with r + rho(k) if r is even and with r - rho(k) if r is odd, where
 *
 *   rho(k) = (1 - (-2)^(k+1)) / 3 = 1, -1, 3, -5, 11 …
 *
 * Partners alternate sides and stay closer than with Recursive Doubling:
 *
 *   step 0   0<->1  2<->3  4<->5  6<->7          distance 1, congestion 1
 *   step 1   1<->2  3<->4  5<->6  7<->0          distance 1, congestion 1
 *   step 2   0<->3  2<->5  4<->7  6<->1          distance 3, congestion 2
 *
 * One port at a time, one stream, whole vectors; on a torus the dimensions alternate. swing-l:PORTS has as many streams
 * (name.h), and messages half way round leave even coordinates in direction +, odd ones in direction -.
 * Sizes: powers of two in log2 n steps; others fold their excess ranks into neighbours (pairs.h), with two additional
 * steps. Swing's own paper treats even sizes without folding, at the cost of messages of unequal numbers of blocks.
 * Exact: yes.   Symmetry: translation by 2 on powers of two.
 * Consistent: no. On 8 ranks, rank 0 ends with ((6+7) + (0+1)) + ((2+3) + (4+5)), rank 2 with ((0+1) + (2+3)) + ((4+5)
 * + (6+7)): partners agree, but the groups combined so far are not the same for all ranks.
 */
#include "algorithms/builders/pairs.h"
#include "algorithms/paper.h"
#include "algorithms/registry.h"

static int swing_l_create(trv_schedule_t *schedule)
{
    return trv_pairs_l_create(schedule, trv_swing_partner, schedule->parameters->value[0].number);
}

static double swing_l_congestion(int step) { return ceil(trv_swing_distance(step) / 2.0); }

static void swing_l_paper_cost(int side, int dims, trv_paper_cost_t *paper)
{
    trv_paper_whole(side, dims, 2, swing_l_congestion, paper);
    paper->theta_limit = 1.0 / 3.0 * side * (dims * dims);
}

const trv_algorithm_t trv_swing_l = {
    .name = "swing-l",
    .family = "swing",
    .title = "Swing, latency-optimal",
    .use = "comparison",
    .source = "De Sensi et al.: NSDI 2024",
    .sizes = "any torus or mesh, designed for powers of two",
    .steps_formula = "sum of log2 a; + 2 where folded",
    .parameters = "PORTS",
    .example = "swing-l:1",
    .field = {TRV_FIELD_PORTS},
    .bytes_formula = "m log2 n",
    .latency_optimal = true,
    .symmetry = TRV_SYMMETRY_PARITY,
    .exactness = TRV_EXACT,
    .consistent = false,
    .baseline = true,
    .colour = 2,
    .paper_cost = swing_l_paper_cost,
    .create = swing_l_create,
};
