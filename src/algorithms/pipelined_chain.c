/*
 * Chain, a baseline for long vectors: the ranks in their order, from the root, as one pipeline; a second stream runs
 * backwards. Every rank passes on a chunk while it receives the next one.
 * Name: chain[:CHUNKS], by default 16.
 * Streams: 2.   Steps: n - 2 + chunks.   Exact: yes.   Symmetry: none.
 */
#include <stdlib.h>

#include "algorithms/builders/spanning.h"
#include "algorithms/registry.h"
#include "base/error.h"
#include "torus/torus.h"

/* The first port of a shortest route. */
static int port_to(const trv_torus_t *torus, int from, int to)
{
    int d = 0;
    while (trv_torus_coordinate(torus, from, d) == trv_torus_coordinate(torus, to, d))
        d++;
    const int size = torus->size[d], ahead = trv_torus_coordinate(torus, to, d) - trv_torus_coordinate(torus, from, d);
    const bool up = trv_torus_is_line(torus, d) ? ahead > 0 : 2 * ((ahead + size) % size) <= size;
    return trv_port(d, up ? 1 : -1);
}

static int chain_create(trv_schedule_t *schedule)
{
    const int ranks = schedule->torus.ranks, root = schedule->root;
    trv_tree_edge_t *edge = malloc(2 * (size_t)ranks * sizeof *edge);
    if (!edge)
        return trv_fail_memory();
    edge[root].parent = edge[ranks + root].parent = -1;
    for (int i = 1; i < ranks; i++) {
        const int up = (root + i) % ranks, before_up = (root + i - 1) % ranks;
        const int down = (root - i + ranks) % ranks, before_down = (root - i + 1 + ranks) % ranks;
        edge[up] = (trv_tree_edge_t){before_up, i - 1, port_to(&schedule->torus, before_up, up)};
        edge[ranks + down] = (trv_tree_edge_t){before_down, i - 1, port_to(&schedule->torus, before_down, down)};
    }
    const int rc = trv_spanning_create(schedule, 2, edge, schedule->parameters->value[0].number);
    free(edge);
    return rc;
}

const trv_algorithm_t trv_chain = {
    .name = "chain",
    .family = "chain",
    .title = "Chain, pipelined",
    .use = "a baseline of long broadcasts and reduces",
    .source = "Patarasuk, Yuan, Faraj: JPDC 2008",
    .sizes = "any torus or mesh",
    .steps_formula = "n - 2 + chunks",
    .bytes_formula = "m",
    .parameters = "[CHUNKS]",
    .example = "chain:64",
    .field = {{.kind = TRV_FIELD_NUMBER, .what = "a number of chunks", .max = 4096, .value = 16}},
    .collectives = 1U << TRV_BROADCAST | 1U << TRV_REDUCE,
    .latency_optimal = true,
    .baseline = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .create = chain_create,
};
