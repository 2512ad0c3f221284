/*
 * Trivance, latency-optimal (paper section 4.2), made exact on rings of every size (docs/windows.md).
 *
 * Every rank holds the sum of a window of neighbours around it, at first its own value. In a step it sends to the rank
 * at distance `right` before it the suffix of its window which that rank lacks, and to the rank at distance `left`
 * after it the prefix which that rank lacks. It adds the data received from both sides to its own sum in one pass. On
 * 3^s ranks both messages are the whole window, and the distance is 3^k:
 *
 *   step 0   1:1        [.]        rank 4 of 9 receives 3 and 5        congestion 1
 *   step 1   3:3     [. . .]       ... and 0 1 2 from 1, 6 7 8 from 7  congestion 3
 *           0 1 2   3 4 5   6 7 8
 *
 * On other sizes the growths right:left are chosen (windows_search.c) so that each message is one sum wherever that is
 * possible, and at most two elsewhere (windows.h; sizes: docs/windows.md).
 *
 * With trivance-l:K, windows grow by up to K others on each side in a step, if a rank may send as many
 * messages: on tori of several dimensions, or where the network allows several per port (trv_network_t).
 *
 * Whole vectors through both ports of a dimension. The bandwidth-optimal variant is in trivance_b.c.
 * Sizes: any.   Streams: D.   Steps: sum of ceil(log_(2K+1) a).   Exact: yes.   Symmetry: translation.
 * Consistent: no (every rank adds in its own order).
 */
#include "algorithms/paper.h"
#include "algorithms/registry.h"
#include "algorithms/builders/windows.h"

static int trivance_l_create(trv_schedule_t *schedule)
{
    const trv_stage_lattice_t lattice = trv_stage_lattice_whole(&schedule->torus);
    const int reach = schedule->parameters->value[0].number;
    return trv_stage_create(schedule, trv_windows_stage(&lattice, trv_window_steps_trivance, reach, false));
}

static double trivance_l_congestion(int step) { return pow(3, step); }

static void trivance_l_paper_cost(int side, int dims, trv_paper_cost_t *paper)
{
    trv_paper_whole(side, dims, 3, trivance_l_congestion, paper);
    paper->theta_limit = 0.5 * side * dims;
}

const trv_algorithm_t trv_trivance_l = {
    .name = "trivance-l",
    .family = "trivance",
    .title = "Trivance, latency-optimal",
    .use = "short vectors, exact operations",
    .source = "Trivance paper, section 4.2; windows: docs/windows.md",
    .sizes = "any torus or mesh; K > 1: up to 2K messages in a step",
    .parameters = "[K]",
    .example = "trivance-l:2",
    .field = {{.kind = TRV_FIELD_NUMBER,
               .what = "a number of messages from each side in a step",
               .max = TRV_WINDOW_REACH_MAX,
               .value = 1,
               .hidden = true}},
    .steps_formula = "sum of ceil(log3 a); fewer for K > 1",
    .bytes_formula = "2m per step; more on the sizes of docs/windows.md",
    .messages = TRV_MESSAGES_PER_SIDE,
    .latency_optimal = true,
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = false,
    .colour = 5,
    .paper_cost = trivance_l_paper_cost,
    .create = trivance_l_create,
};
