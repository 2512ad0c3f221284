/*
 * trivance plan --why: the plans with the best times and the best named algorithms, the parts of their times, and the
 * networks on which each of them would be selected.
 *
 * For the last of these the planner runs on networks that differ from the given one in one parameter: alpha, the
 * bandwidth or the latency of the links, over four decades around its value, in equal ratios. Where a row is first
 * selected, at increasing distance from the given value, bisection finds it to two digits. (A time is not the sum of
 * parts that are proportional to the parameters, because streams overlap; extrapolating the parts is wrong far from the
 * given network.)
 */
#include "cli/plan/query.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shared/output.h"
#include "cli/shared/tool.h"
#include "base/text/parse.h"
#include "cli/shared/progress.h"
#include "cli/shared/select.h"
#include "base/error.h"
#include "formats/names.h"
#include "planner/ranking.h"
#include "planner/timing.h"
#include "schedule/collective.h"

#define SHOWN_MAX       7 /* number of plans that are shown, no two of them equal */
#define ALIKE_MAX       3 /* maximum number of these of one algorithm */
#define ROWS_MAX        (SHOWN_MAX + CLI_CHOICES_MAX)
#define FACTOR_MAX      100. /* a parameter is varied up to this factor, in both directions */
#define EXPENSIVE_RANKS 128  /* with more ranks without symmetry, simulations are expensive … */
#define SLOWDOWN_MAX    2    /* … and algorithms slower than the plan by more than this factor are left out */
#define VALUES          16   /* values of a parameter tried in each direction */

enum { ALPHA, BANDWIDTH, LATENCY, PARAMETERS };

/* The values of a parameter for which the planner selects the choice of a row: below or above a limit, or only a range
 * around a value. */
typedef enum side { NEVER, BELOW, ABOVE, AROUND } side_t;

typedef struct row {
    trv_planner_choice_t choice;
    struct {
        side_t side;
        int offset;   /* the first step, of VALUES in either direction, at which it is selected; negative: downwards */
        double value; /* in ns, bits per second and ns; the planner selects the row at this value */
    } win[PARAMETERS];
} row_t;

typedef struct analysis {
    const cli_plan_query_t *query;
    trv_planner_t *planner;
    trv_span_t span; /* the part of the progress bar for the current work */
    int rows;
    row_t row[ROWS_MAX];
} analysis_t;

/* ---- The rows ---------------------------------------------------------------------------------------------------- */

static void row_add(analysis_t *analysis, const trv_planner_choice_t *choice)
{
    for (int i = 0; i < analysis->rows; i++)
        if (strcmp(analysis->row[i].choice.algorithm, choice->algorithm) == 0)
            return;
    int at = analysis->rows++;
    for (; at > 0 && analysis->row[at - 1].choice.time_ns > choice->time_ns; at--)
        analysis->row[at] = analysis->row[at - 1];
    analysis->row[at] = (row_t){.choice = *choice};
}

/* Whether a row has the same times, so that it is the same schedule under another name, or its mirror image. */
static bool row_exists(const analysis_t *analysis, const trv_planner_choice_t *choice)
{
    for (int i = 0; i < analysis->rows; i++)
        if (analysis->row[i].choice.steps == choice->steps &&
            fabs(analysis->row[i].choice.time_ns - choice->time_ns) < 1e-3 &&
            fabs(analysis->row[i].choice.hops_ns - choice->hops_ns) < 1e-3)
            return true;
    return false;
}

/* Whether simulations are expensive: without symmetry every plan is simulated rank by rank, and hundreds of plans take
 * too long on large networks. */
static bool is_expensive(const analysis_t *analysis)
{
    const trv_torus_t *torus = &analysis->query->torus;
    return torus->ranks > EXPENSIVE_RANKS && trv_timing_is_nonuniform(torus, &analysis->query->network.options);
}

static bool has_alike_max(const analysis_t *analysis, const char *name)
{
    int alike = 0;
    for (int i = 0; i < analysis->rows; i++)
        alike += trv_planner_same_algorithm(analysis->row[i].choice.algorithm, name);
    return alike >= ALIKE_MAX;
}

/* Adds the fastest member of every family; if simulations are expensive, only if it takes at most SLOWDOWN_MAX times
 * as long as the plan. */
static int add_families(analysis_t *analysis)
{
    const double time_max_ns = is_expensive(analysis) && analysis->rows > 0
                                   ? SLOWDOWN_MAX * analysis->row[0].choice.time_ns
                                   : INFINITY;
    const trv_span_t all = analysis->span;
    for (int i = 0; i < trv_algorithms_count(); i++) {
        analysis->span = trv_span(all, (double)i / trv_algorithms_count(), 1.0 / trv_algorithms_count());
        const char *family = trv_algorithm_family(trv_algorithm_at(i));
        trv_planner_choice_t best = {.time_ns = INFINITY}, choice;
        bool known = false;
        for (int j = 0; j < trv_algorithms_count(); j++) {
            if (strcmp(trv_algorithm_family(trv_algorithm_at(j)), family) != 0)
                continue;
            known |= j < i;
            if (known)
                break;
            int rc = trv_planner_time_within(analysis->planner, analysis->query->bytes,
                                             trv_algorithm_name(trv_algorithm_at(j)), time_max_ns, &choice);
            if (rc && rc != TRV_ERR_UNSUPPORTED)
                return rc;
            if (!rc && choice.time_ns < best.time_ns)
                best = choice;
        }
        if (!known && isfinite(best.time_ns) && analysis->rows < ROWS_MAX)
            row_add(analysis, &best);
    }
    return TRV_OK;
}

static int find_rows(analysis_t *analysis)
{
    const trv_simulate_options_t network = cli_network_reporting(&analysis->query->network.options, &analysis->span);
    const trv_span_t all = analysis->span;
    analysis->span = trv_span(all, 0, 0.5);
    int rc = trv_planner_create(&analysis->planner, &analysis->query->torus, analysis->query->collective, 0, &network,
                                &analysis->query->constraints);
    trv_planner_choice_t nearest[8 * SHOWN_MAX];
    int capacity = sizeof nearest / sizeof nearest[0];
    capacity = is_expensive(analysis) ? capacity / 2 : capacity;
    int found = rc ? rc : trv_planner_rank(analysis->planner, analysis->query->bytes, capacity, nearest);
    for (int i = 0; i < found && analysis->rows < SHOWN_MAX; i++)
        if (!row_exists(analysis, &nearest[i]) && !has_alike_max(analysis, nearest[i].algorithm))
            row_add(analysis, &nearest[i]);
    analysis->span = trv_span(all, 0.5, 0.5);
    return found < 0 ? found : add_families(analysis);
}

/* ---- Other networks ---------------------------------------------------------------------------------------------- */

/* The member of the network's options for a parameter. */
static double *parameter_of(trv_simulate_options_t *network, int parameter)
{
    return parameter == ALPHA       ? &network->alpha_ns
           : parameter == BANDWIDTH ? &network->bandwidth_bps
                                    : &network->link_latency_ns;
}

static double value_given(const analysis_t *analysis, int parameter)
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

/* The value `offset` steps from the given one; VALUES steps are a factor of FACTOR_MAX. */
static double value_at(const analysis_t *analysis, int parameter, int offset)
{
    return round_to_digits(value_given(analysis, parameter) * pow(FACTOR_MAX, (double)offset / VALUES));
}

/* Finds the plan if the parameter has that value; its name is "" if the simulator rejects the value. */
static int choose_at(const analysis_t *analysis, int parameter, double value, trv_planner_choice_t *chosen)
{
    trv_span_t span = analysis->span;
    trv_simulate_options_t network = cli_network_reporting(&analysis->query->network.options, &span);
    *parameter_of(&network, parameter) = value;
    int rc = trv_planner_best(&analysis->query->torus, analysis->query->collective, 0, analysis->query->bytes, &network,
                              &analysis->query->constraints, chosen);
    if (rc == TRV_ERR_MEMORY || rc == TRV_ERR_CANCELLED)
        return rc;
    if (rc)
        *chosen = (trv_planner_choice_t){.steps = 0};
    return TRV_OK;
}

static bool row_is(const row_t *row, const trv_planner_choice_t *choice)
{
    return strcmp(row->choice.algorithm, choice->algorithm) == 0;
}

/* Records whether the row is selected at `step` in the direction `sign`. A row wins from the first such step on, in the
 * direction in which that is nearer, and as far as it remains selected. */
static void row_record_win(row_t *row, int parameter, int sign, int step, double value, bool chosen)
{
    const int offset = row->win[parameter].offset;
    if (chosen && (offset == 0 || step < abs(offset))) {
        row->win[parameter].offset = sign * step;
        row->win[parameter].value = value;
        row->win[parameter].side = sign > 0 ? ABOVE : BELOW;
    } else if (!chosen && sign * offset > 0) {
        row->win[parameter].side = AROUND;
    }
}

static int try_values(analysis_t *analysis, int parameter, int sign)
{
    const trv_span_t all = analysis->span;
    int rc = TRV_OK;
    for (int step = 1; step <= VALUES && !rc; step++) {
        const double value = value_at(analysis, parameter, sign * step);
        trv_planner_choice_t chosen;
        analysis->span = trv_span(all, (step - 1.0) / VALUES, 1.0 / VALUES);
        rc = choose_at(analysis, parameter, value, &chosen);
        for (int i = 1; i < analysis->rows && !rc; i++)
            row_record_win(&analysis->row[i], parameter, sign, step, value, row_is(&analysis->row[i], &chosen));
    }
    return rc;
}

/* Moves the value as close to the given one as two digits permit. */
static int refine_value(const analysis_t *analysis, row_t *row, int parameter)
{
    const int offset = row->win[parameter].offset;
    double without = value_at(analysis, parameter, offset > 0 ? offset - 1 : offset + 1);
    double *with = &row->win[parameter].value;
    for (;;) {
        const double middle = round_to_digits(sqrt(*with * without));
        trv_planner_choice_t chosen;
        if (middle <= fmin(*with, without) || middle >= fmax(*with, without))
            return TRV_OK;
        int rc = choose_at(analysis, parameter, middle, &chosen);
        if (rc)
            return rc;
        *(row_is(row, &chosen) ? with : &without) = middle;
    }
}

static int find_wins(analysis_t *analysis)
{
    const trv_span_t all = analysis->span;
    const double size = 1.0 / (2 * PARAMETERS + 1);
    int rc = TRV_OK;
    for (int parameter = 0; parameter < PARAMETERS && !rc; parameter++)
        for (int sign = -1; sign <= 1 && !rc && value_given(analysis, parameter) > 0; sign += 2) {
            analysis->span = trv_span(all, (2 * parameter + (sign > 0)) * size, size);
            rc = try_values(analysis, parameter, sign);
        }
    for (int i = 1; i < analysis->rows && !rc; i++) {
        analysis->span = trv_span(all, 1 - size + (i - 1.0) / analysis->rows * size, size / analysis->rows);
        for (int parameter = 0; parameter < PARAMETERS && !rc; parameter++)
            if (analysis->row[i].win[parameter].side != NEVER)
                rc = refine_value(analysis, &analysis->row[i], parameter);
    }
    return rc;
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static const char *const parameter_name[] = {[ALPHA] = "alpha", [BANDWIDTH] = "bandwidth", [LATENCY] = "link latency"};
static const char *const side_name[] = {[BELOW] = "below", [ABOVE] = "above", [AROUND] = "around"};

/* "800 Gb/s", "1.5us" */
static void format_value(int parameter, double value, char text[TRV_TIME_TEXT_MAX])
{
    const trv_time_unit_t *unit = trv_time_unit(value);
    if (parameter == BANDWIDTH)
        snprintf(text, TRV_TIME_TEXT_MAX, "%g Gb/s", value / 1e9);
    else
        snprintf(text, TRV_TIME_TEXT_MAX, "%g %s", value / unit->ns, unit->name);
}

static bool row_is_as_fast(const analysis_t *analysis, const row_t *row)
{
    return row->choice.time_ns <= analysis->row[0].choice.time_ns * (1 + 1e-9);
}

static void row_print_wins(const analysis_t *analysis, const row_t *row, FILE *out)
{
    char value[TRV_TIME_TEXT_MAX], now[TRV_TIME_TEXT_MAX];
    int wins = 0;
    for (int p = 0; p < PARAMETERS; p++) {
        if (row->win[p].side == NEVER)
            continue;
        format_value(p, row->win[p].value, value);
        format_value(p, value_given(analysis, p), now);
        if (wins++ == 0)
            fprintf(out, "%s would win with ", row->choice.algorithm);
        else
            fputs(", or ", out);
        fprintf(out, "%s %s %s (now %s)", parameter_name[p], side_name[row->win[p].side], value, now);
    }
    if (wins)
        fputc('\n', out);
}

static bool row_never_wins(const row_t *row)
{
    for (int p = 0; p < PARAMETERS; p++)
        if (row->win[p].side != NEVER)
            return false;
    return true;
}

/* Prints the rows that win on no network: those that are as fast as the plan, or the others. */
static void print_never_winning(const analysis_t *analysis, bool as_fast, const char *what, FILE *out)
{
    int printed = 0;
    for (int i = 1; i < analysis->rows; i++)
        if (row_never_wins(&analysis->row[i]) && row_is_as_fast(analysis, &analysis->row[i]) == as_fast)
            fprintf(out, "%s%s", printed++ ? ", " : what, analysis->row[i].choice.algorithm);
    if (printed)
        fputc('\n', out);
}

static void add_time(cli_table_t *table, double time_ns, const trv_time_unit_t *unit)
{
    char text[TRV_TIME_TEXT_MAX];
    cli_cell_text(table, trv_format_time(time_ns, unit, text));
}

static void add_total_time(cli_table_t *table, const trv_planner_choice_t *choice, const trv_time_unit_t *unit)
{
    char text[TRV_TIME_TEXT_MAX], marked[TRV_TIME_TEXT_MAX + 1];
    snprintf(marked, sizeof marked, "%s%s", choice->modelled ? "~" : "", trv_format_time(choice->time_ns, unit, text));
    cli_cell_text(table, marked);
}

/* Prints how the plan deals with lines, slow and cut links. */
static void print_links(const analysis_t *analysis, FILE *out)
{
    const char *at = strchr(analysis->row[0].choice.algorithm, '@');
    cli_links_explain(&analysis->query->network.links, &analysis->query->torus, analysis->query->network.options.routes,
                      at ? strtod(at + 1, NULL) : INFINITY, out);
    if (analysis->query->network.links.count > 0)
        fputc('\n', out);
}

static int print_text(const analysis_t *analysis, FILE *out)
{
    static const cli_column_t column[] = {{NULL, "plan", false, 0}, {NULL, "steps", true, 0},
                                          {NULL, "time", true, 0},  {NULL, "alpha", true, 0},
                                          {NULL, "hops", true, 0},  {NULL, "transmission", true, 0},
                                          {NULL, "slower", true, 0}};
    const trv_planner_choice_t *best = &analysis->row[0].choice;
    const trv_time_unit_t *unit = trv_time_unit(best->time_ns);
    char text[TRV_TIME_TEXT_MAX];
    bool modelled = false;
    cli_table_t table;
    cli_plan_query_header(analysis->query, out);
    print_links(analysis, out);
    cli_table_begin(&table, out, CLI_FORMAT_TABLE, column, sizeof column / sizeof column[0],
                    out == stdout && cli_stdout_is_terminal());
    for (int i = 0; i < analysis->rows; i++) {
        const trv_planner_choice_t *choice = &analysis->row[i].choice;
        cli_cell_text(&table, choice->algorithm);
        cli_cell_int(&table, choice->steps);
        add_total_time(&table, choice, unit);
        modelled = modelled || choice->modelled;
        add_time(&table, choice->alpha_ns, unit);
        add_time(&table, choice->hops_ns, unit);
        add_time(&table, choice->transmission_ns, unit);
        const double ratio = choice->time_ns / best->time_ns;
        snprintf(text, sizeof text, ratio < 2 ? "+%.1f %%" : "%.1fx", ratio < 2 ? 100 * (ratio - 1) : ratio);
        cli_cell_text(&table, i == 0 ? "chosen" : row_is_as_fast(analysis, &analysis->row[i]) ? "as fast" : text);
        cli_row_end(&table);
    }
    int rc = cli_table_end(&table);
    if (modelled)
        fprintf(out, "~: by the algorithm's model, because a simulation of %d ranks without symmetry takes too long\n",
                analysis->query->torus.ranks);
    if (analysis->rows > 1)
        fputc('\n', out);
    for (int i = 1; i < analysis->rows; i++)
        row_print_wins(analysis, &analysis->row[i], out);
    print_never_winning(analysis, true, "as fast: ", out);
    if (!is_expensive(analysis))
        print_never_winning(analysis, false, "would win on none of these networks: ", out);
    if (analysis->rows > 1 && is_expensive(analysis))
        fprintf(out, "not tried: other networks, because planning for %d ranks without symmetry takes long\n",
                analysis->query->torus.ranks);
    else if (analysis->rows > 1)
        fprintf(out,
                "tried: alpha, bandwidth and link latency, one at a time, at %d values from 1/%g to %g times the given "
                "one\n",
                2 * VALUES, FACTOR_MAX, FACTOR_MAX);
    return rc;
}

static int print_rows(const analysis_t *analysis, FILE *out)
{
    const bool with_links = analysis->query->network.links.count > 0;
    static const cli_column_t column[] = {{"torus", NULL, false, 0},
                                          {"collective", NULL, false, 0},
                                          {"bytes", NULL, true, 0},
                                          {"algorithm", NULL, false, 0},
                                          {"steps", NULL, true, 0},
                                          {"consistent", NULL, false, 0},
                                          {"chosen", NULL, false, 0},
                                          {"time_ns", NULL, true, 0},
                                          {"modelled", NULL, false, 0},
                                          {"alpha_part_ns", NULL, true, 0},
                                          {"hops_part_ns", NULL, true, 0},
                                          {"transmission_part_ns", NULL, true, 0},
                                          {"wins_alpha", NULL, false, 0},
                                          {"alpha_ns", NULL, true, 0},
                                          {"wins_bandwidth", NULL, false, 0},
                                          {"bandwidth_bps", NULL, true, 0},
                                          {"wins_link_latency", NULL, false, 0},
                                          {"link_latency_ns", NULL, true, 0},
                                          {"slow_links", NULL, false, 0}};
    const int columns = sizeof column / sizeof column[0];
    char torus[TRV_TORUS_TEXT_MAX], links[CLI_LINKS_TEXT_MAX];
    cli_table_t table;
    trv_torus_format(&analysis->query->torus, torus, sizeof torus);
    cli_links_format(&analysis->query->network.links, "", links);
    cli_table_begin(&table, out, analysis->query->format, column, with_links ? columns : columns - 1, false);
    for (int i = 0; i < analysis->rows; i++) {
        const row_t *row = &analysis->row[i];
        cli_cell_text(&table, torus);
        cli_cell_text(&table, trv_collective_shape(analysis->query->collective)->name);
        cli_cell_int(&table, (int64_t)analysis->query->bytes);
        cli_cell_text(&table, row->choice.algorithm);
        cli_cell_int(&table, row->choice.steps);
        cli_cell_bool(&table, row->choice.consistent);
        cli_cell_bool(&table, i == 0);
        cli_cell_real(&table, row->choice.time_ns, 3);
        cli_cell_bool(&table, row->choice.modelled);
        cli_cell_real(&table, row->choice.alpha_ns, 3);
        cli_cell_real(&table, row->choice.hops_ns, 3);
        cli_cell_real(&table, row->choice.transmission_ns, 3);
        for (int p = 0; p < PARAMETERS; p++) {
            bool wins = row->win[p].side != NEVER;
            wins ? cli_cell_text(&table, side_name[row->win[p].side]) : cli_cell_none(&table);
            cli_cell_real(&table, wins ? row->win[p].value : NAN, p == BANDWIDTH ? 0 : 3);
        }
        if (with_links)
            cli_cell_text(&table, links);
        cli_row_end(&table);
    }
    return cli_table_end(&table);
}

static void add_limit(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add_limit(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    if (used)
        used += (size_t)snprintf(text + used, size - used, ", ");
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

void cli_plan_query_header(const cli_plan_query_t *query, FILE *out)
{
    const trv_network_t wired = cli_network_on(&query->torus, &query->network.options);
    char shape[TRV_SHAPE_TEXT_MAX], network[CLI_NETWORK_TEXT_MAX], bytes[TRV_BYTES_TEXT_MAX], limits[256] = "";
    const trv_planner_constraints_t *constraints = &query->constraints;
    fprintf(out, "%s%s%s on %s (%d rank%s)\n%s\n", trv_collective_shape(query->collective)->title,
            query->bytes ? " of " : "", query->bytes ? trv_format_bytes(query->bytes, bytes) : "",
            trv_shape_words(&wired, shape), query->torus.ranks, query->torus.ranks == 1 ? "" : "s",
            cli_network_format(&query->network, network));
    if (constraints->consistent)
        add_limit(limits, sizeof limits, "identical bits on all ranks");
    if (constraints->idempotent)
        add_limit(limits, sizeof limits, "contributions may count twice");
    if (constraints->memory_bytes)
        add_limit(limits, sizeof limits, "at most %s of scratch memory",
                  trv_format_bytes(constraints->memory_bytes, bytes));
    if (constraints->messages_per_port)
        add_limit(limits, sizeof limits, "at most %d messages per port and step", constraints->messages_per_port);
    fprintf(out, "%s%s\n", limits, limits[0] ? "\n" : "");
}

int cli_plan_explain(const cli_plan_query_t *query)
{
    cli_output_t output;
    analysis_t *analysis = calloc(1, sizeof *analysis);
    if (!analysis)
        return trv_fail_memory();
    analysis->query = query;
    cli_progress_t progress;
    const trv_span_t all = cli_progress_begin(&progress, "planning", 1);
    analysis->span = trv_span(all, 0, 0.2);
    int rc = find_rows(analysis);
    analysis->span = trv_span(all, 0.2, 0.8);
    if (!rc && !is_expensive(analysis))
        rc = find_wins(analysis);
    cli_progress_end(&progress);
    trv_planner_destroy(analysis->planner);
    if (!rc && !(rc = cli_output_begin(&output, query->output))) {
        rc = query->format == CLI_FORMAT_TABLE ? print_text(analysis, output.stream)
                                               : print_rows(analysis, output.stream);
        rc = cli_output_end(&output, rc);
    }
    free(analysis);
    return rc;
}
