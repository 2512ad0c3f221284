/*
 * trivance simulate: runs the simulations. Algorithms and schedules from files are compared on all cores; a GOAL
 * program is simulated once. --links and --trace need a second run, of the algorithm that was fastest.
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

/* The time with which a line is compared: NAN if there is none, or if the schedule only covers and another is exact. */
static double compared_ns(const cli_group_t *group, int line, int size)
{
    const trv_compare_row_t *row = &group->point[line * group->sizes + size].row;
    bool left_out = row->code != TRV_OK;
    for (int other = 0; other < group->lines && row->covers && !left_out; other++) {
        const trv_compare_row_t *exact = &group->point[other * group->sizes + size].row;
        left_out = !exact->code && !exact->covers;
    }
    return left_out ? NAN : row->time_ns;
}

double cli_group_best_ns(const cli_group_t *group, int size)
{
    double best_ns = NAN;
    for (int line = 0; line < group->lines; line++)
        best_ns = fmin(best_ns, compared_ns(group, line, size));
    return best_ns;
}

bool cli_group_is_best(const cli_group_t *group, int line, int size)
{
    return compared_ns(group, line, size) <= cli_group_best_ns(group, size);
}

bool cli_group_covers(const cli_group_t *group, int line)
{
    bool covers = false;
    for (int size = 0; size < group->sizes; size++)
        covers = covers || group->point[line * group->sizes + size].row.covers;
    return covers;
}

cli_excess_t cli_group_excess(const cli_group_t *group)
{
    cli_excess_t excess = {.network = cli_network_on(&group->torus, &group->options),
                           .collective = group->collective,
                           .root = group->root};
    for (int i = 0; i < group->lines * group->sizes; i++)
        if (group->point[i].schedule && !group->point[i].row.code)
            cli_excess_add(&excess, group->point[i].row.algorithm, group->point[i].schedule);
    return excess;
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
        if (is_trivance(point->choice))
            best_ns = fmin(best_ns, compared_ns(group, line, size));
    }
    return best_ns;
}

double cli_group_vs_trivance(const cli_group_t *group, int line, int size)
{
    const cli_point_t *point = &group->point[line * group->sizes + size];
    const double trivance_ns = cli_group_trivance_ns(group, size);
    if (point->row.code || isnan(trivance_ns))
        return NAN;
    return trivance_ns > 0 ? point->row.time_ns / trivance_ns : 1; /* one rank takes no time */
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

/* With `all`, algorithms that do not support the torus are left out; a named one stays and has a reason. */
static bool is_supported(const cli_simulate_t *job, const trv_network_t *on, const cli_choice_t *choice)
{
    char name[TRV_FULL_NAME_MAX];
    if (choice->planned || !job->selection.all)
        return true;
    for (int i = 0; i < choice->members; i++)
        if (trv_schedule_full_name_on(on, cli_member_name(choice, i), job->collective, job->root, name, sizeof name) !=
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
static cli_group_t *add_group(const cli_simulate_t *job, cli_outcome_t *outcome, const trv_torus_t *torus,
                              trv_collective_t collective, int root)
{
    cli_group_t *group = &outcome->group[outcome->groups++];
    *group = (cli_group_t){.torus = *torus,
                           .options = job->network.options,
                           .collective = collective,
                           .root = root,
                           .sizes = job->sizes,
                           .point = outcome->point + outcome->points,
                           .detail = outcome->detail + outcome->points};
    return group;
}

static void add_line(const cli_simulate_t *job, cli_outcome_t *outcome, cli_group_t *group, const cli_choice_t *choice)
{
    for (int size = 0; size < group->sizes; size++)
        outcome->point[outcome->points++] = (cli_point_t){.choice = choice, .bytes = job->bytes[size]};
    group->lines++;
}

static int add_points(cli_outcome_t *outcome, const cli_group_t *group)
{
    int64_t index = 0;
    for (int i = 0; i < group->lines * group->sizes && index >= 0; i++) {
        const cli_point_t *point = &group->point[i];
        const trv_schedule_t *own = point->schedule ? point->schedule : outcome->schedule;
        index = trv_compare_add(outcome->compare,
                                &(trv_compare_point_t){TRV_COMPARE_POINT, .torus = group->torus,
                                                       .network = &group->options, .collective = group->collective,
                                                       .root = group->root, .vector_bytes = point->bytes,
                                                       .algorithms = own ? NULL : point->choice->label,
                                                       .schedule = own});
    }
    return index < 0 ? (int)index : TRV_OK;
}

/* Simulates the points of all groups. */
static int run_points(cli_outcome_t *outcome, trv_span_t span)
{
    const trv_compare_options_t options = {TRV_COMPARE_OPTIONS, .progress = span.callback ? trv_span_callback : NULL,
                                           .progress_context = &span};
    int rc = trv_compare_create(&outcome->compare);
    for (int g = 0; g < outcome->groups && !rc; g++)
        rc = add_points(outcome, &outcome->group[g]);
    if (!rc)
        rc = trv_compare_run(outcome->compare, &options);
    for (size_t i = 0; i < outcome->points && !rc; i++)
        outcome->point[i].row = *trv_compare_row(outcome->compare, (int64_t)i);
    return rc;
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
        cli_group_t *group = add_group(job, outcome, &job->tori.torus[t], job->collective, job->root);
        const trv_network_t on = cli_network_on(&group->torus, &job->network.options);
        for (int i = 0; i < job->selection.choices; i++)
            if (is_supported(job, &on, &job->selection.choice[i]))
                add_line(job, outcome, group, &job->selection.choice[i]);
        if (group->lines == 0)
            rc =
                trv_fail(TRV_ERR_UNSUPPORTED,
                         "no algorithm of the list supports the torus; `trivance list` shows which tori each supports");
    }
    return rc ? rc : run_points(outcome, span);
}

static int run_nodes(cli_simulate_t *job, cli_outcome_t *outcome, trv_span_t span)
{
    const trv_torus_t *torus = &job->tori.torus[0];
    trv_network_t ring = {TRV_NETWORK}, along = {TRV_NETWORK};
    int nodes = 0, *node = malloc((size_t)torus->ranks * sizeof *node);
    int rc = node ? cli_read_nodes(job->nodes, torus->ranks, node, &nodes) : trv_fail_memory();
    if (!rc)
        rc = cli_network_finish(&job->network, torus);
    if (!rc || rc == TRV_ERR_UNSUPPORTED) /* cut links divide the network: the nodes may still be connected */
        rc = cli_simulate_expand(&job->selection);
    if (!rc)
        rc = cli_simulate_shapes(nodes, &ring.torus, &along.torus);
    if (!rc)
        rc = allocate(outcome, 1, (size_t)job->selection.choices * (size_t)job->sizes);
    if (!rc) {
        cli_group_t *group = add_group(job, outcome, torus, job->collective, job->root);
        group->nodes = nodes;
        for (int i = 0; i < job->selection.choices; i++)
            if (is_supported(job, &ring, &job->selection.choice[i]) ||
                is_supported(job, &along, &job->selection.choice[i]))
                add_line(job, outcome, group, &job->selection.choice[i]);
        rc = cli_simulate_nodes(group, node, trv_span(span, 0, 0.5));
    }
    free(node);
    return rc ? rc : run_points(outcome, trv_span(span, 0.5, 0.5));
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* Sets the name under which the results of a file are shown. */
static void set_label(cli_outcome_t *outcome, const char *name)
{
    snprintf(outcome->choice.label, sizeof outcome->choice.label, "%s", name);
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
    cli_group_t *group = add_group(job, outcome, trv_schedule_torus(file.schedule),
                                   trv_schedule_collective(file.schedule), trv_schedule_root(file.schedule));
    add_line(job, outcome, group, &outcome->choice);
    return run_points(outcome, span);
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
    int ports = trv_port_count(torus);
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
        cli_group_t *group = add_group(job, outcome, torus, TRV_ALLREDUCE, 0);
        add_line(job, outcome, group, &outcome->choice);
        rc = trv_goal_simulate(&goal, torus, &job->network.options, &result);
        if (rc == TRV_ERR_UNSUPPORTED)
            rc = trv_fail(rc, "%.64s cannot run: %s", outcome->choice.label, trv_last_error());
        outcome->point->row = (trv_compare_row_t){.time_ns = result.time_ns,
                                                  .wall_s = trv_now_s() - start_s,
                                                  .packet_hops = result.packet_hops,
                                                  .simulated_hops = result.simulated_hops};
        memcpy(outcome->point->row.algorithm, outcome->choice.label, sizeof outcome->choice.label);
    }
    if (!rc && job->links)
        sum_up_links(torus, &result, outcome->detail);
    trv_simulation_clear(&result);
    trv_goal_clear(&goal);
    return rc;
}

/* ---- The second run ---------------------------------------------------------------------------------------------- */

static int add_links(const cli_group_t *group, const trv_schedule_t *schedule, uint64_t bytes, trv_span_t span,
                     cli_detail_t *detail)
{
    trv_simulator_t *simulator;
    trv_simulation_t result = {0};
    trv_simulate_options_t options = cli_network_reporting(&group->options, &span);
    int rc = trv_simulator_create(&simulator, schedule);
    if (rc)
        return rc;
    options.link_loads = true;
    rc = trv_simulate(simulator, &options, bytes, &result);
    if (!rc)
        sum_up_links(&group->torus, &result, detail);
    trv_simulation_clear(&result);
    trv_simulator_destroy(simulator);
    return rc;
}

static int add_cost(const cli_group_t *group, const trv_schedule_t *schedule, uint64_t bytes, cli_detail_t *detail)
{
    const trv_simulate_options_t *options = &group->options;
    const trv_network_t on = cli_network_on(&group->torus, options);
    const trv_hockney_t network = {options->bandwidth_bps, options->alpha_ns, cli_hop_ns(options), 0};
    trv_cost_t cost;
    int rc = trv_cost_sizes(schedule, &on, &network, &bytes, 1, (trv_span_t){0}, &cost, &detail->cost_ns);
    trv_cost_clear(&cost);
    return rc;
}

static int add_detail(const cli_simulate_t *job, cli_outcome_t *outcome, const cli_group_t *group, int index,
                      trv_span_t span)
{
    const cli_point_t *point = &group->point[index];
    const trv_network_t network = cli_network_on(&group->torus, &group->options);
    trv_schedule_t *created = NULL;
    int rc = TRV_OK;
    if (!outcome->schedule)
        rc = trv_schedule_create_on(&created, &network, point->row.algorithm, group->collective, group->root);
    const trv_schedule_t *schedule = outcome->schedule ? outcome->schedule : created;
    if (!rc && job->compare)
        rc = add_cost(group, schedule, point->bytes, &group->detail[index]);
    if (!rc && job->links)
        rc = add_links(group, schedule, point->bytes, span, &group->detail[index]);
    if (!rc && job->trace)
        rc = cli_trace_write(job->trace, schedule, &group->options, point->bytes, point->row.packet_hops,
                             &outcome->trace_events);
    trv_schedule_destroy(created);
    return rc;
}

static int add_details(const cli_simulate_t *job, cli_outcome_t *outcome, trv_span_t span)
{
    const double part = 1.0 / (double)outcome->points;
    double done = 0;
    int rc = TRV_OK;
    for (int g = 0; g < outcome->groups; g++) {
        const cli_group_t *group = &outcome->group[g];
        for (int i = 0; i < group->lines * group->sizes && !rc; i++, done += part) {
            group->detail[i].cost_ns = NAN;
            if (!group->point[i].row.code)
                rc = add_detail(job, outcome, group, i, trv_span(span, done, part));
        }
    }
    return rc;
}

/* ---- The whole run ----------------------------------------------------------------------------------------------- */

static int check_any(const cli_outcome_t *outcome)
{
    for (size_t i = 0; i < outcome->points; i++)
        if (!outcome->point[i].row.code)
            return TRV_OK;
    const cli_point_t *first = &outcome->point[0];
    bool several = outcome->point[outcome->points - 1].choice != first->choice;
    return trv_fail(first->row.code, "%s%.64s cannot run: %s", several ? "none of the list can run; " : "",
                    first->choice->label, first->row.reason);
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
             : job->nodes  ? run_nodes(job, outcome, trv_span(all, 0, part))
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
    trv_compare_destroy(outcome->compare);
    trv_schedule_destroy(outcome->schedule);
    for (size_t i = 0; i < outcome->points; i++)
        trv_schedule_destroy(outcome->point[i].schedule);
    free(outcome->group);
    free(outcome->point);
    free(outcome->detail);
}
