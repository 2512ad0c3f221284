/*
 * A user's own schedule as a candidate. Its simulator is made when it is added, because no name creates it again.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trivance/algorithms.h>

#include "base/error.h"
#include "planner/constraints.h"
#include "planner/ranking.h"
#include "torus/torus.h"

static int check_name(const trv_candidates_t *list, const char *name)
{
    bool taken = trv_algorithm_find(name) != NULL;
    for (int i = 0; i < list->count && !taken; i++)
        taken = strcmp(list->candidate[i].name, name) == 0;
    if (taken)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "the name '%.60s' is that of another candidate; choose another one, for "
                        "example mine",
                        name);
    if (!*name || strlen(name) >= TRV_ALGORITHM_NAME_MAX)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "a schedule for the planner needs a name of 1 to %d characters, for example "
                        "mine",
                        TRV_ALGORITHM_NAME_MAX - 1);
    return TRV_OK;
}

static int check_purpose(const trv_candidates_t *list, const trv_schedule_t *schedule, const char *name)
{
    const trv_collective_t collective = trv_schedule_collective(schedule);
    char own[TRV_TORUS_TEXT_MAX], expected[TRV_TORUS_TEXT_MAX];
    if (!trv_torus_equal(trv_schedule_torus(schedule), &list->network.torus))
        return trv_fail(TRV_ERR_ARGUMENT, "%s is a schedule for the torus %s, and the plan is for %s", name,
                        trv_torus_format(trv_schedule_torus(schedule), own, sizeof own),
                        trv_torus_format(&list->network.torus, expected, sizeof expected));
    if (collective != list->collective)
        return trv_fail(TRV_ERR_ARGUMENT, "%s is a schedule for %s, and the plan is for %s", name,
                        trv_collective_name(collective), trv_collective_name(list->collective));
    if (trv_schedule_root(schedule) != list->root)
        return trv_fail(TRV_ERR_ARGUMENT, "%s is a schedule with the root %d, and the plan is for the root %d", name,
                        trv_schedule_root(schedule), list->root);
    return TRV_OK;
}

/* Fails if the schedule violates a constraint that does not depend on the size, or cannot run on the network: the
 * simulation of one byte finds a message that passes a cut link. */
static int check_runs(const trv_planner_t *planner, trv_candidate_t *candidate)
{
    trv_entry_t entry;
    bool allowed;
    int rc = trv_constraints_allow(&planner->constraints, &planner->list, candidate, 0, &allowed);
    if (!rc && !allowed)
        rc = trv_constraints_fail(&planner->constraints, &planner->list, candidate, 0);
    if (rc)
        return rc;
    rc = trv_candidate_simulate(candidate, &planner->network, 1, (trv_span_t){0}, 0, &entry);
    return rc == TRV_ERR_UNSUPPORTED ? trv_fail(rc, "%s cannot run: %s", candidate->name, trv_last_error()) : rc;
}

int trv_planner_add(trv_planner_t *planner, const trv_schedule_t *schedule, const char *name)
{
    trv_candidate_t candidate = {.by_name = true, .own = true};
    int rc = check_name(&planner->list, name);
    if (!rc)
        rc = check_purpose(&planner->list, schedule, name);
    if (rc)
        return rc;
    snprintf(candidate.name, sizeof candidate.name, "%s", name);
    rc = trv_candidate_take(&planner->list, &candidate, schedule);
    if (!rc)
        rc = check_runs(planner, &candidate);
    if (!rc)
        rc = trv_candidates_add(&planner->list, &candidate);
    if (rc)
        trv_simulator_destroy(candidate.simulator);
    return rc;
}
