/*
 * trivance cost: prints the results as tables, JSON and CSV.
 */
#include "cli/cost/cost.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/append.h"
#include "base/number.h"
#include "cli/shared/excess.h"
#include "formats/names.h"
#include "base/text/parse.h"
#include "cli/shared/tool.h"
#include "schedule/collective.h"

static bool covers(const cli_cost_entry_t *entry) { return trv_schedule_exactness(entry->schedule) == TRV_COVERS; }

/* The time with which an entry is compared: INFINITY if its schedule only covers and another one is exact. */
static double compared_ns(const cli_cost_result_t *result, const cli_cost_entry_t *entry, int size)
{
    bool left_out = false;
    for (int i = 0; i < result->entries && covers(entry); i++)
        left_out = left_out || !covers(&result->entry[i]);
    return left_out ? INFINITY : entry->time_ns[size];
}

static double time_min(const cli_cost_result_t *result, int size)
{
    double shortest = INFINITY;
    for (int c = 0; c < result->columns; c++)
        shortest = fmin(shortest, compared_ns(result, &result->entry[result->column[c].entry[size]], size));
    return shortest;
}

/* ---- Tables: two per torus --------------------------------------------------------------------------------------- */

static void print_factors(const cli_cost_result_t *result)
{
    static const cli_column_t column[] = {{NULL, "algorithm", false, 0},
                                          {NULL, "steps", true, 0},
                                          {NULL, "messages", true, 0},
                                          {NULL, "Lambda", true, 8},
                                          {NULL, "paper", true, 7},
                                          {NULL, "Delta", true, 8},
                                          {NULL, "paper", true, 7},
                                          {NULL, "Theta", true, 8},
                                          {NULL, "paper", true, 7},
                                          {NULL, "limit", true, 7},
                                          {0}};
    cli_table_t table;
    cli_table_begin(&table, stdout, CLI_FORMAT_TABLE, column);
    for (int i = 0; i < result->entries; i++) {
        const cli_cost_entry_t *e = &result->entry[i];
        bool known = false; /* the list may have both a family and its member */
        for (int j = 0; j < i; j++)
            known |= strcmp(trv_schedule_name(result->entry[j].schedule), trv_schedule_name(e->schedule)) == 0;
        if (known)
            continue;
        cli_cell_text(&table, trv_schedule_name(e->schedule));
        cli_cell_int(&table, e->cost.steps);
        cli_cell_int(&table, (int64_t)e->cost.messages);
        cli_cell_real(&table, e->cost.lambda, 3);
        cli_cell_real(&table, e->paper.lambda, 3);
        cli_cell_real(&table, e->cost.delta, 3);
        cli_cell_real(&table, e->paper.delta, 3);
        cli_cell_real(&table, e->cost.theta, 3);
        cli_cell_real(&table, e->paper.theta, 3);
        cli_cell_real(&table, e->paper.theta_limit, 3);
        cli_row_end(&table);
    }
    cli_table_end(&table);
}

static void print_plans(const cli_cost_options_t *options, const cli_cost_result_t *result)
{
    const char *name[CLI_COST_SIZES_MAX];
    for (int c = 0; c < result->columns; c++) {
        if (!result->column[c].choice || !result->column[c].choice->planned)
            continue;
        for (int i = 0; i < options->sizes; i++)
            name[i] = trv_schedule_name(result->entry[result->column[c].entry[i]].schedule);
        cli_print_planned("planned is ", name, options->bytes, options->sizes);
        puts("planned by simulation, as by `trivance plan`");
    }
}

/* The name of the schedule of a line at a size. */
static const char *name_at(const cli_cost_result_t *result, const cli_cost_column_t *line, int size)
{
    return trv_schedule_name(result->entry[line->entry[size]].schedule);
}

static void print_times(const cli_cost_options_t *options, const cli_cost_result_t *result)
{
    cli_column_t column[CLI_COST_SIZES_MAX + 2] = {{NULL, "time in us", false, 0}};
    char title[CLI_COST_SIZES_MAX][TRV_BYTES_TEXT_MAX + 2];
    bool families = false, any_covers = false;
    char label[TRV_ALGORITHM_NAME_MAX + 2], marked[CLI_MARKED_MAX];
    cli_excess_t excess = {.network = cli_network_on(trv_schedule_torus(result->entry[0].schedule),
                                                     &options->links.options),
                           .collective = trv_schedule_collective(result->entry[0].schedule),
                           .root = trv_schedule_root(result->entry[0].schedule)};
    cli_table_t table;
    /* Two characters remain free behind every number, for the marks. */
    for (int i = 0; i < options->sizes; i++) {
        trv_format_bytes(options->bytes[i], title[i]);
        strcat(title[i], "  ");
        column[i + 1] = (cli_column_t){NULL, title[i], true, 0};
    }
    cli_table_begin(&table, stdout, CLI_FORMAT_TABLE, column);
    for (int c = 0; c < result->columns; c++) {
        const cli_cost_column_t *line = &result->column[c];
        bool family = line->choice && line->choice->members > 1;
        families |= family;
        any_covers |= covers(&result->entry[line->entry[0]]);
        const char *shown = cli_covers_label(line->label, covers(&result->entry[line->entry[0]]), label);
        int excessive = 0; /* the first size whose schedule has too many messages */
        while (excessive < options->sizes && !cli_excess_of(&excess, name_at(result, line, excessive)))
            excessive++;
        if (line->choice && !line->choice->planned && excessive < options->sizes)
            shown = cli_excess_mark(&excess, shown, name_at(result, line, excessive), marked);
        cli_cell_text(&table, shown);
        for (int i = 0; i < options->sizes; i++) {
            char cell[64];
            const cli_cost_entry_t *e = &result->entry[line->entry[i]];
            bool best = compared_ns(result, e, i) <= time_min(result, i);
            trv_snprintf(cell, sizeof cell, "%.2f%s%.1s", e->time_ns[i] / 1e3, best ? "*" : " ",
                         family ? cli_member_letter(trv_schedule_name(e->schedule)) : " ");
            cli_cell_text(&table, cell);
        }
        cli_row_end(&table);
    }
    cli_table_end(&table);
    printf("by the Hockney model; * fastest%s\n", families ? "; " CLI_MEMBER_LETTERS : "");
    print_plans(options, result);
    cli_excess_explain(&excess, stdout);
    if (any_covers)
        puts(CLI_COVERS_REMARK);
}

/* The lower bound by the Hockney model, in which a step without bytes takes alpha. */
static int find_limit(const cli_cost_options_t *options, const trv_schedule_t *schedule, int size, trv_limit_t *limit)
{
    const trv_network_t on = cli_network_on(trv_schedule_torus(schedule), &options->links.options);
    return trv_limit_find(&on, &options->network, trv_schedule_collective(schedule), trv_schedule_root(schedule),
                          options->bytes[size], 0, limit);
}

static void print_limits(const cli_cost_options_t *options, const cli_cost_result_t *result)
{
    puts("\nA lower bound on " CLI_LIMITED ", and the ratio of the fastest time to it");
    for (int size = 0; size < options->sizes; size++) {
        char bytes[TRV_BYTES_TEXT_MAX];
        trv_limit_t limit;
        if (find_limit(options, result->entry[0].schedule, size, &limit))
            continue;
        printf("%s: ", trv_format_bytes(options->bytes[size], bytes));
        cli_limit_print(&limit, "the fastest", time_min(result, size), stdout);
    }
}

void cli_cost_print(const cli_cost_options_t *options, const trv_torus_t *torus, const cli_cost_result_t *result)
{
    const trv_network_t network = cli_network_on(torus, &options->links.options);
    char shape[TRV_SHAPE_TEXT_MAX], links[CLI_LINKS_TEXT_MAX];
    const char *collective = trv_collective_shape(options->collective)->title;
    if (options->path)
        collective = trv_collective_shape(trv_schedule_collective(result->entry[0].schedule))->title;
    cli_links_format(&options->links.links, "link ", links);
    trv_fprintf(stdout, "%s on %s (%d rank%s), links of %g Gb/s, %g us per step, %g ns per hop%s%s\n\n", collective,
                trv_shape_words(&network, shape), torus->ranks, torus->ranks == 1 ? "" : "s",
                options->network.bandwidth_bps / 1e9, options->network.alpha_ns / 1e3, options->network.hop_ns,
                links[0] ? ", " : "", links);
    print_factors(result);
    putchar('\n');
    print_times(options, result);
    if (options->limit)
        print_limits(options, result);
}

/* ---- JSON and CSV: one row per torus, algorithm and size --------------------------------------------------------- */

void cli_cost_begin_rows(const cli_cost_options_t *options, cli_table_t *table)
{
    char keys[CLI_KEYS_MAX] = "torus collective algorithm chosen_for steps messages lambda delta theta paper_lambda "
                              "paper_delta paper_theta paper_theta_limit bytes time_ns best";
    trv_append(keys, sizeof keys, "%s%s", options->limit ? CLI_LIMIT_KEYS : "",
               options->links.links.count > 0 ? " slow_links" : "");
    cli_table_begin_keys(table, stdout, options->format, keys);
}

void cli_cost_add_rows(const cli_cost_options_t *options, const cli_cost_result_t *result, cli_table_t *table)
{
    char text[TRV_TORUS_TEXT_MAX], links[CLI_LINKS_TEXT_MAX];
    cli_links_format(&options->links.links, "", links);
    for (int c = 0; c < result->columns; c++)
        for (int i = 0; i < options->sizes; i++) {
            const cli_cost_entry_t *e = &result->entry[result->column[c].entry[i]];
            cli_cell_text(table, trv_torus_format(trv_schedule_torus(e->schedule), text, sizeof text));
            cli_cell_text(table, trv_collective_shape(trv_schedule_collective(e->schedule))->name);
            cli_cell_text(table, trv_schedule_name(e->schedule));
            cli_cell_text(table, result->column[c].label);
            cli_cell_int(table, e->cost.steps);
            cli_cell_int(table, (int64_t)e->cost.messages);
            cli_cell_real(table, e->cost.lambda, 6);
            cli_cell_real(table, e->cost.delta, 6);
            cli_cell_real(table, e->cost.theta, 6);
            cli_cell_real(table, e->paper.lambda, 6);
            cli_cell_real(table, e->paper.delta, 6);
            cli_cell_real(table, e->paper.theta, 6);
            cli_cell_real(table, e->paper.theta_limit, 6);
            cli_cell_int(table, (int64_t)options->bytes[i]);
            cli_cell_real(table, e->time_ns[i], 3);
            cli_cell_bool(table, compared_ns(result, e, i) <= time_min(result, i));
            if (options->limit) {
                trv_limit_t limit = {.time_ns = NAN};
                (void)find_limit(options, e->schedule, i, &limit);
                cli_limit_cells(table, &limit, e->time_ns[i]);
            }
            if (links[0])
                cli_cell_text(table, links);
            cli_row_end(table);
        }
}
