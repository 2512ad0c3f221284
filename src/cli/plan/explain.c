/*
 * trivance plan --why: the plans with the best times and the best named algorithms, the parts of their times, and the
 * networks on which each of them would be selected (other_networks.c).
 */
#include "cli/plan/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/compare.h>

#include "base/number.h"
#include "cli/shared/choose.h"
#include "cli/shared/lower_bound.h"
#include "cli/shared/output.h"
#include "cli/shared/tool.h"
#include "base/text/parse.h"
#include "cli/shared/progress.h"
#include "cli/shared/select.h"
#include "base/append.h"
#include "base/error.h"
#include "formats/names.h"
#include "planner/ranking.h"
#include "planner/timing.h"
#include "schedule/collective.h"

#define RANKED_MAX (8 * CLI_EXPLAINED_PLANS) /* maximum number of plans that are timed to find these */
#define ALIKE_MAX  3                         /* maximum number of these of one algorithm */
/* Simulations are expensive if ranks differ and there are more of them, or more bytes in all vectors together; for
 * trees, which send few messages, with the second number of ranks. */
#define EXPENSIVE_RANKS 16
#define EXPENSIVE_TREE  256
#define EXPENSIVE_BYTES (1 << 30)
#define SLOWDOWN_MAX    2 /* where they are, algorithms slower than the plan by more than this factor are left out */
#define ROWS_MAX        (CLI_EXPLAINED_MAX - CLI_ALSO_MAX)

/* ---- The rows ---------------------------------------------------------------------------------------------------- */

static void row_add(cli_explanation_t *analysis, const trv_planner_choice_t *choice)
{
    for (int i = 0; i < analysis->rows; i++)
        if (strcmp(analysis->row[i].choice.algorithm, choice->algorithm) == 0)
            return;
    const bool excess = cli_excess_of(&analysis->excess, choice->algorithm);
    const int first = excess ? 1 : 0; /* the plan remains the first row */
    int at = analysis->rows++;
    for (; at > first && analysis->row[at - 1].choice.time_ns > choice->time_ns; at--)
        analysis->row[at] = analysis->row[at - 1];
    analysis->row[at] = (cli_explained_t){.choice = *choice, .excess = excess};
}

/* Whether a row has the same times, so that it is the same schedule under another name, or its mirror image. */
static bool row_exists(const cli_explanation_t *analysis, const trv_planner_choice_t *choice)
{
    for (int i = 0; i < analysis->rows; i++)
        if (analysis->row[i].choice.steps == choice->steps &&
            fabs(analysis->row[i].choice.time_ns - choice->time_ns) < 1e-3 &&
            fabs(analysis->row[i].choice.hops_ns - choice->hops_ns) < 1e-3)
            return true;
    return false;
}

/* Whether simulations are expensive: where ranks differ every plan is simulated rank by rank, and hundreds of plans
 * take too long on large networks. */
static bool is_expensive(const cli_explanation_t *analysis)
{
    const cli_plan_query_t *query = analysis->query;
    const int ranks = query->torus.ranks;
    return trv_timing_ranks_differ(&query->torus, &query->network.options, query->collective) &&
           (ranks > (trv_collective_has_root(query->collective) ? EXPENSIVE_TREE : EXPENSIVE_RANKS) ||
            ranks * (double)query->bytes > EXPENSIVE_BYTES);
}

static bool has_alike_max(const cli_explanation_t *analysis, const char *name)
{
    int alike = 0;
    for (int i = 0; i < analysis->rows; i++)
        alike += trv_planner_same_algorithm(analysis->row[i].choice.algorithm, name);
    return alike >= ALIKE_MAX;
}

/* Adds the fastest member of every family; if simulations are expensive, only if it takes at most SLOWDOWN_MAX times
 * as long as the plan. */
static int add_families(cli_explanation_t *analysis)
{
    const double time_max_ns = is_expensive(analysis) && analysis->rows > 0
                                   ? SLOWDOWN_MAX * analysis->row[0].choice.time_ns
                                   : INFINITY;
    const int algorithms = trv_algorithms_count();
    const trv_span_t all = analysis->span;
    for (int i = 0; i < algorithms; i++) {
        const char *family = trv_algorithm_family(trv_algorithm_at(i));
        const trv_algorithm_t *member[TRV_FAMILY_MAX];
        trv_planner_choice_t best;
        if (trv_family_members(family, member) == 0 || member[0] != trv_algorithm_at(i))
            continue;
        analysis->span = trv_span(all, (double)i / algorithms, 1.0 / algorithms);
        const int rc = trv_planner_time_family(analysis->planner, analysis->query->bytes, family, time_max_ns, &best);
        if (rc && rc != TRV_ERR_UNSUPPORTED)
            return rc;
        if (!rc && isfinite(best.time_ns) && analysis->rows < ROWS_MAX)
            row_add(analysis, &best);
    }
    return TRV_OK;
}

/* Adds the plans with the best times. Few of the best are enough if they differ; timing more of them is more work. */
static int add_plans(cli_explanation_t *analysis)
{
    trv_planner_choice_t nearest[RANKED_MAX];
    int found, capacity = CLI_EXPLAINED_PLANS;
    do {
        capacity *= 2;
        analysis->rows = 0;
        found = trv_planner_rank(analysis->planner, analysis->query->bytes, capacity, nearest);
        for (int i = 0; i < found && analysis->rows < CLI_EXPLAINED_PLANS; i++)
            if (!row_exists(analysis, &nearest[i]) && !has_alike_max(analysis, nearest[i].algorithm))
                row_add(analysis, &nearest[i]);
    } while (found == capacity && analysis->rows < CLI_EXPLAINED_PLANS &&
             capacity < (is_expensive(analysis) ? RANKED_MAX / 2 : RANKED_MAX));
    return found < 0 ? found : TRV_OK;
}

/* Adds the schedules of --also, however slow they are. */
static int add_own(cli_explanation_t *analysis)
{
    const cli_also_t *also = analysis->query->also;
    trv_planner_choice_t own;
    int rc = TRV_OK;
    for (int i = 0; i < also->count && !rc; i++) {
        rc = trv_planner_time(analysis->planner, analysis->query->bytes, also->name[i], &own);
        if (!rc)
            row_add(analysis, &own);
        rc = rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc; /* it violates a constraint at this size */
    }
    return rc;
}

static int find_rows(cli_explanation_t *analysis)
{
    const trv_simulate_options_t network = cli_network_reporting(&analysis->query->network.options, &analysis->span);
    const trv_span_t all = analysis->span;
    analysis->span = trv_span(all, 0, 0.5);
    int rc = trv_planner_create(&analysis->planner, &analysis->query->torus, analysis->query->collective,
                                analysis->query->root, &network, &analysis->query->constraints);
    if (!rc)
        rc = cli_also_add(analysis->query->also, analysis->planner);
    if (!rc)
        rc = add_plans(analysis);
    analysis->span = trv_span(all, 0.5, 0.5);
    if (!rc)
        rc = add_families(analysis);
    return rc ? rc : add_own(analysis);
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static const char *const parameter_name[] =
    {[CLI_ALPHA] = "alpha", [CLI_BANDWIDTH] = "bandwidth", [CLI_LATENCY] = "link latency"};
static const char *const side_name[] = {[CLI_BELOW] = "below", [CLI_ABOVE] = "above", [CLI_AROUND] = "around"};

/* "800 Gb/s", "1.5us" */
static void format_value(int parameter, double value, char text[TRV_TIME_TEXT_MAX])
{
    const trv_time_unit_t *unit = trv_time_unit(value);
    if (parameter == CLI_BANDWIDTH)
        trv_snprintf(text, TRV_TIME_TEXT_MAX, "%g Gb/s", value / 1e9);
    else
        trv_snprintf(text, TRV_TIME_TEXT_MAX, "%g %s", value / unit->ns, unit->name);
}

static bool row_is_as_fast(const cli_explanation_t *analysis, const cli_explained_t *row)
{
    return !row->excess && row->choice.time_ns <= analysis->row[0].choice.time_ns * (1 + 1e-9);
}

static void row_print_wins(const cli_explanation_t *analysis, const cli_explained_t *row, FILE *out)
{
    char value[TRV_TIME_TEXT_MAX], now[TRV_TIME_TEXT_MAX];
    int wins = 0;
    for (int p = 0; p < CLI_PARAMETERS; p++) {
        if (row->win[p].side == CLI_NEVER)
            continue;
        format_value(p, row->win[p].value, value);
        format_value(p, cli_explained_value(analysis, p), now);
        if (wins++ == 0)
            fprintf(out, "%s would win with ", row->choice.algorithm);
        else
            fputs(", or ", out);
        fprintf(out, "%s %s %s (now %s)", parameter_name[p], side_name[row->win[p].side], value, now);
    }
    if (wins)
        fputc('\n', out);
}

static bool row_never_wins(const cli_explained_t *row)
{
    for (int p = 0; p < CLI_PARAMETERS; p++)
        if (row->win[p].side != CLI_NEVER)
            return false;
    return true;
}

/* Prints the rows that win on no network, except for those that are as fast as the plan. */
static void print_never_winning(const cli_explanation_t *analysis, FILE *out)
{
    int printed = 0;
    for (int i = 1; i < analysis->rows; i++)
        if (!analysis->row[i].excess && row_never_wins(&analysis->row[i]) &&
            !row_is_as_fast(analysis, &analysis->row[i]))
            fprintf(out, "%s%s",
                    printed++ ? ", " : "would win on none of these networks: ", analysis->row[i].choice.algorithm);
    if (printed)
        fputc('\n', out);
}

/* Prints the rows that tie with the plan, and why they are not chosen. */
static void print_ties(const cli_explanation_t *analysis, FILE *out)
{
    const trv_planner_choice_t *plan = &analysis->row[0].choice;
    for (int i = 1; i < analysis->rows; i++) {
        const trv_planner_choice_t *other = &analysis->row[i].choice;
        if (!row_is_as_fast(analysis, &analysis->row[i]))
            continue;
        fprintf(out, "tie: %s takes the same time; %s is chosen because it ", other->algorithm, plan->algorithm);
        if (plan->steps < other->steps)
            fprintf(out, "has fewer steps (%d, not %d)\n", plan->steps, other->steps);
        else
            fputs("comes first in the planner's list\n", out);
    }
}

static void add_time(cli_table_t *table, double time_ns, const trv_time_unit_t *unit)
{
    char text[TRV_TIME_TEXT_MAX];
    cli_cell_text(table, trv_format_time(time_ns, unit, text));
}

static void add_total_time(cli_table_t *table, const trv_planner_choice_t *choice, const trv_time_unit_t *unit)
{
    char text[TRV_TIME_TEXT_MAX], marked[TRV_TIME_TEXT_MAX + 1];
    snprintf(marked, sizeof marked, "%s%s", choice->approximate ? "~" : "",
             trv_format_time(choice->time_ns, unit, text));
    cli_cell_text(table, marked);
}

/* Prints how the plan deals with slow and cut links, and with a network that does not forward. */
static void print_links(const cli_explanation_t *analysis, FILE *out)
{
    const char *name = analysis->row[0].choice.algorithm, *at = trv_algorithm_find(name) ? strchr(name, '@') : NULL;
    const trv_network_t on = cli_network_on(&analysis->query->torus, &analysis->query->network.options);
    cli_links_explain(&analysis->query->network.links, &on, analysis->query->network.options.routes,
                      at ? trv_strtod(at + 1, NULL) : INFINITY, out);
    if (on.no_forwarding)
        fputs("the network does not forward: only schedules whose messages all cross one link are compared; in "
              "relayed:NAME ranks pass on the messages of NAME\n",
              out);
    if (analysis->query->network.links.count > 0 || on.no_forwarding)
        fputc('\n', out);
}

static int print_text(const cli_explanation_t *analysis, FILE *out)
{
    static const cli_column_t column[] = {{NULL, "plan", false, 0},  {NULL, "steps", true, 0},
                                          {NULL, "time", true, 0},   {NULL, "alpha", true, 0},
                                          {NULL, "hops", true, 0},   {NULL, "transmission", true, 0},
                                          {NULL, "slower", true, 0}, {0}};
    const trv_planner_choice_t *best = &analysis->row[0].choice;
    const trv_time_unit_t *unit = trv_time_unit(best->time_ns);
    char text[TRV_TIME_TEXT_MAX], bytes[TRV_BYTES_TEXT_MAX];
    char name[CLI_MARKED_MAX];
    cli_excess_t excess = analysis->excess;
    bool approximate = false;
    cli_table_t table;
    cli_plan_query_header(analysis->query, out);
    print_links(analysis, out);
    cli_table_begin(&table, out, CLI_FORMAT_TABLE, column);
    for (int i = 0; i < analysis->rows; i++) {
        const trv_planner_choice_t *choice = &analysis->row[i].choice;
        cli_cell_text(&table, cli_excess_mark(&excess, choice->algorithm, choice->algorithm, name));
        cli_cell_int(&table, choice->steps);
        add_total_time(&table, choice, unit);
        approximate = approximate || choice->approximate;
        add_time(&table, choice->alpha_ns, unit);
        add_time(&table, choice->hops_ns, unit);
        add_time(&table, choice->transmission_ns, unit);
        const double ratio = choice->time_ns / best->time_ns;
        trv_snprintf(text, sizeof text, ratio < 2 ? "%+.1f %%" : "%.1fx", ratio < 2 ? 100 * (ratio - 1) : ratio);
        cli_cell_text(&table, i == 0 ? "chosen" : row_is_as_fast(analysis, &analysis->row[i]) ? "as fast" : text);
        cli_row_end(&table);
    }
    int rc = cli_table_end(&table);
    cli_excess_explain(&excess, out);
    if (approximate)
        fprintf(out, "~: %s\n", CLI_APPROXIMATE);
    if (analysis->rows > 1)
        fputc('\n', out);
    for (int i = 1; i < analysis->rows; i++)
        row_print_wins(analysis, &analysis->row[i], out);
    print_ties(analysis, out);
    if (!is_expensive(analysis))
        print_never_winning(analysis, out);
    if (analysis->rows > 1 && is_expensive(analysis))
        fprintf(out, "not tried: other networks, because planning %s for %d ranks takes long\n",
                trv_format_bytes(analysis->query->bytes, bytes), analysis->query->torus.ranks);
    else if (analysis->rows > 1)
        trv_fprintf(out,
                    "tried: alpha, bandwidth and link latency, one at a time, at %d values from 1/%g to %g times the "
                    "given one\n",
                    2 * CLI_VALUES, CLI_FACTOR_MAX, CLI_FACTOR_MAX);
    if (!rc && analysis->query->limit) {
        fputc('\n', out);
        cli_limit_print(&analysis->limit, "this plan", best->time_ns, out);
    }
    return rc;
}

static int print_rows(const cli_explanation_t *analysis, FILE *out)
{
    char keys[CLI_KEYS_MAX] =
        "torus collective bytes algorithm steps consistent chosen time_ns approximate alpha_part_ns "
        "hops_part_ns transmission_part_ns wins_alpha alpha_ns wins_bandwidth bandwidth_bps "
        "wins_link_latency link_latency_ns";
    char torus[TRV_TORUS_TEXT_MAX], links[CLI_LINKS_TEXT_MAX];
    cli_table_t table;
    trv_torus_format(&analysis->query->torus, torus, sizeof torus);
    cli_links_format(&analysis->query->network.links, "", links);
    trv_append(keys, sizeof keys, "%s%s", analysis->query->limit ? CLI_LIMIT_KEYS : "", links[0] ? " slow_links" : "");
    cli_table_begin_keys(&table, out, analysis->query->format, keys);
    for (int i = 0; i < analysis->rows; i++) {
        const cli_explained_t *row = &analysis->row[i];
        cli_cell_text(&table, torus);
        cli_cell_text(&table, trv_collective_shape(analysis->query->collective)->name);
        cli_cell_int(&table, (int64_t)analysis->query->bytes);
        cli_cell_text(&table, row->choice.algorithm);
        cli_cell_int(&table, row->choice.steps);
        cli_cell_bool(&table, row->choice.consistent);
        cli_cell_bool(&table, i == 0);
        cli_cell_real(&table, row->choice.time_ns, 3);
        cli_cell_bool(&table, row->choice.approximate);
        cli_cell_real(&table, row->choice.alpha_ns, 3);
        cli_cell_real(&table, row->choice.hops_ns, 3);
        cli_cell_real(&table, row->choice.transmission_ns, 3);
        for (int p = 0; p < CLI_PARAMETERS; p++) {
            bool wins = row->win[p].side != CLI_NEVER;
            wins ? cli_cell_text(&table, side_name[row->win[p].side]) : cli_cell_none(&table);
            cli_cell_real(&table, wins ? row->win[p].value : NAN, p == CLI_BANDWIDTH ? 0 : 3);
        }
        if (analysis->query->limit)
            cli_limit_cells(&table, &analysis->limit, row->choice.time_ns);
        if (links[0])
            cli_cell_text(&table, links);
        cli_row_end(&table);
    }
    return cli_table_end(&table);
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
        trv_append(limits, sizeof limits, ", identical bits on all ranks");
    if (constraints->idempotent)
        trv_append(limits, sizeof limits, ", contributions may count twice");
    if (constraints->memory_bytes)
        trv_append(limits, sizeof limits, ", at most %s of scratch memory",
                   trv_format_bytes(constraints->memory_bytes, bytes));
    fprintf(out, "%s%s\n", limits[0] ? limits + 2 : "", limits[0] ? "\n" : "");
}

int cli_plan_explain(const cli_plan_query_t *query)
{
    cli_output_t output;
    cli_explanation_t *analysis = calloc(1, sizeof *analysis);
    if (!analysis)
        return trv_fail_memory();
    analysis->query = query;
    analysis->excess = (cli_excess_t){.network = cli_network_on(&query->torus, &query->network.options),
                                      .collective = query->collective,
                                      .root = query->root};
    cli_progress_t progress;
    const trv_span_t all = cli_progress_begin(&progress, "planning", 1);
    analysis->span = trv_span(all, 0, 0.2);
    int rc = find_rows(analysis);
    analysis->span = trv_span(all, 0.2, 0.8);
    if (!rc && !is_expensive(analysis))
        rc = cli_explain_other_networks(analysis);
    cli_progress_end(&progress);
    trv_planner_destroy(analysis->planner);
    if (!rc && query->limit)
        rc = trv_compare_limit(&query->torus, &query->network.options, query->collective, query->root, query->bytes,
                               &analysis->limit);
    if (!rc && !(rc = cli_output_begin(&output, query->output))) {
        rc = query->format == CLI_FORMAT_TABLE ? print_text(analysis, output.stream)
                                               : print_rows(analysis, output.stream);
        rc = cli_output_end(&output, rc);
    }
    free(analysis);
    return rc;
}
