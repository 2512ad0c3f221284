/*
 * Trivance, latency-optimal, with windows that overlap (paper sections 4.2 and 4.4): for idempotent operations, which
 * may combine a value twice.
 *
 * The paper's own distances: 3^k, and in the last step ceil((a - 3^(s-1)) / 2), with the whole window in every message.
 * Where a is not 3^s the last windows overlap, so some contributions arrive twice:
 *
 *   a = 7, rank 3    step 0   1:1     . . [2 3 4] . .
 *                    step 1   2:2      [0 1 2] from rank 1, [4 5 6] from rank 5: 2 and 4 twice
 *
 * MAX, MIN, AND and OR allow this. There is one vector per message on any size, minimum congestion, and dimensions
 * alternate on every torus, as in the paper.
 *
 * Whole vectors through both ports of a dimension.
 * Sizes: any.   Streams: D.   Steps: sum of ceil(log3 a).   Exact: covers (on 3^s exact).   Consistent: no.
 * Symmetry: translation.
 */
#include "algorithms/registry.h"
#include "algorithms/builders/windows.h"

static int overlap_create(trv_schedule_t *schedule)
{
    const trv_stage_lattice_t lattice = trv_stage_lattice_whole(&schedule->torus);
    return trv_stage_create(schedule, trv_windows_stage(&lattice, trv_window_steps_overlap, 1, false));
}

const trv_algorithm_t trv_trivance_l_overlap = {
    .name = "trivance-l-overlap",
    .family = "trivance-l-overlap",
    .title = "Trivance, latency-optimal, overlapping windows (idempotent operations)",
    .use = "MAX, MIN, AND, OR",
    .source = "Trivance paper, sections 4.2 and 4.4",
    .sizes = "any torus or mesh",
    .steps_formula = "sum of ceil(log3 a)",
    .bytes_formula = "2m per step",
    .latency_optimal = true,
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_COVERS,
    .consistent = false,
    .create = overlap_create,
};
