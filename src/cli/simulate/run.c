/*
 * trivance simulate: runs the simulations. Algorithms and schedules from files go through the grid, on all cores; a
 * GOAL program is simulated once. --links and --trace need a second run, of the algorithm that was fastest.
 */
#include "cli/simulate/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cost/measure.h"
#include "cli/shared/progress.h"
#include "cli/simulate/trace.h"
#include "base/clock.h"
#include "base/error.h"
#include "formats/goal_file.h"
#include "simulate/goal_run.h"
#include "simulate/simulator.h"

/* ---- Comparison -------------------------------------------------------------------------------------------------- */

double cli_group_best_ns(const cli_group_t *group, int size)
{
    double best_ns = NAN;
    for (int line = 0; line < group->lines; line++) {
        const cli_point_t *point = &group->point[line * group->sizes + size];
        if (!point->rc)
            best_ns = fmin(best_ns, point->time_ns);
    }
    return best_ns;
}

static bool is_trivance(const cli_choice_t *choice)
{
    for (int i = 0; i < choice->members; i++)
        if (strcmp(trv_algorithm_family(choice->member[i]), "trivance") != 0)
            return false;
    return choice->members > 0;
}

double cli_group_trivance_ns(const cli_group_t *group, int size)
{
    double best_ns = NAN;
    for (int line = 0; line < group->lines; line++) {
        const cli_point_t *point = &group->point[line * group->sizes + size];
        if (!point->rc && is_trivance(point->choice))
            best_ns = fmin(best_ns, point->time_ns);
    }
    return best_ns;
}

double cli_group_vs_trivance(const cli_group_t *group, int line, int size)
{
    const cli_point_t *point = &group->point[line * group->sizes + size];
    const double trivance_ns = cli_group_trivance_ns(group, size);
    if (point->rc || isnan(trivance_ns))
        return NAN;
    return trivance_ns > 0 ? point->time_ns / trivance_ns : 1; /* one rank takes no time */
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

/* With `all`, algorithms that do not support the torus are left out; a named one stays and has a reason. */
static bool is_supported(const cli_simulate_t *job, const trv_torus_t *torus, const cli_choice_t *choice)
{
    const trv_network_t on = cli_network_on(torus, &job->network.options);
    char name[TRV_FULL_NAME_MAX];
    if (choice->planned || !job->selection.all)
        return true;
    for (int i = 0; i < choice->members; i++)
        if (trv_schedule_full_name_on(&on, cli_member_name(choice, i), job->collective, job->root, name, sizeof name) !=
            TRV_ERR_UNSUPPORTED)
            return true;
    return false;
}

/* Reports errors that are known before anything is simulated. */
static int check_torus(cli_simulate_t *job, const trv_torus_t *torus)
{
    int rc = cli_network_finish(&job->network, torus);
    return !rc && job->trace ? cli_trace_check(torus) : rc;
}

static int allocate(cli_outcome_t *outcome, int groups, size_t points)
{
    outcome->group = calloc((size_t)groups, sizeof *outcome->group);
    outcome->point = calloc(points, sizeof *outcome->point);
    outcome->detail = calloc(points, sizeof *outcome->detail);
    return outcome->group && outcome->point && outcome->detail ? TRV_OK : trv_fail_memory();
}

/* Appends a group without lines. */
static cli_group_t *add_group(cli_outcome_t *outcome, const trv_torus_t *torus, trv_collective_t collective, int root,
                              int sizes)
{
    cli_group_t *group = &outcome->group[outcome->groups++];
    *group = (cli_group_t){*torus,
                           collective,
                           root,
                           0,
                           sizes,
                           outcome->point + outcome->points,
                           outcome->detail + outcome->points};
    return group;
}

static void add_line(const cli_simulate_t *job, cli_outcome_t *outcome, cli_group_t *group, const cli_choice_t *choice)
{
    for (int size = 0; size < group->sizes; size++)
        outcome->point[outcome->points++] = (cli_point_t){.torus = group->torus,
                                                          .collective = group->collective,
                                                          .root = group->root,
                                                          .choice = choice,
                                                          .schedule = outcome->schedule,
                                                          .bytes = job->bytes[size],
                                                          .options = job->network.options};
    group->lines++;
}

/* The fraction of all work for the points; --links and --trace simulate the schedule once more. */
static double points_part(const cli_simulate_t *job) { return job->links || job->trace ? 0.5 : 1; }

static int run_algorithms(cli_simulate_t *job, cli_outcome_t *outcome, trv_span_t span)
{
    size_t points = (size_t)job->tori.count * (size_t)job->selection.choices * (size_t)job->sizes;
    int rc = allocate(outcome, job->tori.count, points);
    for (int t = 0; t < job->tori.count && !rc; t++) {
        rc = check_torus(job, &job->tori.torus[t]);
        if (rc)
            break;
        cli_group_t *group = add_group(outcome, &job->tori.torus[t], job->collective, job->root, job->sizes);
        for (int i = 0; i < job->selection.choices; i++)
            if (is_supported(job, &group->torus, &job->selection.choice[i]))
                add_line(job, outcome, group, &job->selection.choice[i]);
        if (group->lines == 0)
            rc =
                trv_fail(TRV_ERR_UNSUPPORTED,
                         "no algorithm of the list supports the torus; `trivance list` shows which tori each supports");
    }
    return rc ? rc : cli_grid_run(outcome->point, outcome->points, 0, span, NULL, NULL);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* Sets the name under which the results of a file are shown. */
static void set_label(cli_outcome_t *outcome, const char *name)
{
    snprintf(outcome->choice.label, sizeof outcome->choice.label, "%s", name);
}

/* Stores the result of a simulation that returned `rc`. An unsupported simulation is not an error: the point has the
 * reason. */
static int point_set_result(cli_point_t *point, int rc, const trv_simulation_t *result, double start_s)
{
    point->rc = rc;
    memcpy(point->algorithm, point->choice->label, sizeof point->algorithm);
    point->wall_s = trv_now_s() - start_s;
    if (rc == TRV_ERR_UNSUPPORTED) {
        point->reason = strdup(trv_last_error());
        return point->reason ? TRV_OK : trv_fail_memory();
    }
    if (!rc) {
        point->time_ns = result->time_ns;
        point->packet_hops = result->packet_hops;
        point->simulated_hops = result->simulated_hops;
    }
    return rc;
}

static int run_schedule(cli_simulate_t *job, cli_outcome_t *outcome, trv_span_t span)
{
    trv_schedule_file_t file;
    int rc = cli_read_schedule(job->command, job->schedule, job->unchecked, &file);
    if (rc)
        return rc;
    outcome->schedule = file.schedule;
    set_label(outcome, trv_schedule_name(file.schedule));
    if (!job->sizes) {
        job->bytes[0] = file.vector_bytes;
        job->sizes = 1;
    }
    rc = cli_network_finish_file(&job->network, &file);
    if (!rc && job->trace)
        rc = cli_trace_check(trv_schedule_torus(file.schedule));
    if (!rc)
        rc = allocate(outcome, 1, (size_t)job->sizes);
    if (rc)
        return rc;
    cli_group_t *group = add_group(outcome, trv_schedule_torus(file.schedule), trv_schedule_collective(file.schedule),
                                   trv_schedule_root(file.schedule), job->sizes);
    add_line(job, outcome, group, &outcome->choice);
    return cli_grid_run(outcome->point, outcome->points, 0, span, NULL, NULL);
}

/* ---- Links ------------------------------------------------------------------------------------------------------- */

static void keep_busiest(cli_detail_t *detail, int link, const trv_link_load_t *load)
{
    int at = detail->busiest;
    while (at > 0 && detail->load[at - 1].busy_ns < load->busy_ns)
        at--;
    if (at == CLI_SIMULATE_LINKS)
        return;
    detail->busiest += detail->busiest < CLI_SIMULATE_LINKS;
    for (int i = detail->busiest - 1; i > at; i--) {
        detail->link[i] = detail->link[i - 1];
        detail->load[i] = detail->load[i - 1];
    }
    detail->link[at] = link;
    detail->load[at] = *load;
}

static void sum_up_links(const trv_torus_t *torus, const trv_simulation_t *result, cli_detail_t *detail)
{
    int ports = 2 * torus->dims;
    double busy_ns = 0;
    for (int link = 0; link < torus->ranks * ports; link++) {
        if (torus->size[trv_port_dimension(link % ports)] == 1)
            continue;
        const trv_link_load_t *load = &result->link[link];
        busy_ns += load->busy_ns;
        detail->links++;
        detail->links_used += load->packets > 0;
        if (load->packets > 0)
            keep_busiest(detail, link, load);
    }
    if (detail->links > 0 && result->time_ns > 0)
        detail->utilisation_mean = busy_ns / detail->links / result->time_ns;
}

static int run_goal(cli_simulate_t *job, cli_outcome_t *outcome)
{
    const trv_torus_t *torus = &job->tori.torus[0];
    const char *slash = strrchr(job->goal, '/');
    trv_goal_t goal;
    trv_simulation_t result = {0};
    int rc = check_torus(job, torus);
    if (!rc)
        rc = trv_goal_file_read(job->goal, &goal);
    if (rc)
        return rc;
    set_label(outcome, strcmp(job->goal, "-") == 0 ? "the GOAL program" : slash ? slash + 1 : job->goal);
    job->network.options.link_loads = job->links;
    job->sizes = 1;
    rc = allocate(outcome, 1, 1);
    if (!rc) {
        double start_s = trv_now_s();
        cli_group_t *group = add_group(outcome, torus, TRV_ALLREDUCE, 0, 1);
        add_line(job, outcome, group, &outcome->choice);
        rc = trv_goal_simulate(&goal, torus, &job->network.options, &result);
        rc = point_set_result(outcome->point, rc, &result, start_s);
    }
    if (!rc && job->links && !outcome->point->rc)
        sum_up_links(torus, &result, outcome->detail);
    trv_simulation_clear(&result);
    trv_goal_clear(&goal);
    return rc;
}

/* ---- The second run ---------------------------------------------------------------------------------------------- */

static int add_links(const trv_schedule_t *schedule, const cli_point_t *point, trv_span_t span, cli_detail_t *detail)
{
    trv_simulator_t *simulator;
    trv_simulation_t result = {0};
    trv_simulate_options_t options = cli_network_reporting(&point->options, &span);
    int rc = trv_simulator_create(&simulator, schedule);
    if (rc)
        return rc;
    options.link_loads = true;
    rc = trv_simulate(simulator, &options, point->bytes, &result);
    if (!rc)
        sum_up_links(&point->torus, &result, detail);
    trv_simulation_clear(&result);
    trv_simulator_destroy(simulator);
    return rc;
}

static int add_cost(const trv_schedule_t *schedule, const cli_point_t *point, cli_detail_t *detail)
{
    const trv_simulate_options_t *options = &point->options;
    const trv_network_t on = cli_network_on(&point->torus, options);
    const trv_hockney_t network = {options->bandwidth_bps, options->alpha_ns, cli_hop_ns(options)};
    trv_cost_t cost;
    int rc = trv_cost_sizes(schedule, &on, &network, &point->bytes, 1, (trv_span_t){0}, &cost, &detail->cost_ns);
    trv_cost_clear(&cost);
    return rc;
}

static int add_detail(const cli_simulate_t *job, cli_outcome_t *outcome, size_t index, trv_span_t span)
{
    const cli_point_t *point = &outcome->point[index];
    const trv_network_t network = cli_network_on(&point->torus, &point->options);
    trv_schedule_t *created = NULL;
    int rc = TRV_OK;
    if (!outcome->schedule)
        rc = trv_schedule_create_on(&created, &network, point->algorithm, point->collective, point->root);
    const trv_schedule_t *schedule = outcome->schedule ? outcome->schedule : created;
    if (!rc && job->compare)
        rc = add_cost(schedule, point, &outcome->detail[index]);
    if (!rc && job->links)
        rc = add_links(schedule, point, span, &outcome->detail[index]);
    if (!rc && job->trace)
        rc = cli_trace_write(job->trace, schedule, &point->options, point->bytes, point->packet_hops,
                             &outcome->trace_events);
    trv_schedule_destroy(created);
    return rc;
}

static int add_details(const cli_simulate_t *job, cli_outcome_t *outcome, trv_span_t span)
{
    double done = 0;
    int rc = TRV_OK;
    for (size_t i = 0; i < outcome->points && !rc; i++) {
        outcome->detail[i].cost_ns = NAN;
        if (!outcome->point[i].rc)
            rc = add_detail(job, outcome, i, trv_span(span, done, outcome->point[i].share));
        done += outcome->point[i].share;
    }
    return rc;
}

/* ---- The whole run ----------------------------------------------------------------------------------------------- */

static int check_any(const cli_outcome_t *outcome)
{
    for (size_t i = 0; i < outcome->points; i++)
        if (!outcome->point[i].rc)
            return TRV_OK;
    const cli_point_t *first = &outcome->point[0];
    bool several = outcome->point[outcome->points - 1].choice != first->choice;
    return trv_fail(first->rc, "%s%.64s cannot run: %s", several ? "none of the list can run; " : "",
                    first->choice->label, first->reason);
}

int cli_simulate_run(cli_simulate_t *job, cli_outcome_t *outcome)
{
    cli_progress_t progress;
    const trv_span_t all = cli_progress_begin(&progress, "simulating", 1);
    const double part = points_part(job);
    int rc;
    *outcome = (cli_outcome_t){0};
    if (job->goal)
        rc = run_goal(job, outcome);
    else
        rc = job->schedule ? run_schedule(job, outcome, trv_span(all, 0, part))
                           : run_algorithms(job, outcome, trv_span(all, 0, part));
    if (!rc)
        rc = check_any(outcome);
    if (!rc && !job->goal && (job->links || job->trace || job->compare))
        rc = add_details(job, outcome, trv_span(all, part, 1 - part));
    cli_progress_end(&progress);
    return rc;
}

void cli_outcome_clear(cli_outcome_t *outcome)
{
    if (outcome->point)
        cli_points_clear(outcome->point, outcome->points);
    trv_schedule_destroy(outcome->schedule);
    free(outcome->group);
    free(outcome->point);
    free(outcome->detail);
}
