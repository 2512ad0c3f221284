/*
 * The named algorithms as candidates. They are what a plan must not be slower than, so the simulator sees them all,
 * unless a lower bound says that they cannot win. The exception are schedules without a symmetry on tori of more than
 * FULL_RANKS_MAX ranks, which would have to be simulated rank by rank: bench/planner shows that they win nowhere.
 */
#include <trivance/algorithms.h>

#include "planner/candidates.h"

#define FULL_RANKS_MAX 64

int trv_candidates_named(trv_candidates_t *list)
{
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        trv_candidate_t *candidate;
        if (trv_algorithm_supports(algorithm, &list->torus, list->collective) != TRV_OK ||
            (trv_algorithm_symmetry(algorithm) == TRV_SYMMETRY_NONE && list->torus.ranks > FULL_RANKS_MAX))
            continue;
        int rc = trv_candidates_add(list, trv_algorithm_name(algorithm), &(trv_model_t){0, 0, 0}, &candidate);
        if (rc)
            return rc;
        candidate->always = true;
    }
    return TRV_OK;
}
