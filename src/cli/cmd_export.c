/*
 * trivance export: a schedule in the formats of other tools: GOAL, MSCCL++ JSON, Chakra.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <trivance/formats.h>

#include "cli/subcommands.h"
#include "cli/shared/output.h"
#include "cli/shared/tool.h"
#include "cli/shared/input.h"
#include "base/text/parse.h"
#include "cli/shared/network_options.h"
#include "cli/shared/choose.h"
#include "base/error.h"
#include "formats/lower.h"
#include "formats/mscclpp.h"

enum { OPTION_ALPHA = CLI_NO_LETTER, OPTION_ROOT, OPTION_UNCHECKED };

typedef struct format {
    const char *name;
    trv_format_t format;
    bool traces; /* a file for each rank, which trv_export_chakra writes */
    bool plan;   /* for GPUs: with blocks and without times, of three collectives */
} format_t;

static const format_t formats[] = {{"goal", TRV_FORMAT_GOAL, .plan = false},
                                   {"mscclpp", TRV_FORMAT_MSCCLPP, .plan = true},
                                   {"chakra", TRV_FORMAT_CHAKRA, .traces = true}};
#define FORMATS_EXPECTED "expected goal, mscclpp or chakra, for example --format=goal"

static const cli_option_t option[] = {
    {"format", 'f', "F",
     "goal (the text that LogGOPSim and `trivance simulate --goal` read), mscclpp (an execution plan for MSCCL++) or "
     "chakra (an execution trace for each rank, for ASTRA-sim)",
     "goal mscclpp chakra"},
    {"algorithm", 'a', "A",
     "planned (default: the fastest for the size), an algorithm, with parameters if it has any (hybrid:4x8), or a "
     "family: the member that is fastest for the size",
     "ALGORITHM"},
    {"collective", 'c', "C", CLI_COLLECTIVE_HELP "; mscclpp holds only allreduce, reduce-scatter and allgather",
     CLI_COLLECTIVE_WORDS},
    {"root", OPTION_ROOT, "R", CLI_ROOT_HELP, NULL},
    {"bytes", 'b', "M",
     "size of the vector (default 64K, or that of the file); K, M, G, T are powers of 1024. An MSCCL++ plan is not for "
     "a single size: it only selects the algorithm, and a warning says if the plan is not valid for it",
     NULL},
    {"alpha", OPTION_ALPHA, "T",
     "computation of a rank at the start of every step: in whole ns for GOAL (default 1.5us), in whole us for Chakra "
     "(default 0us); 0ns: no computation, and the messages of a step require those of the previous step",
     NULL},
    {"schedule", 's', "FILE",
     "use a schedule in the format trivance-schedule-1 instead (- is stdin); without blocks it can be written as GOAL "
     "or Chakra only",
     "FILE"},
    {"unchecked", OPTION_UNCHECKED, NULL,
     CLI_UNCHECKED_HELP "; beside --cut: write a schedule even if it sends over links that are cut", NULL},
    {"output", 'o', "FILE",
     "write there instead of to stdout; the file appears when it is complete. Chakra requires it: the files are "
     "FILE.<rank>.et, and appear together",
     "FILE"},
    CLI_OPTIONS_END};

#define WRITTEN_READS "format bytes alpha unchecked output"

static const cli_mode_t mode[] = {
    {"schedule", CLI_FILE_ABOUT, WRITTEN_READS, "--schedule=nine.json --format=goal"},
    {NULL, NULL, WRITTEN_READS " TORUS algorithm collective root MORE", "9 --format=goal"},
};

const cli_command_t cli_export_command = {
    .name = "export",
    .summary = "a schedule as GOAL, MSCCL++ JSON or Chakra traces",
    .usage = "TORUS --format=F [OPTIONS]\n"
             "--schedule=FILE --format=F [OPTIONS]",
    .about = "Writes a schedule for other programs: network simulators and collective libraries for GPUs.",
    .option = option,
    .mode = mode,
    .more = cli_network_link_options,
    .repeated = CLI_NETWORK_REPEATED,
    .examples = "trivance export 9 --algorithm=trivance-b --bytes=1M --format=goal -o trivance.goal\n"
                "trivance export 3x3 --algorithm=trivance-l-grouped --format=mscclpp -o grouped.json\n"
                "trivance export 3x3 --algorithm=trivance-b --bytes=1M --format=chakra -o trivance-b\n",
};

typedef struct options {
    const char *command, *schedule, *output;
    cli_selection_t selection;
    trv_collective_t collective;
    int root;
    uint64_t bytes; /* 0: not given */
    bool alpha_given, unchecked;
    double alpha_ns;
    const format_t *format; /* NULL: not given */
    cli_network_t network;  /* only its links are used */
    cli_tori_t tori;
} options_t;

static int read_format(const char *text, const format_t **format)
{
    if (strcmp(text, "msccl") == 0)
        return trv_fail(TRV_ERR_UNSUPPORTED, TRV_MSCCL_REMOVED);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(text, formats[i].name) == 0) {
            *format = &formats[i];
            return TRV_OK;
        }
    return trv_fail(TRV_ERR_ARGUMENT, "there is no format '%.40s'; " FORMATS_EXPECTED, text);
}

/* The signal that ends the tool after the library has removed its temporary files. */
static volatile sig_atomic_t ended;

static void on_end(int number) { ended = number; }

static int report_or_end(void *span, double fraction)
{
    if (ended)
        return trv_fail(TRV_ERR_CANCELLED, "ended by a signal");
    return trv_span_callback(span, fraction);
}

/* Writes Chakra traces, whose files appear together. ASTRA-sim adds the latency of its links, so alpha is 0 by default.
 * Signals that the process ignores stay ignored; the progress bar catches SIGINT after its first report. */
static int write_traces(const options_t *options, const trv_schedule_t *schedule, uint64_t bytes)
{
    const struct sigaction action = {.sa_handler = on_end, .sa_flags = SA_RESTART};
    struct sigaction previous[CLI_ENDING_SIGNALS];
    cli_progress_t progress;
    trv_span_t all = cli_progress_begin(&progress, "writing", 1);
    for (int i = 0; i < CLI_ENDING_SIGNALS; i++)
        if (sigaction(cli_ending_signals[i], NULL, &previous[i]) == 0 && previous[i].sa_handler != SIG_IGN)
            sigaction(cli_ending_signals[i], &action, NULL);
    int rc = trv_export_chakra(schedule, options->output, bytes, options->alpha_given ? options->alpha_ns : 0,
                               report_or_end, &all);
    cli_progress_end(&progress);
    for (int i = 0; i < CLI_ENDING_SIGNALS; i++)
        sigaction(cli_ending_signals[i], &previous[i], NULL);
    if (ended)
        raise(ended);
    return rc;
}

/* The writers check the schedule before they write their first byte, so that no incomplete output reaches stdout
 * either. */
static int write_schedule(const options_t *options, const trv_schedule_t *schedule, uint64_t bytes)
{
    cli_output_t output;
    if (options->format->traces)
        return write_traces(options, schedule, bytes);
    int rc = cli_output_begin(&output, options->output);
    if (rc)
        return rc;
    rc = trv_export(schedule, options->format->format, bytes, options->alpha_ns, trv_span_callback, &output.all,
                    output.stream);
    return cli_output_end(&output, rc);
}

/* Prints to stderr the sizes of vectors for which the MSCCL++ plan of a schedule is valid. If it is not valid for
 * `bytes` (0: no size is given), also prints the next larger size for which it is. Depending on its version, MSCCL++'s
 * loader rejects other sizes, or cuts the vector into unequal chunks, for which the locations in scratch memory differ
 * from those in the vector. */
static void report_sizes(const char *command, const trv_schedule_t *schedule, uint64_t bytes)
{
    const unsigned long long chunks = (unsigned long long)trv_lower_chunks(schedule);
    const unsigned long long step = TRV_MSCCLPP_ALIGNMENT * chunks;
    char text[TRV_BYTES_TEXT_MAX];
    fprintf(stderr,
            "trivance %s: the plan is valid for vectors of %llu bytes and multiples of that (%llu chunk%s of %d "
            "bytes)\n",
            command, step, chunks, chunks == 1 ? "" : "s", TRV_MSCCLPP_ALIGNMENT);
    if (bytes % step)
        cli_warn(command, "the plan is not valid for %s; pad the vector to %llu bytes", trv_format_bytes(bytes, text),
                 (bytes / step + 1) * step);
}

static int run(options_t *options)
{
    uint64_t bytes = options->bytes ? options->bytes : 64 << 10;
    trv_schedule_t *schedule = NULL;
    cli_time_t time;
    int rc;
    if (options->schedule) {
        trv_schedule_file_t file;
        rc = cli_read_schedule(options->command, options->schedule, options->unchecked, &file);
        if (rc)
            return rc;
        schedule = file.schedule;
        bytes = options->bytes ? options->bytes : file.vector_bytes;
        if (options->format->plan)
            rc = cli_require_blocks(&file, options->schedule, "it can be written as GOAL or Chakra only");
    } else {
        options->network.options.alpha_ns = options->alpha_ns;
        rc = cli_network_finish(&options->network, &options->tori.torus[0]);
        if (!rc)
            rc = cli_check_untimed(&options->network, &options->selection, true);
        if (!rc)
            rc = cli_choose(&options->selection.choice[0], &options->tori.torus[0], options->collective, options->root,
                            &options->network.options, NULL, bytes, &schedule, &time);
        if (!rc && !options->unchecked && cli_check_routes(schedule, &options->network.options)) {
            trv_schedule_destroy(schedule);
            return trv_fail(TRV_ERR_UNSUPPORTED, "%s; --unchecked writes the schedule nevertheless", trv_last_error());
        }
    }
    if (!rc)
        rc = write_schedule(options, schedule, bytes);
    if (!rc && options->format->plan)
        report_sizes(options->command, schedule, options->bytes);
    trv_schedule_destroy(schedule);
    return rc;
}

/* Times are whole numbers of ns (in Chakra of us, which its writer checks), but conversion from a unit may round: 2.3us
 * are 2299.9999999999995 ns. */
static int read_alpha(const char *text, double *alpha_ns)
{
    double value = 0;
    int rc = trv_parse_latency_ns(text, &value);
    if (!rc && fabs(value - rint(value)) > 1e-9 * value)
        rc = trv_fail(TRV_ERR_ARGUMENT,
                      "'%.40s' is not a whole number of ns, as the formats require; for example 1.5us", text);
    if (!rc)
        *alpha_ns = rint(value);
    return rc;
}

static int read_option(void *context, int key)
{
    options_t *options = context;
    if (key >= CLI_NETWORK_OPTION)
        return cli_network_set(&options->network, cli_network_name(key - CLI_NETWORK_OPTION), optarg);
    switch (key) {
    case 'f': return read_format(optarg, &options->format);
    case 'a': return cli_select(optarg, &options->selection);
    case 'c': return cli_parse_collective(optarg, &options->collective);
    case OPTION_ROOT: return cli_parse_root(optarg, &options->root);
    case 'b': return trv_parse_vector(optarg, &options->bytes);
    case 's': options->schedule = optarg; return TRV_OK;
    case OPTION_UNCHECKED: options->unchecked = true; return TRV_OK;
    case 'o': options->output = optarg; return TRV_OK;
    default: options->alpha_given = true; return read_alpha(optarg, &options->alpha_ns);
    }
}

int cli_export(int argc, char **argv)
{
    static options_t options;
    options.command = argv[0];
    cli_network_init(&options.network);
    options.alpha_ns = options.network.options.alpha_ns;
    if (cli_select("planned", &options.selection))
        return cli_bad_last(argv[0]);
    int code = cli_read_options(&cli_export_command, argc, argv, read_option, &options);
    if (code >= 0)
        return code;
    if (cli_read_tori(argc, argv, optind, &options.tori))
        return cli_bad_last(argv[0]);
    if (options.unchecked && !options.schedule && !options.network.links.count &&
        !options.network.options.no_forwarding)
        return cli_bad(argv[0],
                       "--unchecked is valid only with --schedule=FILE, --cut=LINK or --no-forwarding; leave it out "
                       "or add one of these");
    if (options.tori.count > 1)
        return cli_bad(argv[0],
                       "more than one torus is given; give one, for example `trivance export 9 --format=goal`");
    if (!options.selection.single)
        return cli_bad(argv[0], "more than one algorithm is given; give one, for example --algorithm=trivance-b");
    if (!options.format)
        return cli_bad(argv[0], "--format is required; " FORMATS_EXPECTED);
    if (options.format->plan && options.collective > TRV_ALLGATHER)
        return cli_bad(argv[0],
                       "MSCCL++ plans are of allreduce, reduce-scatter or allgather; write %s as GOAL, "
                       "--format=goal, as Chakra traces, or as JSON, `trivance plan --collective=%s --format=json`",
                       trv_collective_name(options.collective), trv_collective_name(options.collective));
    if (cli_check_root(options.collective, options.root))
        return cli_bad_last(argv[0]);
    if (options.alpha_given && options.format->plan)
        return cli_bad(argv[0], "--alpha is valid only with --format=goal or chakra; MSCCL++ plans have no times");
    if (options.format->traces && cli_output_is_stdout(options.output))
        return cli_bad(argv[0], "Chakra traces are files; give the beginning of their names, for example "
                                "--output=traces/trivance-b");
    return cli_finish(argv[0], run(&options));
}
