/*
 * Linear: the root sends to every other rank directly; in an all-to-all every rank does, which is the direct algorithm.
 *
 * Ranks are distributed over the ports whose routes are shortest, the nearest first, so that every step sends at most
 * one message by each port. A block travels the shortest way only once: an all-to-all of long blocks reaches the limit
 * of the links. Rings with an even number of ranks have a mirrored stream, because the rank on the opposite side can be
 * reached both ways.
 * Streams: 1, or 2.   Steps: about (n-1) / (2D).   Exact: yes.   Symmetry: translation (all-to-all).
 */
#include <stdlib.h>

#include "algorithms/builders/exchange.h"
#include "algorithms/registry.h"
#include "base/error.h"
#include "torus/torus.h"

typedef struct target {
    int rank, hops;
} target_t;

static int compare_targets(const void *a, const void *b)
{
    const target_t *x = a, *y = b;
    return x->hops != y->hops ? (x->hops < y->hops ? -1 : 1) : x->rank - y->rank;
}

/* The port along dimension `d` by which the shortest route from the root leaves; -1 if the rank does not differ. */
static int port_of(const trv_schedule_t *schedule, int rank, int d, bool mirrored, int *hops)
{
    const trv_torus_t *torus = &schedule->torus;
    const int size = torus->size[d], root = trv_torus_coordinate(torus, schedule->root, d);
    const int ahead = trv_torus_coordinate(torus, rank, d) - root, up = (ahead + size) % size;
    const bool line = trv_torus_is_line(torus, d) && schedule->collective != TRV_ALLTOALL;
    const bool forward = line ? ahead > 0 : 2 * up < size || (2 * up == size && !mirrored);
    *hops = line ? abs(ahead) : forward ? up : size - up;
    return up == 0 ? -1 : trv_port(d, forward ? 1 : -1);
}

/* Fills in the edges of one stream. Among a rank's possible first ports, the one with the fewest messages so far is
 * used. */
static void fill_edges(const trv_schedule_t *schedule, bool mirrored, target_t *target, trv_tree_edge_t *edge)
{
    const trv_torus_t *torus = &schedule->torus;
    int used[TRV_PORTS_MAX] = {0}, hops;
    for (int r = 0; r < torus->ranks; r++) {
        target[r] = (target_t){.rank = r};
        for (int d = 0; d < torus->dims; d++)
            target[r].hops += port_of(schedule, r, d, mirrored, &hops) < 0 ? 0 : hops;
    }
    qsort(target, (size_t)torus->ranks, sizeof *target, compare_targets);
    edge[schedule->root].parent = -1;
    for (int i = 1; i < torus->ranks; i++) {
        int best = -1;
        for (int k = 0; k < torus->dims; k++) {
            const int d = mirrored ? torus->dims - 1 - k : k;
            const int port = port_of(schedule, target[i].rank, d, mirrored, &hops);
            if (port >= 0 && (best < 0 || used[port] < used[best]))
                best = port;
        }
        edge[target[i].rank] = (trv_tree_edge_t){schedule->root, used[best]++, best};
    }
}

static int linear_create(trv_schedule_t *schedule)
{
    const size_t ranks = (size_t)schedule->torus.ranks;
    int streams = 1;
    for (int d = 0; d < schedule->torus.dims; d++)
        if (schedule->torus.size[d] % 2 == 0)
            streams = 2;
    trv_tree_edge_t *edge = malloc((size_t)streams * ranks * sizeof *edge);
    target_t *target = malloc(ranks * sizeof *target);
    int rc = edge && target ? TRV_OK : trv_fail_memory();
    for (int s = 0; s < streams && !rc; s++)
        fill_edges(schedule, s == 1, target, edge + (size_t)s * ranks);
    if (!rc)
        rc = schedule->collective == TRV_ALLTOALL ? trv_exchange_create(schedule, streams, edge)
                                                  : trv_spanning_create(schedule, streams, edge, 1);
    free(edge);
    free(target);
    return rc;
}

const trv_algorithm_t trv_linear = {
    .name = "linear",
    .family = "linear",
    .title = "Linear: every rank directly",
    .use = "long blocks of an all-to-all; a baseline",
    .source = "folklore",
    .sizes = "any torus",
    .steps_formula = "about (n-1) / (2D)",
    .bytes_formula = "m (n-1); blocks: m (n-1)/n",
    .collectives = TRV_TREE_COLLECTIVES,
    .latency_optimal = true,
    .baseline = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .create = linear_create,
};
