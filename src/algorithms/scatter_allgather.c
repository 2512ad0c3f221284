/*
 * Scatter and allgather (van de Geijn): a broadcast scatters the vector along a tree and then collects it with an
 * allgather; a reduce is a reduce-scatter and a gather (Rabenseifner). With binomial trees it is a baseline for long
 * vectors; with Trivance's or a star's tree it has the fewest steps for medium ones.
 *
 * Name: scatter-allgather[:[TREE+]ALGORITHM], where ALGORITHM is that of the allgather or reduce-scatter, by default
 * bucket, and TREE that of the scatter or gather, by default binomial; for example
 * scatter-allgather:trivance-tree+trivance-b.
 * Steps: those of both.   Exact: yes.   Symmetry: none.
 */
#include <stdio.h>
#include <string.h>

#include "algorithms/builders/sequence.h"
#include "algorithms/registry.h"
#include "base/error.h"
#include "schedule/collective.h"

typedef struct parts {
    char tree[TRV_FULL_NAME_MAX];
    const char *main;
} parts_t;

/* Reads "[TREE+]ALGORITHM". */
static int read_parts(const char *text, parts_t *parts)
{
    const char *plus = text ? strchr(text, '+') : NULL;
    snprintf(parts->tree, sizeof parts->tree, "%.*s", plus ? (int)(plus - text) : (int)strlen("binomial"),
             plus ? text : "binomial");
    parts->main = plus ? plus + 1 : text ? text : "bucket";
    if (*parts->main && *parts->tree)
        return TRV_OK;
    return trv_fail(TRV_ERR_ARGUMENT,
                    "scatter-allgather: '%.40s' is not an algorithm, nor a tree, a plus and an algorithm; for example "
                    "scatter-allgather:trivance-tree+bucket",
                    text);
}

static trv_collective_t main_collective(trv_collective_t collective)
{
    return collective == TRV_BROADCAST ? TRV_ALLGATHER : TRV_REDUCE_SCATTER;
}

static trv_collective_t tree_collective(trv_collective_t collective)
{
    return collective == TRV_BROADCAST ? TRV_SCATTER : TRV_GATHER;
}

static int scatter_allgather_create(trv_schedule_t *schedule)
{
    const trv_collective_t collective = schedule->collective;
    const bool reduces = collective == TRV_REDUCE;
    trv_schedule_t *main = NULL, *tree = NULL;
    parts_t parts;
    int rc = read_parts(schedule->parameters, &parts);
    if (!rc)
        rc = trv_schedule_create_on(&main, schedule->network, parts.main, main_collective(collective), 0);
    if (!rc)
        rc = trv_schedule_create_on(&tree, schedule->network, parts.tree, tree_collective(collective), schedule->root);
    if (!rc)
        return trv_sequence_create(schedule, reduces ? main : tree, reduces ? tree : main, reduces);
    trv_schedule_destroy(main);
    return rc;
}

static int scatter_allgather_full_name(const char *parameters, const trv_torus_t *torus, trv_collective_t collective,
                                       char *text, size_t size)
{
    char main[TRV_FULL_NAME_MAX], tree[TRV_FULL_NAME_MAX];
    parts_t parts;
    int rc = read_parts(parameters, &parts);
    if (!rc)
        rc = trv_schedule_full_name(torus, parts.main, main_collective(collective), main, sizeof main);
    if (!rc)
        rc = trv_schedule_full_name(torus, parts.tree, tree_collective(collective), tree, sizeof tree);
    return rc ? rc : snprintf(text, size, "scatter-allgather:%s+%s", tree, main);
}

/* Every tree with every algorithm that has an allgather, each with its own choice of parameters. */
static int scatter_allgather_candidates(const trv_collector_t *collector)
{
    static const char *const tree[] = {"binomial", "trivance-tree", "star-tree"};
    int rc = TRV_OK;
    if (collector->collective != TRV_BROADCAST && collector->collective != TRV_REDUCE)
        return TRV_OK;
    for (int i = 0; i < trv_algorithms_count() && !rc; i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if (trv_algorithm_supports(algorithm, collector->torus, main_collective(collector->collective)))
            continue;
        for (int t = 0; t < (int)(sizeof tree / sizeof tree[0]) && !rc; t++) {
            char name[TRV_ALGORITHM_NAME_MAX];
            if (trv_algorithm_supports(trv_algorithm_find(tree[t]), collector->torus,
                                       tree_collective(collector->collective)))
                continue;
            snprintf(name, sizeof name, "scatter-allgather:%s+%s", tree[t], trv_algorithm_name(algorithm));
            rc = collector->add(collector->list, name, NULL, true);
        }
    }
    return rc;
}

const trv_algorithm_t trv_scatter_allgather = {
    .name = "scatter-allgather",
    .family = "scatter-allgather",
    .title = "Scatter and allgather",
    .use = "medium broadcasts and reduces; a baseline",
    .source = "Barnett et al.: SHPCC 1994 (van de Geijn); Rabenseifner: ICCS 2004",
    .sizes = "any torus or mesh",
    .steps_formula = "those of the tree and of the allgather",
    .bytes_formula = "2m (n-1)/n",
    .parameters = "[TREE+]ALGORITHM",
    .collectives = 1U << TRV_BROADCAST | 1U << TRV_REDUCE,
    .baseline = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .create = scatter_allgather_create,
    .full_name = scatter_allgather_full_name,
    .candidates = scatter_allgather_candidates,
};
