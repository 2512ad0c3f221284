/*
 * Ring: two mirrored Hamiltonian rings (Patarasuk and Yuan 2009; paper section 2.4).
 *
 * One half of the vector travels around the ring to the right, the other to the left, one block and one hop per step:
 *
 *   stream 0, every step of the reduce-scatter   0 -> 1 -> 2 -> 3 -> 4 -> … -> 0
 *   stream 1 (mirrored)                          0 <- 1 <- 2 <- 3 <- 4 <- … <- 0
 *
 * No link carries two messages in a step: Delta = Theta = 1, but there are 2(n-1) steps.
 * Sizes: rings; on a torus of several dimensions Bucket is the better variant.
 * Exact: yes.   Consistent: yes.   Symmetry: translation.
 */
#include "algorithms/paper.h"
#include "algorithms/builders/neighbour.h"
#include "algorithms/registry.h"
#include "base/error.h"
#include "torus/torus.h"

static trv_pattern_t *pattern(int size, trv_collective_t collective)
{
    (void)collective;
    return trv_neighbour_pattern(size);
}

static int supports(const trv_torus_t *torus, trv_collective_t collective)
{
    (void)collective;
    int active[TRV_DIMS_MAX];
    char text[TRV_TORUS_TEXT_MAX];
    if (trv_torus_active(torus, active) > 1)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "ring serves rings only, not the torus %s; bucket is the same idea for tori",
                        trv_torus_format(torus, text, sizeof text));
    return TRV_OK;
}

static int create(trv_schedule_t *schedule)
{
    return trv_scatter_create(schedule,
                              &(trv_scatter_options_t){.visit = TRV_SEQUENTIAL, .mirrored = true, .pattern = pattern});
}

static void paper_cost(int side, int dims, trv_paper_cost_t *paper)
{
    if (dims == 1)
        trv_paper_neighbours(side, dims, paper);
}

const trv_algorithm_t trv_ring = {
    .name = "ring",
    .family = "ring",
    .title = "Ring, two mirrored Hamiltonian rings",
    .use = "very long vectors",
    .source = "Patarasuk, Yuan: JPDC 2009",
    .sizes = "rings",
    .steps_formula = "2(n-1)",
    .bytes_formula = "2m (n-1)/n",
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = true,
    .baseline = true, /* the family has no curve, because on a ring it equals Bucket */
    .supports = supports,
    .paper_cost = paper_cost,
    .create = create,
};
