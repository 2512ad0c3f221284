/*
 * Swing, bandwidth-optimal (De Sensi et al., NSDI 2024; paper section 2.4).
 *
 * The partners are those of Swing L (swing_l.c). In step k of the reduce-scatter a rank sends its partner the blocks of
 * all ranks that the partner reaches in the later steps, half of what it holds; the allgather is the reversal:
 *
 *   step 0   0<->1 …   m/2 of the slice, distance 1
 *   step 1   1<->2 …   m/4, distance 1
 *   step 2   0<->3 …   m/8, distance 3
 *
 * 2D streams: stream i starts in dimension i, stream D + i is the same with every coordinate negated. swing-b:PORTS has
 * the first PORTS of them (name.h), and messages half way round leave as in swing-l:PORTS.
 * Sizes: powers of two; others are folded (pairs.h).   Steps: 2 * sum of log2 a, and 2 where folded.
 * Exact: yes.   Consistent: yes.   Symmetry: translation by 2 on powers of two.
 */
#include "algorithms/builders/pairs.h"
#include "algorithms/paper.h"
#include "algorithms/registry.h"

static trv_pattern_t *swing_b_pattern(int size, trv_collective_t collective)
{
    trv_pairs_t pairs = trv_pairs(size, trv_swing_partner);
    return trv_pairs_pattern(&pairs, collective);
}

static trv_pattern_t *swing_b_pattern_alternating(int size, trv_collective_t collective)
{
    trv_pairs_t pairs = trv_pairs(size, trv_swing_partner);
    pairs.ties_alternate = true;
    return trv_pairs_pattern(&pairs, collective);
}

static int swing_b_create(trv_schedule_t *schedule)
{
    if (!trv_pairs_are_unfolded(&schedule->torus))
        schedule->symmetry = TRV_SYMMETRY_NONE;
    const int ports = schedule->parameters->value[0].number;
    const bool alternating = ports > 0;
    return trv_scatter_create(schedule, &(trv_scatter_options_t){.visit = TRV_INTERLEAVED,
                                                                 .mirrored = true,
                                                                 .ties_mirrored = alternating,
                                                                 .ports = ports,
                                                                 .pattern = alternating ? swing_b_pattern_alternating
                                                                                        : swing_b_pattern});
}

static double swing_b_congestion(int step) { return trv_swing_distance(step); }

static void swing_b_paper_cost(int side, int dims, trv_paper_cost_t *paper)
{
    const double two = pow(2, dims);
    trv_paper_scatter(side, dims, 2, swing_b_congestion, paper);
    paper->theta_limit = dims == 1 ? 1.0 / 3.0 * log(side) / log(2) : two * (two - 1) / ((two - 2) * (two + 1));
}

const trv_algorithm_t trv_swing_b = {
    .name = "swing-b",
    .family = "swing",
    .title = "Swing, bandwidth-optimal",
    .use = "comparison",
    .source = "De Sensi et al.: NSDI 2024",
    .sizes = "any torus or mesh, designed for powers of two",
    .steps_formula = "2 * sum of log2 a; + 2 where folded",
    .parameters = "PORTS",
    .example = "swing-b:1",
    .field = {TRV_FIELD_PORTS},
    .bytes_formula = "2m (n-1)/n; about m more per folded dimension",
    .symmetry = TRV_SYMMETRY_PARITY,
    .exactness = TRV_EXACT,
    .consistent = true,
    .paper_cost = swing_b_paper_cost,
    .create = swing_b_create,
};
