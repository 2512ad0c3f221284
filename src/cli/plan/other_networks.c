/*
 * The networks on which each row of `trivance plan --why` would be selected. They differ from the given network in one
 * parameter: alpha, the bandwidth or the latency of the links, over four decades around its value, in equal ratios.
 * Where a row is first selected, at increasing distance from the given value, bisection finds it to two digits. (A time
 * is not the sum of parts that are proportional to the parameters, because streams overlap. Extrapolated parts only
 * show which rows are slower than another by a factor.)
 *
 * Where ranks differ, a plan takes tens of simulations. There the *rivals*, the rows and all plans found so far, are
 * timed first; a row is not timed if its parts show that it is far too slow. Only if a row other than the first is the
 * fastest rival, the planner is asked, for choices that are as fast: where this row becomes the fastest, at the last
 * value, and for the result of the bisection. Otherwise no row is selected, whatever the planner would select.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/plan/explain.h"
#include "planner/ranking.h"
#include "planner/timing.h"

#define RIVALS_MAX  64
#define PARTS_SLACK 0.5 /* a row is not timed if this part of its extrapolated time exceeds the best time */

typedef char name_t[TRV_ALGORITHM_NAME_MAX];

typedef struct search {
    cli_explanation_t *analysis;
    bool screened; /* rivals are timed before the planner is asked */
    int rivals;
    name_t rival[RIVALS_MAX]; /* the most recent winners first */
} search_t;

/* ---- Values of parameters ---------------------------------------------------------------------------------------- */

/* The member of the network's options for a parameter. */
static double *parameter_of(trv_simulate_options_t *network, int parameter)
{
    return parameter == CLI_ALPHA       ? &network->alpha_ns
           : parameter == CLI_BANDWIDTH ? &network->bandwidth_bps
                                        : &network->link_latency_ns;
}

double cli_explained_value(const cli_explanation_t *analysis, int parameter)
{
    trv_simulate_options_t network = analysis->query->network.options;
    return *parameter_of(&network, parameter);
}

/* The value, rounded to two digits. */
static double round_to_digits(double value)
{
    const double unit = pow(10, floor(log10(value)) - 1);
    return unit * round(value / unit);
}

/* The value `offset` steps from the given one; CLI_VALUES steps are a factor of CLI_FACTOR_MAX. */
static double value_at(const cli_explanation_t *analysis, int parameter, int offset)
{
    return round_to_digits(cli_explained_value(analysis, parameter) * pow(CLI_FACTOR_MAX, (double)offset / CLI_VALUES));
}

/* ---- The choice for one value ------------------------------------------------------------------------------------ */

static void add_rival(search_t *search, const char *name)
{
    int i = 0;
    while (i < search->rivals && strcmp(search->rival[i], name) != 0)
        i++;
    if (i == RIVALS_MAX)
        return;
    search->rivals += i == search->rivals;
    memmove(search->rival + 1, search->rival, (size_t)i * sizeof *search->rival);
    snprintf(search->rival[0], sizeof search->rival[0], "%s", name);
}

/* Whether the name is that of a row other than the first. */
static bool is_other_row(const cli_explanation_t *analysis, const char *name)
{
    for (int i = 1; i < analysis->rows; i++)
        if (strcmp(analysis->row[i].choice.algorithm, name) == 0)
            return true;
    return false;
}

/* The time of a row if the parameter has that value, extrapolated from its parts: no part becomes longer. */
static double extrapolate(const cli_explanation_t *analysis, const cli_explained_t *row, int parameter, double value)
{
    const double given = cli_explained_value(analysis, parameter);
    const double left = parameter == CLI_BANDWIDTH ? given / value : value / given; /* of the part */
    const double part_ns = parameter == CLI_ALPHA       ? row->choice.alpha_ns
                           : parameter == CLI_BANDWIDTH ? row->choice.transmission_ns
                                                        : row->choice.hops_ns;
    return row->choice.time_ns - fmax(0, 1 - left) * part_ns;
}

/* Whether the rival is a row that is far slower than `best_ns` if the parameter has that value. */
static bool is_far_slower(const cli_explanation_t *analysis, const char *rival, int parameter, double value,
                          double best_ns)
{
    for (int i = 0; i < analysis->rows; i++)
        if (strcmp(analysis->row[i].choice.algorithm, rival) == 0)
            return PARTS_SLACK * extrapolate(analysis, &analysis->row[i], parameter, value) > best_ns;
    return false;
}

/* Finds the fastest rival; *row_wins: a row other than the first is as fast as it. */
static int find_fastest(search_t *search, int parameter, double value, name_t fastest, double *best_ns, bool *row_wins)
{
    cli_explanation_t *analysis = search->analysis;
    *best_ns = INFINITY;
    for (int i = 0; i < search->rivals; i++) {
        double time_ns;
        if (is_far_slower(analysis, search->rival[i], parameter, value, *best_ns))
            continue;
        int rc = trv_planner_named_ns(analysis->planner, analysis->query->bytes, search->rival[i], *best_ns, &time_ns);
        if (rc && rc != TRV_ERR_UNSUPPORTED)
            return rc;
        if (rc || time_ns > *best_ns || isinf(time_ns))
            continue;
        const bool row = is_other_row(analysis, search->rival[i]);
        *row_wins = row || (time_ns >= *best_ns && *row_wins);
        if (time_ns < *best_ns)
            memcpy(fastest, search->rival[i], sizeof(name_t));
        *best_ns = time_ns;
    }
    return TRV_OK;
}

/* Finds the plan if the parameter has that value; its name is "" if the simulator rejects the value. If it is none of
 * the rows, it may be the name of any rival. `expected`: NULL, or the name of a row; if that is the fastest rival, the
 * planner is not asked. */
static int choose_at(search_t *search, int parameter, double value, const char *expected, name_t chosen)
{
    cli_explanation_t *analysis = search->analysis;
    trv_span_t span = analysis->span;
    trv_simulate_options_t network = cli_network_reporting(&analysis->query->network.options, &span);
    trv_planner_choice_t choice = {.steps = 0};
    double cutoff_ns = INFINITY;
    bool row_wins = true;
    *parameter_of(&network, parameter) = value;
    chosen[0] = '\0';
    int rc = trv_planner_set_network(analysis->planner, &network);
    if (!rc && search->screened)
        rc = find_fastest(search, parameter, value, chosen, &cutoff_ns, &row_wins);
    if (!rc && row_wins && !(*chosen && expected && strcmp(chosen, expected) == 0)) {
        int found = trv_planner_rank_within(analysis->planner, analysis->query->bytes, 1, cutoff_ns, &choice);
        rc = found < 0 ? found : TRV_OK;
        if (found > 0)
            memcpy(chosen, choice.algorithm, sizeof(name_t));
    }
    trv_planner_set_progress(analysis->planner, &analysis->query->network.options); /* `span` ends here */
    if (rc == TRV_ERR_MEMORY || rc == TRV_ERR_CANCELLED)
        return rc;
    if (rc)
        chosen[0] = '\0';
    else if (*chosen)
        add_rival(search, chosen);
    return TRV_OK;
}

/* ---- All values -------------------------------------------------------------------------------------------------- */

/* Records whether the row is selected at `step` in the direction `sign`. A row wins from the first such step on, in the
 * direction in which that is nearer, and as far as it remains selected. */
static void row_record_win(cli_explained_t *row, int parameter, int sign, int step, double value, bool chosen)
{
    const int offset = row->win[parameter].offset;
    if (chosen && (offset == 0 || step < abs(offset))) {
        row->win[parameter].offset = sign * step;
        row->win[parameter].value = value;
        row->win[parameter].side = sign > 0 ? CLI_ABOVE : CLI_BELOW;
    } else if (!chosen && sign * offset > 0) {
        row->win[parameter].side = CLI_AROUND;
    }
}

static int try_values(search_t *search, int parameter, int sign)
{
    cli_explanation_t *analysis = search->analysis;
    const trv_span_t all = analysis->span;
    name_t nearer = "", chosen;
    int rc = TRV_OK;
    for (int step = 1; step <= CLI_VALUES && !rc; step++) {
        const double value = value_at(analysis, parameter, sign * step);
        analysis->span = trv_span(all, (step - 1.0) / CLI_VALUES, 1.0 / CLI_VALUES);
        rc = choose_at(search, parameter, value, step < CLI_VALUES ? nearer : NULL, chosen);
        memcpy(nearer, chosen, sizeof nearer);
        for (int i = 1; i < analysis->rows && !rc; i++)
            row_record_win(&analysis->row[i], parameter, sign, step, value,
                           strcmp(chosen, analysis->row[i].choice.algorithm) == 0);
    }
    return rc;
}

/* Moves the value as close to the given one as two digits permit. */
static int refine_value(search_t *search, cli_explained_t *row, int parameter)
{
    const int offset = row->win[parameter].offset;
    double without = value_at(search->analysis, parameter, offset > 0 ? offset - 1 : offset + 1);
    double *with = &row->win[parameter].value;
    const double unrefined = *with;
    const char *name = row->choice.algorithm;
    name_t chosen;
    for (;;) {
        const double middle = round_to_digits(sqrt(*with * without));
        if (middle <= fmin(*with, without) || middle >= fmax(*with, without))
            break;
        int rc = choose_at(search, parameter, middle, name, chosen);
        if (rc)
            return rc;
        *(strcmp(chosen, name) == 0 ? with : &without) = middle;
    }
    int rc = search->screened ? choose_at(search, parameter, *with, NULL, chosen) : TRV_OK;
    if (!rc && search->screened && strcmp(chosen, name) != 0)
        *with = unrefined;
    return rc;
}

static int find_wins(search_t *search)
{
    cli_explanation_t *analysis = search->analysis;
    const trv_span_t all = analysis->span;
    const double size = 1.0 / (2 * CLI_PARAMETERS + 1);
    int rc = TRV_OK;
    for (int parameter = 0; parameter < CLI_PARAMETERS && !rc; parameter++)
        for (int sign = -1; sign <= 1 && !rc && cli_explained_value(analysis, parameter) > 0; sign += 2) {
            analysis->span = trv_span(all, (2 * parameter + (sign > 0)) * size, size);
            rc = try_values(search, parameter, sign);
        }
    for (int i = 1; i < analysis->rows && !rc; i++) {
        analysis->span = trv_span(all, 1 - size + (i - 1.0) / analysis->rows * size, size / analysis->rows);
        for (int parameter = 0; parameter < CLI_PARAMETERS && !rc; parameter++)
            if (analysis->row[i].win[parameter].side != CLI_NEVER)
                rc = refine_value(search, &analysis->row[i], parameter);
    }
    return rc;
}

int cli_explain_other_networks(cli_explanation_t *analysis)
{
    search_t *search = calloc(1, sizeof *search);
    if (!search)
        return trv_fail_memory();
    search->analysis = analysis;
    search->screened = trv_timing_ranks_differ(&analysis->query->torus, &analysis->query->network.options,
                                               analysis->query->collective);
    for (int i = analysis->rows; i-- > 0;)
        if (!analysis->row[i].excess)
            add_rival(search, analysis->row[i].choice.algorithm);
    int rc = find_wins(search);
    free(search);
    return rc;
}
