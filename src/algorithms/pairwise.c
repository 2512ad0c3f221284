/*
 * Pairwise, a baseline: an all-to-all in which every rank sends directly to one other rank in each step, in step k to
 * the k-th after it in the order of the ranks.
 * Streams: 1.   Steps: n-1.   Exact: yes.   Symmetry: translation.
 */
#include <stdlib.h>

#include "algorithms/builders/exchange.h"
#include "algorithms/registry.h"
#include "base/error.h"
#include "torus/torus.h"

static int pairwise_create(trv_schedule_t *schedule)
{
    const trv_torus_t *torus = &schedule->torus;
    trv_tree_edge_t *edge = malloc((size_t)torus->ranks * sizeof *edge);
    if (!edge)
        return trv_fail_memory();
    edge[0].parent = -1;
    for (int rank = 1; rank < torus->ranks; rank++) {
        int d = 0;
        while (trv_torus_coordinate(torus, rank, d) == 0)
            d++;
        const int sign = 2 * trv_torus_coordinate(torus, rank, d) <= torus->size[d] ? 1 : -1;
        edge[rank] = (trv_tree_edge_t){0, rank - 1, trv_port(d, sign)};
    }
    const int rc = trv_exchange_create(schedule, 1, edge);
    free(edge);
    return rc;
}

const trv_algorithm_t trv_pairwise = {
    .name = "pairwise",
    .family = "pairwise",
    .title = "Pairwise: one rank after another",
    .use = "a baseline of all-to-all",
    .source = "Thakur, Rabenseifner, Gropp: IJHPCA 2005",
    .sizes = "any torus or mesh",
    .steps_formula = "n-1",
    .bytes_formula = "m (n-1)/n",
    .collectives = 1U << TRV_ALLTOALL,
    .latency_optimal = true,
    .baseline = true,
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = true,
    .create = pairwise_create,
};
