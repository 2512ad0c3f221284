/*
 * Scatter and allgather (van de Geijn), a baseline for long vectors: a broadcast scatters the vector along binomial trees
 * and then collects it with an allgather; a reduce is a reduce-scatter and a gather (Rabenseifner).
 *
 * Name: scatter-allgather[:ALGORITHM], where ALGORITHM is that of the allgather or reduce-scatter, by default bucket.
 * Steps: sum of ceil(log2 a) and those of the algorithm.   Exact: yes.   Symmetry: none.
 */
#include <stdio.h>
#include <string.h>

#include "algorithms/builders/sequence.h"
#include "algorithms/registry.h"
#include "base/error.h"
#include "schedule/collective.h"

static const char default_algorithm[] = "bucket";

static trv_collective_t main_collective(trv_collective_t collective)
{
    return collective == TRV_BROADCAST ? TRV_ALLGATHER : TRV_REDUCE_SCATTER;
}

static int scatter_allgather_create(trv_schedule_t *schedule)
{
    const bool reduces = schedule->collective == TRV_REDUCE;
    const char *name = schedule->parameters ? schedule->parameters : default_algorithm;
    trv_schedule_t *main = NULL, *tree = NULL;
    int rc = trv_schedule_create_on(&main, schedule->network, name, main_collective(schedule->collective), 0);
    if (!rc)
        rc = trv_schedule_create_on(&tree, schedule->network, "binomial", reduces ? TRV_GATHER : TRV_SCATTER,
                                    schedule->root);
    if (!rc)
        return trv_sequence_create(schedule, reduces ? main : tree, reduces ? tree : main, reduces);
    trv_schedule_destroy(main);
    return rc;
}

static int scatter_allgather_supports(const trv_torus_t *torus, trv_collective_t collective)
{
    const trv_algorithm_t *bucket = trv_algorithm_find(default_algorithm);
    return bucket ? trv_algorithm_supports(bucket, torus, main_collective(collective)) : TRV_ERR_INVALID;
}

static int scatter_allgather_full_name(const char *parameters, const trv_torus_t *torus, trv_collective_t collective,
                                       char *text, size_t size)
{
    char name[TRV_FULL_NAME_MAX];
    int rc = trv_schedule_full_name(torus, parameters ? parameters : default_algorithm, main_collective(collective), name,
                                    sizeof name);
    return rc ? rc : snprintf(text, size, "scatter-allgather:%s", name);
}

/* Every algorithm that has an allgather, with its own choice of parameters. */
static int scatter_allgather_candidates(const trv_collector_t *collector)
{
    const trv_collective_t main = main_collective(collector->collective);
    int rc = TRV_OK;
    for (int i = 0; i < trv_algorithms_count() && !rc; i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        char name[TRV_ALGORITHM_NAME_MAX];
        if ((collector->collective != TRV_BROADCAST && collector->collective != TRV_REDUCE) ||
            trv_algorithm_supports(algorithm, collector->torus, main))
            continue;
        snprintf(name, sizeof name, "scatter-allgather:%s", trv_algorithm_name(algorithm));
        rc = collector->add(collector->list, name, NULL, true);
    }
    return rc;
}

const trv_algorithm_t trv_scatter_allgather = {
    .name = "scatter-allgather",
    .family = "scatter-allgather",
    .title = "Scatter and allgather",
    .use = "long broadcasts and reduces; a baseline",
    .source = "Barnett et al.: SHPCC 1994 (van de Geijn); Rabenseifner: ICCS 2004",
    .sizes = "any torus",
    .steps_formula = "sum of ceil(log2 a) + those of the allgather",
    .bytes_formula = "2m (n-1)/n",
    .parameters = "[ALGORITHM]",
    .collectives = 1U << TRV_BROADCAST | 1U << TRV_REDUCE,
    .baseline = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .supports = scatter_allgather_supports,
    .create = scatter_allgather_create,
    .full_name = scatter_allgather_full_name,
    .candidates = scatter_allgather_candidates,
};
