/*
 * trivance cost: what schedules cost, measured by routing every message, beside the paper's closed forms; and
 * completion times by the congestion-aware Hockney model. The paper's tables are in cost_paper.c.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cost_paper.h"
#include "cli/input.h"
#include "cli/parse.h"
#include "cli/select.h"
#include "cli/table.h"
#include "common/error.h"

static const char help[] =
    "Usage: trivance cost TORUS… [OPTIONS]\n"
    "       trivance cost --schedule=FILE [OPTIONS]\n"
    "       trivance cost --paper\n\n"
    "Steps, Lambda, Delta and Theta (the optimality factors of the paper's tables 1 and 2), measured by\n"
    "routing every message over the torus, beside the paper's closed forms where it has them; and the\n"
    "completion time per size by the congestion-aware Hockney model: steps * alpha + sum over the steps\n"
    "of the busiest link's bytes / bandwidth.\n\n"
    "Options:\n"
    "  -a, --algorithm=LIST    names or families with commas between, or all (default); a family's time\n"
    "                          is that of its better member\n"
    "  -c, --collective=C      allreduce (default), reduce-scatter or allgather\n"
    "  -b, --bytes=LIST        sizes of the vector (default 32,1K,32K,1M,32M,128M); K, M, G are powers of\n"
    "                          1024\n"
    "      --bandwidth=RATE    of a link in each direction (default 800Gb/s; a capital B is bytes)\n"
    "      --alpha=TIME        paid at the start of every step (default 1.5us)\n"
    "      --hop=TIME          per hop of a step's longest message (default 0ns)\n"
    "  -s, --schedule=FILE     a schedule in the format trivance-schedule-1 instead (- is stdin)\n"
    "      --paper             the paper's tables 1 and 2, recomputed from schedules\n"
    "  -f, --format=F          table (default), json or csv: one row per torus, algorithm and size\n"
    "  -h, --help              this text\n\n"
    "Examples:\n"
    "  trivance cost 27 --algorithm=trivance-l,trivance-b,ring\n"
    "  trivance cost 16x16x16 --bytes=32K,8M --bandwidth=1.6Tb/s --hop=200ns\n";

#define SIZES_MAX 32

typedef struct options {
    const char *command, *path;
    bool paper, with_bytes;
    cli_selection_t selection;
    trv_collective_t collective;
    uint64_t bytes[SIZES_MAX];
    int sizes;
    trv_network_t network;
    cli_format_t format;
    cli_tori_t tori;
} options_t;

typedef struct entry { /* one schedule of a torus */
    trv_schedule_t *schedule;
    trv_cost_t cost;
    trv_paper_cost_t paper;
    double time_ns[SIZES_MAX];
} entry_t;

typedef struct column { /* one line of the user's list: an algorithm, or the members of a family */
    const char *label;
    int first, count; /* entries */
} column_t;

typedef struct result {
    entry_t entry[2 * CLI_CHOICES_MAX];
    column_t column[CLI_CHOICES_MAX];
    int entries, columns;
} result_t;

static int measure(const options_t *options, trv_schedule_t *schedule, entry_t *entry)
{
    memset(entry, 0, sizeof *entry);
    entry->schedule = schedule;
    int rc = trv_cost_measure(schedule, &entry->cost);
    trv_cost_paper(trv_schedule_name(schedule), trv_schedule_torus(schedule), &entry->paper);
    for (int i = 0; i < options->sizes && !rc; i++)
        rc = trv_cost_time_ns(schedule, &options->network, options->bytes[i], &entry->time_ns[i]);
    return rc;
}

/* Members that do not take the torus are left out; a choice of which nothing is left is an error if it is the only one.
 */
static int measure_choice(const options_t *options, const trv_torus_t *torus, const cli_choice_t *choice,
                          result_t *result)
{
    column_t *column = &result->column[result->columns];
    int rc = TRV_OK;
    *column = (column_t){choice->label, result->entries, 0};
    for (int i = 0; i < choice->members; i++) {
        trv_schedule_t *schedule;
        rc = trv_schedule_create(&schedule, torus, trv_algorithm_name(choice->member[i]), options->collective);
        if (rc == TRV_ERR_UNSUPPORTED)
            continue;
        if (!rc && result->entries == 2 * CLI_CHOICES_MAX) {
            trv_schedule_destroy(schedule);
            rc = trv_fail(TRV_ERR_ARGUMENT, "the list of algorithms is too long");
        }
        if (rc)
            return rc;
        rc = measure(options, schedule, &result->entry[result->entries++]);
        if (rc)
            return rc;
        column->count++;
    }
    result->columns += column->count > 0;
    return column->count || (!options->selection.single && rc == TRV_ERR_UNSUPPORTED) ? TRV_OK : rc;
}

static void clear_result(result_t *result)
{
    for (int i = 0; i < result->entries; i++) {
        trv_cost_clear(&result->entry[i].cost);
        trv_schedule_destroy(result->entry[i].schedule);
    }
    result->entries = result->columns = 0;
}

/* The entry of a column that is fastest at a size. */
static int best_of(const result_t *result, const column_t *column, int size)
{
    int best = column->first;
    for (int i = 1; i < column->count; i++)
        if (result->entry[column->first + i].time_ns[size] < result->entry[best].time_ns[size])
            best = column->first + i;
    return best;
}

static double least_time(const result_t *result, int size)
{
    double least = INFINITY;
    for (int c = 0; c < result->columns; c++)
        least = fmin(least, result->entry[best_of(result, &result->column[c], size)].time_ns[size]);
    return least;
}

/* ---- For people: two tables per torus ---------------------------------------------------------------------------- */

static void print_factors(const result_t *result)
{
    static const cli_column_t column[] = {
        {NULL, "algorithm", false, 0}, {NULL, "steps", true, 0}, {NULL, "messages", true, 0},
        {NULL, "Lambda", true, 8},     {NULL, "paper", true, 7}, {NULL, "Delta", true, 8},
        {NULL, "paper", true, 7},      {NULL, "Theta", true, 8}, {NULL, "paper", true, 7},
        {NULL, "limit", true, 7}};
    cli_table_t table;
    cli_table_begin(&table, stdout, CLI_FORMAT_TABLE, column, sizeof column / sizeof column[0],
                    cli_stdout_is_terminal());
    for (int i = 0; i < result->entries; i++) {
        const entry_t *e = &result->entry[i];
        bool known = false; /* a family and its member may both be in the list */
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

static void print_times(const options_t *options, const result_t *result)
{
    cli_column_t column[SIZES_MAX + 1] = {{NULL, "time in us", false, 0}};
    char title[SIZES_MAX][CLI_BYTES_TEXT_MAX + 2];
    bool families = false;
    cli_table_t table;
    /* Two characters stay free behind every number for the marks. */
    for (int i = 0; i < options->sizes; i++) {
        cli_format_bytes(options->bytes[i], title[i]);
        strcat(title[i], "  ");
        column[i + 1] = (cli_column_t){NULL, title[i], true, 0};
    }
    cli_table_begin(&table, stdout, CLI_FORMAT_TABLE, column, options->sizes + 1, cli_stdout_is_terminal());
    for (int c = 0; c < result->columns; c++) {
        const column_t *line = &result->column[c];
        bool family = strcmp(line->label, trv_schedule_name(result->entry[line->first].schedule)) != 0;
        families |= family;
        cli_cell_text(&table, line->label);
        for (int i = 0; i < options->sizes; i++) {
            char cell[64];
            const entry_t *e = &result->entry[best_of(result, line, i)];
            const char *name = trv_schedule_name(e->schedule);
            bool best = e->time_ns[i] <= least_time(result, i);
            snprintf(cell, sizeof cell, "%.2f%s%s", e->time_ns[i] / 1e3, best ? "*" : " ",
                     family ? name + strlen(name) - 1 : " ");
            cli_cell_text(&table, cell);
        }
        cli_row_end(&table);
    }
    cli_table_end(&table);
    printf("* fastest%s\n", families ? "; l, b: the member of the family that it is" : "");
}

static void print_result(const options_t *options, const trv_torus_t *torus, const result_t *result)
{
    char text[TRV_TORUS_TEXT_MAX];
    const char *collective = cli_collective_title(options->collective);
    if (options->path)
        collective = cli_collective_title(trv_schedule_collective(result->entry[0].schedule));
    printf("%s on %s %s (%d rank%s), links of %g Gb/s, %g us per step, %g ns per hop\n\n", collective,
           torus->dims == 1 ? "a ring of" : "the torus", trv_torus_format(torus, text, sizeof text), torus->ranks,
           torus->ranks == 1 ? "" : "s", options->network.bandwidth_bps / 1e9, options->network.alpha_ns / 1e3,
           options->network.hop_ns);
    print_factors(result);
    putchar('\n');
    print_times(options, result);
}

/* ---- For programs: one row per torus, algorithm and size --------------------------------------------------------- */

static void begin_rows(const options_t *options, cli_table_t *table)
{
    static const cli_column_t column[] = {
        {"torus", NULL, false, 0},        {"collective", NULL, false, 0},  {"algorithm", NULL, false, 0},
        {"chosen_for", NULL, false, 0},   {"steps", NULL, true, 0},        {"messages", NULL, true, 0},
        {"lambda", NULL, true, 0},        {"delta", NULL, true, 0},        {"theta", NULL, true, 0},
        {"paper_lambda", NULL, true, 0},  {"paper_delta", NULL, true, 0},  {"paper_theta", NULL, true, 0},
        {"paper_theta_limit", NULL, true, 0}, {"bytes", NULL, true, 0},    {"time_ns", NULL, true, 0},
        {"best", NULL, false, 0}};
    cli_table_begin(table, stdout, options->format, column, sizeof column / sizeof column[0], false);
}

static void add_rows(const options_t *options, const result_t *result, cli_table_t *table)
{
    char text[TRV_TORUS_TEXT_MAX];
    for (int c = 0; c < result->columns; c++)
        for (int i = 0; i < options->sizes; i++) {
            const entry_t *e = &result->entry[best_of(result, &result->column[c], i)];
            cli_cell_text(table, trv_torus_format(trv_schedule_torus(e->schedule), text, sizeof text));
            cli_cell_text(table, cli_collective_name(trv_schedule_collective(e->schedule)));
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
            cli_cell_bool(table, e->time_ns[i] <= least_time(result, i));
            cli_row_end(table);
        }
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int cost_of_torus(const options_t *options, const trv_torus_t *torus, result_t *result)
{
    int rc = TRV_OK;
    for (int i = 0; i < options->selection.choices && !rc; i++)
        rc = measure_choice(options, torus, &options->selection.choice[i], result);
    if (!rc && result->columns == 0)
        rc = trv_fail(TRV_ERR_UNSUPPORTED,
                      "no algorithm of the list can serve the torus; `trivance list` says what each takes");
    return rc;
}

static int cost_of_file(options_t *options, result_t *result)
{
    trv_schedule_file_t file;
    int rc = cli_read_schedule(options->command, options->path, &file);
    if (rc)
        return rc;
    if (!options->with_bytes) {
        options->bytes[0] = file.vector_bytes;
        options->sizes = 1;
    }
    result->entries = result->columns = 1;
    result->column[0] = (column_t){trv_schedule_name(file.schedule), 0, 1};
    return measure(options, file.schedule, &result->entry[0]);
}

static int run(options_t *options)
{
    static result_t result;
    cli_table_t table;
    bool text = options->format == CLI_FORMAT_TABLE;
    int rc = TRV_OK, count = options->path ? 1 : options->tori.count;
    for (int t = 0; t < count && !rc; t++) {
        rc = options->path ? cost_of_file(options, &result) : cost_of_torus(options, &options->tori.torus[t], &result);
        if (!rc && !text && t == 0)
            begin_rows(options, &table);
        if (!rc && text && t > 0)
            putchar('\n');
        if (!rc && text)
            print_result(options, trv_schedule_torus(result.entry[0].schedule), &result);
        else if (!rc)
            add_rows(options, &result, &table);
        clear_result(&result);
        if (rc && !text && t > 0)
            cli_table_end(&table);
    }
    if (!rc && !text)
        rc = cli_table_end(&table);
    return rc ? cli_bad_last(options->command) : CLI_OK;
}

enum { OPTION_BANDWIDTH = 256, OPTION_ALPHA, OPTION_HOP, OPTION_PAPER };

static int read_option(options_t *options, int option)
{
    switch (option) {
    case 'a': return cli_select(optarg, &options->selection);
    case 'c': return cli_parse_collective(optarg, &options->collective);
    case 'b':
        options->with_bytes = true;
        return cli_parse_bytes_list(optarg, options->bytes, SIZES_MAX, &options->sizes);
    case 's': options->path = optarg; return TRV_OK;
    case 'f': return cli_parse_format(optarg, &options->format);
    case OPTION_BANDWIDTH: return cli_parse_rate_bps(optarg, &options->network.bandwidth_bps);
    case OPTION_ALPHA: return cli_parse_time_ns(optarg, &options->network.alpha_ns);
    case OPTION_HOP: return cli_parse_time_ns(optarg, &options->network.hop_ns);
    case OPTION_PAPER: options->paper = true; return TRV_OK;
    default: return TRV_ERR_ARGUMENT;
    }
}

int cli_cost(int argc, char **argv)
{
    static const struct option longs[] = {
        {"algorithm", required_argument, NULL, 'a'},  {"collective", required_argument, NULL, 'c'},
        {"bytes", required_argument, NULL, 'b'},      {"schedule", required_argument, NULL, 's'},
        {"format", required_argument, NULL, 'f'},     {"bandwidth", required_argument, NULL, OPTION_BANDWIDTH},
        {"alpha", required_argument, NULL, OPTION_ALPHA}, {"hop", required_argument, NULL, OPTION_HOP},
        {"paper", no_argument, NULL, OPTION_PAPER},   {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    static options_t options;
    int option, rc = cli_select("all", &options.selection);
    options.command = argv[0];
    options.network = (trv_network_t)TRV_NETWORK_PAPER;
    if (!rc)
        rc = cli_parse_bytes_list("32,1K,32K,1M,32M,128M", options.bytes, SIZES_MAX, &options.sizes);
    while (!rc && (option = cli_option(argc, argv, ":a:c:b:s:f:h", longs)) != -1) {
        if (option == '?')
            return CLI_BAD;
        if (option == 'h') {
            fputs(help, stdout);
            return CLI_OK;
        }
        rc = read_option(&options, option);
    }
    if (!rc)
        rc = cli_read_tori(argc, argv, optind, &options.tori);
    if (rc)
        return cli_bad_last(argv[0]);
    if (options.paper && (options.path || options.tori.count))
        return cli_bad(argv[0], "--paper has tori of its own; give it without a torus and without --schedule");
    if (options.paper)
        return cli_cost_paper(stdout, options.format) ? cli_bad_last(options.command) : CLI_OK;
    if (!options.path == !options.tori.count)
        return cli_bad(argv[0], "give either a torus or --schedule=FILE, for example `trivance cost 27`");
    return run(&options);
}
