/*
 * trivance plan: a schedule step by step, as text, as a picture (SVG) or as a file (JSON).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trivance/compare.h>

#include "cli/subcommands.h"
#include "cli/shared/output.h"
#include "cli/shared/progress.h"
#include "cli/shared/tool.h"
#include "cli/shared/input.h"
#include "cli/shared/lower_bound.h"
#include "cli/shared/option_words.h"
#include "base/text/parse.h"
#include "cli/plan/plan.h"
#include "cli/plan/query.h"
#include "cli/shared/choose.h"
#include "base/error.h"
#include "cost/measure.h"
#include "planner/timing.h"
#include "schedule/collective.h"

enum {
    OPTION_ROOT = CLI_NO_LETTER,
    OPTION_STREAM,
    OPTION_UNCHECKED,
    OPTION_ALL_SIZES,
    OPTION_WHY,
    OPTION_NODES,
    OPTION_ALSO,
    OPTION_LIMIT,
    OPTION_CONSISTENT,
    OPTION_IDEMPOTENT,
    OPTION_MEMORY
};

static const cli_option_t option[] =
    {{"algorithm", 'a', "A",
      "planned (default), an algorithm, with parameters if it has any (hybrid:4x8), or a family: the member that is "
      "fastest for the size",
      "ALGORITHM"},
     {"collective", 'c', "C", CLI_COLLECTIVE_HELP, CLI_COLLECTIVE_WORDS},
     {"root", OPTION_ROOT, "R", CLI_ROOT_HELP, NULL},
     {"bytes", 'b', "M",
      "size of the vector, for reduce-scatter and allgather of all blocks together (default 64K, or that of the file); "
      "K, M, G, T are powers of 1024",
      NULL},
     {"rank", 'r', "R",
      "print the messages of rank R and its program: sends, receives, reductions, registers; all: with --format=svg, "
      "draw the messages of all ranks of a torus (default: of the rank in the middle)",
      "all"},
     {"stream", OPTION_STREAM, "S", "show only this stream", NULL},
     {"schedule", 's', "FILE", "use a schedule in the format trivance-schedule-1 instead (- is stdin)", "FILE"},
     {"unchecked", OPTION_UNCHECKED, NULL, CLI_UNCHECKED_HELP, NULL},
     {"all-sizes", OPTION_ALL_SIZES, NULL,
      "print the plan for every size from 32 B to 1 GiB, and how much slower other algorithms are", NULL},
     {"why", OPTION_WHY, NULL,
      "print the plans with the best times, the parts of their times, and the networks on which each would be selected",
      NULL},
     {"nodes", OPTION_NODES, "LIST",
      "print the best plans for a job on these nodes only (0-9,16-25,32-40), and the order of its ranks on them", NULL},
     {"also", OPTION_ALSO, "FILES",
      "consider these schedules, too: files in the format trivance-schedule-1, separated by commas, which are "
      "verified first",
      "FILE"},
     {"limit", OPTION_LIMIT, NULL, CLI_LIMIT_HELP, NULL},
     {"format", 'f', "F",
      "text (default), svg (a picture) or json (the format trivance-schedule-1); of --all-sizes, --why and --nodes "
      "table, json or csv",
      "text svg json table csv"},
     {"output", 'o', "FILE", "write there instead of to stdout; the file appears when it is complete", "FILE"},
     {NULL, 0, NULL, "Constraints on plans", NULL},
     {"consistent", OPTION_CONSISTENT, NULL, "identical bits on all ranks for floating point", NULL},
     {"idempotent", OPTION_IDEMPOTENT, NULL, "contributions may count twice, as for max, min, and, or", NULL},
     {"memory", OPTION_MEMORY, "BYTES", "maximum scratch memory per rank", NULL},
     CLI_OPTIONS_END};

#define PLANNER_READS "TORUS MORE collective root consistent idempotent memory format output"
#define SHOWN_READS   "bytes rank stream limit format output MORE"

static const cli_mode_t mode[] = {
    {"nodes", "--nodes selects plans for some nodes of a torus", PLANNER_READS " bytes", "8x8 --nodes=0-9"},
    {"all-sizes", "--all-sizes selects the plans for all sizes on a torus", PLANNER_READS " limit also",
     "8x8 --all-sizes"},
    {"why", "--why explains the plan for one size on a torus", PLANNER_READS " bytes limit also",
     "8x8 --why --bytes=1K"},
    {"schedule", CLI_FILE_ABOUT, SHOWN_READS " unchecked", "--schedule=nine.json"},
    {NULL, NULL, SHOWN_READS " TORUS algorithm collective root also consistent idempotent memory", "9"},
};

const cli_command_t cli_plan_command = {
    .name = "plan",
    .summary = "a schedule step by step, as text, picture (SVG) or file (JSON)",
    .usage = "TORUS [OPTIONS]\n"
             "--schedule=FILE [OPTIONS]\n"
             "TORUS --all-sizes | --why | --nodes=LIST [OPTIONS]",
    .about = "Prints and draws a schedule: for each step the messages with their source, destination, port, distance "
             "and blocks, and how many of them share the busiest link. Text shows the messages of one rank (of a long "
             "schedule, those of the first steps) and a picture. The schedule is the fastest for the torus, the size "
             "and the network (planned), or that of the named algorithm.\n\n"
             "With --all-sizes it prints the plan for every size, with --why the reasons for a plan, with --nodes the "
             "plans for a part of the torus.",
    .option = option,
    .mode = mode,
    .more = cli_network_plan_options,
    .repeated = CLI_NETWORK_REPEATED,
    .refused = cli_network_refused,
    .examples = "trivance plan 9\n"
                "trivance plan 9x9 --algorithm=trivance-b --format=svg -o plan.svg\n"
                "trivance plan 8 --algorithm=swing-b --rank=3\n"
                "trivance plan 4x4 --algorithm=star:l:1.0/0.1/-1.0_2.1/0.2/2.-1\n"
                "trivance plan 16x16 --all-sizes --bandwidth=200Gb/s\n"
                "trivance plan 8x8 --bytes=128K --why --consistent\n"
                "trivance plan 16x16 --nodes=0-9,16-25,32-40 --bytes=32\n"
                "trivance plan 8x8 --also=mine.json\n"
                "trivance plan 8x8 --collective=broadcast --root=3 --bytes=1M --limit\n",
};

typedef enum plan_format { TEXT, SVG, JSON } plan_format_t;

typedef struct options {
    const char *nodes, *command, *schedule, *also_list, *output, *rank, *stream, *format_name;
    bool all_sizes, why, limit, named, unchecked;
    cli_selection_t selection;
    trv_collective_t collective;
    int root;
    uint64_t bytes; /* 0: not given */
    plan_format_t format;
    cli_network_t network;
    trv_planner_constraints_t constraints;
    bool constrained;
    cli_tori_t tori;
    cli_also_t also;
} options_t;

#define DEFAULT_BYTES (64 << 10)

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int write_json(const cli_shown_t *shown, trv_span_t span, FILE *out)
{
    const trv_network_t network = cli_network_on(trv_schedule_torus(shown->schedule), shown->network);
    return trv_schedule_write(shown->schedule, &network, shown->vector_bytes, trv_span_callback, &span, out);
}

static int write_limit(const cli_shown_t *shown, FILE *out)
{
    trv_limit_t limit;
    int rc = trv_compare_limit(trv_schedule_torus(shown->schedule), shown->network,
                               trv_schedule_collective(shown->schedule), trv_schedule_root(shown->schedule),
                               shown->vector_bytes, &limit);
    if (rc)
        return rc;
    fputc('\n', out);
    cli_limit_print(&limit, "this plan", shown->time.ns, out);
    return TRV_OK;
}

static int write_plan(const options_t *options, const cli_shown_t *shown)
{
    cli_output_t output;
    int rc = cli_output_begin(&output, options->output);
    if (rc)
        return rc;
    switch (options->format) {
    case TEXT:
        rc = cli_plan_text(shown, output.stream);
        if (!rc && options->limit)
            rc = write_limit(shown, output.stream);
        break;
    case SVG: rc = cli_plan_svg(shown, output.stream); break;
    case JSON: rc = write_json(shown, output.all, output.stream); break;
    }
    return cli_output_end(&output, rc);
}

static int plan_measure(const options_t *options, cli_shown_t *shown)
{
    int rc = TRV_OK;
    shown->stream = -1;
    if (options->stream)
        rc = trv_parse_int(options->stream, "--stream", 0, trv_schedule_streams(shown->schedule) - 1, &shown->stream);
    if (rc)
        return rc;
    if (isnan(shown->time.ns) && cli_check_routes(shown->schedule, shown->network) == TRV_ERR_UNSUPPORTED)
        cli_warn(shown->command, "%s; the schedule is shown nevertheless", trv_last_error());
    cli_progress_t progress;
    trv_span_t all = cli_progress_begin(&progress, "measuring", 1);
    trv_span_t timing = trv_span(all, 0, 0.5);
    /* The text of one rank's messages does not require a simulation. */
    const bool is_timed = options->format == SVG || (options->format == TEXT && shown->rank < 0);
    if (is_timed && isnan(shown->time.ns)) {
        const trv_simulate_options_t network = cli_network_reporting(shown->network, &timing);
        rc = trv_timing_find(shown->schedule, &network, shown->vector_bytes, &shown->time.ns, &shown->time.approximate);
    }
    if (rc != TRV_ERR_CANCELLED) /* a time that cannot be simulated is omitted */
        rc = trv_cost_sizes(shown->schedule, NULL, NULL, NULL, 0, trv_span(all, 0.5, 0.5), &shown->cost, NULL);
    cli_progress_end(&progress);
    return rc;
}

/* Checks that are possible before anything is planned or simulated. */
static int plan_check(const options_t *options, const trv_torus_t *torus, cli_shown_t *shown)
{
    int rc = TRV_OK;
    shown->rank = -1;
    shown->all_ranks = options->rank && strcmp(options->rank, "all") == 0;
    if (shown->all_ranks && options->format == TEXT)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "--rank=all requires --format=svg; text shows a single rank from 0 to %d, for example --rank=0",
                        torus->ranks - 1);
    if (options->rank && !shown->all_ranks)
        rc = trv_parse_int(options->rank, "--rank", 0, torus->ranks - 1, &shown->rank);
    if (rc)
        return rc;
    if (options->format != TEXT && options->limit)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "a schedule as svg or json has no --limit; use text, or --why --format=json, for example "
                        "`trivance plan 8x64 --why --limit --format=json`");
    if (options->format == JSON && (options->rank || options->stream))
        return trv_fail(TRV_ERR_ARGUMENT, "--rank and --stream are for text and svg, because a JSON schedule has all "
                                          "ranks and streams; leave them out");
    return options->format == SVG ? cli_plan_svg_check(shown, torus) : TRV_OK;
}

static int plan_file(options_t *options, cli_shown_t *shown)
{
    trv_schedule_file_t file;
    int rc = cli_read_schedule(options->command, options->schedule, options->unchecked, &file);
    if (rc)
        return rc;
    shown->schedule = file.schedule;
    shown->has_blocks = file.has_blocks;
    shown->vector_bytes = options->bytes ? options->bytes : file.vector_bytes;
    if (options->format == JSON)
        rc = cli_require_blocks(&file, options->schedule, "it has no JSON schedule; use --format=text or svg");
    if (!rc)
        rc = cli_network_finish_file(&options->network, &file);
    return rc ? rc : plan_check(options, trv_schedule_torus(file.schedule), shown);
}

/* Plans with the schedules of --also as candidates. */
static int plan_also(options_t *options, cli_shown_t *shown)
{
    const trv_torus_t *torus = &options->tori.torus[0];
    const trv_network_t on = cli_network_on(torus, shown->network);
    cli_progress_t progress;
    trv_span_t all = cli_progress_begin(&progress, "planning", 1);
    const trv_simulate_options_t network = cli_network_reporting(shown->network, &all);
    trv_planner_choice_t best;
    trv_planner_t *planner;
    int rc = trv_planner_create(&planner, torus, options->collective, options->root, &network, &options->constraints);
    if (!rc)
        rc = cli_also_add(&options->also, planner);
    if (!rc)
        rc = trv_planner_rank(planner, shown->vector_bytes, 1, &best);
    cli_progress_end(&progress);
    trv_planner_destroy(planner);
    if (rc < 0)
        return rc;
    shown->time = (cli_time_t){.ns = best.time_ns, .approximate = best.approximate};
    const int own = cli_also_find(&options->also, best.algorithm);
    if (own < 0)
        return trv_schedule_create_on(&shown->schedule, &on, best.algorithm, options->collective, options->root);
    shown->own = options->also.name[own];
    shown->schedule = options->also.file[own].schedule;
    options->also.file[own].schedule = NULL; /* `shown` owns it */
    return TRV_OK;
}

static int plan_torus(options_t *options, cli_shown_t *shown)
{
    const trv_torus_t *torus = &options->tori.torus[0];
    const cli_choice_t *choice = &options->selection.choice[0];
    int rc = cli_network_finish(&options->network, torus);
    shown->vector_bytes = options->bytes ? options->bytes : DEFAULT_BYTES;
    if (!rc)
        rc = plan_check(options, torus, shown);
    if (!rc && options->also.count > 0)
        rc = plan_also(options, shown);
    else if (!rc)
        rc = cli_choose(choice, torus, options->collective, options->root, shown->network, &options->constraints,
                        shown->vector_bytes, &shown->schedule, &shown->time);
    if (cli_is_several(choice))
        shown->chosen_for = choice->label;
    return rc;
}

static int plan_show(options_t *options)
{
    cli_shown_t shown = {.command = options->command,
                         .has_blocks = true,
                         .network = &options->network.options,
                         .time = {.ns = NAN}};
    int rc = options->schedule ? plan_file(options, &shown) : plan_torus(options, &shown);
    if (!rc)
        rc = plan_measure(options, &shown);
    if (!rc)
        rc = write_plan(options, &shown);
    trv_cost_clear(&shown.cost);
    trv_schedule_destroy(shown.schedule);
    return rc;
}

static int read_format(const char *text, plan_format_t *format)
{
    const int index = cli_words_find("text svg json", text, "format", " for a schedule");
    if (index < 0)
        return trv_fail(index, "--format: %s (csv is for --all-sizes, --why and --nodes)", trv_last_error());
    *format = (plan_format_t)index;
    return TRV_OK;
}

/* Whether a row of the network is cut in two: then its nodes are planned as a set, unless the options are about a
 * single schedule of the network (an algorithm, a format, a rank, a stream, the limit). */
static bool is_divided(const options_t *options)
{
    static cli_network_t network;
    if (options->schedule || options->also_list || options->named || options->format_name || options->rank ||
        options->stream || options->limit || options->tori.count != 1)
        return false;
    network = options->network;
    if (cli_network_finish(&network, &options->tori.torus[0]))
        return false;
    const trv_network_t on = cli_network_on(&options->tori.torus[0], &network.options);
    return !trv_collective_has_root(options->collective) && trv_network_check(&on) == TRV_ERR_UNSUPPORTED;
}

/* Runs --all-sizes, --why or --nodes, or plans the nodes of a network of which a row is cut in two. */
static int plan_query(const options_t *options)
{
    cli_plan_query_t query = {.command = options->command,
                              .torus = options->tori.torus[0],
                              .collective = options->collective,
                              .root = options->root,
                              .network = options->network,
                              .constraints = options->constraints,
                              .also = &options->also,
                              .limit = options->limit,
                              .output = options->output};
    int rc = options->format_name ? cli_parse_format(options->format_name, &query.format) : TRV_OK;
    rc = rc ? trv_fail(rc, "--format: %s", trv_last_error()) : cli_network_finish(&query.network, &query.torus);
    if (rc == TRV_ERR_UNSUPPORTED && !options->all_sizes && !options->why)
        rc = TRV_OK; /* cut links divide the network: some of its nodes may still be planned */
    if (!rc && !options->all_sizes)
        query.bytes = options->bytes ? options->bytes : DEFAULT_BYTES;
    if (rc)
        return rc;
    if (options->nodes || !(options->all_sizes || options->why))
        return cli_plan_nodes(&query, options->nodes);
    return options->why ? cli_plan_explain(&query) : cli_plan_sizes(&query);
}

/* Returns the error message for unsupported values, or NULL. */
static const char *check_values(const options_t *options)
{
    if (options->tori.count > 1)
        return "more than one torus is given; give one, for example `trivance plan 9`";
    if (!options->selection.single)
        return "more than one algorithm is given; give one, for example --algorithm=trivance-b";
    if (options->constrained && !options->selection.choice[0].planned)
        return "--consistent, --idempotent and --memory constrain the planner; leave them out for a named algorithm";
    if (options->also_list && !options->selection.choice[0].planned)
        return "--also names candidates of the planner; leave it out for a named algorithm";
    return NULL;
}

static int read_memory(const char *text, uint64_t *bytes)
{
    uint64_t value = 0;
    int rc = trv_parse_bytes(text, &value);
    if (!rc && value == 0)
        rc = trv_fail(TRV_ERR_ARGUMENT, "the scratch memory of a rank must be at least 1 byte, for example 64M");
    if (!rc)
        *bytes = value;
    return rc;
}

static int read_constraint(options_t *options, int key)
{
    trv_planner_constraints_t *constraints = &options->constraints;
    options->constrained = true;
    switch (key) {
    case OPTION_CONSISTENT: constraints->consistent = true; return TRV_OK;
    case OPTION_IDEMPOTENT: constraints->idempotent = true; return TRV_OK;
    default: return read_memory(optarg, &constraints->memory_bytes);
    }
}

static int read_option(void *context, int key)
{
    options_t *options = context;
    if (key >= CLI_NETWORK_OPTION)
        return cli_network_set(&options->network, cli_network_name(key - CLI_NETWORK_OPTION), optarg);
    switch (key) {
    case 'a': options->named = true; return cli_select(optarg, &options->selection);
    case 'c': return cli_parse_collective(optarg, &options->collective);
    case OPTION_ROOT: return cli_parse_root(optarg, &options->root);
    case 'b': return trv_parse_vector(optarg, &options->bytes);
    case 'r': options->rank = optarg; return TRV_OK;
    case OPTION_STREAM: options->stream = optarg; return TRV_OK;
    case 's': options->schedule = optarg; return TRV_OK;
    case OPTION_UNCHECKED: options->unchecked = true; return TRV_OK;
    case OPTION_ALL_SIZES: options->all_sizes = true; return TRV_OK;
    case OPTION_WHY: options->why = true; return TRV_OK;
    case OPTION_NODES: options->nodes = optarg; return TRV_OK;
    case OPTION_ALSO: options->also_list = optarg; return TRV_OK;
    case OPTION_LIMIT: options->limit = true; return TRV_OK;
    case 'f': options->format_name = optarg; return TRV_OK;
    case 'o': options->output = optarg; return TRV_OK;
    default: return read_constraint(options, key);
    }
}

/* Returns -1 to continue, otherwise the exit code. */
static int read_options(int argc, char **argv, options_t *options)
{
    if (cli_select("planned", &options->selection))
        return cli_bad_last(argv[0]);
    int code = cli_read_options(&cli_plan_command, argc, argv, read_option, options);
    if (code >= 0)
        return code;
    int rc = cli_read_tori(argc, argv, optind, &options->tori);
    if (!rc)
        rc = cli_check_root(options->collective, options->root);
    return rc ? cli_bad_last(argv[0]) : -1;
}

static int plan_run(options_t *options)
{
    int rc = options->also_list ? cli_also_read(options->command, options->also_list, &options->also) : TRV_OK;
    if (rc)
        return rc;
    if (options->all_sizes || options->why || options->nodes || is_divided(options))
        return plan_query(options);
    rc = options->format_name ? read_format(options->format_name, &options->format) : TRV_OK;
    return rc ? rc : plan_show(options);
}

int cli_plan(int argc, char **argv)
{
    static options_t options;
    options.command = argv[0];
    options.constraints = (trv_planner_constraints_t){TRV_PLANNER_CONSTRAINTS};
    cli_network_init(&options.network);
    const int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    const char *fault = check_values(&options);
    if (fault)
        return cli_bad(argv[0], "%s", fault);
    char ignored[CLI_NETWORK_TEXT_MAX];
    if (cli_network_unplanned(&options.network, ignored)[0]) /* parameters of a profile */
        cli_warn(argv[0], "the planner ignores %s", ignored);
    const int rc = plan_run(&options);
    cli_also_clear(&options.also);
    return cli_finish(argv[0], cli_memory_for(rc, "the messages of all ranks, whose routes are measured"));
}
