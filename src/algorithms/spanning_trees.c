/*
 * Spanning trees: an AllReduce over trees that share the links of a connected network evenly. Each tree carries its
 * part of the vector in chunks: a chunk is reduced up the tree to the tree's centre, and distributed from there; it
 * crosses every link of the tree once in each direction, at the same time as other chunks cross it in the other
 * direction.
 *
 *   0───1───2     0   1───2     0───1   2
 *       │         │   │             │   │
 *   3───4───5     3───4───5     3───4   5        three of the trees of 3mx3m: 16 trees use every link 10 or 11
 *       │             │   │         │   │        times, so that the time is 11/16 m / b; the limit is 2/3 m / b
 *   6───7───8     6───7   8     6───7───8
 *
 * Every message crosses one link, so any connected network is supported: meshes, slow links, and networks with cut
 * links.
 * Name: spanning-trees[:CHUNKS[:TREES]], by default 64 chunks and 16 trees.
 * Steps: twice the depth of the deepest tree + chunks - 1.   Exact, consistent: yes.   Symmetry: none.
 */
#include <stdlib.h>

#include "algorithms/builders/balanced_trees.h"
#include "algorithms/registry.h"
#include "base/error.h"

#define TREE_RANKS_MAX 65536 /* ranks of all trees of a candidate, which are found in about 0.3 s */

static int spanning_trees_create(trv_schedule_t *schedule)
{
    const int chunks = schedule->parameters->value[0].number, trees = schedule->parameters->value[1].number;
    trv_tree_edge_t *edge = NULL;
    int rc = trv_balanced_trees_find(schedule->network, trees, &edge);
    if (!rc)
        rc = trv_spanning_create(schedule, trees, edge, chunks);
    free(edge);
    return rc;
}

/* The share of the time in which the pipeline fills or empties that the busiest link is idle; fitted to simulations. */
#define FILL_SHARE 0.6

typedef struct trees {
    int count, depth, children; /* children: of the rank that has most in one tree */
    double load;                /* of the busiest link, as a fraction of the vector */
} trees_t;

static int measure_trees(const trv_network_t *network, int count, trees_t *trees)
{
    trv_tree_edge_t *edge;
    int rc = trv_balanced_trees_find(network, count, &edge);
    if (rc)
        return rc;
    *trees = (trees_t){.count = count,
                       .depth = trv_spanning_depth(network->torus.ranks, count, edge),
                       .children = trv_spanning_children(network->torus.ranks, count, edge)};
    rc = trees->children < 0 ? trees->children : trv_balanced_trees_load(network, count, edge, &trees->load);
    free(edge);
    return rc;
}

/* In every step a stream sends one chunk over each link of its tree, in both directions, while the busiest link carries
 * the chunks of all trees that share it; and the rank with most children reduces a chunk of each with its own. */
static int add_candidate(const trv_collector_t *collector, const trees_t *trees, int chunks)
{
    char name[TRV_ALGORITHM_NAME_MAX];
    const double steps = 2 * trees->depth + chunks - 1, reductions = trees->depth + chunks - 1;
    trv_model_t model = {.steps = steps,
                         .hops = steps,
                         .load = steps / ((double)trees->count * chunks),
                         .busy = trees->load * (1 + FILL_SHARE * 2 * trees->depth / chunks),
                         .message = 1.0 / ((double)trees->count * chunks),
                         .reductions = reductions,
                         .reduced = (trees->children + 1) * reductions / chunks,
                         .queues = true};
    trv_model_messages(&model, 2.0 * chunks, trees->count);
    trv_name_of_numbers(&trv_spanning_trees, (const int[]){chunks, trees->count}, name);
    return collector->add(collector->list, name, &model, false);
}

static int spanning_trees_candidates(const trv_collector_t *collector)
{
    static const int counts[] = {4, 16, 32, 64};
    const int ranks = collector->torus->ranks;
    for (size_t i = 0; i < sizeof counts / sizeof *counts && ranks <= TREE_RANKS_MAX / counts[i]; i++) {
        trees_t trees;
        int rc = measure_trees(collector->network, counts[i], &trees);
        if (rc)
            return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
        for (int chunks = 2; chunks <= 1024 && !rc; chunks *= 2)
            for (int quarter = 4; quarter < 8 && !rc; quarter += chunks < 32 ? 4 : 1)
                rc = add_candidate(collector, &trees, chunks * quarter / 4);
        if (rc)
            return rc;
    }
    return TRV_OK;
}

const trv_algorithm_t trv_spanning_trees = {
    .name = "spanning-trees",
    .family = "spanning-trees",
    .title = "Spanning trees, pipelined",
    .use = "long AllReduces on meshes and around cut or slow links; any connected network",
    .source = "Nash-Williams: Edge-disjoint spanning trees of finite graphs, 1961",
    .sizes = "any connected network",
    .steps_formula = "2 depth + chunks - 1",
    .bytes_formula = "about 2m (n-1)/n",
    .parameters = "[CHUNKS][:TREES]",
    .example = "spanning-trees:128:32",
    .field = {{.kind = TRV_FIELD_NUMBER, .what = "a number of chunks", .max = 4096, .value = 64},
              {.kind = TRV_FIELD_NUMBER, .what = "a number of trees", .max = 64, .value = 16}},
    .collectives = 1U << TRV_ALLREDUCE,
    .any_network = true,
    .lines = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .create = spanning_trees_create,
    .candidates = spanning_trees_candidates,
};
