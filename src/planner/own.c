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
#include "schedule/collective.h"
#include "torus/torus.h"

static int check_name(const trv_candidates_t *list, const char *name)
{
    if (!*name || strlen(name) >= TRV_ALGORITHM_NAME_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "the name '%.60s' does not have 1 to %d characters, for example mine", name,
                        TRV_ALGORITHM_NAME_MAX - 1);
    return trv_algorithm_find(name) || trv_candidates_find(list, name) >= 0
               ? trv_fail(TRV_ERR_ARGUMENT,
                          "the name '%.60s' is that of another candidate; leave one out or choose another name", name)
               : TRV_OK;
}

static int check_purpose(const trv_candidates_t *list, const trv_schedule_t *schedule, const char *name)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    const trv_collective_t collective = trv_schedule_collective(schedule);
    char own[TRV_TORUS_TEXT_MAX], expected[TRV_TORUS_TEXT_MAX];
    if (trv_torus_equal(torus, &list->network.torus) && collective == list->collective &&
        trv_schedule_root(schedule) == list->root)
        return TRV_OK;
    const bool rooted = trv_collective_has_root(collective) && trv_collective_has_root(list->collective);
    char root[2][32] = {"", ""};
    if (rooted)
        for (int i = 0; i < 2; i++)
            snprintf(root[i], sizeof root[i], " with the root %d", i ? list->root : trv_schedule_root(schedule));
    return trv_fail(TRV_ERR_ARGUMENT, "%s is a schedule for %s on %s%s; the plan is for %s on %s%s", name,
                    trv_collective_name(collective), trv_torus_format(torus, own, sizeof own), root[0],
                    trv_collective_name(list->collective),
                    trv_torus_format(&list->network.torus, expected, sizeof expected), root[1]);
}

/* Fails if the schedule violates a constraint that does not depend on the size, or cannot run on the network: the
 * simulation of one byte finds a message that passes a cut link. */
static int check_runs(const trv_planner_t *planner, trv_candidate_t *candidate)
{
    trv_entry_t entry;
    bool allowed;
    int rc = trv_constraints_allow(&planner->constraints, &planner->list, candidate, 0, false, &allowed);
    if (!rc && !allowed)
        rc = trv_constraints_fail(&planner->constraints, &planner->list, candidate, 0, false);
    if (rc)
        return rc;
    rc = trv_candidate_simulate(candidate, &planner->network, 1, planner->hops_max, (trv_span_t){0}, INFINITY, &entry);
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
    candidate.per_port = trv_schedule_messages_per_port(schedule); /* may be declared */
    rc = candidate.per_port < 0 ? candidate.per_port : trv_candidate_take(&planner->list, &candidate, schedule);
    if (!rc)
        rc = check_runs(planner, &candidate);
    if (!rc)
        rc = trv_candidates_add(&planner->list, &candidate);
    if (rc)
        trv_simulator_destroy(candidate.simulator);
    return rc;
}
