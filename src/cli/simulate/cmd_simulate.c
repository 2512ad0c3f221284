/*
 * trivance simulate: completion times packet by packet. This file has the options; simulate.h lists the other parts.
 */
#include <stdio.h>
#include <string.h>

#include "cli/subcommands.h"
#include "cli/shared/output.h"
#include "cli/shared/python.h"
#include "cli/shared/tool.h"
#include "base/text/parse.h"
#include "cli/simulate/simulate.h"
#include "base/error.h"

#define DEFAULT_SIZES "32,1K,32K,1M,32M,128M"
#define DETAIL_SIZE   "1M" /* default size for --links and --trace */

enum {
    OPTION_UNCHECKED = CLI_NO_LETTER,
    OPTION_ROOT,
    OPTION_GOAL,
    OPTION_COMPARE,
    OPTION_LIMIT,
    OPTION_RANKING,
    OPTION_LINKS,
    OPTION_TRACE,
    OPTION_PLOT,
    OPTION_NODES,
    OPTION_FULL
};

static const cli_option_t option[] =
    {{"algorithm", 'a', "LIST",
      "algorithms, with parameters if they have any, families or planned, separated by commas, or all; "
      "a family's time is that of its fastest member, planned means the fastest for the size and the network; "
      "default: those of Trivance, the paper's baselines and planned that support the torus",
      "ALGORITHM all"},
     {"collective", 'c', "C", CLI_COLLECTIVE_HELP, CLI_COLLECTIVE_WORDS},
     {"root", OPTION_ROOT, "R", CLI_ROOT_HELP, NULL},
     {"bytes", 'b', "LIST",
      "sizes of the vector (default " DEFAULT_SIZES "; with --links or --trace " DETAIL_SIZE
      "), or ranges such as 1K:64M:x4; K, M, G, T are powers of 1024",
      NULL},
     {"schedule", 's', "FILE",
      "use a schedule in the format trivance-schedule-1 instead (- is stdin), with or without blocks, "
      "for the size in the file unless --bytes is given",
      "FILE"},
     {"unchecked", OPTION_UNCHECKED, NULL, CLI_UNCHECKED_HELP, NULL},
     {"goal", OPTION_GOAL, "FILE",
      "simulate a program in LogGOPSim's text format (- is stdin), "
      "with as many ranks as the torus and with matching sizes of sends and receives; alpha is then 0 unless given",
      "FILE"},
     {"nodes", OPTION_NODES, "LIST",
      "simulate a job on these nodes only (0-9,16-25,32-40): its plan, and algorithms with their ranks in the order of "
      "the plan",
      NULL},
     {"compare", OPTION_COMPARE, NULL,
      "print also the time by the cost model of `trivance cost`, and the ratio of the simulated time to it; "
      "a hop costs the latencies of a link and of a router's input and output",
      NULL},
     {"limit", OPTION_LIMIT, NULL, CLI_LIMIT_HELP, NULL},
     {"ranking", OPTION_RANKING, NULL,
      "print for each size the algorithms from the fastest to the slowest, "
      "with the ratio of each time to the lower bound of --limit",
      NULL},
     {"links", OPTION_LINKS, NULL,
      "print for each algorithm and size the ten busiest links: the share of the time in which they carry packets, "
      "payload, packets, and the longest queue in packets",
      NULL},
     {"trace", OPTION_TRACE, "FILE",
      "write the steps and packets of one algorithm and size, on up to 64 ranks, for ui.perfetto.dev or "
      "chrome://tracing",
      "FILE"},
     {"plot", OPTION_PLOT, "FILE", CLI_PLOT_HELP "; prints rows of `trivance sweep`", "FILE"},
     {"full", OPTION_FULL, NULL,
      "simulate every rank, even where symmetry lets a few represent all (the times are the same), and every packet, "
      "even where there are millions",
      NULL},
     {"format", 'f', "F", "table (default), json or csv: one row per torus, algorithm and size", "table json csv"},
     CLI_OPTIONS_END};

#define SIMULATED_READS "bytes compare limit ranking links trace full format MORE"

static const cli_mode_t mode[] = {
    {"plot", "--plot draws the times of algorithms over the size, and prints them as `trivance sweep` does",
     "TORUS algorithm collective root bytes limit format MORE", "8x8 --bytes=1K:64M --plot=times.svg"},
    {"goal", "a GOAL program has its own sizes and no steps", "TORUS links full format MORE", "3x3 --goal=FILE"},
    {"nodes", "--nodes simulates a job on some nodes of a torus",
     "TORUS algorithm collective root bytes full format MORE", "8x8 --nodes=0-9"},
    {"schedule", CLI_FILE_ABOUT, SIMULATED_READS " unchecked", "--schedule=nine.json"},
    {NULL, NULL, SIMULATED_READS " TORUS algorithm collective root", "8x8"},
};

const cli_command_t cli_simulate_command = {
    .name = "simulate",
    .summary = "completion time on a torus, packet by packet",
    .usage = "TORUS… [OPTIONS]\n"
             "--schedule=FILE [OPTIONS]\n"
             "TORUS --goal=FILE [OPTIONS]\n"
             "TORUS --nodes=LIST [OPTIONS]",
    .about = "Simulates the completion time on a torus packet by packet, for each algorithm and size, and relates it "
             "to Trivance's, as the paper's plots do.",
    .option = option,
    .mode = mode,
    .more = cli_network_options,
    .repeated = CLI_NETWORK_REPEATED,
    .examples = "trivance simulate 8x8\n"
                "trivance simulate 27x27 --algorithm=trivance,swing --bytes=8M --bandwidth=1.6Tb/s\n"
                "trivance simulate 9 --algorithm=trivance-b --bytes=64K --trace=trace.json\n"
                "trivance simulate 8x8 --algorithm=all --bytes=1K,64K,4M --ranking\n"
                "trivance simulate 8x8 --slow-link=0:+0:4x\n"
                "trivance simulate 8x8 --bytes=1K:64M --plot=times.svg\n"
                "trivance plan 8x8 --format=json | trivance simulate --schedule=-\n"
                "trivance simulate 8x8 --collective=alltoall --bytes=1K:64K:x4\n"
                "trivance simulate 16x16 --nodes=0-9,16-25,32-40 --bytes=32,1M\n",
};

/* The options that were given, as far as defaults of others depend on them. */
typedef struct given {
    bool algorithm, alpha;
} given_t;

typedef struct options {
    cli_simulate_t *job;
    given_t given;
} options_t;

static int read_bytes(cli_simulate_t *job, const char *text)
{
    return trv_parse_bytes_list(text, job->bytes, CLI_SIMULATE_SIZES_MAX, &job->sizes);
}

static int read_option(void *context, int key)
{
    options_t *options = context;
    cli_simulate_t *job = options->job;
    given_t *given = &options->given;
    if (key >= CLI_NETWORK_OPTION) {
        const char *name = cli_network_name(key - CLI_NETWORK_OPTION);
        given->alpha |= strcmp(name, "alpha") == 0 || strcmp(name, "network") == 0;
        return cli_network_set(&job->network, name, optarg);
    }
    switch (key) {
    case 'a': given->algorithm = true; return cli_select(optarg, &job->selection);
    case 'c': return cli_parse_collective(optarg, &job->collective);
    case OPTION_ROOT: return cli_parse_root(optarg, &job->root);
    case 'b': return read_bytes(job, optarg);
    case 's': job->schedule = optarg; return TRV_OK;
    case 'f': return cli_parse_format(optarg, &job->format);
    case OPTION_UNCHECKED: job->unchecked = true; return TRV_OK;
    case OPTION_GOAL: job->goal = optarg; return TRV_OK;
    case OPTION_NODES: job->nodes = optarg; return TRV_OK;
    case OPTION_COMPARE: job->compare = true; return TRV_OK;
    case OPTION_LIMIT: job->limit = true; return TRV_OK;
    case OPTION_RANKING: job->ranking = true; return TRV_OK;
    case OPTION_LINKS: job->links = true; return TRV_OK;
    case OPTION_TRACE: job->trace = optarg; return TRV_OK;
    case OPTION_PLOT: job->plot = optarg; return TRV_OK;
    case OPTION_FULL: job->network.options.full = true; return TRV_OK;
    default: return TRV_ERR_ARGUMENT;
    }
}

/* The error message for unsupported combinations of values, or NULL. */
static const char *check_values(const cli_simulate_t *job)
{
    if (job->goal && job->tori.count != 1)
        return "--goal requires one torus, for example `trivance simulate 3x3 --goal=FILE`";
    if (job->nodes && job->tori.count != 1)
        return "--nodes requires one torus, for example `trivance simulate 8x8 --nodes=0-9`";
    if (job->ranking && job->format != CLI_FORMAT_TABLE)
        return "--ranking prints a table; for --format=json or csv use --limit, which adds the column limit_ratio";
    if (job->ranking && job->sizes > CLI_RANKING_SIZES_MAX)
        return "--ranking shows up to 8 sizes side by side, for example --bytes=1K,64K,4M";
    if (job->plot && (job->tori.count > 1 || job->sizes == 1))
        return "--plot draws the times of one torus over several sizes, for example "
               "`trivance simulate 8x8 --bytes=1K:64M --plot=times.svg`";
    if (job->trace && (job->tori.count > 1 || job->sizes > 1 || (!job->schedule && !job->selection.single)))
        return "--trace requires one torus, one algorithm and one size, for example "
               "`trivance simulate 9 --algorithm=trivance-b --bytes=64K --trace=trace.json`";
    if (job->trace && cli_output_is_stdout(job->trace))
        return "--trace needs the name of a file, for example --trace=trace.json";
    if (job->links && job->format == CLI_FORMAT_CSV)
        return "--links adds a list to each result, which CSV cannot hold; use --format=json";
    return NULL;
}

/* Warns that plans ignore the options that make ranks differ. */
static void warn(const cli_simulate_t *job)
{
    char text[CLI_NETWORK_TEXT_MAX];
    if (!job->schedule && !job->goal && cli_has_planned(&job->selection) &&
        cli_network_unplanned(&job->network, text)[0])
        cli_warn(job->command, "the planner ignores %s", text);
}

static int simulate(cli_simulate_t *job)
{
    cli_outcome_t outcome;
    int rc = cli_simulate_run(job, &outcome);
    if (!rc)
        warn(job);
    if (!rc)
        rc = job->format == CLI_FORMAT_TABLE ? cli_simulate_text(job, &outcome) : cli_simulate_rows(job, &outcome);
    cli_outcome_clear(&outcome);
    return cli_finish(job->command, cli_memory_for(rc, "the packets of all ranks that are simulated"));
}

int cli_simulate(int argc, char **argv)
{
    static cli_simulate_t job;
    options_t options = {.job = &job};
    job.command = argv[0];
    cli_network_init(&job.network);
    int code = cli_read_options(&cli_simulate_command, argc, argv, read_option, &options);
    if (code >= 0)
        return code;
    int rc = cli_read_tori(argc, argv, optind, &job.tori);
    if (!rc)
        rc = cli_check_root(job.collective, job.root);
    if (!rc && !options.given.algorithm) {
        rc = cli_select_compared(&job.selection);
        job.selection.all = true;
    }
    cli_selection_restrict(&job.selection, 1U << job.collective);
    const char *fault = check_values(&job);
    if (!rc && fault)
        return cli_bad(argv[0], "%s", fault);
    if (!rc && !job.sizes && !job.schedule)
        rc = read_bytes(&job, job.links || job.trace ? DETAIL_SIZE : DEFAULT_SIZES);
    if (!rc && job.plot)
        return cli_python_sweep(&cli_simulate_command, argc, argv);
    if (job.goal && !options.given.alpha)
        job.network.options.alpha_ns = 0;
    return rc ? cli_bad_last(argv[0]) : simulate(&job);
}
