/*
 * Lists of candidates. A schedule is created, read and destroyed at once: the simulator keeps the parts that it needs.
 */
#include "planner/candidates.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

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

static void find_facts(trv_candidate_t *candidate, const trv_schedule_t *schedule)
{
    trv_facts_t *facts = &candidate->facts;
    facts->steps = trv_schedule_steps(schedule);
    facts->registers = trv_schedule_registers(schedule);
    facts->messages_per_port = trv_schedule_messages_per_port(schedule);
    facts->consistent = trv_schedule_consistent(schedule);
    facts->covers = trv_schedule_exactness(schedule) == TRV_COVERS;
    facts->fold = 1;
    for (int d = 0; d < trv_schedule_torus(schedule)->dims; d++)
        facts->fold *= trv_schedule_period(schedule, d);
    candidate->known = true;
}

int trv_candidate_facts(const trv_candidates_t *list, trv_candidate_t *candidate)
{
    if (candidate->known)
        return TRV_OK;
    trv_schedule_t *schedule;
    int rc = trv_schedule_create_on(&schedule, &list->network, candidate->name, list->collective, 0);
    if (rc)
        return rc;
    find_facts(candidate, schedule);
    trv_schedule_destroy(schedule);
    return TRV_OK;
}

int trv_candidate_read(const trv_candidates_t *list, trv_candidate_t *candidate)
{
    if (candidate->simulator)
        return TRV_OK;
    trv_schedule_t *schedule;
    int rc = trv_schedule_create_on(&schedule, &list->network, candidate->name, list->collective, 0);
    if (rc)
        return rc;
    if (!candidate->known)
        find_facts(candidate, schedule);
    rc = trv_simulator_create(&candidate->simulator, schedule);
    trv_schedule_destroy(schedule);
    return rc;
}
