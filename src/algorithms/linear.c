/*
 * Linear: the root sends to every other rank directly; in an all-to-all every rank does, which is the direct algorithm.
 *
 * Ranks are distributed over the ports whose routes are shortest, the farthest first, because their messages travel
 * longest. A step sends at most one message by each port; those of linear:8 send up to 8, which is faster if alpha
 * exceeds the overhead of a message. A block travels the shortest way only once: an all-to-all of long blocks reaches
 * the limit of the links. Rings with an even number of ranks have a mirrored stream, because the rank on the opposite
 * side can be reached both ways.
 * Streams: 1, or 2.   Steps: about (n-1) / (2D MESSAGES).   Exact: yes.   Symmetry: translation (all-to-all).
 */
#include <stdlib.h>

#include "algorithms/builders/exchange.h"
#include "algorithms/collector.h"
#include "algorithms/registry.h"
#include "base/error.h"
#include "torus/torus.h"

#define MESSAGES_MAX  1024 /* per port and step */
#define CANDIDATE_MAX 32   /* of these, in candidates */

typedef struct target {
    int rank, hops, port;
} target_t;

static int compare_targets(const void *a, const void *b)
{
    const target_t *x = a, *y = b;
    return x->hops != y->hops ? (x->hops > y->hops ? -1 : 1) : x->rank - y->rank;
}

/* The port along dimension `d` by which the shortest route from the root leaves; -1 if the rank has the root's
 * coordinate. */
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

/* The port with the fewest messages by which a shortest route to the rank leaves. */
static int best_port(const trv_schedule_t *schedule, int rank, bool mirrored, const int *used)
{
    const int dims = schedule->torus.dims;
    int best = -1, hops;
    for (int k = 0; k < dims; k++) {
        const int port = port_of(schedule, rank, mirrored ? dims - 1 - k : k, mirrored, &hops);
        if (port >= 0 && (best < 0 || used[port] < used[best]))
            best = port;
    }
    return best;
}

/* Chooses the ports of all targets, and then moves messages to ports that have at least two fewer. */
static void choose_ports(const trv_schedule_t *schedule, bool mirrored, target_t *target, int targets)
{
    int used[TRV_PORTS_MAX] = {0};
    bool moved = true;
    for (int i = 0; i < targets; i++)
        used[target[i].port = best_port(schedule, target[i].rank, mirrored, used)]++;
    while (moved) {
        moved = false;
        for (int i = 0; i < targets; i++) {
            const int port = best_port(schedule, target[i].rank, mirrored, used);
            if (used[port] + 2 > used[target[i].port])
                continue;
            used[target[i].port]--;
            used[target[i].port = port]++;
            moved = true;
        }
    }
}

/* Fills in the edges of one stream, with at most `messages` by each port in a step. */
static void fill_edges(const trv_schedule_t *schedule, bool mirrored, int messages, target_t *target,
                       trv_tree_edge_t *edge)
{
    const trv_torus_t *torus = &schedule->torus;
    int used[TRV_PORTS_MAX] = {0}, hops;
    for (int r = 0; r < torus->ranks; r++) {
        target[r] = (target_t){.rank = r};
        for (int d = 0; d < torus->dims; d++)
            target[r].hops += port_of(schedule, r, d, mirrored, &hops) < 0 ? 0 : hops;
    }
    qsort(target, (size_t)torus->ranks, sizeof *target, compare_targets);
    choose_ports(schedule, mirrored, target, torus->ranks - 1); /* the last one is the root */
    edge[schedule->root].parent = -1;
    for (int i = 0; i < torus->ranks - 1; i++)
        edge[target[i].rank] = (trv_tree_edge_t){schedule->root, used[target[i].port]++ / messages, target[i].port};
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
        fill_edges(schedule, s == 1, schedule->parameters->value[0].number, target, edge + (size_t)s * ranks);
    if (!rc)
        rc = schedule->collective == TRV_ALLTOALL ? trv_exchange_create(schedule, streams, edge)
                                                  : trv_spanning_create(schedule, streams, edge, 1);
    free(edge);
    free(target);
    return rc;
}

/* In an all-to-all a step waits for the messages of the previous one, so several messages per port and step are
 * candidates; but only where they have an overhead, since otherwise a step takes one alpha for any number of them. */
static int linear_candidates(const trv_collector_t *collector)
{
    const int ports = 2 * collector->torus->dims, by_port = (collector->torus->ranks - 1 + ports - 1) / ports;
    int rc = TRV_OK;
    if (!collector->has_message_overheads || collector->collective != TRV_ALLTOALL)
        return TRV_OK;
    for (int messages = 2; messages < 2 * by_port && messages <= CANDIDATE_MAX && !rc; messages *= 2) {
        char name[TRV_ALGORITHM_NAME_MAX];
        trv_name_of_numbers(&trv_linear, &messages, name);
        rc = collector->add(collector->list, name, NULL, false);
    }
    return rc;
}

const trv_algorithm_t trv_linear = {
    .name = "linear",
    .family = "linear",
    .title = "Linear: every rank directly",
    .use = "long blocks of an all-to-all; a baseline",
    .source = "folklore",
    .sizes = "any torus or mesh",
    .steps_formula = "about (n-1) / (2D)",
    .bytes_formula = "m (n-1); blocks: m (n-1)/n",
    .parameters = "[MESSAGES]",
    .example = "linear:8",
    .field = {{.kind = TRV_FIELD_NUMBER,
               .what = "a number of messages per port and step",
               .max = MESSAGES_MAX,
               .value = 1,
               .hidden = true}},
    .collectives = TRV_TREE_COLLECTIVES,
    .latency_optimal = true,
    .lines = true,
    .baseline = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .create = linear_create,
    .candidates = linear_candidates,
};
