/*
 * Disjoint trees: spanning trees over links of the network that share no link, one for each port of the root where the
 * network allows it, each of which carries its part of the vector in chunks.
 *
 * A torus whose sides are at least 3 has 2D of them, so that long broadcasts and reduces take m / (2D b): the limit.
 * Around cuts and on meshes there are as many as paths without common links lead to every rank. Every message crosses
 * one link, so any connected network is supported; slow links are left out if the trees are faster without them.
 * Several streams on every tree hide the alpha of a step. An AllReduce uses every link of a tree in both directions,
 * for which spanning-trees is better.
 * Name: disjoint-trees[:CHUNKS[:STREAMS]], by default 16 chunks and 2 streams on every tree.
 * Steps: depth of the deepest tree + chunks - 1.   Exact, consistent: yes.   Symmetry: none.
 */
#include <stdlib.h>
#include <string.h>

#include "algorithms/builders/packing.h"
#include "algorithms/collector.h"
#include "algorithms/registry.h"
#include "base/error.h"

static int directions_of(trv_collective_t collective)
{
    return collective == TRV_BROADCAST ? TRV_FROM_ROOT : TRV_TO_ROOT;
}

static int find_trees(const trv_network_t *network, trv_collective_t collective, int root, trv_tree_edge_t **edge)
{
    return trv_packing_find(network, root, directions_of(collective), edge);
}

static int disjoint_trees_create(trv_schedule_t *schedule)
{
    const size_t ranks = (size_t)schedule->torus.ranks;
    const int chunks = schedule->parameters->value[0].number, streams = schedule->parameters->value[1].number;
    trv_tree_edge_t *edge = NULL;
    const int trees = find_trees(schedule->network, schedule->collective, schedule->root, &edge);
    if (trees < 0)
        return trees;
    trv_tree_edge_t *all = malloc((size_t)trees * (size_t)streams * ranks * sizeof *all);
    for (int s = 0; all && s < trees * streams; s++)
        memcpy(all + (size_t)s * ranks, edge + (size_t)(s % trees) * ranks, ranks * sizeof *edge);
    int rc = all ? trv_spanning_create(schedule, trees * streams, all, chunks) : trv_fail_memory();
    free(all);
    free(edge);
    return rc;
}

typedef struct trees {
    int count, depth, children; /* children: of the rank that has most in one tree */
    double slowness;            /* factor of the slowest link that is used */
} trees_t;

/* In every step a stream sends one chunk over each link of its tree, and the streams of a tree share its links. Where
 * messages have overheads, few chunks are best; then the streams fill the pipeline: while the chunk of one travels on,
 * the link carries those of the others. Whole slices have no overhead of parts. */
static trv_model_t disjoint_trees_model(const trv_collector_t *collector, const trees_t *trees, int chunks, int streams)
{
    const double steps = trees->depth + chunks - 1;
    const double filled = collector->has_message_overheads ? chunks + (trees->depth - 1.0) / streams : steps;
    trv_model_t model = {.steps = steps,
                         .hops = steps,
                         .load = trees->slowness * steps / ((double)trees->count * streams * chunks),
                         .busy = trees->slowness * filled / ((double)trees->count * chunks),
                         .message = 1.0 / ((double)trees->count * streams * chunks)};
    trv_model_messages(&model, chunks, trees->count * streams);
    model.parts = chunks > 1 ? trees->count * streams : 0;
    if (collector->collective == TRV_REDUCE) {
        model.reductions = steps; /* of a chunk of each child and the rank's own */
        model.reduced = (trees->children + 1) * steps / chunks;
    }
    return model;
}

static int disjoint_trees_candidates(const trv_collector_t *collector)
{
    trv_tree_edge_t *edge;
    const int ranks = collector->torus->ranks,
              count = find_trees(collector->network, collector->collective, collector->root, &edge);
    if (count < 0)
        return count == TRV_ERR_UNSUPPORTED ? TRV_OK : count;
    const trees_t trees = {.count = count,
                           .depth = trv_spanning_depth(ranks, count, edge),
                           .children = trv_spanning_children(ranks, count, edge),
                           .slowness = trv_packing_slowness(collector->network, directions_of(collector->collective),
                                                            count, edge)};
    int rc = trees.children < 0 ? trees.children : TRV_OK;
    for (int streams = 1; streams <= 8; streams *= 2)
        for (int chunks = 1; chunks <= 1024 && !rc; chunks *= 2) {
            char name[TRV_ALGORITHM_NAME_MAX];
            const trv_model_t model = disjoint_trees_model(collector, &trees, chunks, streams);
            trv_name_of_numbers(&trv_disjoint_trees, (const int[]){chunks, streams}, name);
            rc = collector->add(collector->list, name, &model, false);
        }
    free(edge);
    return rc;
}

const trv_algorithm_t trv_disjoint_trees = {
    .name = "disjoint-trees",
    .family = "disjoint-trees",
    .title = "Disjoint trees, pipelined",
    .use = "long broadcasts and reduces; any connected network",
    .source = "Edmonds: Edge-disjoint branchings, 1973",
    .sizes = "any connected network",
    .steps_formula = "depth + chunks - 1",
    .bytes_formula = "m",
    .parameters = "[CHUNKS][:STREAMS]",
    .example = "disjoint-trees:64:4",
    .field = {{.kind = TRV_FIELD_NUMBER, .what = "a number of chunks", .max = 4096, .value = 16},
              {.kind = TRV_FIELD_NUMBER, .what = "a number of streams on every tree", .max = 16, .value = 2}},
    .collectives = 1U << TRV_BROADCAST | 1U << TRV_REDUCE,
    .any_network = true,
    .lines = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .create = disjoint_trees_create,
    .candidates = disjoint_trees_candidates,
};
