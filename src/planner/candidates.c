/*
 * Lists of candidates; schedules are made, read and forgotten again: the simulator keeps what it needs.
 */
#include "planner/candidates.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/room.h"

int trv_candidates_add(trv_candidates_t *list, const trv_candidate_t *candidate)
{
    if (trv_room(&list->candidate, &list->room, list->count, 1, sizeof *list->candidate))
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

/* The ports by which `rank` sends in step `step`, of all streams together, are added to *ports. */
static int add_ports(const trv_schedule_t *schedule, int rank, int step, trv_step_t *room, unsigned *ports)
{
    for (int stream = 0; stream < trv_schedule_streams(schedule); stream++) {
        int rc = trv_schedule_step(schedule, rank, stream, step, room);
        if (rc)
            return rc;
        for (int i = 0; i < room->sends; i++)
            *ports |= 1u << room->send[i].port;
    }
    return TRV_OK;
}

/* Whether no rank of a lower number is the same up to the schedule's symmetry. */
static bool is_first_of_its_kind(const trv_schedule_t *schedule, int rank)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    int coordinate[TRV_DIMS_MAX];
    trv_torus_coordinates(torus, rank, coordinate);
    for (int d = 0; d < torus->dims; d++)
        if (coordinate[d] >= trv_schedule_period(schedule, d))
            return false;
    return true;
}

/* The dimensions in which some rank sends both ways in the same step. */
static int find_both_ways(const trv_schedule_t *schedule, unsigned *dimensions)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    trv_step_t room = TRV_STEP_INIT;
    int rc = TRV_OK;
    *dimensions = 0;
    for (int rank = 0; rank < torus->ranks && !rc; rank++)
        for (int step = 0; is_first_of_its_kind(schedule, rank) && step < trv_schedule_steps(schedule) && !rc; step++) {
            unsigned ports = 0;
            rc = add_ports(schedule, rank, step, &room, &ports);
            for (int d = 0; d < torus->dims; d++)
                if (ports >> trv_port(d, +1) & ports >> trv_port(d, -1) & 1u)
                    *dimensions |= 1u << d;
        }
    trv_step_clear(&room);
    return rc;
}

static int find_facts(trv_candidate_t *candidate, const trv_schedule_t *schedule, bool ways)
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
    if (!ways)
        return TRV_OK;
    int rc = find_both_ways(schedule, &facts->both_ways);
    facts->ways_known = rc == TRV_OK; /* else somebody asks again */
    return rc;
}

int trv_candidate_facts(const trv_candidates_t *list, trv_candidate_t *candidate, bool ways)
{
    if (candidate->known && (candidate->facts.ways_known || !ways))
        return TRV_OK;
    trv_schedule_t *schedule;
    int rc = trv_schedule_create_on(&schedule, &list->network, candidate->name, list->collective);
    if (rc)
        return rc;
    rc = find_facts(candidate, schedule, ways);
    trv_schedule_destroy(schedule);
    return rc;
}

int trv_candidate_read(const trv_candidates_t *list, trv_candidate_t *candidate)
{
    if (candidate->simulator)
        return TRV_OK;
    trv_schedule_t *schedule;
    int rc = trv_schedule_create_on(&schedule, &list->network, candidate->name, list->collective);
    if (rc)
        return rc;
    rc = candidate->known ? TRV_OK : find_facts(candidate, schedule, false);
    if (!rc)
        rc = trv_simulator_create(&candidate->simulator, schedule);
    trv_schedule_destroy(schedule);
    return rc;
}
