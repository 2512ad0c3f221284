/*
 * Links that fail one after another. A network's history is drawn with its number as the seed: links of the torus, both
 * ways, each in a row of its own, since a row that is cut twice is in two parts, which no schedule serves; a link whose
 * row has failed already is drawn again. After 1, 2, 4 … of them the planner plans for what is left, one queue per link;
 * the times are its own, which on the largest vectors are of larger packets (docs/planner.md), half a hundredth away.
 *
 * What would become of the schedule that does not know the cuts: it serves a network if no message's route passes one.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/planner.h>
#include <trivance/schedule.h>

#include "base/error.h"
#include "base/hash.h"
#include "cli/figures/figures.h"
#include "base/text/parse.h"
#include "cli/shared/parallel.h"

#define QUICK_NETWORKS 5

const int fig_cuts[FIG_CUTS_POINTS] = {0, 1, 2, 4, 8, 16};

int fig_cuts_networks(bool quick) { return quick ? QUICK_NETWORKS : FIG_CUTS_NETWORKS; }

typedef struct history {
    trv_slow_link_t link[2 * FIG_CUTS_MAX]; /* both directions of the first, of the second … */
} history_t;

typedef struct run {
    fig_result_t *result;
    fig_figure_t *figure;
    trv_torus_t torus;
    cli_choice_t planned;
    int networks;
    history_t history[FIG_CUTS_NETWORKS];
    fig_value_t value[FIG_CUTS_POINTS][FIG_CUTS_NETWORKS][FIG_CURVES_MAX];
    uint64_t bytes[FIG_CURVES_MAX];
    atomic_int next, rc; /* job; why they ended */
    char sentence[512];  /* to rc, guarded by the lock of what is kept */
} run_t;

/* ---- Histories --------------------------------------------------------------------------------------------------- */

/* Whether two links that leave by + ports are of one row: they differ in the coordinate of their dimension only. */
static bool same_row(const trv_torus_t *torus, const trv_slow_link_t *a, const trv_slow_link_t *b)
{
    int x[TRV_DIMS_MAX], y[TRV_DIMS_MAX];
    const int dimension = trv_port_dimension(a->port);
    if (a->port != b->port)
        return false;
    trv_torus_coordinates(torus, a->rank, x);
    trv_torus_coordinates(torus, b->rank, y);
    for (int d = 0; d < torus->dims; d++)
        if (d != dimension && x[d] != y[d])
            return false;
    return true;
}

static trv_slow_link_t opposite(const trv_torus_t *torus, const trv_slow_link_t *link)
{
    int x[TRV_DIMS_MAX];
    const int d = trv_port_dimension(link->port);
    trv_torus_coordinates(torus, link->rank, x);
    x[d] = (x[d] + 1) % torus->size[d];
    return (trv_slow_link_t){trv_torus_rank(torus, x), trv_port(d, -1), link->factor};
}

static void draw(const trv_torus_t *torus, uint32_t network, history_t *history)
{
    uint32_t number[2] = {network, 0};
    for (int cut = 0; cut < FIG_CUTS_MAX;) {
        const uint64_t random = trv_hash(TRV_HASH_SEED, number, sizeof number) >> 24;
        const trv_slow_link_t link = {(int)(random % (uint64_t)torus->ranks),
                                      trv_port((int)(random / (uint64_t)torus->ranks % (uint64_t)torus->dims), +1),
                                      INFINITY};
        bool again = false;
        for (int i = 0; i < cut; i++)
            again |= same_row(torus, &history->link[2 * i], &link);
        number[1]++;
        if (again)
            continue;
        history->link[2 * cut] = link;
        history->link[2 * cut + 1] = opposite(torus, &link);
        cut++;
    }
}

/* More cuts than rows would be drawn for ever. */
static int draw_all(run_t *run)
{
    int rows = 0;
    for (int d = 0; d < run->torus.dims; d++)
        rows += run->torus.ranks / run->torus.size[d];
    if (rows < FIG_CUTS_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "%d rows do not have %d cuts without one in two parts", rows, FIG_CUTS_MAX);
    for (int n = 0; n < run->networks; n++)
        draw(&run->torus, (uint32_t)n + 1, &run->history[n]);
    return TRV_OK;
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

/* A job is a point and a network; the first is the one without cuts. */
static int jobs(const run_t *run) { return 1 + (FIG_CUTS_POINTS - 1) * run->networks; }
static int point_of(const run_t *run, int job) { return job ? 1 + (job - 1) / run->networks : 0; }
static int network_of(const run_t *run, int job) { return job ? (job - 1) % run->networks : 0; }

static cli_point_t make_point(const run_t *run, int job, int curve)
{
    const int links = 2 * fig_cuts[point_of(run, job)];
    cli_point_t point = {.torus = run->torus, .choice = &run->planned, .bytes = run->bytes[curve]};
    point.options = run->result->network.options;
    point.options.model = TRV_FIFO;
    point.options.slow_links = links;
    point.options.slow_link = links ? run->history[network_of(run, job)].link : NULL;
    return point;
}

/* The progress of a plan: larger vectors are more packets. */
static double work(uint64_t bytes) { return 1 + (double)bytes / (8 << 20); }

static int keep(const run_t *run, const cli_point_t *point)
{
    fig_kept_t *kept = run->result->kept;
    pthread_mutex_lock(&kept->lock);
    int rc = fig_kept_add(kept, point);
    cli_progress_step(&kept->progress, work(point->bytes));
    pthread_mutex_unlock(&kept->lock);
    return rc;
}

static int plan_point(const run_t *run, cli_point_t *point, trv_planner_t **planner)
{
    trv_planned_t plan;
    int rc = *planner ? TRV_OK : trv_planner_create(planner, &point->torus, TRV_ALLREDUCE, &point->options, NULL);
    if (!rc)
        rc = trv_planner_rank(*planner, point->bytes, 1, &plan);
    if (rc < 0)
        return rc;
    memcpy(point->algorithm, plan.algorithm, sizeof plan.algorithm);
    point->time_ns = plan.time_ns;
    return keep(run, point);
}

/* All sizes on one network. */
static int run_job(run_t *run, int job)
{
    trv_planner_t *planner = NULL;
    int rc = TRV_OK;
    for (int c = 0; c < run->figure->curves && !rc; c++) {
        cli_point_t point = make_point(run, job, c);
        if (!fig_kept_find(run->result->kept, &point))
            rc = plan_point(run, &point, &planner);
        fig_value_t *value = &run->value[point_of(run, job)][network_of(run, job)][c];
        value->time_ns = point.time_ns;
        memcpy(value->member, point.algorithm, sizeof value->member);
    }
    trv_planner_destroy(planner);
    return rc;
}

/* The first failure ends all; its sentence is this thread's. */
static void run_jobs(void *context, bool first)
{
    run_t *run = context;
    int job;
    (void)first;
    while (!atomic_load(&run->rc) && (job = atomic_fetch_add(&run->next, 1)) < jobs(run)) {
        int rc = run_job(run, job), none = TRV_OK;
        if (rc && atomic_compare_exchange_strong(&run->rc, &none, rc)) {
            pthread_mutex_lock(&run->result->kept->lock);
            snprintf(run->sentence, sizeof run->sentence, "%s", trv_last_error());
            pthread_mutex_unlock(&run->result->kept->lock);
        }
    }
}

static int plan_all(const char *what, run_t *run)
{
    fig_kept_t *kept = run->result->kept;
    const int workers = run->result->workers ? run->result->workers : cli_cores();
    double total = 0;
    for (int job = 0; job < jobs(run); job++)
        for (int c = 0; c < run->figure->curves; c++) {
            cli_point_t point = make_point(run, job, c);
            total += fig_kept_find(kept, &point) ? 0 : work(point.bytes);
        }
    pthread_mutex_lock(&kept->lock);
    cli_progress_begin(&kept->progress, what, total);
    pthread_mutex_unlock(&kept->lock);
    cli_work_together((size_t)workers, run_jobs, run);
    pthread_mutex_lock(&kept->lock);
    cli_progress_end(&kept->progress);
    pthread_mutex_unlock(&kept->lock);
    const int rc = atomic_load(&run->rc);
    return rc ? trv_fail(rc, "%s", run->sentence) : TRV_OK;
}

/* ---- Schedules that do not know the cuts ------------------------------------------------------------------------- */

/* Marks the links that a step's messages pass. */
static void mark(const trv_schedule_t *schedule, int stream, int rank, const trv_step_t *step, bool *passed)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    for (int i = 0; i < step->sends; i++) {
        const trv_message_t *message = &step->send[i];
        trv_route_t route;
        int port, node = rank;
        trv_route_begin(&route, torus, rank, message->peer, message->port, trv_schedule_mirrored(schedule, stream));
        while ((port = trv_route_next(&route, &node)) >= 0)
            passed[node * 2 * torus->dims + port] = true;
    }
}

static int find_passed(const trv_torus_t *torus, const char *algorithm, bool *passed)
{
    trv_schedule_t *schedule;
    trv_step_t step = TRV_STEP_INIT;
    int rc = trv_schedule_create(&schedule, torus, algorithm, TRV_ALLREDUCE);
    if (rc)
        return rc;
    for (int s = 0; s < trv_schedule_streams(schedule); s++)
        for (int k = 0; k < trv_schedule_steps(schedule); k++)
            for (int rank = 0; rank < torus->ranks && !rc; rank++) {
                rc = trv_schedule_step(schedule, rank, s, k, &step);
                if (!rc)
                    mark(schedule, s, rank, &step, passed);
            }
    trv_step_clear(&step);
    trv_schedule_destroy(schedule);
    return rc;
}

/* On how many networks the whole torus's plan is served, at every point. */
static int count_served(const run_t *run, fig_curve_t *curve)
{
    const trv_torus_t *torus = &run->torus;
    bool *passed = calloc((size_t)torus->ranks * 2 * (size_t)torus->dims, sizeof *passed);
    int rc = passed ? find_passed(torus, curve->other[0].member, passed) : trv_fail_memory();
    for (int p = 0; p < FIG_CUTS_POINTS && !rc; p++) {
        curve->served[p] = 0;
        for (int n = 0; n < run->networks; n++) {
            bool served = true;
            for (int i = 0; i < 2 * fig_cuts[p]; i++) {
                const trv_slow_link_t *link = &run->history[n].link[i];
                served &= !passed[link->rank * 2 * torus->dims + link->port];
            }
            curve->served[p] += served;
        }
    }
    free(passed);
    return rc;
}

/* ---- The figure -------------------------------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
    const fig_value_t *a = left, *b = right;
    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

static void take_curve(const run_t *run, int c)
{
    fig_curve_t *curve = &run->figure->curve[c];
    for (int p = 0; p < FIG_CUTS_POINTS; p++) {
        fig_value_t value[FIG_CUTS_NETWORKS];
        const int networks = p == 0 ? 1 : run->networks;
        for (int n = 0; n < networks; n++)
            value[n] = run->value[p][n][c];
        qsort(value, (size_t)networks, sizeof *value, compare);
        curve->other[p] = run->value[0][0][c];
        curve->own[p] = value[networks / 2];
        curve->worst[p] = value[networks - 1];
    }
}

static int list_curves(run_t *run)
{
    fig_figure_t *figure = run->figure;
    figure->points = FIG_CUTS_POINTS;
    figure->curves = 0;
    for (int v = 0; v < FIG_CURVES_MAX && figure->spec->value[v]; v++) {
        fig_curve_t *curve = &figure->curve[figure->curves++];
        *curve = (fig_curve_t){.key = figure->spec->value[v]};
        int rc = trv_parse_bytes(curve->key, &run->bytes[v]);
        if (rc)
            return rc;
        trv_format_bytes(run->bytes[v], curve->title);
    }
    return TRV_OK;
}

int fig_cuts_run(const char *what, fig_result_t *result, fig_figure_t *figure)
{
    run_t *run = calloc(1, sizeof *run);
    if (!run)
        return trv_fail_memory();
    run->result = result;
    run->figure = figure;
    run->networks = fig_cuts_networks(result->quick);
    run->planned = (cli_choice_t){.label = "planned", .planned = true};
    int rc = trv_torus_parse(figure->spec->torus, &run->torus);
    rc = rc ? rc : list_curves(run);
    rc = rc ? rc : draw_all(run);
    rc = rc ? rc : plan_all(what, run);
    for (int c = 0; c < figure->curves && !rc; c++) {
        take_curve(run, c);
        rc = count_served(run, &figure->curve[c]);
    }
    result->all.simulations += rc ? 0 : jobs(run) * figure->curves;
    free(run);
    return rc;
}
