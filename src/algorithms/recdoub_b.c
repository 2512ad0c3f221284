/*
 * Recursive Doubling, bandwidth-optimal: Rabenseifner's algorithm (2004; paper section 2.4), on all 2D ports.
 *
 * In step k of the reduce-scatter rank r sends half of the blocks that it still holds to r xor 2^k; the allgather is
 * the reversal. The distances double while the messages halve:
 *
 *   step 0   0<->1  2<->3  4<->5  6<->7          m/2 of the slice over distance 1
 *   step 1   0<->2  1<->3  4<->6  5<->7          m/4 over distance 2
 *   step 2   0<->4  1<->5  2<->6  3<->7          m/8 over distance 4
 *
 * 2D streams: stream i starts in dimension i, stream D + i is the same with every coordinate negated. Messages over
 * half of the ring travel in direction + in all streams, as in the reference simulator; in the variant recdoub-b-split
 * they travel in direction - in the mirrored streams, which distributes the longest step over both directions.
 * recdoub-b:PORTS has the first PORTS streams (name.h), and these messages leave as in recdoub-l:PORTS.
 * Sizes: powers of two; others are folded (pairs.h).   Steps: 2 * sum of log2 a, and 2 where folded.
 * Exact: yes.   Consistent: yes.   Symmetry: none.
 */
#include "algorithms/builders/pairs.h"
#include "algorithms/paper.h"
#include "algorithms/registry.h"

static trv_pattern_t *recdoub_b_pattern(int size, trv_collective_t collective)
{
    trv_pairs_t pairs = trv_pairs(size, trv_recdoub_partner);
    return trv_pairs_pattern(&pairs, collective);
}

static trv_pattern_t *recdoub_b_pattern_alternating(int size, trv_collective_t collective)
{
    trv_pairs_t pairs = trv_pairs(size, trv_recdoub_partner);
    pairs.ties_alternate = true;
    return trv_pairs_pattern(&pairs, collective);
}

static int recdoub_b_create(trv_schedule_t *schedule)
{
    const int ports = schedule->parameters->value[0].number;
    const bool alternating = ports > 0;
    return trv_scatter_create(schedule, &(trv_scatter_options_t){.visit = TRV_INTERLEAVED,
                                                                 .mirrored = true,
                                                                 .ties_mirrored = alternating,
                                                                 .ports = ports,
                                                                 .pattern = alternating ? recdoub_b_pattern_alternating
                                                                                        : recdoub_b_pattern});
}

static int recdoub_b_create_split(trv_schedule_t *schedule)
{
    return trv_scatter_create(schedule, &(trv_scatter_options_t){.visit = TRV_INTERLEAVED,
                                                                 .mirrored = true,
                                                                 .ties_split = true,
                                                                 .pattern = recdoub_b_pattern});
}

static double recdoub_b_congestion(int step) { return pow(2, step); }

static void recdoub_b_paper_cost(int side, int dims, trv_paper_cost_t *paper)
{
    const double two = pow(2, dims);
    trv_paper_scatter(side, dims, 2, recdoub_b_congestion, paper);
    paper->theta_limit = dims == 1 ? 0.5 * log(side) / log(2) : (two - 1) / (two - 2);
}

const trv_algorithm_t trv_recdoub_b = {
    .name = "recdoub-b",
    .family = "recdoub",
    .title = "Recursive Doubling, bandwidth-optimal (Rabenseifner)",
    .use = "comparison",
    .source = "Rabenseifner: ICCS 2004",
    .sizes = "any torus or mesh, designed for powers of two",
    .steps_formula = "2 * sum of log2 a; + 2 where folded",
    .parameters = "PORTS",
    .example = "recdoub-b:1",
    .field = {TRV_FIELD_PORTS},
    .bytes_formula = "2m (n-1)/n; about m more per folded dimension",
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .paper_cost = recdoub_b_paper_cost,
    .create = recdoub_b_create,
};

const trv_algorithm_t trv_recdoub_b_split = {
    .name = "recdoub-b-split",
    .family = "recdoub-b-split",
    .title = "Recursive Doubling, bandwidth-optimal, longest messages split over both directions",
    .use = "comparison",
    .source = "Rabenseifner: ICCS 2004",
    .sizes = "any torus or mesh, designed for powers of two",
    .steps_formula = "2 * sum of log2 a; + 2 where folded",
    .bytes_formula = "2m (n-1)/n; about m more per folded dimension",
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .paper_cost = recdoub_b_paper_cost,
    .create = recdoub_b_create_split,
};
