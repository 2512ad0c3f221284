/*
 * Every simulation that the figures and studies need, as one grid. A curve asks for values; values that are asked for
 * several times (8x8 stands in five figures) are one point of the grid.
 */
#include "cli/figures/figures.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/shared/grid.h"
#include "base/text/parse.h"
#include "cli/shared/select.h"
#include "base/clock.h"
#include "base/error.h"

#define CHOICES_MAX 32

typedef struct request { /* a value that a figure or study wants */
    fig_value_t *value;
    size_t point;
} request_t;

typedef struct plan {
    cli_choice_t choice[CHOICES_MAX];
    int choices;
    cli_point_t *point;
    request_t *request;
    size_t points, requests, capacity;
    size_t paper; /* the first points are the paper's */
} plan_t;

/* ---- What to simulate -------------------------------------------------------------------------------------------- */

static const cli_choice_t *known_choice(const plan_t *plan, const char *label)
{
    for (int i = 0; i < plan->choices; i++)
        if (strcmp(plan->choice[i].label, label) == 0)
            return &plan->choice[i];
    return NULL;
}

static int keep_choice(plan_t *plan, const cli_choice_t *made, const cli_choice_t **choice)
{
    if (plan->choices == CHOICES_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "the figures compare more than %d algorithms", CHOICES_MAX);
    plan->choice[plan->choices] = *made;
    *choice = &plan->choice[plan->choices++];
    return TRV_OK;
}

/* The choice of that name or family. */
static int find_choice(plan_t *plan, const char *name, const cli_choice_t **choice)
{
    cli_selection_t selection;
    *choice = known_choice(plan, name);
    if (*choice)
        return TRV_OK;
    int rc = cli_select(name, &selection);
    return rc ? rc : keep_choice(plan, &selection.choice[0], choice);
}

/* All baselines as one family: the fastest is found without simulating those that cannot be. */
static int find_best(plan_t *plan, bool symmetric_only, const cli_choice_t **choice)
{
    cli_choice_t best = {.label = "best baseline"};
    fig_algorithm_t baseline[FIG_BASELINES_MAX];
    const int baselines = fig_baselines(baseline);
    *choice = known_choice(plan, best.label);
    if (*choice)
        return TRV_OK;
    for (int b = 0; b < baselines; b++) {
        const cli_choice_t *family;
        if (symmetric_only && !baseline[b].symmetric)
            continue;
        int rc = find_choice(plan, baseline[b].key, &family);
        if (rc)
            return rc;
        for (int i = 0; i < family->members && best.members < CLI_CHOICES_MAX; i++)
            best.member[best.members++] = family->member[i];
    }
    return keep_choice(plan, &best, choice);
}

/* In what the figures and studies vary. */
static bool same_options(const trv_simulate_options_t *a, const trv_simulate_options_t *b)
{
    return a->model == b->model && a->delivery == b->delivery && a->bandwidth_bps == b->bandwidth_bps &&
           a->alpha_ns == b->alpha_ns && a->link_latency_ns == b->link_latency_ns &&
           a->packet_bytes == b->packet_bytes && a->gamma_ns == b->gamma_ns;
}

static bool same_point(const cli_point_t *a, const cli_point_t *b)
{
    return a->bytes == b->bytes && a->choice == b->choice && a->torus.dims == b->torus.dims &&
           memcmp(a->torus.size, b->torus.size, sizeof a->torus.size) == 0 && same_options(&a->options, &b->options);
}

static int grow(plan_t *plan)
{
    size_t capacity = plan->capacity ? 2 * plan->capacity : 1024;
    cli_point_t *point = realloc(plan->point, capacity * sizeof *point);
    if (point)
        plan->point = point;
    request_t *request = realloc(plan->request, capacity * sizeof *request);
    if (request)
        plan->request = request;
    if (!point || !request)
        return trv_fail_memory();
    plan->capacity = capacity;
    return TRV_OK;
}

static int ask(plan_t *plan, const char *torus, const cli_choice_t *choice, const trv_simulate_options_t *options,
               uint64_t bytes, fig_value_t *value)
{
    cli_point_t point = {.choice = choice, .options = *options, .bytes = bytes};
    int rc = trv_torus_parse(torus, &point.torus);
    if (!rc && plan->requests == plan->capacity)
        rc = grow(plan);
    if (rc)
        return rc;
    size_t p = 0;
    while (p < plan->points && !same_point(&plan->point[p], &point))
        p++;
    if (p == plan->points)
        plan->point[plan->points++] = point;
    plan->request[plan->requests++] = (request_t){value, p};
    return TRV_OK;
}

/* The options of the run with one of them changed. */
static int vary(const fig_result_t *result, const char *name, const char *value, trv_simulate_options_t *options)
{
    cli_network_t network = result->network;
    int rc = name ? cli_network_set(&network, name, value) : TRV_OK;
    *options = network.options;
    return rc;
}

static int ask_curve(plan_t *plan, const fig_result_t *result, const fig_figure_t *figure, fig_curve_t *curve)
{
    const fig_spec_t *spec = figure->spec;
    const cli_choice_t *other, *own;
    trv_simulate_options_t options;
    int rc = spec->parameter ? find_best(plan, result->symmetric_only, &other) : find_choice(plan, curve->key, &other);
    if (!rc)
        rc = find_choice(plan, fig_own(spec).key, &own);
    if (!rc)
        rc = vary(result, spec->parameter, curve->key, &options);
    for (int i = 0; i < figure->points && !rc; i++) {
        rc = ask(plan, spec->torus, other, &options, result->bytes[i], &curve->other[i]);
        if (!rc)
            rc = ask(plan, spec->torus, own, &options, result->bytes[i], &curve->own[i]);
    }
    return rc;
}

static void add_curve(fig_figure_t *figure, const fig_algorithm_t *algorithm)
{
    fig_curve_t *curve = &figure->curve[figure->curves++];
    *curve = (fig_curve_t){.key = algorithm->key, .colour = algorithm->colour};
    snprintf(curve->title, sizeof curve->title, "%s", algorithm->title);
}

static void list_curves(fig_figure_t *figure, bool symmetric_only)
{
    const fig_spec_t *spec = figure->spec;
    const fig_algorithm_t trivance = fig_trivance();
    fig_algorithm_t baseline[FIG_BASELINES_MAX];
    const int baselines = fig_baselines(baseline);
    figure->curves = 0;
    for (int v = 0; spec->parameter && v < FIG_CURVES_MAX && spec->value[v]; v++) {
        int number = (int)strspn(spec->value[v], "0123456789.");
        fig_curve_t *curve = &figure->curve[figure->curves++];
        *curve = (fig_curve_t){.key = spec->value[v]};
        snprintf(curve->title, sizeof curve->title, "%.*s %s", number, spec->value[v], spec->value[v] + number);
    }
    if (fig_is_beyond(spec))
        add_curve(figure, &trivance);
    for (int b = 0; !spec->parameter && b < baselines; b++)
        if (!fig_omits(spec->torus, baseline[b].key) && (!symmetric_only || baseline[b].symmetric))
            add_curve(figure, &baseline[b]);
}

static int ask_figure(plan_t *plan, const fig_result_t *result, fig_figure_t *figure)
{
    trv_torus_t torus;
    int rc = trv_torus_parse(figure->spec->torus, &torus);
    if (rc)
        return rc;
    figure->points = result->sizes + (torus.lines ? result->larger : 0);
    list_curves(figure, result->symmetric_only);
    for (int c = 0; c < figure->curves && !rc; c++)
        rc = ask_curve(plan, result, figure, &figure->curve[c]);
    return rc;
}

/* ---- Studies ----------------------------------------------------------------------------------------------------- */

static bool has_torus(const fig_result_t *result, const char *torus)
{
    for (int f = 0; f < result->figures; f++)
        if (!fig_is_beyond(result->figure[f].spec) && strcmp(result->figure[f].spec->torus, torus) == 0)
            return true;
    return false;
}

static int ask_row(plan_t *plan, const fig_result_t *result, const fig_study_spec_t *spec, fig_study_row_t *row)
{
    const cli_choice_t *other, *trivance;
    int rc = find_choice(plan, row->algorithm, &other);
    if (!rc)
        rc = find_choice(plan, "trivance", &trivance);
    for (int v = 0; v < 2 && !rc; v++) {
        trv_simulate_options_t options;
        rc = vary(result, spec->option, spec->value[v], &options);
        if (!rc)
            rc = ask(plan, row->torus, other, &options, row->bytes, &row->other[v]);
        if (!rc)
            rc = ask(plan, row->torus, trivance, &options, row->bytes, &row->trivance[v]);
    }
    return rc;
}

static int ask_study(plan_t *plan, const fig_result_t *result, fig_study_t *study)
{
    const fig_study_spec_t *spec = study->spec;
    int rc = TRV_OK;
    study->rows = 0;
    for (int t = 0; spec->torus[t]; t++)
        for (int a = 0; spec->algorithm[a]; a++)
            for (int b = 0; spec->bytes[b] && !rc; b++) {
                if (!has_torus(result, spec->torus[t]) || fig_omits(spec->torus[t], spec->algorithm[a]))
                    continue;
                if (study->rows == FIG_STUDY_ROWS_MAX)
                    return trv_fail(TRV_ERR_ARGUMENT, "a study has more than %d rows", FIG_STUDY_ROWS_MAX);
                fig_study_row_t *row = &study->row[study->rows++];
                *row = (fig_study_row_t){.torus = spec->torus[t], .algorithm = spec->algorithm[a]};
                rc = trv_parse_bytes(spec->bytes[b], &row->bytes);
                if (!rc)
                    rc = ask_row(plan, result, spec, row);
            }
    return rc;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* In proportion to the packets, and a little for each point. */
static double work(const cli_point_t *point) { return point->torus.ranks * (1e5 + (double)point->bytes); }

typedef struct todo { /* the points that no run before has simulated, and where they belong */
    cli_point_t *point;
    size_t *place, points;
    fig_result_t *result;
} todo_t;

static int point_done(void *context, const cli_point_t *point)
{
    const todo_t *todo = context;
    fig_kept_t *kept = todo->result->kept;
    pthread_mutex_lock(&kept->lock);
    int rc = point->rc ? point->rc : fig_kept_add(kept, point);
    cli_progress_step(&kept->progress, work(point));
    pthread_mutex_unlock(&kept->lock);
    return rc;
}

static double list_todo(const plan_t *plan, todo_t *todo)
{
    double total = 0;
    for (size_t p = 0; p < plan->points; p++)
        if (!fig_kept_find(todo->result->kept, &plan->point[p])) {
            total += work(&plan->point[p]);
            todo->place[todo->points] = p;
            todo->point[todo->points++] = plan->point[p];
        }
    return total;
}

static int run_todo(const char *what, const plan_t *plan, todo_t *todo)
{
    fig_kept_t *kept = todo->result->kept;
    double total = list_todo(plan, todo);
    pthread_mutex_lock(&kept->lock);
    cli_progress_begin(&kept->progress, what, total);
    pthread_mutex_unlock(&kept->lock);
    int rc = cli_grid_run(todo->point, todo->points, todo->result->workers, point_done, todo);
    pthread_mutex_lock(&kept->lock);
    cli_progress_end(&kept->progress);
    pthread_mutex_unlock(&kept->lock);
    for (size_t i = 0; i < todo->points; i++)
        plan->point[todo->place[i]] = todo->point[i];
    return rc;
}

static int simulate(const char *what, plan_t *plan, fig_result_t *result)
{
    const double begin_s = trv_now_s();
    todo_t todo = {.result = result};
    todo.point = calloc(plan->points + 1, sizeof *todo.point);
    todo.place = calloc(plan->points + 1, sizeof *todo.place);
    int rc = todo.point && todo.place ? run_todo(what, plan, &todo) : trv_fail_memory();
    free(todo.point);
    free(todo.place);
    result->wall_s = trv_now_s() - begin_s;
    for (size_t p = 0; p < plan->points && rc; p++)
        if (plan->point[p].rc == rc && plan->point[p].reason)
            return trv_fail(rc, "%s", plan->point[p].reason);
    return rc;
}

static void count(fig_work_t *work, const cli_point_t *point)
{
    work->simulations++;
    work->packet_hops += point->packet_hops;
}

static void take_results(const plan_t *plan, fig_result_t *result)
{
    for (size_t r = 0; r < plan->requests; r++) {
        const cli_point_t *point = &plan->point[plan->request[r].point];
        fig_value_t *value = plan->request[r].value;
        value->time_ns = point->time_ns;
        memcpy(value->member, point->algorithm, sizeof value->member);
    }
    result->paper = result->all = (fig_work_t){0};
    for (size_t p = 0; p < plan->points; p++) {
        count(&result->all, &plan->point[p]);
        if (p < plan->paper)
            count(&result->paper, &plan->point[p]);
    }
}

static int ask_figures(plan_t *plan, fig_result_t *result, bool beyond)
{
    int rc = TRV_OK;
    for (int f = 0; f < result->figures && !rc; f++)
        if (fig_is_beyond(result->figure[f].spec) == beyond && !fig_is_about_cuts(result->figure[f].spec))
            rc = ask_figure(plan, result, &result->figure[f]);
    return rc;
}

int fig_run(const char *what, fig_result_t *result)
{
    plan_t *plan = calloc(1, sizeof *plan);
    int rc = plan ? ask_figures(plan, result, false) : trv_fail_memory();
    for (int s = 0; s < FIG_STUDIES && !rc && !result->symmetric_only; s++) {
        result->study[s].spec = &fig_study_spec[s];
        rc = ask_study(plan, result, &result->study[s]);
    }
    if (!rc) {
        plan->paper = plan->points;
        rc = ask_figures(plan, result, true);
    }
    if (!rc)
        rc = simulate(what, plan, result);
    if (!rc)
        take_results(plan, result);
    for (int f = 0; f < result->figures && !rc; f++)
        if (fig_is_about_cuts(result->figure[f].spec))
            rc = fig_cuts_run("links that fail", result, &result->figure[f]);
    if (plan) {
        cli_points_clear(plan->point, plan->points);
        free(plan->point);
        free(plan->request);
    }
    free(plan);
    return rc;
}
