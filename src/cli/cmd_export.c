/*
 * trivance export: a schedule in the formats of others: GOAL, MSCCL XML, MSCCL++ JSON.
 */
#include <stdio.h>
#include <string.h>

#include "cli/subcommands.h"
#include "tool/output.h"
#include "tool/tool.h"
#include "tool/input.h"
#include "text/parse.h"
#include "tool/select.h"
#include "common/error.h"
#include "export/goal_file.h"
#include "export/msccl.h"

static const char help[] =
    "Usage: trivance export TORUS --format=F [OPTIONS]\n"
    "       trivance export --schedule=FILE --format=F [OPTIONS]\n\n"
    "Writes a schedule for other programs: network simulators and libraries of collectives for GPUs.\n\n"
    "Options:\n"
    "  -f, --format=F        goal (the text that LogGOPSim reads; `trivance simulate --goal` too),\n"
    "                        msccl (XML for MSCCL) or mscclpp (an execution plan for MSCCL++)\n"
    "  -a, --algorithm=A     planned (default: the fastest for the size), a name, with its parameters if\n"
    "                        it has some (hybrid:4x8), or a family, whose better member is taken\n"
    "  -c, --collective=C    allreduce (default), reduce-scatter or allgather\n"
    "  -b, --bytes=M         size of the vector (default 64K); K, M, G are powers of 1024\n"
    "      --alpha=T         what a rank calculates at the entry of every step, in whole ns (default\n"
    "                        1.5us); 0ns: no calculations; GOAL only\n"
    "  -s, --schedule=FILE   a schedule in the format trivance-schedule-1 instead (- is stdin)\n"
    "  -o, --output=FILE     write there instead of to the terminal\n"
    "  -h, --help            this text\n\n"
    "Examples:\n"
    "  trivance export 9 --algorithm=trivance-b --bytes=1M --format=goal -o trivance.goal\n"
    "  trivance export 8 --algorithm=swing-b --format=msccl -o swing.xml\n"
    "  trivance export 3x3 --algorithm=trivance-l-grouped --format=mscclpp -o grouped.json\n";

typedef enum export_format { NOTHING, GOAL, MSCCL, MSCCLPP } export_format_t;

typedef struct options {
    const char *command, *schedule, *output;
    cli_selection_t selection;
    trv_collective_t collective;
    uint64_t bytes; /* 0: not given */
    bool alpha_given;
    double alpha_ns;
    export_format_t format;
    cli_tori_t tori;
} options_t;

static int read_format(const char *text, export_format_t *format)
{
    static const char *const name[] = {[GOAL] = "goal", [MSCCL] = "msccl", [MSCCLPP] = "mscclpp"};
    for (int i = GOAL; i <= MSCCLPP; i++)
        if (strcmp(text, name[i]) == 0) {
            *format = (export_format_t)i;
            return TRV_OK;
        }
    return trv_fail(TRV_ERR_ARGUMENT, "there is no format '%.40s'; there are goal, msccl and mscclpp", text);
}

/* The writers refuse before they write their first byte, so that nothing half written reaches stdout either. */
static int write_schedule(const options_t *options, const trv_schedule_t *schedule, uint64_t bytes)
{
    cli_output_t output;
    int rc = cli_output_begin(&output, options->output);
    if (rc)
        return rc;
    if (options->format == GOAL)
        rc = trv_goal_file_write(schedule, bytes, options->alpha_ns, output.stream);
    else if (options->format == MSCCL)
        rc = trv_msccl_write(schedule, output.stream);
    else
        rc = trv_mscclpp_write(schedule, output.stream);
    return cli_output_end(&output, rc);
}

static int run(const options_t *options)
{
    uint64_t bytes = options->bytes ? options->bytes : 64 << 10;
    trv_schedule_t *schedule = NULL;
    int rc;
    if (options->schedule) {
        trv_schedule_file_t file;
        rc = cli_read_schedule(options->command, options->schedule, &file);
        if (rc)
            return rc;
        schedule = file.schedule;
        bytes = options->bytes ? options->bytes : file.vector_bytes;
        if (!file.has_blocks && options->format != GOAL)
            rc = trv_fail(TRV_ERR_INVALID, "%.200s has messages but no blocks, which is enough for GOAL only",
                          options->schedule);
    } else {
        trv_simulate_options_t network = cli_usual_network();
        network.alpha_ns = options->alpha_ns;
        rc = cli_choose(&options->selection.choice[0], &options->tori.torus[0], options->collective, &network, NULL,
                        bytes, &schedule);
    }
    if (!rc)
        rc = write_schedule(options, schedule, bytes);
    trv_schedule_destroy(schedule);
    return rc;
}

/* 0, an error, or 1 + the exit code when there is nothing more to do. */
static int read_options(int argc, char **argv, options_t *options)
{
    enum { OPTION_ALPHA = 256 };
    static const struct option longs[] = {{"format", required_argument, NULL, 'f'},
                                          {"algorithm", required_argument, NULL, 'a'},
                                          {"collective", required_argument, NULL, 'c'},
                                          {"bytes", required_argument, NULL, 'b'},
                                          {"alpha", required_argument, NULL, OPTION_ALPHA},
                                          {"schedule", required_argument, NULL, 's'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option, rc = cli_select("planned", &options->selection);
    while (!rc && (option = cli_option(argc, argv, ":f:a:c:b:s:o:h", longs)) != -1)
        switch (option) {
        case 'f': rc = read_format(optarg, &options->format); break;
        case 'a': rc = cli_select(optarg, &options->selection); break;
        case 'c': rc = cli_parse_collective(optarg, &options->collective); break;
        case 'b': rc = trv_parse_vector(optarg, &options->bytes); break;
        case OPTION_ALPHA:
            rc = trv_parse_time_ns(optarg, &options->alpha_ns);
            options->alpha_given = true;
            break;
        case 's': options->schedule = optarg; break;
        case 'o': options->output = optarg; break;
        case 'h': fputs(help, stdout); return 1 + CLI_OK;
        default: return 1 + CLI_BAD;
        }
    return rc ? rc : cli_read_tori(argc, argv, optind, &options->tori);
}

int cli_export(int argc, char **argv)
{
    static options_t options;
    options.command = argv[0];
    options.alpha_ns = cli_usual_network().alpha_ns;
    int rc = read_options(argc, argv, &options);
    if (rc > 0)
        return rc - 1;
    if (rc)
        return cli_bad_last(argv[0]);
    if (!options.schedule == !options.tori.count)
        return cli_bad(argv[0],
                       "give either a torus or --schedule=FILE, for example `trivance export 9 --format=goal`");
    if (options.tori.count > 1)
        return cli_bad(argv[0], "one torus at a time, for example `trivance export 9 --format=goal`");
    if (!options.selection.single)
        return cli_bad(argv[0], "one algorithm at a time, for example --algorithm=trivance-b");
    if (options.format == NOTHING)
        return cli_bad(argv[0], "give the format, --format=goal, msccl or mscclpp");
    if (options.alpha_given && options.format != GOAL)
        return cli_bad(argv[0], "--alpha is for --format=goal; the others have no times");
    return run(&options) ? cli_bad_last(argv[0]) : CLI_OK;
}
