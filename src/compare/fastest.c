/*
 * The row of one point: its candidates in the order of their lower bounds, of which those are simulated that may be the
 * fastest; and the groups of points that share simulators.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "compare/point.h"
#include "planner/timing.h"
#include "simulate/simulator.h"

#define PLAN_HOPS 16 /* messages, each over one link, in the estimated work of a plan */

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

bool trv_point_group_matches(const trv_point_group_t *group, const trv_point_t *point)
{
    const trv_compare_point_t *first = &group->first->asked, *asked = &point->asked;
    return first->schedule == asked->schedule && first->collective == asked->collective && first->root == asked->root &&
           strcmp(group->first->algorithms, point->algorithms) == 0 &&
           trv_network_same_schedules(&group->first->network, &point->network);
}

/* Holds the simulator of a name, or with NULL that of the point's schedule, for the group. */
static int group_hold(trv_point_group_t *group, const trv_point_t *point, const char *name,
                      trv_simulators_t *simulators, trv_shared_simulator_t **entry)
{
    trv_shared_simulator_t key = {.network = point->network,
                                  .collective = point->asked.collective,
                                  .root = point->asked.root,
                                  .schedule = name ? NULL : point->asked.schedule};
    snprintf(key.algorithm, sizeof key.algorithm, "%s", name ? name : trv_schedule_name(key.schedule));
    int rc = trv_simulators_hold(simulators, &key, entry);
    if (!rc)
        rc = trv_array_reserve(&group->member, &group->member_capacity, group->members, 1,
                               sizeof(trv_shared_simulator_t *));
    if (!rc)
        group->member[group->members++] = *entry;
    return rc;
}

int trv_point_group_create(trv_point_group_t **created, const trv_point_t *point, trv_simulators_t *simulators)
{
    trv_point_group_t *group = *created = calloc(1, sizeof *group);
    trv_shared_simulator_t *entry;
    if (!group)
        return trv_fail_memory();
    group->first = point;
    pthread_mutex_init(&group->lock, NULL);
    int rc = TRV_OK;
    for (int64_t i = 0; i < point->names && !rc; i++)
        rc = group_hold(group, point, point->name[i].text, simulators, &entry);
    if (!rc && point->asked.schedule)
        rc = group_hold(group, point, NULL, simulators, &entry);
    return rc;
}

void trv_point_group_destroy(trv_point_group_t *group)
{
    if (!group)
        return;
    pthread_mutex_destroy(&group->lock);
    free(group->member);
    free(group);
}

void trv_point_group_release(trv_point_group_t *group)
{
    for (int64_t i = 0; i < group->members; i++)
        trv_shared_simulator_release(group->member[i]);
}

/* The minimum work of any member, because a lower bound often excludes the others from simulation. The work of a plan,
 * whose name is not known yet, is that of some messages of the whole vector. */
double trv_point_group_estimate(const trv_point_group_t *group, const trv_point_t *point)
{
    double minimum = 0;
    if (point->planned)
        return trv_shared_simulator_hops(&(trv_shared_simulator_t){.network = point->network,
                                                                   .message_hops = PLAN_HOPS,
                                                                   .byte_hops = PLAN_HOPS,
                                                                   .ranks_reduced = 1},
                                         &point->options, point->asked.vector_bytes);
    for (int64_t i = 0; i < group->members; i++) {
        const trv_shared_simulator_t *entry = group->member[i];
        const double hops = trv_shared_simulator_hops(entry, &point->options, point->asked.vector_bytes);
        if (!entry->code && !trv_shared_simulator_check(entry, &point->options, point->asked.vector_bytes) &&
            (minimum == 0 || hops < minimum))
            minimum = hops;
    }
    return minimum;
}

/* ---- Candidates -------------------------------------------------------------------------------------------------- */

typedef struct candidate {
    trv_shared_simulator_t *entry;
    trv_simulate_options_t options;
    double bound_ns;
} candidate_t;

typedef struct search {
    trv_point_t *point;
    trv_compare_row_t *row;
    trv_advance_t *advance;
    candidate_t *candidate; /* in the order of their lower bounds */
    int64_t candidates;
    bool found;
} search_t;

static void search_insert(search_t *search, candidate_t new)
{
    int64_t at = search->candidates++;
    for (; at > 0 && search->candidate[at - 1].bound_ns > new.bound_ns; at--)
        search->candidate[at] = search->candidate[at - 1];
    search->candidate[at] = new;
}

/* Sets the options with which a candidate is simulated, and checks that the vector is not too long for it. */
static int candidate_set_options(candidate_t *candidate, const trv_point_t *point)
{
    candidate->options = point->asked.as_planned ? trv_timing_network(&point->options) : point->options;
    return trv_shared_simulator_check(candidate->entry, &candidate->options, point->asked.vector_bytes);
}

/* Adds a candidate that can be simulated. `bounded`: its lower bound is needed. */
static int search_add(search_t *search, trv_shared_simulator_t *entry, bool bounded)
{
    const uint64_t bytes = search->point->asked.vector_bytes;
    candidate_t candidate = {.entry = entry};
    int rc = trv_shared_simulator_acquire(entry);
    if (!rc)
        rc = candidate_set_options(&candidate, search->point);
    if (!rc && bounded)
        rc = trv_simulate_bound_ns(entry->simulator, &candidate.options, bytes, &candidate.bound_ns);
    if (!rc)
        search_insert(search, candidate);
    return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
}

static int advance_by(trv_advance_t *advance, double share)
{
    share = share < advance->left ? share : advance->left;
    advance->left -= share;
    return advance->report(advance->context, share);
}

/* Reports the progress of the present candidate. */
static int advance_report(void *context, double fraction)
{
    trv_advance_t *advance = context;
    const double step = fraction - advance->part_done;
    advance->part_done = fraction;
    return advance_by(advance, step * advance->part);
}

/* Simulates a candidate, until it takes longer than the best one. */
static int candidate_simulate(const search_t *search, const candidate_t *candidate, trv_compare_row_t *row)
{
    const trv_simulator_t *simulator = candidate->entry->simulator;
    trv_simulate_options_t options = candidate->options;
    trv_simulation_t result;
    const trv_span_t progress = {search->advance->reports ? advance_report : NULL, search->advance, 0, 1};
    const double cutoff_ns = search->found ? search->row->time_ns : 0;
    int rc = options.full ? TRV_OK : trv_simulator_drop_links(simulator, &options);
    if (!rc)
        rc = trv_simulate_until(simulator, &options, search->point->asked.vector_bytes, TRV_SIMULATE_HOPS_MAX, progress,
                                cutoff_ns, &result);
    if (rc)
        return rc;
    row->time_ns = result.time_ns;
    row->approximate = result.packet_bytes > options.packet_bytes;
    row->messages = result.messages;
    row->packets = result.packets;
    row->packet_hops = result.packet_hops;
    row->simulated_hops = result.simulated_hops;
    trv_simulation_clear(&result);
    return TRV_OK;
}

/* Times a candidate and keeps the result if it is the first or the fastest. */
static int search_time(search_t *search, const candidate_t *candidate)
{
    trv_compare_row_t timed = {0}, *row = search->row;
    const double start_ns = trv_now_ns();
    int rc = candidate_simulate(search, candidate, &timed);
    row->wall_s += 1e-9 * (trv_now_ns() - start_ns);
    if (rc || (search->found && !(timed.time_ns < row->time_ns)))
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    timed.wall_s = row->wall_s;
    timed.covers = candidate->entry->covers;
    snprintf(timed.algorithm, sizeof timed.algorithm, "%s", candidate->entry->algorithm);
    *row = timed;
    search->found = true;
    return TRV_OK;
}

static double candidate_hops(const candidate_t *candidate, const trv_point_t *point)
{
    return trv_shared_simulator_hops(candidate->entry, &candidate->options, point->asked.vector_bytes);
}

/* Finds the fastest candidate. One whose lower bound exceeds the best time so far is skipped, and so are those after
 * it. */
static int search_run(search_t *search)
{
    const trv_point_t *point = search->point;
    trv_advance_t *advance = search->advance;
    double hops = 0, share = advance->left;
    int rc = TRV_OK;
    for (int64_t i = 0; i < search->candidates && advance->reports; i++)
        hops += candidate_hops(&search->candidate[i], point);
    for (int64_t i = 0; i < search->candidates && !rc; i++) {
        const candidate_t *candidate = &search->candidate[i];
        if (search->found && candidate->bound_ns >= search->row->time_ns)
            break;
        advance->part_done = 0;
        advance->part = hops > 0 ? share * candidate_hops(candidate, point) / hops : 0;
        rc = search_time(search, candidate);
    }
    return rc;
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

static int point_plan(const trv_point_t *point, trv_advance_t *advance, trv_planner_choice_t *choice)
{
    advance->part_done = 0;
    advance->part = point->asked.as_planned ? advance->left : 0; /* otherwise a simulation follows */
    trv_simulate_options_t network = point->options;
    network.progress = advance->reports ? advance_report : NULL;
    network.progress_context = advance;
    return trv_planner_best(&point->network.torus, point->asked.collective, point->asked.root,
                            point->asked.vector_bytes, &network, NULL, choice);
}

static int group_find(trv_point_group_t *group, const trv_point_t *point, const char *name,
                      trv_simulators_t *simulators, trv_shared_simulator_t **entry)
{
    int rc = TRV_OK;
    *entry = NULL;
    pthread_mutex_lock(&group->lock);
    for (int64_t i = 0; i < group->members && !*entry; i++)
        if (strcmp(group->member[i]->algorithm, name) == 0)
            *entry = group->member[i];
    if (!*entry)
        rc = group_hold(group, point, name, simulators, entry);
    pthread_mutex_unlock(&group->lock);
    return rc;
}

/* Makes the plan the point's only candidate, unless the time of the choice is asked for. */
static int search_plan(search_t *search, trv_point_group_t *group, trv_simulators_t *simulators)
{
    const trv_point_t *point = search->point;
    trv_compare_row_t *row = search->row;
    trv_planner_choice_t choice;
    trv_shared_simulator_t *entry;
    int rc = point_plan(point, search->advance, &choice);
    if (rc)
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    memcpy(row->algorithm, choice.algorithm, sizeof row->algorithm); /* stays if it cannot be simulated */
    if (point->asked.as_planned) {
        row->time_ns = choice.time_ns;
        row->approximate = choice.approximate;
        search->found = true;
        return TRV_OK;
    }
    rc = group_find(group, point, choice.algorithm, simulators, &entry);
    return rc ? rc : search_add(search, entry, false);
}

/* ---- One point --------------------------------------------------------------------------------------------------- */

static int search_fill(search_t *search, trv_point_group_t *group, trv_simulators_t *simulators)
{
    int rc = TRV_OK;
    if (search->point->planned)
        return search_plan(search, group, simulators);
    for (int64_t i = 0; i < group->members && !rc; i++)
        rc = search_add(search, group->member[i], group->members > 1);
    return rc;
}

static void find_limit(const trv_point_t *point, trv_compare_row_t *row)
{
    row->limit = (trv_limit_t){NAN, NAN, NAN, NAN, NAN, NAN};
    row->ratio = NAN;
    if (!point->asked.with_limit || trv_compare_limit(&point->network.torus, &point->options, point->asked.collective,
                                                      point->asked.root, point->asked.vector_bytes, &row->limit))
        return;
    if (!row->code)
        row->ratio = row->limit.time_ns > 0 ? row->time_ns / row->limit.time_ns : 1;
}

int trv_point_find(trv_point_t *point, trv_point_group_t *group, trv_simulators_t *simulators, trv_advance_t *advance,
                   trv_compare_row_t *row)
{
    search_t search = {.point = point, .row = row, .advance = advance};
    const int64_t capacity = point->planned ? 1 : group->members;
    search.candidate = malloc((size_t)capacity * sizeof *search.candidate);
    if (!search.candidate)
        return trv_fail_memory();
    int rc = search_fill(&search, group, simulators);
    if (!rc)
        rc = search_run(&search);
    free(search.candidate);
    if (!rc && !search.found) {
        row->code = TRV_ERR_UNSUPPORTED;
        free(point->reason); /* of an earlier run */
        row->reason = point->reason = strdup(trv_last_error());
        rc = point->reason ? TRV_OK : trv_fail_memory();
    }
    if (!rc)
        rc = advance_by(advance, advance->left);
    if (!rc)
        find_limit(point, row);
    return rc;
}
