/*
 * trivance simulate: completion times packet by packet. Here are the options; see simulate.h for the rest.
 */
#include <stdio.h>
#include <string.h>

#include "cli/subcommands.h"
#include "tool/tool.h"
#include "text/parse.h"
#include "cli/simulate/simulate.h"
#include "common/error.h"

/* What the paper compares, as far as it takes the torus, and the planner's choice. */
#define ALGORITHMS       "trivance,bruck,recdoub,swing,ring,bucket,planned"
#define SIZES            "32,1K,32K,1M,32M,128M"
#define SIZE_LOOKED_INTO "1M" /* by --links and --trace */

static const char help[] =
    "Usage: trivance simulate TORUS… [OPTIONS]\n"
    "       trivance simulate --schedule=FILE [OPTIONS]\n"
    "       trivance simulate TORUS --goal=FILE [OPTIONS]\n\n"
    "The completion time on a torus, simulated packet by packet, per algorithm and size; and relative\n"
    "to Trivance, as the paper plots it.\n\n"
    "Options:\n"
    "  -a, --algorithm=LIST        names, families or planned with commas between, or all; a family's time\n"
    "                              is that of its better member, planned means the fastest for the size\n"
    "                              and the network; by default those that take the torus of\n"
    "                              " ALGORITHMS "\n"
    "  -c, --collective=C          allreduce (default), reduce-scatter or allgather\n"
    "  -b, --bytes=LIST            sizes of the vector (default " SIZES "; with --links or\n"
    "                              --trace " SIZE_LOOKED_INTO "); K, M, G are powers of 1024\n"
    "  -s, --schedule=FILE         a schedule in the format trivance-schedule-1 instead (- is stdin), for\n"
    "                              the size in the file unless --bytes is given\n"
    "      --goal=FILE             a program in LogGOPSim's text format (- is stdin); alpha is then 0\n"
    "                              unless given\n"
    "      --compare               the time by the cost model beside the simulated one\n"
    "      --links                 the busiest links\n"
    "      --trace=FILE            steps and packets for ui.perfetto.dev or chrome://tracing, of one\n"
    "                              algorithm and size on up to 64 ranks\n"
    "      --full                  simulate every rank, also where symmetry makes some of them enough\n"
    "  -f, --format=F              table (default), json or csv: one row per torus, algorithm and size\n"
    "  -h, --help                  this text\n\n"
    "Network (the paper's by default):\n";

static const char examples[] =
    "\nExamples:\n"
    "  trivance simulate 8x8\n"
    "  trivance simulate 27x27 --algorithm=trivance,swing --bytes=8M --model=fifo --bandwidth=1.6Tb/s\n"
    "  trivance simulate 9 --algorithm=trivance-b --bytes=64K --trace=trace.json\n"
    "  trivance simulate 8x8 --slow-link=0:+0:4x\n"
    "  trivance plan 8x8 --format=json | trivance simulate --schedule=-\n";

enum { OPTION_GOAL = 256, OPTION_COMPARE, OPTION_LINKS, OPTION_TRACE, OPTION_FULL };

/* Which options were given, for those whose default depends on others. */
typedef struct given {
    bool algorithm, collective, alpha;
} given_t;

static int read_bytes(cli_simulate_t *job, const char *text)
{
    int rc = trv_parse_bytes_list(text, job->bytes, CLI_SIMULATE_SIZES_MAX, &job->sizes);
    for (int i = 0; i < job->sizes && !rc; i++)
        if (job->bytes[i] == 0)
            rc = trv_fail(TRV_ERR_ARGUMENT, "--bytes must be at least 1, for example 64K");
    return rc;
}

static int read_option(cli_simulate_t *job, given_t *given, int option)
{
    if (option >= CLI_NETWORK_OPTION) {
        const char *name = cli_network_names[option - CLI_NETWORK_OPTION];
        given->alpha |= strcmp(name, "alpha") == 0;
        return cli_network_set(&job->network, name, optarg);
    }
    switch (option) {
    case 'a': given->algorithm = true; return cli_select(optarg, &job->selection);
    case 'c': given->collective = true; return cli_parse_collective(optarg, &job->collective);
    case 'b': return read_bytes(job, optarg);
    case 's': job->schedule = optarg; return TRV_OK;
    case 'f': return cli_parse_format(optarg, &job->format);
    case OPTION_GOAL: job->goal = optarg; return TRV_OK;
    case OPTION_COMPARE: job->compare = true; return TRV_OK;
    case OPTION_LINKS: job->links = true; return TRV_OK;
    case OPTION_TRACE: job->trace = optarg; return TRV_OK;
    case OPTION_FULL: job->network.options.full = true; return TRV_OK;
    default: return TRV_ERR_ARGUMENT;
    }
}

/* The sentence for options that do not go together, or NULL. */
static const char *find_conflict(const cli_simulate_t *job, const given_t *given)
{
    bool file = job->schedule || job->goal;
    if (!job->schedule == !job->tori.count)
        return "give either a torus or --schedule=FILE, for example `trivance simulate 8x8`";
    if (file && (given->algorithm || given->collective))
        return "--algorithm and --collective are for a torus; a file says itself what is sent";
    if (job->goal && job->tori.count != 1)
        return "--goal takes one torus, for example `trivance simulate 3x3 --goal=FILE`";
    if (job->goal && (job->sizes || job->compare || job->trace))
        return "a GOAL program has sizes of its own and no steps; leave --bytes, --compare and --trace out";
    if (job->trace && (job->tori.count > 1 || job->sizes > 1 || (!file && !job->selection.single)))
        return "--trace is of one torus, one algorithm and one size, for example "
               "`trivance simulate 9 --algorithm=trivance-b --bytes=64K --trace=trace.json`";
    if (job->trace && strcmp(job->trace, "-") == 0)
        return "--trace needs the name of a file, for example --trace=trace.json";
    if (job->links && job->format == CLI_FORMAT_CSV)
        return "--links has a list per result, which is no CSV; take --format=json";
    return NULL;
}

/* `option` is the first that was not read by the caller. */
static int read_all(int argc, char **argv, cli_simulate_t *job, given_t *given, bool *helped)
{
    static const struct option own[] = {{"algorithm", required_argument, NULL, 'a'},
                                        {"collective", required_argument, NULL, 'c'},
                                        {"bytes", required_argument, NULL, 'b'},
                                        {"schedule", required_argument, NULL, 's'},
                                        {"format", required_argument, NULL, 'f'},
                                        {"goal", required_argument, NULL, OPTION_GOAL},
                                        {"compare", no_argument, NULL, OPTION_COMPARE},
                                        {"links", no_argument, NULL, OPTION_LINKS},
                                        {"trace", required_argument, NULL, OPTION_TRACE},
                                        {"full", no_argument, NULL, OPTION_FULL},
                                        {"help", no_argument, NULL, 'h'}};
    struct option longs[sizeof own / sizeof own[0] + CLI_NETWORK_COUNT + 1];
    int option, rc = TRV_OK;
    memcpy(longs, own, sizeof own);
    cli_network_longs(longs, sizeof own / sizeof own[0], true);
    while (!rc && (option = cli_option(argc, argv, ":a:c:b:s:f:h", longs)) != -1) {
        if (option == '?')
            return CLI_BAD;
        if (option == 'h') {
            printf("%s%s%s", help, cli_network_help, examples);
            *helped = true;
            return CLI_OK;
        }
        rc = read_option(job, given, option);
    }
    if (!rc)
        rc = cli_read_tori(argc, argv, optind, &job->tori);
    return rc ? cli_bad_last(argv[0]) : CLI_OK;
}

static int simulate(cli_simulate_t *job)
{
    cli_outcome_t outcome;
    int rc = cli_simulate_run(job, &outcome);
    if (!rc)
        rc = job->format == CLI_FORMAT_TABLE ? cli_simulate_text(job, &outcome) : cli_simulate_rows(job, &outcome);
    cli_outcome_clear(&outcome);
    return rc ? cli_bad_last(job->command) : CLI_OK;
}

int cli_simulate(int argc, char **argv)
{
    static cli_simulate_t job;
    given_t given = {0};
    bool helped = false;
    job.command = argv[0];
    cli_network_init(&job.network);
    int code = read_all(argc, argv, &job, &given, &helped);
    if (code || helped)
        return code;
    int rc = TRV_OK;
    if (!given.algorithm) {
        rc = cli_select(ALGORITHMS, &job.selection);
        job.selection.all = true;
    }
    const char *conflict = find_conflict(&job, &given);
    if (!rc && conflict)
        return cli_bad(argv[0], "%s", conflict);
    if (!rc && !job.sizes && !job.schedule)
        rc = read_bytes(&job, job.links || job.trace ? SIZE_LOOKED_INTO : SIZES);
    if (job.goal && !given.alpha)
        job.network.options.alpha_ns = 0;
    return rc ? cli_bad_last(argv[0]) : simulate(&job);
}
