/*
 * trivance cost: the costs of schedules, measured by routing every message, beside the paper's closed forms; and
 * completion times by the congestion-aware Hockney model. The paper's tables are in cli/shared/cost_paper.c.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/algorithms.h>
#include <trivance/cost.h>

#include "cli/subcommands.h"
#include "cli/shared/tool.h"
#include "cli/cost/cost.h"
#include "cli/shared/choose.h"
#include "cli/shared/cost_paper.h"
#include "cli/shared/input.h"
#include "cli/shared/network_options.h"
#include "cli/shared/progress.h"
#include "base/text/parse.h"
#include "cli/shared/table.h"
#include "base/error.h"
#include "cost/measure.h"
#include "formats/names.h"

enum {
    OPTION_BANDWIDTH = CLI_NO_LETTER,
    OPTION_ROOT,
    OPTION_ALPHA,
    OPTION_HOP,
    OPTION_UNCHECKED,
    OPTION_PAPER,
    OPTION_LIMIT
};

static const cli_option_t option[] =
    {{"algorithm", 'a', "LIST",
      "algorithms, with parameters if they have any, families or planned, separated by commas, or all (default); a "
      "family's time is that of its fastest member, planned is the choice of `trivance plan`",
      "ALGORITHM all"},
     {"collective", 'c', "C", CLI_COLLECTIVE_HELP, CLI_COLLECTIVE_WORDS},
     {"root", OPTION_ROOT, "R", CLI_ROOT_HELP, NULL},
     {"bytes", 'b', "LIST",
      "sizes of the vector, or ranges such as 1K:64M:x4 (default 32,1K,32K,1M,32M,128M); K, M, G, T are powers of 1024",
      NULL},
     {"bandwidth", OPTION_BANDWIDTH, "RATE",
      "bandwidth of a link in each direction (default 800Gb/s; a capital B is bytes)", NULL},
     {"alpha", OPTION_ALPHA, "TIME", "start-up time of every step (default 1.5us)", NULL},
     {"hop", OPTION_HOP, "TIME", "latency per hop of a step's longest message (default 0ns)", NULL},
     {"schedule", 's', "FILE", "use a schedule in the format trivance-schedule-1 instead (- is stdin)", "FILE"},
     {"unchecked", OPTION_UNCHECKED, NULL, CLI_UNCHECKED_HELP, NULL},
     {"paper", OPTION_PAPER, NULL, "print the paper's tables 1 and 2, recomputed from schedules", NULL},
     {"limit", OPTION_LIMIT, NULL, CLI_LIMIT_HELP, NULL},
     {"format", 'f', "F", "table (default), json or csv: one row per torus, algorithm and size", "table json csv"},
     CLI_OPTIONS_END};

#define MEASURED_READS "bytes bandwidth alpha hop limit format"

static const cli_mode_t mode[] = {
    {"paper", "--paper has its own tori, algorithms and sizes", "format", "--paper --format=csv"},
    {"schedule", CLI_FILE_ABOUT, MEASURED_READS " unchecked", "--schedule=nine.json"},
    {NULL, NULL, MEASURED_READS " TORUS algorithm collective root MORE", "27"},
};

const cli_command_t cli_cost_command = {
    .name = "cost",
    .summary = "steps, bytes, congestion and completion time",
    .usage = "TORUS… [OPTIONS]\n"
             "--schedule=FILE [OPTIONS]\n"
             "--paper",
    .about = "Prints steps, Lambda, Delta and Theta (the optimality factors of the paper's tables 1 and 2), measured "
             "by routing every message over the torus, beside the paper's closed forms if it has them; and the "
             "completion time per size by the congestion-aware Hockney model: steps * alpha + sum over the steps of "
             "the busiest link's bytes / bandwidth.",
    .option = option,
    .mode = mode,
    .more = cli_network_link_options,
    .repeated = CLI_NETWORK_REPEATED,
    .examples = "trivance cost 27 --algorithm=trivance-l,trivance-b,ring\n"
                "trivance cost 16x16x16 --bytes=32K,8M --bandwidth=1.6Tb/s --hop=200ns\n"
                "trivance cost 9 --collective=reduce --root=4 --bytes=64K\n",
};

static int measure(const cli_cost_options_t *options, trv_schedule_t *schedule, cli_cost_entry_t *entry)
{
    const trv_network_t on = cli_network_on(trv_schedule_torus(schedule), &options->links.options);
    memset(entry, 0, sizeof *entry);
    entry->schedule = schedule;
    /* The paper's closed forms hold only for tori without slow and cut links. */
    trv_algorithm_paper_cost(on.slow_links ? NULL : trv_algorithm_find(trv_schedule_name(schedule)), &on.torus,
                             &entry->paper);
    return trv_cost_sizes(schedule, &on, &options->network, options->bytes, options->sizes, options->span, &entry->cost,
                          entry->time_ns);
}

/* Finds the entry with this name from index `first` on; measures the schedule if there is none. */
static int find_entry(const cli_cost_options_t *options, const trv_torus_t *torus, const char *name, int first,
                      cli_cost_result_t *result, int *entry)
{
    const trv_network_t on = cli_network_on(torus, &options->links.options);
    trv_schedule_t *schedule;
    for (*entry = first; *entry < result->entries; ++*entry)
        if (strcmp(trv_schedule_name(result->entry[*entry].schedule), name) == 0)
            return TRV_OK;
    int rc = trv_schedule_create_on(&schedule, &on, name, options->collective, options->root);
    if (!rc && result->entries == (int)(sizeof result->entry / sizeof result->entry[0])) {
        trv_schedule_destroy(schedule);
        rc = trv_fail(TRV_ERR_ARGUMENT, "the list of algorithms is too long");
    }
    if (!rc && (rc = measure(options, schedule, &result->entry[result->entries])) != TRV_OK)
        trv_schedule_destroy(schedule);
    result->entries += !rc;
    return rc;
}

/* Measures the members of a family. Those that do not support the torus are left out. */
static int measure_members(const cli_cost_options_t *options, const trv_torus_t *torus, cli_cost_column_t *column,
                           cli_cost_result_t *result)
{
    int first = result->entries, entry, rc = TRV_OK;
    for (int i = 0; i < column->choice->members; i++) {
        rc = find_entry(options, torus, cli_member_name(column->choice, i), first, result, &entry);
        if (rc && rc != TRV_ERR_UNSUPPORTED)
            return rc;
    }
    for (int size = 0; size < options->sizes; size++) {
        column->entry[size] = first;
        for (int e = first + 1; e < result->entries; e++)
            if (result->entry[e].time_ns[size] < result->entry[column->entry[size]].time_ns[size])
                column->entry[size] = e;
    }
    return result->entries > first ? TRV_OK : rc;
}

/* Measures the plans of `trivance plan` for the paper's network, with the parameters that were given here. */
static int measure_plans(const cli_cost_options_t *options, const trv_torus_t *torus, cli_cost_column_t *column,
                         cli_cost_result_t *result)
{
    trv_simulate_options_t network = options->links.options;
    int first = result->entries, rc = TRV_OK;
    network.bandwidth_bps = options->network.bandwidth_bps;
    network.alpha_ns = options->network.alpha_ns;
    if (options->with_hop)
        cli_set_hop(&network, options->network.hop_ns);
    for (int size = 0; size < options->sizes && !rc; size++) {
        trv_span_t span = trv_span(options->span, (double)size / options->sizes, 1.0 / options->sizes);
        trv_planner_choice_t best;
        const trv_simulate_options_t reporting = cli_network_reporting(&network, &span);
        rc = trv_planner_best(torus, options->collective, options->root, options->bytes[size], &reporting, NULL, &best);
        if (!rc)
            rc = find_entry(options, torus, best.algorithm, first, result, &column->entry[size]);
    }
    return rc;
}

/* A choice without supported members is left out, unless it is the only one. */
static int measure_choice(const cli_cost_options_t *options, const trv_torus_t *torus, const cli_choice_t *choice,
                          cli_cost_result_t *result)
{
    cli_cost_column_t *column = &result->column[result->columns];
    *column = (cli_cost_column_t){.label = choice->label, .choice = choice};
    int rc = choice->planned ? measure_plans(options, torus, column, result)
                             : measure_members(options, torus, column, result);
    result->columns += !rc;
    return rc == TRV_ERR_UNSUPPORTED && !options->selection.single ? TRV_OK : rc;
}

static void clear_result(cli_cost_result_t *result)
{
    for (int i = 0; i < result->entries; i++) {
        trv_cost_clear(&result->entry[i].cost);
        trv_schedule_destroy(result->entry[i].schedule);
    }
    result->entries = result->columns = 0;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int cost_of_torus(cli_cost_options_t *options, const trv_torus_t *torus, cli_cost_result_t *result)
{
    const trv_span_t all = options->span;
    const double size = 1.0 / options->selection.choices;
    int rc = TRV_OK;
    for (int i = 0; i < options->selection.choices && !rc; i++) {
        options->span = trv_span(all, i * size, size);
        rc = measure_choice(options, torus, &options->selection.choice[i], result);
    }
    if (!rc && result->columns == 0)
        rc = trv_fail(TRV_ERR_UNSUPPORTED,
                      "no algorithm of the list supports the torus; `trivance list` shows which tori each supports");
    return rc;
}

static int cost_of_file(cli_cost_options_t *options, cli_cost_result_t *result)
{
    trv_schedule_file_t file;
    int rc = cli_read_schedule(options->command, options->path, options->unchecked, &file);
    if (rc)
        return rc;
    if (!options->with_bytes) {
        options->bytes[0] = file.vector_bytes;
        options->sizes = 1;
    }
    rc = cli_network_finish_file(&options->links, &file);
    if (rc) {
        trv_schedule_destroy(file.schedule);
        return rc;
    }
    result->entries = result->columns = 1;
    result->column[0] = (cli_cost_column_t){.label = trv_schedule_name(file.schedule)};
    return measure(options, file.schedule, &result->entry[0]);
}

static int run(cli_cost_options_t *options)
{
    static cli_cost_result_t result;
    cli_table_t table;
    bool text = options->format == CLI_FORMAT_TABLE;
    cli_progress_t progress;
    const int count = options->path ? 1 : options->tori.count;
    const trv_span_t all = cli_progress_begin(&progress, "cost", 1);
    int rc = TRV_OK;
    for (int t = 0; t < count && !rc; t++) {
        options->span = trv_span(all, (double)t / count, 1.0 / count);
        rc = options->path ? cost_of_file(options, &result) : cost_of_torus(options, &options->tori.torus[t], &result);
        cli_progress_pause(&progress);
        if (!rc && !text && t == 0)
            cli_cost_begin_rows(options, &table);
        if (!rc && text && t > 0)
            putchar('\n');
        if (!rc && text)
            cli_cost_print(options, trv_schedule_torus(result.entry[0].schedule), &result);
        else if (!rc)
            cli_cost_add_rows(options, &result, &table);
        cli_progress_name(&progress, "cost");
        clear_result(&result);
        if (rc && !text && t > 0)
            cli_table_end(&table);
    }
    cli_progress_end(&progress);
    if (!rc && !text)
        rc = cli_table_end(&table);
    return cli_finish(options->command, cli_memory_for(rc, "the messages of all ranks, whose routes are measured"));
}

static int read_option(void *context, int key)
{
    cli_cost_options_t *options = context;
    if (key >= CLI_NETWORK_OPTION)
        return cli_network_set(&options->links, cli_network_name(key - CLI_NETWORK_OPTION), optarg);
    switch (key) {
    case 'a': return cli_select(optarg, &options->selection);
    case 'c': return cli_parse_collective(optarg, &options->collective);
    case OPTION_ROOT: return cli_parse_root(optarg, &options->root);
    case 'b':
        options->with_bytes = true;
        return trv_parse_bytes_list(optarg, options->bytes, CLI_COST_SIZES_MAX, &options->sizes);
    case 's': options->path = optarg; return TRV_OK;
    case 'f': return cli_parse_format(optarg, &options->format);
    case OPTION_BANDWIDTH: return trv_parse_rate_bps(optarg, &options->network.bandwidth_bps);
    case OPTION_ALPHA: return trv_parse_latency_ns(optarg, &options->network.alpha_ns);
    case OPTION_HOP: options->with_hop = true; return trv_parse_latency_ns(optarg, &options->network.hop_ns);
    case OPTION_UNCHECKED: options->unchecked = true; return TRV_OK;
    case OPTION_LIMIT: options->limit = true; return TRV_OK;
    case OPTION_PAPER: options->paper = true; return TRV_OK;
    default: return TRV_ERR_ARGUMENT;
    }
}

int cli_cost(int argc, char **argv)
{
    static cli_cost_options_t options;
    int rc = cli_select("all", &options.selection);
    options.command = argv[0];
    options.network = (trv_hockney_t)TRV_HOCKNEY_PAPER;
    cli_network_init(&options.links);
    if (!rc)
        rc = trv_parse_bytes_list("32,1K,32K,1M,32M,128M", options.bytes, CLI_COST_SIZES_MAX, &options.sizes);
    if (!rc) {
        int code = cli_read_options(&cli_cost_command, argc, argv, read_option, &options);
        if (code >= 0)
            return code;
    }
    if (!rc)
        rc = cli_read_tori(argc, argv, optind, &options.tori);
    if (!rc)
        rc = cli_check_root(options.collective, options.root);
    if (rc)
        return cli_bad_last(argv[0]);
    if (options.paper)
        return cli_cost_paper(stdout, options.format) ? cli_bad_last(options.command) : CLI_OK;
    if (cli_finish_tori(&options.links, &options.tori))
        return cli_bad_last(argv[0]);
    cli_selection_restrict(&options.selection, 1U << options.collective);
    return run(&options);
}
