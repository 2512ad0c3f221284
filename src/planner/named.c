/*
 * The named algorithms as candidates. They are what a plan must not be slower than, so the simulator sees them all,
 * unless a lower bound says that they cannot win. The exception are those of which more than FOLD_MAX ranks would have
 * to be simulated, Recursive Doubling on large tori: bench/planner shows that it wins nowhere.
 */
#include <stdio.h>

#include <trivance/algorithms.h>

#include "planner/candidates.h"

#define FOLD_MAX 64

int trv_candidates_named(trv_candidates_t *list)
{
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if (trv_algorithm_parameters(algorithm))
            continue;
        int rc = trv_algorithm_supports(algorithm, &list->torus, list->collective);
        if (rc == TRV_ERR_UNSUPPORTED) /* the only reason to leave one out */
            continue;
        trv_candidate_t candidate = {.always = true};
        snprintf(candidate.name, sizeof candidate.name, "%s", trv_algorithm_name(algorithm));
        if (!rc)
            rc = trv_candidate_facts(list, &candidate, false);
        if (!rc && candidate.facts.fold <= FOLD_MAX)
            rc = trv_candidates_add(list, &candidate);
        if (rc)
            return rc;
    }
    return TRV_OK;
}
