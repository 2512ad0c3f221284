/*
 * trivance testbed bench: compares the MPI libraries' own collectives with Trivance's, in the same jobs and in turns;
 * or a user's program without the drop-in and with it.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/common.h>

#include "base/error.h"
#include "cli/shared/option_words.h"
#include "cli/shared/tool.h"
#include "cli/host/handover.h"
#include "cli/shared/select.h"
#include "base/text/parse.h"
#include "testbed/command/bench.h"

enum {
    OPTION_MPI = CLI_NO_LETTER,
    OPTION_TORUS,
    OPTION_RENDEZVOUS,
    OPTION_BANDWIDTH,
    OPTION_LATENCY,
    OPTION_SLOW_LINK,
    OPTION_CUT,
    OPTION_COMPARE,
    OPTION_PORTS,
    OPTION_COLLECTIVE
};

static const cli_option_t option[] =
    {{"torus", OPTION_TORUS, "LIST", "default 8,9,3x3,3x3x3,27, for a program 3x3", NULL},
     {"collective", OPTION_COLLECTIVE, "LIST", CLI_COLLECTIVE_HELP ", or several", CLI_COLLECTIVE_WORDS},
     {"output", 'o', "DIR", "folder for the files (default testbed)", "DIR"},
     {"mpi", OPTION_MPI, "LIST",
      "openmpi, mpich; default both, if installed; for a program the MPI that it is linked with, required if that "
      "cannot be detected (Python, a script)",
      "openmpi mpich"},
     {"bytes", 'b', "LIST",
      "or ranges, for example 1K:64M:x4; default 8,1K,8K,32K,64K,512K, on a ring of 9 also 4M; of vectors of blocks, "
      "rounded up to a double for every rank",
      NULL},
     {"algorithm", 'a', "LIST", "of Trivance; default all its algorithms, planned and auto", "ALGORITHM auto"},
     {"rendezvous", OPTION_RENDEZVOUS, "R", "on, off or both (default both; for a program on)", "on off both"},
     {"iterations", 'i', "N",
      "of every algorithm (default 11), or starts of the program with and without the drop-in (3)", NULL},
     {"bandwidth", OPTION_BANDWIDTH, "RATE", "default 50Mb/s, on more than 16 nodes 20Mb/s", NULL},
     {"hop-latency", OPTION_LATENCY, "TIME", "default 2ms, on more than 16 nodes 5ms", NULL},
     {"slow-link", OPTION_SLOW_LINK, "L:Fx", "link L has 1/F of the bandwidth: 0:+0:2x; up to 64 times", NULL},
     {"cut", OPTION_CUT, "L", "link L is cut in both directions (3:+0) or in one (3:+0:one-way); up to 64 times", NULL},
     {"ports", OPTION_PORTS, NULL, "on testbeds with an interface for each link (testbed up --ports)", NULL},
     {"compare", OPTION_COMPARE, NULL, "print the packet simulator's prediction of each time", NULL},
     CLI_OPTIONS_END};

const cli_command_t cli_testbed_bench_command = {
    .name = "testbed bench",
    .summary = "compares the MPI libraries' collectives with Trivance's, or a program without and with the drop-in",
    .usage = "[OPTIONS] [-- PROGRAM [ARGUMENTS]]",
    .about =
        "Creates a testbed for every torus, checks it, and measures a collective on it by the algorithms of both MPI "
        "libraries and by Trivance, as trivance bench --turns does: in one job, in turns, from a common start to the "
        "end of the last rank. Prints tables; writes rows (testbed.csv) and, where python3 has the package trivance "
        "and matplotlib, plots. Needs root and, with the defaults, three hours of an otherwise idle machine.\n\n"
        "With a PROGRAM, which may be any unmodified MPI program, it starts that program instead, in turns without the "
        "drop-in and with it, and reports the time from MPI_Init to MPI_Finalize, how much of it is spent in "
        "MPI_Allreduce, and the ratio. Writes program.csv and what the program prints.",
    .option = option,
    .repeated = "slow-link cut",
    .notes = "Exit status: 0 success, 1 a testbed was not faithful, 2 bad input or a machine that cannot emulate.",
    .examples = "trivance testbed bench --torus 9 --bytes 8,8K,64K --rendezvous off\n"
                "trivance testbed bench --compare --output results\n"
                "trivance testbed bench --torus 3x3 --collective broadcast,reduce --bytes 8,8K,64K --rendezvous off\n"
                "trivance testbed bench --torus 3x3,9 -- ./conjugate_gradient.openmpi 100 200\n",
    .passes_on = true,
};

#define TORI_MAX    16
#define MPIS        2
#define MODES       2
#define LARGE_NODES 17 /* from this size on the networks are slower, so that the emulator is on time */
#define CHECKS      3  /* maximum number of checks before a testbed is called unfaithful */

typedef struct options {
    const char *command, *folder, *algorithms;
    int tori, collectives;
    trv_torus_t torus[TORI_MAX];
    trv_collective_t collective[TRV_COLLECTIVES];
    bool mpi[MPIS], mode[MODES]; /* mode[1]: with rendezvous */
    int sizes, iterations;       /* sizes 0: the default ones */
    uint64_t bytes[CLI_BENCH_SIZES_MAX];
    double bandwidth_bps, latency_ns; /* 0 and < 0: chosen by the number of nodes */
    cli_links_t links;
    bool compare, ports;
    char **word; /* the program to measure, with its arguments; NULL: none */
    int words;
} options_t;

static const char *const mpi_name[MPIS] = {"openmpi", "mpich"};

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static int read_tori(const char *text, options_t *options)
{
    char item[TRV_TORUS_TEXT_MAX];
    int more, code = TRV_OK;
    options->tori = 0;
    while (code == TRV_OK && (more = trv_next_item(&text, "tori", item, sizeof item)) != 0) {
        if (more > 0 && options->tori == TORI_MAX)
            return trv_fail(TRV_ERR_ARGUMENT, "there are more than %d tori", TORI_MAX);
        code = more < 0 ? more : trv_torus_parse(item, &options->torus[options->tori++]);
    }
    return code;
}

static int read_mpis(const char *text, options_t *options)
{
    char item[16];
    int more;
    options->mpi[0] = options->mpi[1] = false;
    while ((more = trv_next_item(&text, "MPIs", item, sizeof item)) > 0) {
        const int mpi = cli_words_find("openmpi mpich", item, "mpi", "");
        if (mpi < 0)
            return mpi;
        options->mpi[mpi] = true;
    }
    return more;
}

static int read_mode(const char *text, options_t *options)
{
    const int mode = cli_words_find("on off both", text, "rendezvous", "");
    options->mode[1] = mode != 1;
    options->mode[0] = mode != 0;
    return mode < 0 ? mode : TRV_OK;
}

static int read_sizes(const char *text, options_t *options)
{
    int code = trv_parse_bytes_list(text, options->bytes, CLI_BENCH_SIZES_MAX, &options->sizes);
    for (int i = 0; i < options->sizes && code == TRV_OK; i++)
        if (options->bytes[i] % 8 || options->bytes[i] > 1u << 30)
            code = trv_fail(TRV_ERR_ARGUMENT, "the size %llu is not a multiple of 8 up to 1G, for example 64K",
                            (unsigned long long)options->bytes[i]);
    return code;
}

static int take_option(void *context, int key)
{
    options_t *options = context;
    switch (key) {
    case OPTION_TORUS: return read_tori(optarg, options);
    case OPTION_COLLECTIVE: return cli_parse_collectives(optarg, options->collective, &options->collectives);
    case OPTION_MPI: return read_mpis(optarg, options);
    case OPTION_RENDEZVOUS: return read_mode(optarg, options);
    case OPTION_SLOW_LINK: return cli_links_add(&options->links, "slow-link", optarg);
    case OPTION_CUT: return cli_links_add(&options->links, "cut", optarg);
    case OPTION_BANDWIDTH: return trv_parse_rate_bps(optarg, &options->bandwidth_bps);
    case OPTION_LATENCY: return trv_parse_latency_ns(optarg, &options->latency_ns);
    case OPTION_COMPARE: options->compare = true; return TRV_OK;
    case OPTION_PORTS: options->ports = true; return TRV_OK;
    case 'b': return read_sizes(optarg, options);
    case 'i': return trv_parse_int(optarg, "--iterations", 1, CLI_BENCH_ROUNDS_MAX, &options->iterations);
    case 'a': options->algorithms = optarg; return TRV_OK;
    default: options->folder = optarg; return TRV_OK;
    }
}

/* Returns -1 to continue, else the exit code. */
static int read_options(int argc, char **argv, options_t *options)
{
    int code = cli_read_options(&cli_testbed_bench_command, argc, argv, take_option, options);
    options->words = argc - optind;
    options->word = options->words ? argv + optind : NULL;
    return code;
}

static void set_sizes(const options_t *options, const trv_torus_t *torus, cli_bench_job_t *job)
{
    static const uint64_t standard[] = {8, 1 << 10, 8 << 10, 32 << 10, 64 << 10, 512 << 10, 4 << 20};
    bool ring_of_9 = torus->ranks == 9 && torus->size[0] == 9;
    job->sizes = options->sizes ? options->sizes : ring_of_9 ? 7 : 6;
    memcpy(job->bytes, options->sizes ? options->bytes : standard, (size_t)job->sizes * sizeof *job->bytes);
    const uint64_t unit = trv_collective_blocks(job->collective, torus->ranks) * sizeof(double);
    for (int i = 0; i < job->sizes; i++)
        job->bytes[i] = (job->bytes[i] + unit - 1) / unit * unit;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal) { interrupted = signal; }

typedef struct results {
    cli_bench_job_t *job;
    int planned, jobs; /* jobs: number that were started */
    bool faithful;
    cli_bench_progress_t progress;
} results_t;

/* Runs one job on the testbed that is up, and writes all results so far to the file. */
static int run_job(const options_t *options, results_t *results, cli_bench_job_t *job)
{
    char path[4608];
    results->jobs++;
    int code = job->word ? cli_bench_run_program(options->command, job, options->folder, &results->progress)
                         : cli_bench_run(options->command, job, options->folder, &results->progress);
    if (code != CLI_OK)
        return code;
    results->faithful = results->faithful && job->faithful;
    snprintf(path, sizeof path, "%s/%s.csv", options->folder, job->word ? "program" : "testbed");
    if (job->word &&
        (cli_bench_print_program(job) < 0 || cli_bench_write_program_csv(results->job, results->jobs, path) < 0))
        return cli_bad_last(options->command);
    if (job->word)
        return CLI_OK;
    if ((options->compare && cli_bench_predict(job) < 0) || cli_bench_print(job, options->compare) < 0 ||
        cli_bench_write_csv(results->job, results->jobs, path) < 0 || cli_bench_draw(path) < 0)
        return cli_bad_last(options->command);
    return CLI_OK;
}

/* Checks --cut and --slow-link before the first testbed is made. */
static int check_links(options_t *options)
{
    int count;
    for (int i = 0; i < options->tori; i++)
        if (cli_links_finish(&options->links, &options->torus[i], &count) < 0)
            return cli_bad_last(options->command);
    return CLI_OK;
}

static int slow_down(const options_t *options, const cli_bench_job_t *job)
{
    const trv_network_t network = cli_bench_network(job);
    for (int i = 0; i < network.slow_links; i++) {
        const trv_slow_link_t *slow = &network.slow_link[i];
        char request[96];
        if (isinf(slow->factor))
            snprintf(request, sizeof request, "link %d %d down", slow->rank, slow->port);
        else
            snprintf(request, sizeof request, "link %d %d bandwidth %.0f", slow->rank, slow->port,
                     job->network.bandwidth_bps / slow->factor);
        if (trv_testbed_ask(request, NULL) < 0)
            return cli_bad_last(options->command);
    }
    return CLI_OK;
}

/* Checks the testbed until it is faithful, at most CHECKS times: the machine may be busy for a moment. */
static int check(const options_t *options, cli_verdict_t *verdict)
{
    putchar('\n');
    for (int i = 0; i < CHECKS && !verdict->faithful && !interrupted; i++) {
        int code = cli_testbed_verdict(options->command, verdict);
        if (code != CLI_OK)
            return code;
        cli_testbed_verdict_print(verdict, stdout);
        fflush(stdout);
    }
    return CLI_OK;
}

/* Runs the next `jobs` of the planned ones on the testbed that is up. */
static int run_jobs(const options_t *options, results_t *results, int jobs)
{
    cli_verdict_t verdict = {.table = NULL};
    int code = check(options, &verdict);
    if (code != CLI_OK)
        return code;
    results->faithful = results->faithful && verdict.faithful;
    code = slow_down(options, &results->job[results->jobs]);
    for (int i = 0; i < jobs && code == CLI_OK && !interrupted; i++) {
        cli_bench_job_t *job = &results->job[results->jobs];
        job->faithful = verdict.faithful;
        job->check_worst = verdict.worst;
        job->lateness_p99_ns = verdict.status.lateness_p99_ns;
        code = run_job(options, results, job);
    }
    return code;
}

static int run_torus(const options_t *options, results_t *results)
{
    char emulator[4608];
    int code = cli_testbed_program(options->command, "trivance-torusnet", emulator, sizeof emulator);
    if (code != CLI_OK)
        return code;
    if (trv_testbed_up(&results->job[results->jobs].network, emulator) < 0)
        return cli_bad_last(options->command);
    code = run_jobs(options, results, results->planned / options->tori);
    if (trv_testbed_down(NULL) < 0)
        code = cli_bad_last(options->command);
    return code;
}

/* Lists all jobs, torus by torus. */
static int plan_jobs(const options_t *options, results_t *results)
{
    for (int i = 0; i < options->tori * options->collectives * MPIS * MODES; i++) {
        int m = i / MODES % MPIS, mode = MODES - 1 - i % MODES;
        const trv_torus_t *torus = &options->torus[i / MODES / MPIS / options->collectives];
        bool large = torus->ranks >= LARGE_NODES;
        cli_bench_job_t *job = &results->job[results->planned];
        if (!options->mpi[m] || !options->mode[mode])
            continue;
        *job = (cli_bench_job_t){.mpi = mpi_name[m],
                                 .rendezvous = mode == 1,
                                 .collective = options->collective[i / MODES / MPIS % options->collectives],
                                 .rounds = options->iterations,
                                 .links = options->links};
        job->network = (tb_network_t){.torus = *torus,
                                      .bandwidth_bps = options->bandwidth_bps > 0 ? options->bandwidth_bps
                                                       : large                    ? 20e6
                                                                                  : 50e6,
                                      .latency_ns = options->latency_ns >= 0 ? options->latency_ns
                                                    : large                  ? 5e6
                                                                             : 2e6,
                                      .ports = options->ports};
        if (cli_links_finish(&job->links, torus, &job->slow_links) < 0)
            return cli_bad_last(options->command);
        job->word = options->word;
        job->words = options->words;
        results->planned++;
        if (job->word)
            continue;
        set_sizes(options, torus, job);
        if (cli_testbed_range(options->command, job->network.bandwidth_bps, job->network.latency_ns) != CLI_OK)
            return CLI_BAD;
        if (trv_testbed_fits(torus) < 0 || cli_bench_select(job, options->algorithms) < 0)
            return cli_bad_last(options->command);
    }
    return CLI_OK;
}

/* Creates the folder. *whole is its absolute path, which ranks need because they write to it; the caller frees it. */
static int make_folder(options_t *options, char **whole)
{
    *whole = NULL;
    if (cli_make_folder(options->folder) < 0)
        return cli_bad_last(options->command);
    *whole = realpath(options->folder, NULL);
    options->folder = *whole;
    return *whole ? CLI_OK : cli_bad(options->command, "the folder has no path: %s", strerror(errno));
}

static int run_all(const options_t *options)
{
    struct sigaction action = {.sa_handler = interrupt}, before;
    const size_t jobs = (size_t)options->tori * (size_t)options->collectives * MPIS * MODES;
    results_t results = {.job = calloc(jobs, sizeof *results.job), .faithful = true};
    int code = results.job ? plan_jobs(options, &results) : cli_bad(options->command, "out of memory for the results");
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup ignores it */
        sigaction(SIGHUP, &action, NULL);
    cli_bench_progress_begin(&results.progress, results.job, results.planned);
    while (results.jobs < results.planned && code == CLI_OK && !interrupted)
        code = run_torus(options, &results);
    cli_progress_end(&results.progress.bar);
    if (code == CLI_OK && !interrupted && !options->word && cli_bench_print_summary(results.job, results.jobs) < 0)
        code = cli_bad_last(options->command);
    if (code == CLI_OK && !interrupted)
        cli_bench_print_unfaithful(results.job, results.jobs);
    free(results.job);
    return interrupted ? 128 + interrupted : code == CLI_OK && !results.faithful ? CLI_WRONG : code;
}

/* Leaves out MPI libraries that are not installed; CLI_BAD if none is left. */
static int find_mpis(options_t *options)
{
    char path[4608];
    bool any = false;
    for (int i = 0; i < MPIS; i++) {
        options->mpi[i] = options->mpi[i] && cli_find_program(mpi_name[i], path, sizeof path);
        any = any || options->mpi[i];
    }
    if (any)
        return CLI_OK;
    return cli_bad(options->command, "no benchmark program is beside the tool (trivance-mpi.openmpi or .mpich); "
                                     "one is built for each MPI library that is installed");
}

/* Replaces the list of MPI libraries by the one that the program uses. */
static int find_program_mpi(options_t *options)
{
    cli_job_t job = {.word = options->word, .words = options->words};
    if (options->mpi[0] && options->mpi[1])
        return cli_bad(options->command, "--mpi: expected one MPI library for a program, for example --mpi=openmpi");
    if (options->mpi[0] || options->mpi[1])
        job.mpi = mpi_name[options->mpi[1]];
    if (cli_testbed_find_mpi(options->command, &job) != CLI_OK)
        return CLI_BAD;
    for (int i = 0; i < MPIS; i++)
        options->mpi[i] = strcmp(job.mpi, mpi_name[i]) == 0;
    return CLI_OK;
}

/* Sets the options that were not given. */
static int set_defaults(options_t *options)
{
    bool program = options->word != NULL;
    if (program && (options->sizes || options->algorithms || options->compare || options->collectives))
        return cli_bad(options->command,
                       "--collective, --bytes, --algorithm and --compare cannot be used with a program");
    options->collectives += options->collectives == 0; /* AllReduce has the value 0 */
    if (!options->tori && read_tori(program ? "3x3" : "8,9,3x3,3x3x3,27", options) < 0)
        return cli_bad_last(options->command);
    if (!options->mode[0] && !options->mode[1])
        read_mode(program ? "on" : "both", options);
    if (!options->iterations)
        options->iterations = program ? 3 : 11;
    if (program)
        return find_program_mpi(options);
    if (!options->mpi[0] && !options->mpi[1])
        options->mpi[0] = options->mpi[1] = true;
    return CLI_OK;
}

int cli_testbed_bench(int argc, char **argv)
{
    options_t options = {.command = argv[0], .folder = "testbed", .latency_ns = -1};
    char *whole = NULL;
    int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    code = set_defaults(&options);
    if (code != CLI_OK)
        return code;
    cli_bench_job_t names = {.mpi = mpi_name[0], .collective = options.collective[0]};
    if (cli_bench_select(&names, options.algorithms) < 0 || trv_testbed_check_machine() < 0)
        return cli_bad_last(argv[0]);
    code = check_links(&options);
    if (code == CLI_OK && !options.word)
        code = find_mpis(&options);
    if (code == CLI_OK)
        code = make_folder(&options, &whole);
    if (code == CLI_OK)
        code = run_all(&options);
    free(whole);
    return code;
}
