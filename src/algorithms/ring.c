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
 * Streams: 2.   Steps: 2(n-1).   Exact: yes.   Consistent: yes.   Symmetry: translation.
 */
#include "algorithms/paper.h"
#include "algorithms/builders/neighbour.h"
#include "algorithms/registry.h"
#include "base/error.h"
#include "torus/torus.h"

static trv_pattern_t *ring_pattern(int size, trv_collective_t collective)
{
    (void)collective;
    return trv_neighbour_pattern(size);
}

static int ring_supports(const trv_torus_t *torus, trv_collective_t collective)
{
    (void)collective;
    int active[TRV_DIMS_MAX];
    char text[TRV_TORUS_TEXT_MAX];
    if (trv_torus_active(torus, active) > 1)
        return trv_fail(TRV_ERR_UNSUPPORTED, "ring supports only rings, not the torus %s; use bucket",
                        trv_torus_format(torus, text, sizeof text));
    return TRV_OK;
}

static int ring_create(trv_schedule_t *schedule)
{
    return trv_scatter_create(schedule, &(trv_scatter_options_t){.visit = TRV_SEQUENTIAL,
                                                                 .mirrored = true,
                                                                 .pattern = ring_pattern});
}

static void ring_paper_cost(int side, int dims, trv_paper_cost_t *paper)
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
    .supports = ring_supports,
    .paper_cost = ring_paper_cost,
    .create = ring_create,
};
