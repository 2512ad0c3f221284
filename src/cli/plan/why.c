/*
 * trivance plan --why: the plans that came near and the best named algorithms, what their times are made of, and on
 * which network each of them would have been chosen.
 *
 * The parts of a time are in proportion to alpha, to the latency of hops, and to 1 / bandwidth. So for each of the
 * three, when it is multiplied by s, the time of a row is s * part + rest: a line, and a row is the fastest of all where
 * its line lies below the others, which is an interval of s. At its end that lies nearer to the network as it is the
 * planner is asked again: either it confirms the row, or it names a plan that must be beaten, too.
 */
#include "cli/plan/ask.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tool/output.h"
#include "tool/tool.h"
#include "text/parse.h"
#include "tool/progress.h"
#include "tool/select.h"
#include "common/error.h"

#define NEAREST    6  /* plans that are shown, no two of them alike */
#define RIVALS     24 /* plans that a row must beat, at first … */
#define RIVALS_MAX 96 /* … and when others have turned up */
#define TRIES      24 /* questions to the planner about one row and parameter */
#define ROWS_MAX   (NEAREST + CLI_CHOICES_MAX)
#define FACTOR_MAX 100. /* a network that is so many times better or worse is no answer */

enum { ALPHA, BANDWIDTH, HOPS, PARTS };

/* The row wins where a parameter lies below or above a value, or only around it. */
typedef enum side { NEVER, BELOW, ABOVE, AROUND } side_t;

typedef struct row {
    trv_planned_t plan;
    struct {
        side_t side;
        double value; /* of the parameter: ns, bits per second, ns; the planner chooses the row there */
    } win[PARTS];
} row_t;

typedef struct why {
    const cli_plan_ask_t *ask;
    trv_planner_t *planner;
    int rows, rivals;
    row_t row[ROWS_MAX];
    trv_planned_t rival[RIVALS_MAX];
} why_t;

/* ---- The rows ---------------------------------------------------------------------------------------------------- */

static void add_row(why_t *why, const trv_planned_t *plan)
{
    for (int i = 0; i < why->rows; i++)
        if (strcmp(why->row[i].plan.algorithm, plan->algorithm) == 0)
            return;
    int at = why->rows++;
    for (; at > 0 && why->row[at - 1].plan.time_ns > plan->time_ns; at--)
        why->row[at] = why->row[at - 1];
    why->row[at] = (row_t){.plan = *plan};
}

/* Whether a row has the same parts: another name of the same thing, or of its mirror image. */
static bool has_equal(const why_t *why, const trv_planned_t *plan)
{
    for (int i = 0; i < why->rows; i++)
        if (why->row[i].plan.steps == plan->steps && fabs(why->row[i].plan.time_ns - plan->time_ns) < 1e-3 &&
            fabs(why->row[i].plan.hops_ns - plan->hops_ns) < 1e-3)
            return true;
    return false;
}

/* The fastest member of every family. */
static int add_named(why_t *why)
{
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const char *family = trv_algorithm_family(trv_algorithm_at(i));
        trv_planned_t best = {.time_ns = INFINITY}, plan;
        bool known = false;
        for (int j = 0; j < trv_algorithms_count(); j++) {
            if (strcmp(trv_algorithm_family(trv_algorithm_at(j)), family) != 0)
                continue;
            known |= j < i;
            if (known)
                break;
            int rc = trv_planner_time(why->planner, why->ask->bytes, trv_algorithm_name(trv_algorithm_at(j)), &plan);
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
    int rc = trv_planner_create(&why->planner, &why->ask->torus, why->ask->collective, &why->ask->network.options,
                                &why->ask->constraints);
    int plans = rc ? rc : trv_planner_rank(why->planner, why->ask->bytes, RIVALS, why->rival);
    if (plans < 0)
        return plans;
    why->rivals = plans;
    for (int i = 0; i < plans && why->rows < NEAREST; i++)
        if (!has_equal(why, &why->rival[i]))
            add_row(why, &why->rival[i]);
    return add_named(why);
}

/* ---- Where a row would win --------------------------------------------------------------------------------------- */

static double part_of(const trv_planned_t *plan, int part)
{
    return part == ALPHA ? plan->alpha_ns : part == HOPS ? plan->hops_ns : plan->transmission_ns;
}

/* Narrows the interval of s in which `plan` takes less than `rival`. */
static void narrow(const trv_planned_t *plan, const trv_planned_t *rival, int part, double *low, double *high)
{
    double slope = part_of(plan, part) - part_of(rival, part);
    double rest = (rival->time_ns - part_of(rival, part)) - (plan->time_ns - part_of(plan, part));
    if (strcmp(plan->algorithm, rival->algorithm) == 0)
        return;
    if (fabs(slope) < 1e-9 * plan->time_ns) { /* parallel, or the same line */
        if (rest < -1e-9 * plan->time_ns)
            *high = 0;
    } else if (slope > 0) {
        *high = fmin(*high, rest / slope);
    } else {
        *low = fmax(*low, rest / slope);
    }
}

/* What a parameter is now. The latency of hops: of the link and both sides of a router. */
static double value_of(const trv_simulate_options_t *network, int part)
{
    return part == ALPHA       ? network->alpha_ns
           : part == BANDWIDTH ? network->bandwidth_bps
                               : network->link_latency_ns + network->router_in_ns + network->router_out_ns;
}

/* The network with the parameter at `value`; what goes with it changes in proportion. */
static trv_simulate_options_t network_with(const trv_simulate_options_t *now, int part, double value)
{
    trv_simulate_options_t network = *now;
    double factor = value / value_of(now, part);
    if (part == ALPHA) {
        network.alpha_ns = value;
    } else if (part == BANDWIDTH) {
        network.bandwidth_bps = value;
        network.nic_bandwidth_bps *= factor;
    } else {
        network.link_latency_ns *= factor;
        network.host_latency_ns *= factor;
        network.router_in_ns *= factor;
        network.router_out_ns *= factor;
    }
    return network;
}

/* Two digits, away from 1 in the direction that is meant. */
static double round_to(double value, bool up)
{
    double unit = pow(10, floor(log10(value)) - 1);
    return unit * (up ? ceil(value / unit) : floor(value / unit));
}

/* The interval of s in which the row beats all that are known. */
static void find_interval(const why_t *why, const row_t *row, int part, double *low, double *high)
{
    *low = 0;
    *high = INFINITY;
    for (int i = 0; i < why->rivals; i++)
        narrow(&row->plan, &why->rival[i], part, low, high);
    for (int i = 0; i < why->rows; i++)
        narrow(&row->plan, &why->row[i].plan, part, low, high);
}

/* Makes the plan one that a row must beat; *is_new: it was not known. */
static int add_rival(why_t *why, const char *algorithm, bool *is_new)
{
    *is_new = why->rivals < RIVALS_MAX;
    for (int i = 0; i < why->rivals; i++)
        *is_new &= strcmp(why->rival[i].algorithm, algorithm) != 0;
    return *is_new ? trv_planner_time(why->planner, why->ask->bytes, algorithm, &why->rival[why->rivals++]) : TRV_OK;
}

/* What the split leaves out moves the end of the interval a little: where the planner prefers a plan that is known, the
 * next question is from further inside. */
static int find_win(why_t *why, row_t *row, int part)
{
    double low, high, inside = 1, now = value_of(&why->ask->network.options, part);
    for (int tries = 0; now > 0 && tries < TRIES; tries++) {
        find_interval(why, row, part, &low, &high);
        bool more = low > 1; /* the part of the time must grow */
        double s = more ? low * inside : high / inside;
        if (s < low || s > high || s < 1 / FACTOR_MAX || s > FACTOR_MAX)
            return TRV_OK;
        bool open = more ? high > FACTOR_MAX : low < 1 / FACTOR_MAX, up = part == BANDWIDTH ? !more : more, is_new;
        double value = round_to(part == BANDWIDTH ? now / s : now * s, up);
        trv_simulate_options_t network = network_with(&why->ask->network.options, part, value);
        trv_planned_t chosen;
        int rc = trv_plan_best(&why->ask->torus, why->ask->collective, why->ask->bytes, &network,
                               &why->ask->constraints, &chosen);
        if (!rc && strcmp(chosen.algorithm, row->plan.algorithm) == 0) {
            row->win[part].side = !open ? AROUND : up ? ABOVE : BELOW;
            row->win[part].value = value;
            return TRV_OK;
        }
        if (!rc)
            rc = add_rival(why, chosen.algorithm, &is_new);
        if (rc)
            return rc;
        inside *= is_new ? 1 : 1.08;
    }
    return TRV_OK;
}

static int find_wins(why_t *why)
{
    cli_progress_t progress;
    int rc = TRV_OK;
    cli_progress_begin(&progress, "planning", why->rows);
    for (int i = 1; i < why->rows && !rc; i++) {
        for (int part = 0; part < PARTS && !rc; part++)
            rc = find_win(why, &why->row[i], part);
        cli_progress_step(&progress, 1);
    }
    cli_progress_end(&progress);
    return rc;
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static const char *const part_name[] = {[ALPHA] = "alpha", [BANDWIDTH] = "bandwidth", [HOPS] = "hop latency"};
static const char *const side_name[] = {[BELOW] = "below", [ABOVE] = "above", [AROUND] = "around"};

/* "800 Gb/s", "1.5us" */
static void format_value(int part, double value, char text[TRV_TIME_TEXT_MAX])
{
    const trv_time_unit_t *unit = trv_time_unit(value);
    if (part == BANDWIDTH)
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
    for (int part = 0; part < PARTS; part++) {
        if (row->win[part].side == NEVER)
            continue;
        format_value(part, row->win[part].value, value);
        format_value(part, value_of(&why->ask->network.options, part), now);
        if (wins++ == 0)
            fprintf(out, "%s would win with ", row->plan.algorithm);
        else
            fputs(", or ", out);
        fprintf(out, "%s %s %s (now %s)", part_name[part], side_name[row->win[part].side], value, now);
    }
    if (wins)
        fputc('\n', out);
}

static bool never_wins(const row_t *row)
{
    for (int part = 0; part < PARTS; part++)
        if (row->win[part].side != NEVER)
            return false;
    return true;
}

/* Those that win nowhere: the ones that are as fast, or the others. */
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

static int print_text(const why_t *why, FILE *out)
{
    static const cli_column_t column[] = {{NULL, "plan", false, 0}, {NULL, "steps", true, 0},
                                          {NULL, "time", true, 0},  {NULL, "alpha", true, 0},
                                          {NULL, "hops", true, 0},  {NULL, "transmission", true, 0},
                                          {NULL, "slower", true, 0}};
    const trv_planned_t *best = &why->row[0].plan;
    const trv_time_unit_t *unit = trv_time_unit(best->time_ns);
    char text[TRV_TIME_TEXT_MAX];
    cli_table_t table;
    cli_plan_ask_header(why->ask, out);
    cli_table_begin(&table, out, CLI_FORMAT_TABLE, column, sizeof column / sizeof column[0],
                    out == stdout && cli_stdout_is_terminal());
    for (int i = 0; i < why->rows; i++) {
        const trv_planned_t *plan = &why->row[i].plan;
        cli_cell_text(&table, plan->algorithm);
        cli_cell_int(&table, plan->steps);
        add_time(&table, plan->time_ns, unit);
        add_time(&table, plan->alpha_ns, unit);
        add_time(&table, plan->hops_ns, unit);
        add_time(&table, plan->transmission_ns, unit);
        snprintf(text, sizeof text, "+%.1f %%", 100 * (plan->time_ns / best->time_ns - 1));
        cli_cell_text(&table, i == 0 ? "chosen" : is_as_fast(why, &why->row[i]) ? "as fast" : text);
        cli_row_end(&table);
    }
    int rc = cli_table_end(&table);
    if (why->rows > 1)
        fputc('\n', out);
    for (int i = 1; i < why->rows; i++)
        print_wins(why, &why->row[i], out);
    print_losers(why, true, "as fast: ", out);
    print_losers(why, false, "at no alpha, bandwidth or hop latency would win: ", out);
    return rc;
}

static int print_rows(const why_t *why, FILE *out)
{
    static const cli_column_t column[] = {{"torus", NULL, false, 0},
                                          {"collective", NULL, false, 0},
                                          {"bytes", NULL, true, 0},
                                          {"algorithm", NULL, false, 0},
                                          {"steps", NULL, true, 0},
                                          {"consistent", NULL, false, 0},
                                          {"chosen", NULL, false, 0},
                                          {"time_ns", NULL, true, 0},
                                          {"alpha_part_ns", NULL, true, 0},
                                          {"hops_part_ns", NULL, true, 0},
                                          {"transmission_part_ns", NULL, true, 0},
                                          {"wins_alpha", NULL, false, 0},
                                          {"alpha_ns", NULL, true, 0},
                                          {"wins_bandwidth", NULL, false, 0},
                                          {"bandwidth_bps", NULL, true, 0},
                                          {"wins_hop_latency", NULL, false, 0},
                                          {"hop_latency_ns", NULL, true, 0}};
    char torus[TRV_TORUS_TEXT_MAX];
    cli_table_t table;
    trv_torus_format(&why->ask->torus, torus, sizeof torus);
    cli_table_begin(&table, out, why->ask->format, column, sizeof column / sizeof column[0], false);
    for (int i = 0; i < why->rows; i++) {
        const row_t *row = &why->row[i];
        cli_cell_text(&table, torus);
        cli_cell_text(&table, cli_collective_name(why->ask->collective));
        cli_cell_int(&table, (int64_t)why->ask->bytes);
        cli_cell_text(&table, row->plan.algorithm);
        cli_cell_int(&table, row->plan.steps);
        cli_cell_bool(&table, row->plan.consistent);
        cli_cell_bool(&table, i == 0);
        cli_cell_real(&table, row->plan.time_ns, 3);
        cli_cell_real(&table, row->plan.alpha_ns, 3);
        cli_cell_real(&table, row->plan.hops_ns, 3);
        cli_cell_real(&table, row->plan.transmission_ns, 3);
        for (int part = 0; part < PARTS; part++) {
            bool wins = row->win[part].side != NEVER;
            wins ? cli_cell_text(&table, side_name[row->win[part].side]) : cli_cell_none(&table);
            cli_cell_real(&table, wins ? row->win[part].value : NAN, part == BANDWIDTH ? 0 : 3);
        }
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
    char torus[TRV_TORUS_TEXT_MAX], network[CLI_NETWORK_TEXT_MAX], bytes[TRV_BYTES_TEXT_MAX], limits[256] = "";
    const trv_plan_constraints_t *constraints = &ask->constraints;
    fprintf(out, "%s%s%s on %s %s (%d rank%s)\n%s\n", cli_collective_title(ask->collective), ask->bytes ? " of " : "",
            ask->bytes ? trv_format_bytes(ask->bytes, bytes) : "", ask->torus.dims == 1 ? "a ring of" : "the torus",
            trv_torus_format(&ask->torus, torus, sizeof torus), ask->torus.ranks, ask->torus.ranks == 1 ? "" : "s",
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
    int rc = find_rows(why);
    if (!rc)
        rc = find_wins(why);
    trv_planner_destroy(why->planner);
    if (!rc && !(rc = cli_output_begin(&output, ask->output))) {
        rc = ask->format == CLI_FORMAT_TABLE ? print_text(why, output.stream) : print_rows(why, output.stream);
        rc = cli_output_end(&output, rc);
    }
    free(why);
    return rc;
}
