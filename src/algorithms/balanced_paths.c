/*
 * Balanced paths: a scatter or gather in which every block has its own path over links of the network, such that all
 * ports of the root, and where these are not the bottleneck all links around the most isolated set of ranks, carry the
 * same number of blocks.
 *
 *   6───7   8      the paths of a scatter from rank 0 of 3mx3m: its two ports send four blocks each. In step 0 the
 *   │       │      blocks of the farthest ranks leave, and in step 1 they move on while the next ones leave
 *   3   4───5
 *   │       │
 *   0───1───2
 *
 * Every message crosses one link, so any connected network is supported, also with slow links. Several streams, each
 * with a part of every block, hide the alpha of a step. Name: balanced-paths[:STREAMS], by default 2.
 * Steps: blocks on the busiest link, or few more.   Exact, consistent: yes.   Symmetry: none.
 */
#include <stdlib.h>
#include <string.h>

#include "algorithms/builders/flow_paths.h"
#include "algorithms/collector.h"
#include "algorithms/registry.h"
#include "base/error.h"

#define STREAMS_MAX 16
#define RANKS_MAX   32768 /* of an intact network whose paths are candidates: they are found in about 0.4 s */

typedef struct tables {
    trv_paths_t paths;
    trv_hop_t *received; /* the hops by step, receiver and port */
    int *first;          /* the hops of step k, in both lists: first[k] … first[k + 1] - 1 */
} tables_t;

static void balanced_paths_destroy(void *memory)
{
    tables_t *tables = memory;
    free(tables->paths.hop);
    free(tables->received);
    free(tables->first);
    free(tables);
}

static int add_message(const trv_schedule_t *schedule, trv_step_t *out, const trv_hop_t *hop, bool send)
{
    trv_part_t *part = (send ? trv_step_send : trv_step_receive)(out, send ? hop->to : hop->from, hop->port, 1);
    if (!part)
        return TRV_ERR_MEMORY;
    trv_blocks_begin(&part->blocks, &schedule->space, 1);
    trv_blocks_add(&part->blocks, 1)->value[0] = &hop->block;
    return TRV_OK;
}

static int end_of(const trv_hop_t *hop, bool send) { return send ? hop->from : hop->to; }

/* Adds the messages that a rank sends or receives in a step, by a binary search for the first of them. */
static int add_messages(const trv_schedule_t *schedule, int rank, int step, bool send, trv_step_t *out)
{
    const tables_t *tables = schedule->tables;
    const trv_hop_t *hop = send ? tables->paths.hop : tables->received;
    int first = tables->first[step], last = tables->first[step + 1], rc = TRV_OK;
    while (first < last) {
        const int middle = first + (last - first) / 2;
        if (end_of(&hop[middle], send) < rank)
            first = middle + 1;
        else
            last = middle;
    }
    for (int i = first; i < tables->first[step + 1] && end_of(&hop[i], send) == rank && !rc; i++)
        rc = add_message(schedule, out, &hop[i], send);
    return rc;
}

static int balanced_paths_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const int ports = trv_port_count(&schedule->torus);
    int rc = trv_step_reserve(out, ports, ports, 0);
    (void)stream;
    if (!rc)
        rc = add_messages(schedule, rank, step, true, out);
    return rc ? rc : add_messages(schedule, rank, step, false, out);
}

static int compare_received(const void *a, const void *b)
{
    const trv_hop_t *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return x->to != y->to ? (x->to < y->to ? -1 : 1) : x->port - y->port;
}

static int find_paths(const trv_network_t *network, trv_collective_t collective, int root, trv_paths_t *paths)
{
    return trv_flow_paths_find(network, root, collective == TRV_GATHER, paths);
}

static int balanced_paths_create(trv_schedule_t *schedule)
{
    tables_t *tables = calloc(1, sizeof *tables);
    if (!tables)
        return trv_fail_memory();
    schedule->streams = schedule->parameters->value[0].number;
    schedule->tables = tables;
    schedule->destroy = balanced_paths_destroy;
    schedule->step = balanced_paths_step;
    int rc = find_paths(schedule->network, schedule->collective, schedule->root, &tables->paths);
    if (rc)
        return rc;
    schedule->steps = tables->paths.steps;
    tables->first = calloc((size_t)schedule->steps + 1, sizeof *tables->first);
    tables->received = malloc(((size_t)tables->paths.hops + 1) * sizeof *tables->received);
    if (!tables->first || !tables->received)
        return trv_fail_memory();
    memcpy(tables->received, tables->paths.hop, (size_t)tables->paths.hops * sizeof *tables->received);
    qsort(tables->received, (size_t)tables->paths.hops, sizeof *tables->received, compare_received);
    for (int i = 0; i < tables->paths.hops; i++)
        tables->first[tables->paths.hop[i].step + 1]++;
    for (int k = 0; k < schedule->steps; k++)
        tables->first[k + 1] += tables->first[k];
    schedule->owned = true;
    trv_torus_init(&schedule->space, 1, &schedule->torus.ranks);
    return TRV_OK;
}

/* In every step a stream sends at most one block over a link, which all streams share. */
static int balanced_paths_candidates(const trv_collector_t *collector)
{
    const double ranks = collector->torus->ranks;
    trv_paths_t paths;
    if (ranks > RANKS_MAX && collector->network->slow_links == 0) /* trees support it, too */
        return TRV_OK;
    int rc = find_paths(collector->network, collector->collective, collector->root, &paths);
    if (rc)
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    for (int streams = 1; streams <= STREAMS_MAX && !rc && paths.steps > 0; streams *= 2) {
        char name[TRV_ALGORITHM_NAME_MAX];
        trv_model_t model = {.steps = paths.steps,
                             .hops = paths.steps,
                             .load = paths.steps / ranks / streams,
                             .busy = fmax(paths.load, paths.steps) / ranks,
                             .queues = true};
        trv_model_messages(&model, ranks - 1, streams);
        trv_name_of_numbers(&trv_balanced_paths, &streams, name);
        rc = collector->add(collector->list, name, &model, false);
    }
    free(paths.hop);
    return rc;
}

const trv_algorithm_t trv_balanced_paths = {
    .name = "balanced-paths",
    .family = "balanced-paths",
    .title = "Balanced paths",
    .use = "long scatters and gathers; any connected network",
    .source = "Ford, Fulkerson: Maximal flow through a network, 1956",
    .sizes = "any connected network",
    .steps_formula = "about (n-1) / (2D)",
    .bytes_formula = "m (n-1)/n at the root",
    .parameters = "[STREAMS]",
    .example = "balanced-paths:4",
    .field = {{.kind = TRV_FIELD_NUMBER, .what = "a number of streams", .max = STREAMS_MAX, .value = 2}},
    .collectives = 1U << TRV_SCATTER | 1U << TRV_GATHER,
    .any_network = true,
    .lines = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .create = balanced_paths_create,
    .candidates = balanced_paths_candidates,
};
