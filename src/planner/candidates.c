/*
 * Lists of candidates. A schedule is created, read and destroyed at once: the simulator keeps the parts that it needs.
 */
#include "planner/candidates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "schedule/per_port.h"
#include "schedule/relay.h"
#include "simulate/simulator.h"

int trv_candidates_find(const trv_candidates_t *list, const char *name)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->candidate[i].name, name) == 0)
            return i;
    return -1;
}

int trv_candidates_find_or_add(trv_candidates_t *list, const char *name)
{
    trv_candidate_t added = {.by_name = true};
    const int found = trv_candidates_find(list, name);
    if (found >= 0)
        return found;
    if (strlen(name) >= sizeof added.name)
        return trv_fail(TRV_ERR_ARGUMENT, "the name of an algorithm has at most %d characters",
                        TRV_ALGORITHM_NAME_MAX - 1);
    strcpy(added.name, name);
    int rc = trv_candidate_properties(list, &added);
    if (!rc)
        rc = trv_candidates_add(list, &added);
    return rc ? rc : list->count - 1;
}

int trv_candidates_add(trv_candidates_t *list, const trv_candidate_t *candidate)
{
    if (trv_array_reserve(&list->candidate, &list->capacity, list->count, 1, sizeof *list->candidate))
        return TRV_ERR_MEMORY;
    list->candidate[list->count++] = *candidate;
    return TRV_OK;
}

void trv_candidates_clear(trv_candidates_t *list)
{
    for (int i = 0; i < list->count; i++)
        trv_simulator_destroy(list->candidate[i].simulator);
    free(list->candidate);
    *list = (trv_candidates_t){.count = 0};
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static int find_properties(const trv_candidates_t *list, trv_candidate_t *candidate, const trv_schedule_t *schedule)
{
    /* The list has no models of schedules with messages over several links. */
    const bool unknown = list->network.no_forwarding && candidate->model.steps == 0;
    const int multi_hop = unknown ? trv_schedule_is_multi_hop(schedule) : 0;
    if (multi_hop < 0)
        return multi_hop;
    trv_properties_t *properties = &candidate->properties;
    properties->steps = trv_schedule_steps(schedule);
    properties->registers = trv_schedule_registers(schedule);
    properties->consistent = trv_schedule_consistent(schedule);
    properties->covers = trv_schedule_exactness(schedule) == TRV_COVERS;
    properties->multi_hop = multi_hop;
    properties->distinct_ranks = 1;
    for (int d = 0; d < trv_schedule_torus(schedule)->dims; d++)
        properties->distinct_ranks *= trv_schedule_period(schedule, d);
    candidate->has_properties = true;
    return TRV_OK;
}

static int create(const trv_candidates_t *list, const trv_candidate_t *candidate, trv_schedule_t **schedule)
{
    return trv_schedule_create_on(schedule, &list->network, candidate->name, list->collective, list->root);
}

int trv_candidate_properties(const trv_candidates_t *list, trv_candidate_t *candidate)
{
    if (candidate->has_properties)
        return TRV_OK;
    trv_schedule_t *schedule;
    int rc = create(list, candidate, &schedule);
    if (rc)
        return rc;
    rc = find_properties(list, candidate, schedule);
    trv_schedule_destroy(schedule);
    return rc;
}

int trv_candidate_take(const trv_candidates_t *list, trv_candidate_t *candidate, const trv_schedule_t *schedule)
{
    int rc = candidate->has_properties ? TRV_OK : find_properties(list, candidate, schedule);
    if (!rc)
        rc = trv_simulator_create(&candidate->simulator, schedule);
    if (!rc && candidate->per_port == 0)
        candidate->per_port = trv_messages_per_port(&list->network.torus,
                                                    trv_simulator_simultaneous(candidate->simulator));
    return rc;
}

int trv_candidate_exceeds(const trv_candidates_t *list, trv_candidate_t *candidate)
{
    const int limit = list->network.messages_per_port;
    const bool counted = limit == 0 || candidate->per_port > 0;
    const int rc = counted ? TRV_OK : trv_candidate_prepare(list, candidate);
    if (rc)
        return rc;
    const bool exceeds = limit > 0 && candidate->per_port > limit;
    if (exceeds && !counted) {
        trv_simulator_destroy(candidate->simulator);
        candidate->simulator = NULL;
    }
    return exceeds;
}

int trv_candidate_prepare(const trv_candidates_t *list, trv_candidate_t *candidate)
{
    if (candidate->simulator)
        return TRV_OK;
    trv_schedule_t *schedule;
    int rc = create(list, candidate, &schedule);
    if (rc)
        return rc;
    rc = trv_candidate_take(list, candidate, schedule);
    trv_schedule_destroy(schedule);
    return rc;
}
