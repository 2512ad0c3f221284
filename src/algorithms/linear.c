/*
 * Linear: the root sends to every other rank directly. In collectives without a root every rank does, which is the
 * direct algorithm: in an AllReduce all ranks gather all vectors, in a single step if linear:N allows these messages.
 *
 * Ranks are distributed over the ports whose routes are shortest, the farthest first, because their messages travel
 * longest. In a step a rank sends at most one message by each port; with linear:8 up to 8, which is faster if alpha
 * exceeds the overhead of a message. A block travels the shortest way only once: an all-to-all of long blocks reaches
 * the limit of the links. Rings with an even number of ranks have a mirrored stream, because the rank on
 * the opposite side can be reached both ways.
 * Streams: 1, or 2.   Steps: about (n-1) / (2D MESSAGES).   Exact: yes.   Symmetry: translation (all-to-all).
 */
#include <stdlib.h>

#include "algorithms/builders/exchange.h"
#include "algorithms/registry.h"
#include "base/error.h"
#include "schedule/collective.h"
#include "schedule/per_port.h"
#include "torus/torus.h"

#define MESSAGES_MAX 1024 /* per port and step */
#define PASSES       4    /* over all messages, to choose their ports */

/* The messages between the root and other ranks in a step. */
typedef struct load {
    int leaving[TRV_PORTS_MAX], arriving; /* by each port, and in all */
} load_t;

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
    const bool line = trv_torus_is_line(torus, d) && trv_collective_has_root(schedule->collective);
    const bool forward = line ? ahead > 0 : 2 * up < size || (2 * up == size && !mirrored);
    *hops = line ? abs(ahead) : forward ? up : size - up;
    return up == 0 ? -1 : trv_port(d, forward ? 1 : -1);
}

/* Adds `by` to the counts of the message between the root and a rank, whose `port` is the root's: as one that leaves
 * the root, that arrives at it, or, where every rank sends it, both. Returns the larger number per port. */
static int change_load(const trv_schedule_t *schedule, const target_t *target, int by, load_t *load)
{
    const bool up = schedule->collective == TRV_REDUCE || schedule->collective == TRV_GATHER;
    const bool rooted = trv_collective_has_root(schedule->collective);
    const int leaving = up ? 0 : (load->leaving[target->port] += by);
    if (!up && rooted)
        return leaving;
    load->arriving += by;
    const int arriving = trv_messages_per_port(&schedule->torus, load->arriving);
    return arriving > leaving ? arriving : leaving;
}

/* Chooses the port with the fewest messages by which a shortest route to the rank leaves, and counts the message. */
static void choose_port(const trv_schedule_t *schedule, bool mirrored, target_t *target, load_t *load)
{
    const int dims = schedule->torus.dims;
    target_t best = {.port = -1};
    int fewest = 0, hops;
    for (int k = 0; k < dims; k++) {
        target_t tried = *target;
        tried.port = port_of(schedule, target->rank, mirrored ? dims - 1 - k : k, mirrored, &hops);
        if (tried.port < 0)
            continue;
        const int messages = change_load(schedule, &tried, 1, load);
        change_load(schedule, &tried, -1, load);
        if (best.port < 0 || messages < fewest) {
            best = tried;
            fewest = messages;
        }
    }
    *target = best;
    change_load(schedule, target, 1, load);
}

/* Chooses the ports of all targets, and then moves messages to ports that have fewer. */
static void choose_ports(const trv_schedule_t *schedule, bool mirrored, target_t *target, int targets)
{
    load_t load = {{0}, 0};
    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < targets; i++) {
            if (pass > 0)
                change_load(schedule, &target[i], -1, &load);
            choose_port(schedule, mirrored, &target[i], &load);
        }
}

/* Fills in the edges of one stream: in each of its steps at most `messages` leave by each port, and as many per port
 * arrive. */
static int fill_edges(const trv_schedule_t *schedule, bool mirrored, int messages, target_t *target,
                      trv_tree_edge_t *edge)
{
    const trv_torus_t *torus = &schedule->torus;
    load_t all = {{0}, 0}, *load = calloc((size_t)torus->ranks, sizeof *load); /* of every step */
    if (!load)
        return trv_fail_memory();
    for (int r = 0; r < torus->ranks; r++) {
        int hops;
        target[r] = (target_t){.rank = r};
        for (int d = 0; d < torus->dims; d++)
            target[r].hops += port_of(schedule, r, d, mirrored, &hops) < 0 ? 0 : hops;
    }
    qsort(target, (size_t)torus->ranks, sizeof *target, compare_targets);
    choose_ports(schedule, mirrored, target, torus->ranks - 1); /* the last one is the root */
    edge[schedule->root].parent = -1;
    for (int i = 0; i < torus->ranks - 1; i++) {
        int step = (change_load(schedule, &target[i], 1, &all) - 1) / messages;
        while (change_load(schedule, &target[i], 1, &load[step]) > messages)
            change_load(schedule, &target[i], -1, &load[step++]);
        edge[target[i].rank] = (trv_tree_edge_t){schedule->root, step, target[i].port};
    }
    free(load);
    return TRV_OK;
}

static int create_trees(trv_schedule_t *schedule, int streams, const trv_tree_edge_t *edge)
{
    return trv_spanning_create(schedule, streams, edge, 1);
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
        rc = fill_edges(schedule, s == 1, schedule->parameters->value[0].number, target, edge + (size_t)s * ranks);
    if (!rc)
        rc = (schedule->collective == TRV_ALLTOALL             ? trv_exchange_create
              : !trv_collective_has_root(schedule->collective) ? trv_direct_exchange_create
                                                               : create_trees)(schedule, streams, edge);
    free(edge);
    free(target);
    return rc;
}

/* An AllReduce of n - 1 vectors per rank, an allgather or a reduce-scatter is worthwhile only with many messages in a
 * step. */
static int linear_supports(const trv_torus_t *torus, trv_collective_t collective)
{
    (void)torus;
    return TRV_TREE_COLLECTIVES >> collective & 1
               ? TRV_OK
               : trv_fail(TRV_ERR_UNSUPPORTED,
                          "linear needs a number of messages per port and step for this collective; use linear:8");
}

const trv_algorithm_t trv_linear = {
    .name = "linear",
    .family = "linear",
    .title = "Linear: every rank directly",
    .use = "long blocks of an all-to-all; a baseline",
    .source = "folklore",
    .sizes = "any torus or mesh; linear:N has N messages per port",
    .steps_formula = "about (n-1) / (2D)",
    .bytes_formula = "m (n-1); blocks: m (n-1)/n",
    .parameters = "[MESSAGES]",
    .example = "linear:8",
    .field = {{.kind = TRV_FIELD_NUMBER,
               .what = "a number of messages per port and step",
               .max = MESSAGES_MAX,
               .value = 1,
               .hidden = true}},
    .collectives = TRV_TREE_COLLECTIVES | 1U << TRV_ALLREDUCE | 1U << TRV_REDUCE_SCATTER | 1U << TRV_ALLGATHER,
    .latency_optimal = true,
    .lines = true,
    .baseline = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .supports = linear_supports,
    .create = linear_create,
    .messages = TRV_MESSAGES_PER_PORT,
};
