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

/* The fields of the name. */
enum { TREE, MAIN };

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
    const trv_value_t *part = schedule->parameters->value;
    int rc = trv_schedule_create_on(&main, schedule->network, part[MAIN].text, main_collective(collective), 0);
    if (!rc)
        rc = trv_schedule_create_on(&tree, schedule->network, part[TREE].text, tree_collective(collective),
                                    schedule->root);
    if (!rc)
        return trv_sequence_create(schedule, reduces ? main : tree, reduces ? tree : main, reduces);
    trv_schedule_destroy(main);
    return rc;
}

static int scatter_allgather_complete(trv_parameters_t *parameters, const trv_torus_t *torus,
                                      trv_collective_t collective)
{
    char main[TRV_FULL_NAME_MAX], tree[TRV_FULL_NAME_MAX];
    trv_value_t *part = parameters->value;
    int rc = trv_schedule_full_name(torus, part[MAIN].text, main_collective(collective), main, sizeof main);
    if (!rc)
        rc = trv_schedule_full_name(torus, part[TREE].text, tree_collective(collective), tree, sizeof tree);
    const size_t length = strlen(tree);
    if (!rc && length + strlen(main) + 2 > sizeof parameters->text)
        rc = trv_fail(TRV_ERR_ARGUMENT, "the names %.60s and %.60s are too long for a name", tree, main);
    if (rc)
        return rc;
    part[TREE].text = strcpy(parameters->text, tree);
    part[MAIN].text = strcpy(parameters->text + length + 1, main);
    return TRV_OK;
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
    .example = "scatter-allgather:trivance-tree+bucket",
    .field = {{.kind = TRV_FIELD_REST, .what = "an algorithm", .text = "binomial", .until = '+'},
              {.kind = TRV_FIELD_REST, .what = "an algorithm", .text = "bucket"}},
    .collectives = 1U << TRV_BROADCAST | 1U << TRV_REDUCE,
    .baseline = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .create = scatter_allgather_create,
    .complete = scatter_allgather_complete,
    .candidates = scatter_allgather_candidates,
};
