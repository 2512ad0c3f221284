/*
 * Recursive Doubling, latency-optimal (Thakur, Rabenseifner, Gropp 2005; paper section 2.4).
 *
 * In step k rank r exchanges its whole vector with r xor 2^k, and both add:
 *
 *   step 0   0<->1  2<->3  4<->5  6<->7          distance 1, congestion 1
 *   step 1   0<->2  1<->3  4<->6  5<->7          distance 2, congestion 2
 *   step 2   0<->4  1<->5  2<->6  3<->7          distance 4, congestion 4 (all in direction +)
 *
 * One port at a time, one stream; on a torus the dimensions alternate. recdoub-l:PORTS has as many streams (name.h),
 * and messages half way round leave even coordinates in direction +, odd ones in direction -: congestion 2 in step 2.
 * Sizes: powers of two in log2 n steps; others fold their excess ranks into neighbours (pairs.h), with two additional
 * steps.
 * Exact: yes.   Consistent: yes (both partners add the same two values).   Symmetry: none.
 */
#include "algorithms/builders/pairs.h"
#include "algorithms/paper.h"
#include "algorithms/registry.h"

static int recdoub_l_create(trv_schedule_t *schedule)
{
    return trv_pairs_l_create(schedule, trv_recdoub_partner, schedule->parameters->value[0].number);
}

static double recdoub_l_congestion(int step) { return pow(2, step); }

static void recdoub_l_paper_cost(int side, int dims, trv_paper_cost_t *paper)
{
    trv_paper_whole(side, dims, 2, recdoub_l_congestion, paper);
    paper->theta_limit = 1.0 * side * dims * dims;
}

const trv_algorithm_t trv_recdoub_l = {
    .name = "recdoub-l",
    .family = "recdoub",
    .title = "Recursive Doubling, latency-optimal",
    .use = "comparison",
    .source = "Thakur, Rabenseifner, Gropp: IJHPCA 2005",
    .sizes = "any torus or mesh, designed for powers of two",
    .steps_formula = "sum of log2 a; + 2 where folded",
    .parameters = "PORTS",
    .example = "recdoub-l:1",
    .field = {TRV_FIELD_PORTS},
    .bytes_formula = "m log2 n",
    .latency_optimal = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .baseline = true,
    .colour = 3,
    .paper_cost = recdoub_l_paper_cost,
    .create = recdoub_l_create,
};
