/*
 * trivance plan: a schedule step by step, as text, as a picture (SVG) or as a file (JSON).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/input.h"
#include "cli/parse.h"
#include "cli/plan.h"
#include "cli/plan_search.h"
#include "cli/select.h"
#include "common/error.h"
#include "export/svg.h"

static const char help[] =
    "Usage: trivance plan TORUS [OPTIONS]\n"
    "       trivance plan --schedule=FILE [OPTIONS]\n"
    "       trivance plan --search=RING[-RING] [--steps=K] [--format=table|json|csv|c]\n"
    "       trivance plan --search=TORUS[,TORUS...] [--format=table|json|csv|c]\n\n"
    "Shows a schedule: per step who sends what to whom, by which port, how far, and how many messages\n"
    "share the busiest link; and draws it. Text shows the messages of one rank and a picture of the\n"
    "steps. Or searches: on a ring the distances that bandwidth-optimal phases transmit least with, a line\n"
    "for each number of steps that gains something; on a torus the vectors of star schedules, which use\n"
    "all ports of a rank at once.\n\n"
    "Options:\n"
    "  -a, --algorithm=A     a name or a family, whose better member is taken (default trivance)\n"
    "  -c, --collective=C    allreduce (default), reduce-scatter or allgather\n"
    "  -b, --bytes=M         size of the vector (default 64K); K, M, G are powers of 1024\n"
    "  -r, --rank=R          one rank's messages, with its program: sends, receives, reductions,\n"
    "                        registers\n"
    "      --stream=S        one stream only\n"
    "  -s, --schedule=FILE   a schedule in the format trivance-schedule-1 instead (- is stdin)\n"
    "  -f, --format=F        text (default), svg (a picture) or json (the format trivance-schedule-1)\n"
    "      --search=WHAT     distances for a ring (32) or all rings of a range (2-64), star chains for tori\n"
    "                        (8x8 or 4x4,4x4x8) or all of the built-in table (stars) instead; --format is\n"
    "                        table (default), json, csv, or c (the source of a built-in table)\n"
    "      --steps=K         of the search on rings: distances for K steps per phase only\n"
    "  -o, --output=FILE     write there instead of to the terminal\n"
    "  -h, --help            this text\n\n"
    "Examples:\n"
    "  trivance plan 9\n"
    "  trivance plan 9x9 --algorithm=trivance-b --format=svg -o plan.svg\n"
    "  trivance plan 8 --algorithm=swing-b --rank=3\n"
    "  trivance plan 4x4 --algorithm=bucket --format=json -o bucket.json\n"
    "  trivance plan --search=30-32\n"
    "  trivance plan --search=4x4x8\n";

typedef enum plan_format { TEXT, SVG, JSON } plan_format_t;

typedef struct options {
    const char *command, *schedule, *output, *rank, *stream, *format_name;
    cli_plan_search_t search;
    cli_selection_t selection;
    trv_collective_t collective;
    uint64_t bytes; /* 0: not given */
    plan_format_t format;
    cli_tori_t tori;
} options_t;

/* ---- Titles ------------------------------------------------------------------------------------------------------ */

void cli_plan_title(const cli_plan_t *plan, char text[CLI_PLAN_TEXT_MAX])
{
    const trv_torus_t *torus = trv_schedule_torus(plan->schedule);
    char shape[TRV_TORUS_TEXT_MAX], bytes[CLI_BYTES_TEXT_MAX];
    snprintf(text, CLI_PLAN_TEXT_MAX, "%.80s on %s %s: %s of %s", trv_schedule_name(plan->schedule),
             torus->dims == 1 ? "a ring of" : "the torus", trv_torus_format(torus, shape, sizeof shape),
             cli_collective_title(trv_schedule_collective(plan->schedule)),
             cli_format_bytes(plan->vector_bytes, bytes));
}

void cli_plan_subtitle(const cli_plan_t *plan, char text[CLI_PLAN_TEXT_MAX])
{
    double time_ns = 0;
    int steps = trv_schedule_steps(plan->schedule), streams = trv_schedule_streams(plan->schedule);
    int used = snprintf(text, CLI_PLAN_TEXT_MAX, "%d step%s, %d stream%s", steps, steps == 1 ? "" : "s", streams,
                        streams == 1 ? "" : "s");
    if (plan->has_blocks)
        used += snprintf(text + used, (size_t)(CLI_PLAN_TEXT_MAX - used), "; %s; %s",
                         trv_schedule_exactness(plan->schedule) == TRV_EXACT ? "every contribution exactly once"
                                                                             : "every contribution at least once",
                         trv_schedule_consistent(plan->schedule) ? "the same bits on every rank"
                                                                 : "ranks add in different orders");
    if (trv_cost_time_ns(plan->schedule, &plan->network, plan->vector_bytes, &time_ns) == 0)
        snprintf(text + used, (size_t)(CLI_PLAN_TEXT_MAX - used), "; %.2f us at %g Gb/s and %g us per step",
                 time_ns / 1e3, plan->network.bandwidth_bps / 1e9, plan->network.alpha_ns / 1e3);
}

/* ---- SVG --------------------------------------------------------------------------------------------------------- */

int cli_plan_svg(const cli_plan_t *plan, FILE *out)
{
    trv_picture_t picture;
    trv_progress_t progress;
    char title[CLI_PLAN_TEXT_MAX], subtitle[CLI_PLAN_TEXT_MAX];
    int ranks = trv_schedule_torus(plan->schedule)->ranks;
    int rc = trv_picture_create(&picture, plan->schedule, &plan->cost, plan->rank, plan->stream);
    if (rc)
        return rc;
    rc = trv_svg_check(&picture, plan->rank);
    /* The matrices are of one stream; the others are its images. */
    bool matrices = !rc && plan->has_blocks && ranks <= 81 && ranks > 1 &&
                    trv_progress_create(&progress, plan->schedule, plan->stream < 0 ? 0 : plan->stream) == 0;
    if (!rc) {
        cli_plan_title(plan, title);
        cli_plan_subtitle(plan, subtitle);
        trv_svg_options_t options = {title, subtitle, plan->vector_bytes, plan->rank, plan->stream,
                                     matrices ? &progress : NULL};
        trv_svg_write(&picture, &options, out);
    }
    if (matrices)
        trv_progress_clear(&progress);
    trv_picture_clear(&picture);
    return rc;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int write_plan(const options_t *options, const cli_plan_t *plan)
{
    cli_output_t output;
    int rc = cli_output_begin(&output, options->output);
    if (rc)
        return rc;
    switch (options->format) {
    case TEXT: rc = cli_plan_text(plan, output.stream); break;
    case SVG: rc = cli_plan_svg(plan, output.stream); break;
    case JSON: rc = trv_schedule_file_write(plan->schedule, plan->vector_bytes, output.stream); break;
    }
    int end = cli_output_end(&output, rc == TRV_OK);
    return rc ? rc : end;
}

/* Pictures are built in memory first where they go to stdout, so that a refusal leaves nothing half written: the checks
 * of text and SVG come before their first byte; a JSON file's do not all, so it is tried out before. */
static int try_json(const options_t *options, const cli_plan_t *plan)
{
    if (options->format != JSON || (options->output && strcmp(options->output, "-") != 0))
        return TRV_OK;
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        return TRV_OK;
    int rc = trv_schedule_file_write(plan->schedule, plan->vector_bytes, nowhere);
    fclose(nowhere);
    return rc;
}

static int show(const options_t *options, cli_plan_t *plan)
{
    const trv_torus_t *torus = trv_schedule_torus(plan->schedule);
    int rc = TRV_OK;
    plan->rank = plan->stream = -1;
    if (options->rank)
        rc = cli_parse_int(options->rank, "--rank", 0, torus->ranks - 1, &plan->rank);
    if (!rc && options->stream)
        rc = cli_parse_int(options->stream, "--stream", 0, trv_schedule_streams(plan->schedule) - 1, &plan->stream);
    if (rc)
        return rc;
    if (options->format == JSON && (options->rank || options->stream))
        return trv_fail(TRV_ERR_ARGUMENT,
                        "a JSON schedule has all ranks and streams; --rank and --stream are for text and svg");
    rc = trv_cost_measure(plan->schedule, &plan->cost);
    if (rc)
        return rc;
    rc = try_json(options, plan);
    if (!rc)
        rc = write_plan(options, plan);
    trv_cost_clear(&plan->cost);
    return rc;
}

static int run(const options_t *options)
{
    trv_schedule_t *schedule;
    trv_schedule_file_t file;
    cli_plan_t plan = {.command = options->command, .network = TRV_NETWORK_PAPER, .has_blocks = true};
    plan.vector_bytes = options->bytes ? options->bytes : 64 << 10;
    int rc;
    if (options->schedule) {
        rc = cli_read_schedule(options->command, options->schedule, &file);
        if (rc)
            return rc;
        schedule = file.schedule;
        plan.has_blocks = file.has_blocks;
        if (!options->bytes)
            plan.vector_bytes = file.vector_bytes;
        if (options->format == JSON && !file.has_blocks) {
            trv_schedule_destroy(schedule);
            return trv_fail(TRV_ERR_INVALID,
                            "%.200s has messages but no blocks, so there is nothing to add to it as JSON",
                            options->schedule);
        }
    } else {
        const cli_choice_t *choice = &options->selection.choice[0];
        rc = cli_choose(choice, &options->tori.torus[0], options->collective, &plan.network, plan.vector_bytes,
                        &schedule);
        if (rc)
            return rc;
        if (choice->members > 1)
            plan.family = choice->label;
    }
    plan.schedule = schedule;
    rc = show(options, &plan);
    trv_schedule_destroy(schedule);
    return rc;
}

static int read_format(const char *text, plan_format_t *format)
{
    static const char *const name[] = {"text", "svg", "json"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, name[i]) == 0) {
            *format = (plan_format_t)i;
            return TRV_OK;
        }
    return trv_fail(TRV_ERR_ARGUMENT, "there is no format '%.40s'; there are text, svg and json", text);
}

static int read_bytes(const char *text, uint64_t *bytes)
{
    int rc = cli_parse_bytes(text, bytes);
    if (!rc && *bytes == 0)
        rc = trv_fail(TRV_ERR_ARGUMENT, "--bytes must be at least 1, for example 64K");
    return rc;
}

int cli_plan(int argc, char **argv)
{
    enum { OPTION_STREAM = 256, OPTION_SEARCH, OPTION_STEPS };
    static const struct option longs[] = {
        {"algorithm", required_argument, NULL, 'a'}, {"collective", required_argument, NULL, 'c'},
        {"bytes", required_argument, NULL, 'b'},     {"rank", required_argument, NULL, 'r'},
        {"stream", required_argument, NULL, OPTION_STREAM}, {"schedule", required_argument, NULL, 's'},
        {"search", required_argument, NULL, OPTION_SEARCH}, {"steps", required_argument, NULL, OPTION_STEPS},
        {"format", required_argument, NULL, 'f'},    {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},            {NULL, 0, NULL, 0}};
    static options_t options;
    int option, rc = cli_select("trivance", &options.selection);
    options.command = argv[0];
    while (!rc && (option = cli_option(argc, argv, ":a:c:b:r:s:f:o:h", longs)) != -1)
        switch (option) {
        case 'a': rc = cli_select(optarg, &options.selection); break;
        case 'c': rc = cli_parse_collective(optarg, &options.collective); break;
        case 'b': rc = read_bytes(optarg, &options.bytes); break;
        case 'r': options.rank = optarg; break;
        case OPTION_STREAM: options.stream = optarg; break;
        case 's': options.schedule = optarg; break;
        case OPTION_SEARCH: options.search.what = optarg; break;
        case OPTION_STEPS: options.search.steps = optarg; break;
        case 'f': options.format_name = optarg; break;
        case 'o': options.output = optarg; break;
        case 'h': fputs(help, stdout); return CLI_OK;
        default: return CLI_BAD;
        }
    if (!rc && !options.search.what && options.format_name)
        rc = read_format(options.format_name, &options.format);
    if (!rc)
        rc = cli_read_tori(argc, argv, optind, &options.tori);
    if (rc)
        return cli_bad_last(argv[0]);
    if (options.search.what && (options.tori.count || options.schedule))
        return cli_bad(argv[0], "--search takes its ring or torus itself, for example `trivance plan --search=32`");
    if (options.search.steps && !options.search.what)
        return cli_bad(argv[0], "--steps belongs to --search, for example `trivance plan --search=32 --steps=4`");
    if (options.search.what) {
        options.search.format = options.format_name;
        options.search.output = options.output;
        return cli_plan_search(&options.search) ? cli_bad_last(argv[0]) : CLI_OK;
    }
    if (!options.schedule == !options.tori.count)
        return cli_bad(argv[0], "give either a torus or --schedule=FILE, for example `trivance plan 9`");
    if (options.tori.count > 1)
        return cli_bad(argv[0], "one torus at a time, for example `trivance plan 9`");
    if (!options.selection.single)
        return cli_bad(argv[0], "one algorithm at a time, for example --algorithm=trivance-b");
    return run(&options) ? cli_bad_last(argv[0]) : CLI_OK;
}
