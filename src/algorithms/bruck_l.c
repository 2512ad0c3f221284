/*
 * Bruck, radix 3, latency-optimal (Bruck and Ho 1994; Trivance paper section 2.4 and appendix C).
 *
 * A rank holds the sum of a window that ends with its own value. In step k rank r sends its sum to
 * r + 3^k and r + 2 * 3^k, each message the shorter way around the ring (direction + if both ways are equally long).
 * Windows thus grow threefold, always backwards:
 *
 *   step 0   rank 8 of 9 receives 7 from 7 (distance 1) and 6 from 6 (distance 2)           [6 7 8]
 *   step 1   ... and 3 4 5 from 5 (distance 3), 0 1 2 from 2 (distance 6, or 3 the other way) [0 … 8]
 *
 * On sizes other than 3^s the last messages carry only the missing parts of windows. This makes one cut in every
 * earlier window (windows.h), which adds a second vector to at most one message per step.
 *
 * Whole vectors; the two messages of a step may share a port. The bandwidth-optimal variant is in bruck_b.c.
 * Sizes: any.   Streams: D.   Steps: sum of ceil(log3 a).   Exact: yes.   Consistent: no.   Symmetry: translation.
 */
#include "algorithms/paper.h"
#include "algorithms/registry.h"
#include "algorithms/builders/windows.h"

static int bruck_l_create(trv_schedule_t *schedule)
{
    const trv_stage_lattice_t lattice = trv_stage_lattice_whole(&schedule->torus);
    return trv_stage_create(schedule, trv_windows_stage(&lattice, trv_window_steps_bruck, 1, true));
}

static double bruck_l_congestion(int step) { return 3 * pow(3, step); }

static void bruck_l_paper_cost(int side, int dims, trv_paper_cost_t *paper)
{
    trv_paper_whole(side, dims, 3, bruck_l_congestion, paper);
    paper->theta_limit = 1.5 * side * dims;
}

const trv_algorithm_t trv_bruck_l = {
    .name = "bruck-l",
    .family = "bruck",
    .title = "Bruck, latency-optimal",
    .use = "comparison",
    .source = "Bruck and Ho, radix 3 with two ports; Trivance paper, section 2.4",
    .sizes = "any torus or mesh",
    .steps_formula = "sum of ceil(log3 a)",
    .bytes_formula = "2m per step; up to 3m on sizes other than 3^s",
    .latency_optimal = true,
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = false,
    .baseline = true,
    .colour = 1,
    .paper_cost = bruck_l_paper_cost,
    .create = bruck_l_create,
};
