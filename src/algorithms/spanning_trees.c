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
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/builders/balanced_trees.h"
#include "algorithms/name_numbers.h"
#include "algorithms/registry.h"
#include "base/error.h"

#define CHUNKS_MAX     4096
#define TREES_MAX      64
#define TREE_RANKS_MAX 65536 /* ranks of all trees of a candidate, which are found in about 0.3 s */

typedef struct options {
    int chunks, trees;
} options_t;

/* Reads "CHUNKS[:TREES]". */
static int read_options(const char *text, options_t *options)
{
    static const int max[] = {CHUNKS_MAX, TREES_MAX};
    int value[] = {64, 16};
    const bool valid = trv_name_numbers_read(text, 2, max, value);
    *options = (options_t){.chunks = value[0], .trees = value[1]};
    return valid
               ? TRV_OK
               : trv_fail(TRV_ERR_ARGUMENT,
                          "spanning-trees: '%.40s' is not a number of chunks from 1 to %d and, after a colon, of trees "
                          "from 1 to %d; for example spanning-trees:128:32",
                          text, CHUNKS_MAX, TREES_MAX);
}

static int spanning_trees_create(trv_schedule_t *schedule)
{
    options_t options;
    trv_tree_edge_t *edge = NULL;
    int rc = read_options(schedule->parameters, &options);
    if (!rc)
        rc = trv_balanced_trees_find(schedule->network, options.trees, &edge);
    if (!rc)
        rc = trv_spanning_create(schedule, options.trees, edge, options.chunks);
    free(edge);
    return rc;
}

static int spanning_trees_full_name(const char *parameters, const trv_torus_t *torus, trv_collective_t collective,
                                    char *text, size_t size)
{
    options_t options;
    (void)torus;
    (void)collective;
    const int rc = read_options(parameters, &options);
    return rc ? rc : snprintf(text, size, "spanning-trees:%d:%d", options.chunks, options.trees);
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
    snprintf(name, sizeof name, "spanning-trees:%d:%d", chunks, trees->count);
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
    .collectives = 1U << TRV_ALLREDUCE,
    .any_network = true,
    .lines = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .create = spanning_trees_create,
    .full_name = spanning_trees_full_name,
    .candidates = spanning_trees_candidates,
};
