/*
 * trivance plan --all-sizes: the crossover table. The planner runs for every power of two. If two successive choices
 * differ, bisection finds the sizes between them at which the choice changes, to a sixteenth of the smaller one.
 */
#include "cli/plan/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/compare.h>

#include "base/append.h"
#include "base/number.h"
#include "cli/shared/lower_bound.h"
#include "cli/shared/output.h"
#include "cli/shared/tool.h"
#include "base/text/parse.h"
#include "cli/shared/progress.h"
#include "cli/shared/select.h"
#include "base/error.h"
#include "planner/ranking.h"
#include "planner/timing.h"
#include "schedule/collective.h"

#define BYTES_MIN UINT64_C(32)
#define BYTES_MAX (UINT64_C(1) << 30)
#define OCTAVES   25
#define PARTS     16 /* resolution: steps per octave */
/* Without symmetry simulations are expensive, and algorithms that are this many times slower are not timed. */
#define SLOWDOWN_MAX 20

typedef struct range {
    uint64_t from, to; /* up to, but not including `to`; the last range includes it */
    uint64_t at;       /* the size for which times are compared: the power of two nearest to the middle, else `from` */
    trv_planner_choice_t choice;
    /* Time of each algorithm / time of the choice; INFINITY: above SLOWDOWN_MAX; NAN: unsupported. */
    double gain[CLI_CHOICES_MAX];
    trv_limit_t limit; /* with --limit */
} range_t;

typedef struct sizes {
    const cli_plan_query_t *query;
    trv_planner_t *planner;
    trv_span_t span; /* the part of the progress bar for the current work */
    int ranges;
    range_t range[OCTAVES * PARTS + 1];
} sizes_t;

/* ---- Ranges ------------------------------------------------------------------------------------------------------ */

static int choose_at(const sizes_t *sizes, uint64_t bytes, trv_planner_choice_t *choice)
{
    int found = trv_planner_rank(sizes->planner, bytes, 1, choice);
    return found < 0 ? found : TRV_OK;
}

static bool choice_equal(const trv_planner_choice_t *a, const trv_planner_choice_t *b)
{
    return strcmp(a->algorithm, b->algorithm) == 0;
}

static void range_begin(sizes_t *sizes, uint64_t from, const trv_planner_choice_t *choice)
{
    if (sizes->ranges > 0)
        sizes->range[sizes->ranges - 1].to = from;
    sizes->range[sizes->ranges++] = (range_t){.from = from, .to = BYTES_MAX, .choice = *choice};
}

/* Appends the ranges that begin above `low` and up to `high`. The last range so far has the choice of `low`. */
static int ranges_refine(sizes_t *sizes, uint64_t low, const trv_planner_choice_t *low_choice, uint64_t high,
                         const trv_planner_choice_t *high_choice, uint64_t step)
{
    trv_planner_choice_t choice;
    uint64_t middle = low + (high - low) / 2;
    if (choice_equal(low_choice, high_choice))
        return TRV_OK;
    if (high - low <= step) {
        range_begin(sizes, high, high_choice);
        return TRV_OK;
    }
    int rc = choose_at(sizes, middle, &choice);
    if (!rc)
        rc = ranges_refine(sizes, low, low_choice, middle, &choice, step);
    return rc ? rc : ranges_refine(sizes, middle, &choice, high, high_choice, step);
}

static int ranges_find(sizes_t *sizes)
{
    const trv_span_t all = sizes->span;
    int octave = 0;
    trv_planner_choice_t low, high;
    int rc = choose_at(sizes, BYTES_MIN, &low);
    if (rc)
        return rc;
    range_begin(sizes, BYTES_MIN, &low);
    for (uint64_t bytes = BYTES_MIN; bytes < BYTES_MAX && !rc; bytes *= 2) {
        sizes->span = trv_span(all, (double)octave++ / OCTAVES, 1.0 / OCTAVES);
        rc = choose_at(sizes, 2 * bytes, &high);
        if (!rc)
            rc = ranges_refine(sizes, bytes, &low, 2 * bytes, &high, bytes / PARTS);
        low = high;
    }
    return rc;
}

/* ---- Gains ------------------------------------------------------------------------------------------------------- */

static uint64_t range_middle(const range_t *range)
{
    double middle = (log2((double)range->from) + log2((double)range->to)) / 2;
    uint64_t best = range->from;
    for (uint64_t bytes = BYTES_MIN; bytes < range->to; bytes *= 2)
        if (bytes > range->from && fabs(log2((double)bytes) - middle) < fabs(log2((double)best) - middle))
            best = bytes;
    return best;
}

static int range_measure(sizes_t *sizes, range_t *range)
{
    range->at = range_middle(range);
    int rc = trv_planner_time(sizes->planner, range->at, range->choice.algorithm, &range->choice);
    if (!rc && sizes->query->limit)
        rc = trv_compare_limit(&sizes->query->torus, &sizes->query->network.options, sizes->query->collective,
                               sizes->query->root, range->at, &range->limit);
    return rc;
}

static int algorithms_count(void)
{
    return trv_algorithms_count() < CLI_CHOICES_MAX ? trv_algorithms_count() : CLI_CHOICES_MAX;
}

/* Times all algorithms in a range. */
static int range_compare(sizes_t *sizes, range_t *range)
{
    const bool expensive = trv_timing_ranks_differ(&sizes->query->torus, &sizes->query->network.options,
                                                   sizes->query->collective);
    const double time_max_ns = expensive ? SLOWDOWN_MAX * range->choice.time_ns : INFINITY;
    const int algorithms = algorithms_count();
    const trv_span_t all = sizes->span;
    for (int i = 0; i < algorithms; i++) {
        trv_planner_choice_t named;
        sizes->span = trv_span(all, (double)i / algorithms, 1.0 / algorithms);
        const int rc = trv_planner_time_within(sizes->planner, range->at, trv_algorithm_name(trv_algorithm_at(i)),
                                               time_max_ns, &named);
        if (rc && rc != TRV_ERR_UNSUPPORTED)
            return rc;
        range->gain[i] = rc ? NAN : named.time_ns / range->choice.time_ns;
    }
    return TRV_OK;
}

static int algorithm_index(const trv_algorithm_t *algorithm)
{
    int i = 0;
    while (trv_algorithm_at(i) != algorithm)
        i++;
    return i;
}

/* The gain over the fastest member of a family; NAN if no member is supported. */
static double range_gain(const range_t *range, const cli_choice_t *family)
{
    double gain = NAN;
    for (int i = 0; i < family->members; i++)
        gain = fmin(gain, range->gain[algorithm_index(family->member[i])]);
    return gain;
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static void add_size(cli_table_t *table, uint64_t bytes)
{
    char text[TRV_BYTES_TEXT_MAX];
    cli_cell_text(table, trv_format_bytes(bytes, text));
}

/* Selects the columns of the table: Trivance and the baselines, if supported. JSON and CSV have all algorithms. */
static int list_families(const sizes_t *sizes, int capacity, cli_selection_t *families)
{
    cli_selection_t all;
    int rc = cli_select_compared(&all);
    cli_selection_restrict(&all, 1U << sizes->query->collective);
    families->choices = 0;
    for (int i = 0; i < all.choices && !rc && families->choices < capacity; i++) {
        bool is_supported = false;
        for (int r = 0; r < sizes->ranges && !all.choice[i].planned; r++)
            is_supported |= !isnan(range_gain(&sizes->range[r], &all.choice[i]));
        if (is_supported)
            families->choice[families->choices++] = all.choice[i];
    }
    return rc;
}

static int print_text(const sizes_t *sizes, FILE *out)
{
    cli_column_t column[CLI_COLUMNS_MAX + 1] = {{NULL, "from", true, 0},  {NULL, "below", true, 0},
                                                {NULL, "plan", false, 0}, {NULL, "steps", true, 0},
                                                {NULL, "time", true, 0},  {NULL, "at", true, 0}};
    int columns = 6;
    const bool limit = sizes->query->limit;
    cli_selection_t families;
    cli_table_t table;
    if (limit)
        column[columns++] = (cli_column_t){NULL, "/ limit", true, 0};
    int rc = list_families(sizes, CLI_COLUMNS_MAX - columns, &families);
    if (rc)
        return rc;
    for (int i = 0; i < families.choices; i++)
        column[columns++] = (cli_column_t){NULL, families.choice[i].label, true, 0};
    cli_plan_query_header(sizes->query, out);
    cli_table_begin(&table, out, CLI_FORMAT_TABLE, column);
    for (int r = 0; r < sizes->ranges; r++) {
        const range_t *range = &sizes->range[r];
        char text[TRV_TIME_TEXT_MAX];
        add_size(&table, range->from);
        add_size(&table, range->to);
        cli_cell_text(&table, range->choice.algorithm);
        cli_cell_int(&table, range->choice.steps);
        cli_cell_text(&table, trv_format_time(range->choice.time_ns, trv_time_unit(range->choice.time_ns), text));
        add_size(&table, range->at);
        if (limit)
            cli_cell_real(&table, range->choice.time_ns / range->limit.time_ns, 2);
        for (int i = 0; i < families.choices; i++) {
            double gain = range_gain(range, &families.choice[i]);
            if (isinf(gain))
                snprintf(text, sizeof text, ">%dx", SLOWDOWN_MAX);
            else
                trv_snprintf(text, sizeof text, isnan(gain) ? "-" : "%.2fx", gain);
            cli_cell_text(&table, text);
        }
        cli_row_end(&table);
    }
    rc = cli_table_end(&table);
    fputs("\nx: time of the algorithm (of a family's fastest member) divided by the time of the plan\n", out);
    if (limit)
        fputs("/ limit: time of the plan divided by the lower bound on " CLI_LIMITED "\n", out);
    return rc;
}

static int print_rows(const sizes_t *sizes, FILE *out)
{
    char keys[CLI_KEYS_MAX] = "torus collective from_bytes to_bytes algorithm steps consistent bytes time_ns";
    char torus[TRV_TORUS_TEXT_MAX], links[CLI_LINKS_TEXT_MAX];
    const int algorithms = algorithms_count();
    cli_table_t table;
    for (int i = 0; i < algorithms; i++) {
        char *key = keys + strlen(keys);
        trv_append(keys, sizeof keys, " gain_%s", trv_algorithm_name(trv_algorithm_at(i)));
        while ((key = strchr(key, '-')) != NULL)
            *key = '_';
    }
    trv_torus_format(&sizes->query->torus, torus, sizeof torus);
    cli_links_format(&sizes->query->network.links, "", links);
    trv_append(keys, sizeof keys, "%s%s", sizes->query->limit ? CLI_LIMIT_KEYS : "", links[0] ? " slow_links" : "");
    cli_table_begin_keys(&table, out, sizes->query->format, keys);
    for (int r = 0; r < sizes->ranges; r++) {
        const range_t *range = &sizes->range[r];
        cli_cell_text(&table, torus);
        cli_cell_text(&table, trv_collective_shape(sizes->query->collective)->name);
        cli_cell_int(&table, (int64_t)range->from);
        cli_cell_int(&table, (int64_t)range->to);
        cli_cell_text(&table, range->choice.algorithm);
        cli_cell_int(&table, range->choice.steps);
        cli_cell_bool(&table, range->choice.consistent);
        cli_cell_int(&table, (int64_t)range->at);
        cli_cell_real(&table, range->choice.time_ns, 3);
        for (int i = 0; i < algorithms; i++)
            cli_cell_real(&table, range->gain[i], 4);
        if (sizes->query->limit)
            cli_limit_cells(&table, &range->limit, range->choice.time_ns);
        if (links[0])
            cli_cell_text(&table, links);
        cli_row_end(&table);
    }
    return cli_table_end(&table);
}

int cli_plan_sizes(const cli_plan_query_t *query)
{
    cli_output_t output;
    sizes_t *sizes = calloc(1, sizeof *sizes);
    if (!sizes)
        return trv_fail_memory();
    sizes->query = query;
    cli_progress_t progress;
    const trv_span_t all = cli_progress_begin(&progress, "planning", 1);
    const trv_simulate_options_t network = cli_network_reporting(&query->network.options, &sizes->span);
    sizes->span = trv_span(all, 0, 0.5);
    int rc = trv_planner_create(&sizes->planner, &query->torus, query->collective, query->root, &network,
                                &query->constraints);
    if (!rc)
        rc = cli_also_add(query->also, sizes->planner);
    if (!rc)
        rc = ranges_find(sizes);
    for (int r = 0; r < sizes->ranges && !rc; r++) {
        sizes->span = trv_span(all, 0.5 + 0.5 * r / sizes->ranges, 0.5 / sizes->ranges);
        rc = range_measure(sizes, &sizes->range[r]);
        if (!rc)
            rc = range_compare(sizes, &sizes->range[r]);
    }
    cli_progress_end(&progress);
    trv_planner_destroy(sizes->planner);
    if (!rc && !(rc = cli_output_begin(&output, query->output))) {
        rc = query->format == CLI_FORMAT_TABLE ? print_text(sizes, output.stream) : print_rows(sizes, output.stream);
        rc = cli_output_end(&output, rc);
    }
    free(sizes);
    return rc;
}
