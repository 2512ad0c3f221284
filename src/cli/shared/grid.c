/*
 * A grid of simulations on all cores: a list of points, sorted by descending cost, and counters of the points taken
 * from either end. One thread takes points from the end of the list, so that the first results are available early; the
 * others take the most expensive points first, so that none of these is left for the end.
 *
 * Points of one torus and one entry of the user's list of algorithms form a *group* and are adjacent in the list, so
 * that only a few simulators exist at a time: the first point that needs one creates it, the last one frees it.
 */
#include "cli/shared/grid.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/array.h"
#include "cli/shared/network_options.h"
#include "cli/shared/parallel.h"
#include "cli/shared/simulators.h"

#define PLANNING_SHARE 0.2 /* planning's share of the progress, if any point is planned */

typedef struct group {
    const cli_point_t *first; /* its first point */
    cli_simulator_t *member[CLI_CHOICES_MAX];
    double work_max;
} group_t;

typedef struct order {
    size_t point, group;
    double work, work_max; /* of the point; of the most expensive one in its group */
} order_t;

typedef struct run {
    cli_point_t *point;
    order_t *order;
    size_t points;
    atomic_size_t taken, taken_first; /* points taken from the list; of these, those from its beginning */
    cli_simulator_t *simulators;
    group_t *group;
    size_t groups;
    int64_t group_capacity;
    double work; /* packet-hops of all points */
    cli_point_done_t *done;
    void *context;
    trv_span_t planning, simulating; /* parts of the caller's span */
    double done_share;               /* sum of cli_point_t.share over the finished points */
    pthread_mutex_t lock;            /* protects done_share, `done`, rc and sentence */
    atomic_int rc;
    char *sentence;
} run_t;

/* ---- Members of a point ------------------------------------------------------------------------------------------ */

/* The number of candidates of a point. A plan is the only one; a point without a plan has none, and states the
 * reason. */
static int point_members(const cli_point_t *point)
{
    return point->rc ? 0 : point->choice->planned ? 1 : point->choice->members;
}

static const char *point_member_name(const cli_point_t *point, int member)
{
    return point->choice->planned ? point->algorithm : cli_member_name(point->choice, member);
}

static int point_keep_reason(cli_point_t *point)
{
    point->rc = TRV_ERR_UNSUPPORTED;
    point->reason = strdup(trv_last_error());
    return point->reason ? TRV_OK : trv_fail_memory();
}

/* Selects the schedule of a point whose choice is `planned`. */
static int point_plan(cli_point_t *point, trv_span_t span)
{
    trv_planner_choice_t best;
    const trv_simulate_options_t network = cli_network_reporting(&point->options, &span);
    int rc = trv_planner_best(&point->torus, point->collective, point->root, point->bytes, &network, NULL, &best);
    if (!rc)
        memcpy(point->algorithm, best.algorithm, sizeof best.algorithm);
    return rc == TRV_ERR_UNSUPPORTED ? point_keep_reason(point) : rc;
}

/* ---- Cost of a point --------------------------------------------------------------------------------------------- */

/* Estimates the packet-hops of a point; for a family those of its cheapest member, because a lower bound often
 * excludes the other members from simulation. */
static double point_estimate(const group_t *group, const cli_point_t *point)
{
    const trv_simulate_options_t *options = &point->options;
    bool reduced = options->model == TRV_FIFO && !options->full && !options->slow_ranks && !options->slow_links;
    double work_min = 0;
    for (int i = 0; i < point_members(point); i++) {
        const cli_simulator_t *entry = group->member[i];
        double hops = entry->message_hops + entry->byte_hops * (double)point->bytes / options->packet_bytes;
        double work = 1 + hops * (reduced ? entry->ranks_reduced : point->torus.ranks);
        if (!entry->rc && !cli_simulator_check(entry, point->bytes, options->packet_bytes) &&
            (work_min == 0 || work < work_min))
            work_min = work;
    }
    return work_min;
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

static trv_network_t point_network(const cli_point_t *point) { return cli_network_on(&point->torus, &point->options); }

static bool group_matches(const cli_point_t *point, const group_t *group)
{
    const trv_network_t mine = point_network(point), its = point_network(group->first);
    return group->first->choice == point->choice && group->first->collective == point->collective &&
           group->first->root == point->root && strcmp(group->first->algorithm, point->algorithm) == 0 &&
           cli_network_equal(&its, &mine);
}

/* Finds or adds the group of a point. Points are usually in the order of the grid, so the group of the previous
 * point is tried first. */
static int group_find(run_t *run, const cli_point_t *point, size_t *index)
{
    for (size_t i = run->groups; i-- > 0;)
        if (group_matches(point, &run->group[i])) {
            *index = i;
            return TRV_OK;
        }
    if (trv_array_reserve(&run->group, &run->group_capacity, (int64_t)run->groups, 1, sizeof *run->group))
        return TRV_ERR_MEMORY;
    group_t *group = &run->group[run->groups];
    *group = (group_t){.first = point};
    const trv_network_t network = point_network(point);
    int rc = TRV_OK;
    for (int i = 0; i < point_members(point) && !rc; i++)
        rc = cli_simulators_find(&run->simulators, &network, point_member_name(point, i), point->collective,
                                 point->root, &group->member[i]);
    *index = run->groups++;
    return rc;
}

/* ---- One point --------------------------------------------------------------------------------------------------- */

typedef struct candidate {
    const cli_simulator_t *entry;
    double bound_ns;
} candidate_t;

static void candidate_insert(candidate_t *candidate, int count, candidate_t new)
{
    for (; count > 0 && candidate[count - 1].bound_ns > new.bound_ns; count--)
        candidate[count] = candidate[count - 1];
    candidate[count] = new;
}

/* Lists the members that can run, sorted by ascending lower bound. */
static int candidates_list(const group_t *group, const cli_point_t *point, candidate_t *candidate, int *candidates)
{
    for (int i = 0; i < point_members(point); i++) {
        cli_simulator_t *entry = group->member[i];
        double bound_ns = 0;
        int rc = cli_simulator_acquire(entry);
        if (!rc)
            rc = cli_simulator_check(entry, point->bytes, point->options.packet_bytes);
        if (!rc && point_members(point) > 1)
            rc = trv_simulate_bound_ns(entry->simulator, &point->options, point->bytes, &bound_ns);
        if (!rc)
            candidate_insert(candidate, (*candidates)++, (candidate_t){entry, bound_ns});
        else if (rc != TRV_ERR_UNSUPPORTED)
            return rc;
    }
    return TRV_OK;
}

/* Progress within a point, which reaches the point's share when every candidate has been simulated or excluded. */
typedef struct advance {
    run_t *run;
    double share_per_hop, left;
    double hops, done; /* of the current candidate; the fraction of them reported so far */
} advance_t;

static int advance_by(advance_t *advance, double share)
{
    run_t *run = advance->run;
    share = share < advance->left ? share : advance->left;
    advance->left -= share;
    pthread_mutex_lock(&run->lock);
    run->done_share += share;
    int rc = trv_span_report(run->simulating, run->done_share);
    pthread_mutex_unlock(&run->lock);
    return rc;
}

static int advance_report(void *context, double fraction)
{
    advance_t *advance = context;
    const double hops = (fraction - advance->done) * advance->hops;
    advance->done = fraction;
    return advance_by(advance, hops * advance->share_per_hop);
}

static double candidate_hops(const candidate_t *candidate, const cli_point_t *point)
{
    return trv_simulate_hops(candidate->entry->simulator, &point->options, point->bytes);
}

static advance_t advance_of(run_t *run, const cli_point_t *point, const candidate_t *candidate, int candidates)
{
    double hops = 0;
    for (int i = 0; i < candidates && run->simulating.callback; i++)
        hops += candidate_hops(&candidate[i], point);
    return (advance_t){.run = run, .share_per_hop = hops > 0 ? point->share / hops : 0, .left = point->share};
}

/* Simulates one candidate and keeps the result if it is the first or the fastest. */
static int candidate_simulate(const candidate_t *candidate, bool first, cli_point_t *point, advance_t *advance)
{
    trv_simulation_t result;
    double start_ns = trv_now_ns();
    trv_simulate_options_t options = point->options;
    if (advance->run->simulating.callback) {
        advance->hops = candidate_hops(candidate, point);
        advance->done = 0;
        options.progress = advance_report;
        options.progress_context = advance;
    }
    int rc = trv_simulate(candidate->entry->simulator, &options, point->bytes, &result);
    point->wall_s += 1e-9 * (trv_now_ns() - start_ns);
    if (rc)
        return rc;
    if (first || result.time_ns < point->time_ns) {
        memcpy(point->algorithm, candidate->entry->algorithm, sizeof point->algorithm);
        point->time_ns = result.time_ns;
        point->packet_hops = result.packet_hops;
        point->simulated_hops = result.simulated_hops;
    }
    trv_simulation_clear(&result);
    return TRV_OK;
}

/* Finds the fastest member. A member whose lower bound exceeds the best time so far is skipped. A member that cannot
 * run is not an error; if no member can run, its message becomes the point's reason. */
static int point_simulate(run_t *run, const group_t *group, cli_point_t *point)
{
    candidate_t candidate[CLI_CHOICES_MAX];
    bool found = false;
    int candidates = 0, rc = point->rc ? TRV_OK : candidates_list(group, point, candidate, &candidates);
    advance_t advance = advance_of(run, point, candidate, candidates);
    for (int i = 0; i < candidates && !rc; i++) {
        if (found && candidate[i].bound_ns >= point->time_ns)
            break;
        rc = candidate_simulate(&candidate[i], !found, point, &advance);
        found |= !rc;
        if (rc == TRV_ERR_UNSUPPORTED)
            rc = TRV_OK;
    }
    if (!rc)
        rc = advance_by(&advance, advance.left);
    return rc || point->rc || found ? rc : point_keep_reason(point);
}

static int point_run(run_t *run, const order_t *order)
{
    const group_t *group = &run->group[order->group];
    cli_point_t *point = &run->point[order->point];
    int users = point_members(point), rc = point_simulate(run, group, point);
    for (int m = 0; m < users; m++)
        cli_simulator_release(group->member[m]);
    return rc;
}

/* ---- All points -------------------------------------------------------------------------------------------------- */

/* Reports a finished point. Error messages are per thread, so the message of the first failure is stored for the
 * thread that returns from cli_grid_run. */
static void point_report(run_t *run, const cli_point_t *point, int rc)
{
    pthread_mutex_lock(&run->lock);
    if (!rc && !atomic_load(&run->rc) && run->done)
        rc = run->done(run->context, point);
    if (rc && !atomic_load(&run->rc)) {
        run->sentence = strdup(trv_last_error());
        atomic_store(&run->rc, rc);
    }
    pthread_mutex_unlock(&run->lock);
}

/* Processes points from either end of the list. Both ends share one counter of taken points, so no point is taken
 * twice. */
static void work(void *context, bool from_end)
{
    run_t *run = context;
    size_t cheap = 0;
    while (!atomic_load(&run->rc) && atomic_fetch_add(&run->taken, 1) < run->points) {
        const order_t *order = &run->order[from_end ? run->points - ++cheap : atomic_fetch_add(&run->taken_first, 1)];
        point_report(run, &run->point[order->point], point_run(run, order));
    }
}

static int run_points(run_t *run, size_t workers)
{
    pthread_mutex_init(&run->lock, NULL);
    cli_parallel_run(workers, work, run);
    pthread_mutex_destroy(&run->lock);
    int rc = atomic_load(&run->rc);
    return rc ? trv_fail(rc, "%s", run->sentence ? run->sentence : "out of memory") : TRV_OK;
}

/* Orders groups by their most expensive point and points by their work; ties keep the order of the grid. */
static int order_compare(const void *left, const void *right)
{
    const order_t *a = left, *b = right;
    if (a->group != b->group && a->work_max != b->work_max)
        return a->work_max > b->work_max ? -1 : 1;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->work != b->work)
        return a->work > b->work ? -1 : 1;
    return a->point < b->point ? -1 : a->point > b->point;
}

static void point_clear(cli_point_t *point)
{
    point->rc = TRV_OK;
    point->reason = NULL;
    point->algorithm[0] = '\0';
    point->time_ns = point->wall_s = 0;
    point->packet_hops = point->simulated_hops = 0;
}

static int point_prepare(run_t *run, size_t index, trv_span_t span)
{
    cli_point_t *point = &run->point[index];
    order_t *order = &run->order[index];
    point_clear(point);
    int rc = point->choice->planned ? point_plan(point, span) : TRV_OK;
    if (!rc)
        rc = group_find(run, point, &order->group);
    if (rc)
        return rc;
    group_t *group = &run->group[order->group];
    order->point = index;
    order->work = point_estimate(group, point);
    group->work_max = fmax(group->work_max, order->work);
    for (int m = 0; m < point_members(point); m++)
        group->member[m]->users++;
    run->work += order->work;
    return TRV_OK;
}

static int run_prepare(run_t *run)
{
    int rc = TRV_OK;
    for (size_t i = 0; i < run->points && !rc; i++)
        rc = point_prepare(run, i, trv_span(run->planning, (double)i / (double)run->points, 1.0 / (double)run->points));
    for (size_t i = 0; i < run->points && !rc; i++) {
        run->order[i].work_max = run->group[run->order[i].group].work_max;
        run->point[i].share = run->work > 0 ? run->order[i].work / run->work : 1.0 / (double)run->points;
    }
    if (!rc)
        qsort(run->order, run->points, sizeof *run->order, order_compare);
    return rc;
}

static void run_clear(run_t *run)
{
    cli_simulators_clear(run->simulators);
    free(run->group);
    free(run->order);
    free(run->sentence);
}

static int run_grid(run_t *run, int workers)
{
    size_t threads = (size_t)(workers > 0 ? workers : cli_cores());
    threads = threads < run->points ? threads : run->points;
    if (run->points == 0)
        return TRV_OK;
    run->order = malloc(run->points * sizeof *run->order);
    int rc = run->order ? run_prepare(run) : trv_fail_memory();
    if (!rc)
        rc = run_points(run, threads);
    run_clear(run);
    return rc;
}

int cli_grid_run(cli_point_t *point, size_t points, int workers, cli_point_done_t *done, void *context)
{
    run_t run = {.point = point, .points = points, .done = done, .context = context};
    return run_grid(&run, workers);
}

int cli_grid_run_reporting(cli_point_t *point, size_t points, int workers, trv_span_t span)
{
    double planning = 0;
    for (size_t i = 0; i < points; i++)
        planning = point[i].choice->planned ? PLANNING_SHARE : planning;
    run_t run = {.point = point,
                 .points = points,
                 .planning = trv_span(span, 0, planning),
                 .simulating = trv_span(span, planning, 1 - planning)};
    return run_grid(&run, workers);
}

void cli_points_clear(cli_point_t *point, size_t points)
{
    for (size_t i = 0; i < points; i++) {
        free((char *)(size_t)point[i].reason);
        point[i].reason = NULL;
    }
}
