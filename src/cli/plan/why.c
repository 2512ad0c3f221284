/*
 * trivance plan --why: the plans with the best times and the best named algorithms, the parts of their times, and the
 * networks on which each of them would be selected.
 *
 * For the last of these the planner runs on networks that differ from the given one in one parameter: alpha, the
 * bandwidth or the latency of the links, over four decades around its value, in equal ratios. Where a row is first
 * selected, going outwards from the given value, bisection finds the value to two digits. (A time is not the sum of
 * parts that are proportional to the parameters, because streams overlap; extrapolating the parts is wrong far from the
 * given network.)
 */
#include "cli/plan/ask.h"

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

#define NEAREST    7 /* number of plans that are shown, no two of them equal */
#define ALIKE      3 /* maximum number of these of one algorithm */
#define ROWS_MAX   (NEAREST + CLI_CHOICES_MAX)
#define FACTOR_MAX 100. /* a parameter is varied up to this factor, in both directions */
#define DEAR_RANKS 128
#define DEAR_MOST  2  /* where simulations are expensive, algorithms slower than the plan by this factor are left out */
#define VALUES     16 /* values of a parameter tried in each direction */

enum { ALPHA, BANDWIDTH, LATENCY, PARAMETERS };

/* The values of a parameter for which a row is selected: below or above a limit, or only a range around a value. */
typedef enum side { NEVER, BELOW, ABOVE, AROUND } side_t;

typedef struct row {
    trv_planner_choice_t plan;
    struct {
        side_t side;
        int away;     /* the first step, of VALUES in either direction, at which it is selected; negative: downwards */
        double value; /* in ns, bits per second and ns; the planner selects the row at this value */
    } win[PARAMETERS];
} row_t;

typedef struct why {
    const cli_plan_ask_t *ask;
    trv_planner_t *planner;
    trv_span_t span; /* the part of the progress that the present work is */
    int rows;
    row_t row[ROWS_MAX];
} why_t;

/* ---- The rows ---------------------------------------------------------------------------------------------------- */

static void add_row(why_t *why, const trv_planner_choice_t *plan)
{
    for (int i = 0; i < why->rows; i++)
        if (strcmp(why->row[i].plan.algorithm, plan->algorithm) == 0)
            return;
    int at = why->rows++;
    for (; at > 0 && why->row[at - 1].plan.time_ns > plan->time_ns; at--)
        why->row[at] = why->row[at - 1];
    why->row[at] = (row_t){.plan = *plan};
}

/* Whether a row has the same times, so that it is the same schedule under another name, or its mirror image. */
static bool has_equal(const why_t *why, const trv_planner_choice_t *plan)
{
    for (int i = 0; i < why->rows; i++)
        if (why->row[i].plan.steps == plan->steps && fabs(why->row[i].plan.time_ns - plan->time_ns) < 1e-3 &&
            fabs(why->row[i].plan.hops_ns - plan->hops_ns) < 1e-3)
            return true;
    return false;
}

/* Whether the plans of --why are expensive: where ranks differ every plan is simulated rank by rank, and hundreds of
 * plans take too long on large networks. */
static bool is_dear(const why_t *why)
{
    const trv_torus_t *torus = &why->ask->torus;
    return torus->ranks > DEAR_RANKS && trv_timing_is_nonuniform(torus, &why->ask->network.options);
}

static bool has_enough_like(const why_t *why, const char *name)
{
    int alike = 0;
    for (int i = 0; i < why->rows; i++)
        alike += trv_planner_same_algorithm(why->row[i].plan.algorithm, name);
    return alike >= ALIKE;
}

/* Adds the fastest member of every family; where simulations are expensive, only if it takes at most DEAR_MOST times as
 * long as the plan. */
static int add_named(why_t *why)
{
    const double cutoff_ns = is_dear(why) && why->rows > 0 ? DEAR_MOST * why->row[0].plan.time_ns : INFINITY;
    const trv_span_t all = why->span;
    for (int i = 0; i < trv_algorithms_count(); i++) {
        why->span = trv_span(all, (double)i / trv_algorithms_count(), 1.0 / trv_algorithms_count());
        const char *family = trv_algorithm_family(trv_algorithm_at(i));
        trv_planner_choice_t best = {.time_ns = INFINITY}, plan;
        bool known = false;
        for (int j = 0; j < trv_algorithms_count(); j++) {
            if (strcmp(trv_algorithm_family(trv_algorithm_at(j)), family) != 0)
                continue;
            known |= j < i;
            if (known)
                break;
            int rc = trv_planner_time_within(why->planner, why->ask->bytes, trv_algorithm_name(trv_algorithm_at(j)),
                                             cutoff_ns, &plan);
            if (rc && rc != TRV_ERR_UNSUPPORTED)
                return rc;
            if (!rc && plan.time_ns < best.time_ns)
                best = plan;
        }
        if (!known && isfinite(best.time_ns) && why->rows < ROWS_MAX)
            add_row(why, &best);
    }
    return TRV_OK;
}

static int find_rows(why_t *why)
{
    const trv_simulate_options_t network = cli_network_reporting(&why->ask->network.options, &why->span);
    const trv_span_t all = why->span;
    why->span = trv_span(all, 0, 0.5);
    int rc = trv_planner_create(&why->planner, &why->ask->torus, why->ask->collective, 0, &network,
                                &why->ask->constraints);
    trv_planner_choice_t near[8 * NEAREST];
    int capacity = sizeof near / sizeof near[0];
    capacity = is_dear(why) ? capacity / 2 : capacity;
    int plans = rc ? rc : trv_planner_rank(why->planner, why->ask->bytes, capacity, near);
    for (int i = 0; i < plans && why->rows < NEAREST; i++)
        if (!has_equal(why, &near[i]) && !has_enough_like(why, near[i].algorithm))
            add_row(why, &near[i]);
    why->span = trv_span(all, 0.5, 0.5);
    return plans < 0 ? plans : add_named(why);
}

/* ---- Other networks ---------------------------------------------------------------------------------------------- */

/* The member of the network's options that a parameter is. */
static double *parameter_of(trv_simulate_options_t *network, int parameter)
{
    return parameter == ALPHA       ? &network->alpha_ns
           : parameter == BANDWIDTH ? &network->bandwidth_bps
                                    : &network->link_latency_ns;
}

static double value_now(const why_t *why, int parameter)
{
    trv_simulate_options_t network = why->ask->network.options;
    return *parameter_of(&network, parameter);
}

/* The value, rounded to two digits. */
static double rounded(double value)
{
    const double unit = pow(10, floor(log10(value)) - 1);
    return unit * round(value / unit);
}

/* The value `away` steps from the present one; VALUES steps are a factor of FACTOR_MAX. */
static double value_at(const why_t *why, int parameter, int away)
{
    return rounded(value_now(why, parameter) * pow(FACTOR_MAX, (double)away / VALUES));
}

/* Finds the plan if the parameter has that value; its name is "" if the simulator rejects the value. */
static int choose_at(const why_t *why, int parameter, double value, trv_planner_choice_t *chosen)
{
    trv_span_t span = why->span;
    trv_simulate_options_t network = cli_network_reporting(&why->ask->network.options, &span);
    *parameter_of(&network, parameter) = value;
    int rc = trv_planner_best(&why->ask->torus, why->ask->collective, 0, why->ask->bytes, &network,
                              &why->ask->constraints, chosen);
    if (rc == TRV_ERR_MEMORY || rc == TRV_ERR_CANCELLED)
        return rc;
    if (rc)
        *chosen = (trv_planner_choice_t){.steps = 0};
    return TRV_OK;
}

static bool is_row(const row_t *row, const trv_planner_choice_t *plan)
{
    return strcmp(row->plan.algorithm, plan->algorithm) == 0;
}

/* Records whether the row is selected at `step` in the direction `sign`. A row wins from the first such step on, in the
 * direction in which that is nearer, and as far as it remains selected. */
static void note(row_t *row, int parameter, int sign, int step, double value, bool chosen)
{
    const int away = row->win[parameter].away;
    if (chosen && (away == 0 || step < abs(away))) {
        row->win[parameter].away = sign * step;
        row->win[parameter].value = value;
        row->win[parameter].side = sign > 0 ? ABOVE : BELOW;
    } else if (!chosen && sign * away > 0) {
        row->win[parameter].side = AROUND;
    }
}

static int walk(why_t *why, int parameter, int sign)
{
    const trv_span_t all = why->span;
    int rc = TRV_OK;
    for (int step = 1; step <= VALUES && !rc; step++) {
        const double value = value_at(why, parameter, sign * step);
        trv_planner_choice_t chosen;
        why->span = trv_span(all, (step - 1.0) / VALUES, 1.0 / VALUES);
        rc = choose_at(why, parameter, value, &chosen);
        for (int i = 1; i < why->rows && !rc; i++)
            note(&why->row[i], parameter, sign, step, value, is_row(&why->row[i], &chosen));
    }
    return rc;
}

/* Moves the value as close to the present one as two digits permit. */
static int refine(const why_t *why, row_t *row, int parameter)
{
    const int away = row->win[parameter].away;
    double without = value_at(why, parameter, away > 0 ? away - 1 : away + 1);
    double *with = &row->win[parameter].value;
    for (;;) {
        const double middle = rounded(sqrt(*with * without));
        trv_planner_choice_t chosen;
        if (middle <= fmin(*with, without) || middle >= fmax(*with, without))
            return TRV_OK;
        int rc = choose_at(why, parameter, middle, &chosen);
        if (rc)
            return rc;
        *(is_row(row, &chosen) ? with : &without) = middle;
    }
}

static int find_wins(why_t *why)
{
    const trv_span_t all = why->span;
    const double size = 1.0 / (2 * PARAMETERS + 1);
    int rc = TRV_OK;
    for (int parameter = 0; parameter < PARAMETERS && !rc; parameter++)
        for (int sign = -1; sign <= 1 && !rc && value_now(why, parameter) > 0; sign += 2) {
            why->span = trv_span(all, (2 * parameter + (sign > 0)) * size, size);
            rc = walk(why, parameter, sign);
        }
    for (int i = 1; i < why->rows && !rc; i++) {
        why->span = trv_span(all, 1 - size + (i - 1.0) / why->rows * size, size / why->rows);
        for (int parameter = 0; parameter < PARAMETERS && !rc; parameter++)
            if (why->row[i].win[parameter].side != NEVER)
                rc = refine(why, &why->row[i], parameter);
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

static bool is_as_fast(const why_t *why, const row_t *row)
{
    return row->plan.time_ns <= why->row[0].plan.time_ns * (1 + 1e-9);
}

static void print_wins(const why_t *why, const row_t *row, FILE *out)
{
    char value[TRV_TIME_TEXT_MAX], now[TRV_TIME_TEXT_MAX];
    int wins = 0;
    for (int p = 0; p < PARAMETERS; p++) {
        if (row->win[p].side == NEVER)
            continue;
        format_value(p, row->win[p].value, value);
        format_value(p, value_now(why, p), now);
        if (wins++ == 0)
            fprintf(out, "%s would win with ", row->plan.algorithm);
        else
            fputs(", or ", out);
        fprintf(out, "%s %s %s (now %s)", parameter_name[p], side_name[row->win[p].side], value, now);
    }
    if (wins)
        fputc('\n', out);
}

static bool never_wins(const row_t *row)
{
    for (int p = 0; p < PARAMETERS; p++)
        if (row->win[p].side != NEVER)
            return false;
    return true;
}

/* Prints the rows that win on no network: those that are as fast as the plan, or the others. */
static void print_losers(const why_t *why, bool as_fast, const char *what, FILE *out)
{
    int printed = 0;
    for (int i = 1; i < why->rows; i++)
        if (never_wins(&why->row[i]) && is_as_fast(why, &why->row[i]) == as_fast)
            fprintf(out, "%s%s", printed++ ? ", " : what, why->row[i].plan.algorithm);
    if (printed)
        fputc('\n', out);
}

static void add_time(cli_table_t *table, double time_ns, const trv_time_unit_t *unit)
{
    char text[TRV_TIME_TEXT_MAX];
    cli_cell_text(table, trv_format_time(time_ns, unit, text));
}

static void add_whole_time(cli_table_t *table, const trv_planner_choice_t *plan, const trv_time_unit_t *unit)
{
    char text[TRV_TIME_TEXT_MAX], marked[TRV_TIME_TEXT_MAX + 1];
    snprintf(marked, sizeof marked, "%s%s", plan->modelled ? "~" : "", trv_format_time(plan->time_ns, unit, text));
    cli_cell_text(table, marked);
}

/* Prints how the plan deals with lines, slow and cut links. */
static void print_links(const why_t *why, FILE *out)
{
    const char *at = strchr(why->row[0].plan.algorithm, '@');
    cli_links_explain(&why->ask->network.links, &why->ask->torus, why->ask->network.options.routes,
                      at ? strtod(at + 1, NULL) : INFINITY, out);
    if (why->ask->network.links.count > 0)
        fputc('\n', out);
}

static int print_text(const why_t *why, FILE *out)
{
    static const cli_column_t column[] = {{NULL, "plan", false, 0}, {NULL, "steps", true, 0},
                                          {NULL, "time", true, 0},  {NULL, "alpha", true, 0},
                                          {NULL, "hops", true, 0},  {NULL, "transmission", true, 0},
                                          {NULL, "slower", true, 0}};
    const trv_planner_choice_t *best = &why->row[0].plan;
    const trv_time_unit_t *unit = trv_time_unit(best->time_ns);
    char text[TRV_TIME_TEXT_MAX];
    bool modelled = false;
    cli_table_t table;
    cli_plan_ask_header(why->ask, out);
    print_links(why, out);
    cli_table_begin(&table, out, CLI_FORMAT_TABLE, column, sizeof column / sizeof column[0],
                    out == stdout && cli_stdout_is_terminal());
    for (int i = 0; i < why->rows; i++) {
        const trv_planner_choice_t *plan = &why->row[i].plan;
        cli_cell_text(&table, plan->algorithm);
        cli_cell_int(&table, plan->steps);
        add_whole_time(&table, plan, unit);
        modelled = modelled || plan->modelled;
        add_time(&table, plan->alpha_ns, unit);
        add_time(&table, plan->hops_ns, unit);
        add_time(&table, plan->transmission_ns, unit);
        const double ratio = plan->time_ns / best->time_ns;
        snprintf(text, sizeof text, ratio < 2 ? "+%.1f %%" : "%.1fx", ratio < 2 ? 100 * (ratio - 1) : ratio);
        cli_cell_text(&table, i == 0 ? "chosen" : is_as_fast(why, &why->row[i]) ? "as fast" : text);
        cli_row_end(&table);
    }
    int rc = cli_table_end(&table);
    if (modelled)
        fprintf(out, "~: by the algorithm's model; on %d ranks that differ a simulation takes too long for a plan\n",
                why->ask->torus.ranks);
    if (why->rows > 1)
        fputc('\n', out);
    for (int i = 1; i < why->rows; i++)
        print_wins(why, &why->row[i], out);
    print_losers(why, true, "as fast: ", out);
    if (!is_dear(why))
        print_losers(why, false, "nowhere would win: ", out);
    if (why->rows > 1 && is_dear(why))
        fprintf(out, "not tried: other networks, on each of which a plan for %d ranks that differ takes long\n",
                why->ask->torus.ranks);
    else if (why->rows > 1)
        fprintf(out,
                "tried: alpha, bandwidth and link latency, one at a time, at %d values from 1/%g to %g times what it "
                "is\n",
                2 * VALUES, FACTOR_MAX, FACTOR_MAX);
    return rc;
}

static int print_rows(const why_t *why, FILE *out)
{
    const bool with_links = why->ask->network.links.count > 0;
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
    trv_torus_format(&why->ask->torus, torus, sizeof torus);
    cli_links_format(&why->ask->network.links, "", links);
    cli_table_begin(&table, out, why->ask->format, column, with_links ? columns : columns - 1, false);
    for (int i = 0; i < why->rows; i++) {
        const row_t *row = &why->row[i];
        cli_cell_text(&table, torus);
        cli_cell_text(&table, trv_collective_shape(why->ask->collective)->name);
        cli_cell_int(&table, (int64_t)why->ask->bytes);
        cli_cell_text(&table, row->plan.algorithm);
        cli_cell_int(&table, row->plan.steps);
        cli_cell_bool(&table, row->plan.consistent);
        cli_cell_bool(&table, i == 0);
        cli_cell_real(&table, row->plan.time_ns, 3);
        cli_cell_bool(&table, row->plan.modelled);
        cli_cell_real(&table, row->plan.alpha_ns, 3);
        cli_cell_real(&table, row->plan.hops_ns, 3);
        cli_cell_real(&table, row->plan.transmission_ns, 3);
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

void cli_plan_ask_header(const cli_plan_ask_t *ask, FILE *out)
{
    const trv_network_t wired = cli_network_on(&ask->torus, &ask->network.options);
    char shape[TRV_SHAPE_TEXT_MAX], network[CLI_NETWORK_TEXT_MAX], bytes[TRV_BYTES_TEXT_MAX], limits[256] = "";
    const trv_planner_constraints_t *constraints = &ask->constraints;
    fprintf(out, "%s%s%s on %s (%d rank%s)\n%s\n", trv_collective_shape(ask->collective)->title,
            ask->bytes ? " of " : "", ask->bytes ? trv_format_bytes(ask->bytes, bytes) : "",
            trv_shape_words(&wired, shape), ask->torus.ranks, ask->torus.ranks == 1 ? "" : "s",
            cli_network_format(&ask->network, network));
    if (constraints->consistent)
        add_limit(limits, sizeof limits, "the same bits on every rank");
    if (constraints->idempotent)
        add_limit(limits, sizeof limits, "contributions may count twice");
    if (constraints->memory_bytes)
        add_limit(limits, sizeof limits, "at most %s of scratch memory",
                  trv_format_bytes(constraints->memory_bytes, bytes));
    if (constraints->messages_per_port)
        add_limit(limits, sizeof limits, "at most %d messages by a port in a step", constraints->messages_per_port);
    fprintf(out, "%s%s\n", limits, limits[0] ? "\n" : "");
}

int cli_plan_why(const cli_plan_ask_t *ask)
{
    cli_output_t output;
    why_t *why = calloc(1, sizeof *why);
    if (!why)
        return trv_fail_memory();
    why->ask = ask;
    cli_progress_t progress;
    const trv_span_t all = cli_progress_begin(&progress, "planning", 1);
    why->span = trv_span(all, 0, 0.2);
    int rc = find_rows(why);
    why->span = trv_span(all, 0.2, 0.8);
    if (!rc && !is_dear(why))
        rc = find_wins(why);
    cli_progress_end(&progress);
    trv_planner_destroy(why->planner);
    if (!rc && !(rc = cli_output_begin(&output, ask->output))) {
        rc = ask->format == CLI_FORMAT_TABLE ? print_text(why, output.stream) : print_rows(why, output.stream);
        rc = cli_output_end(&output, rc);
    }
    free(why);
    return rc;
}
