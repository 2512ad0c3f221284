/*
 * trivance verify: proves or disproves that schedules have the properties that they claim; one row per torus,
 * collective and algorithm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/verify.h>

#include "base/number.h"
#include "cli/subcommands.h"
#include "cli/shared/tool.h"
#include "formats/mscclpp.h"
#include "base/text/whole_file.h"
#include "cli/shared/input.h"
#include "cli/shared/progress.h"
#include "base/text/parse.h"
#include "cli/shared/network_options.h"
#include "cli/shared/choose.h"
#include "cli/shared/table.h"
#include "cli/shared/option_words.h"
#include "base/error.h"
#include "schedule/collective.h"
#include "verify/gpu_program.h"

enum { OPTION_METHOD = CLI_NO_LETTER, OPTION_ROOT };

static const cli_option_t option[] =
    {{"algorithm", 'a', "LIST",
      "algorithms, with parameters if they have any, families or planned, separated by commas, or all (default); of a "
      "family every member is verified",
      "ALGORITHM all"},
     {"bytes", 'b', "M", "size of the vector for planned (default 64K)", NULL},
     {"collective", 'c', "C", CLI_COLLECTIVE_HELP ", or all", CLI_COLLECTIVE_WORDS " all"},
     {"root", OPTION_ROOT, "R", CLI_ROOT_HELP, NULL},
     {"schedule", 's', "FILE",
      "use a schedule in the format trivance-schedule-1, which must state the blocks each message carries, or an "
      "execution plan of MSCCL++ instead (- is stdin)",
      "FILE"},
     {"method", OPTION_METHOD, "M",
      "exhaustive: every contribution is counted, a proof; random: random 64-bit values are added, wrong with a "
      "probability below 2^-60; auto (default): exhaustive while that is affordable",
      "auto exhaustive random"},
     {"format", 'f', "F", "table (default), json or csv", "table json csv"},
     CLI_OPTIONS_END};

static const cli_mode_t mode[] = {
    {"schedule", CLI_FILE_ABOUT, "method format MORE", "--schedule=nine.json"},
    {NULL, NULL, "TORUS algorithm bytes collective root method format MORE", "9 3x3"},
};

const cli_command_t cli_verify_command = {
    .name = "verify",
    .summary = "prove or disprove that schedules are exact",
    .usage = "TORUS… [OPTIONS]\n"
             "--schedule=FILE [OPTIONS]",
    .about = "Runs schedules symbolically for every rank and block and proves, or disproves, that every rank ends with "
             "every contribution exactly once, that sends and receives match, that nothing deadlocks, that no more "
             "messages leave a port than declared, that none passes a link that is cut, and whether all ranks receive "
             "identical bits for floating point (consistent).",
    .option = option,
    .mode = mode,
    .more = cli_network_link_options,
    .repeated = CLI_NETWORK_REPEATED,
    .notes = "Exit status: 0 all claims hold, 1 a schedule is wrong, 2 bad input. Algorithms that do not support a "
             "torus are shown as skipped, with the reason; if a single algorithm is given by name, that is bad input.",
    .examples = "trivance verify 9 3x3 8x8\n"
                "trivance verify 27x27 --algorithm=trivance --method=random\n"
                "trivance verify 3x9 --cut=4:+1\n"
                "trivance plan 9 --format=json -o nine.json && trivance verify --schedule=nine.json\n"
                "trivance verify 3x3 --collective=all\n",
};

typedef struct options {
    const char *command, *path;
    cli_selection_t selection;
    bool collective[TRV_COLLECTIVES], all_collectives;
    int root;        /* of the collectives that have one */
    bool with_bytes; /* --bytes was given */
    trv_verify_method_t method;
    uint64_t bytes;        /* for which `planned` is selected */
    cli_network_t network; /* only its links are used */
    cli_format_t format;
    cli_tori_t tori;
} options_t;

static int root_of(const options_t *options, trv_collective_t collective)
{
    return options->all_collectives && !trv_collective_has_root(collective) ? 0 : options->root;
}

typedef struct tally {
    int proved, wrong, skipped;
} tally_t;

/* A row, whose fields of the verdict are empty if the schedule was skipped. */
typedef struct row {
    const char *torus, *name, *chosen_for, *result;
    trv_collective_t collective;
    const trv_verdict_t *verdict; /* NULL: skipped */
    bool has_order;               /* the order of the additions is known, and so whether results are consistent */
    const char *reason;           /* of a skipped or wrong schedule; NULL: none */
} row_t;

static void add_number(cli_table_t *table, bool known, int64_t number)
{
    if (known)
        cli_cell_int(table, number);
    else
        cli_cell_none(table);
}

/* The messages after a fault are not examined, so their number is not known. */
static void add_row(cli_table_t *table, const row_t *row)
{
    static const trv_verdict_t none;
    const trv_verdict_t *verdict = row->verdict ? row->verdict : &none;
    const bool verified = row->verdict != NULL, wrong = verified && !verdict->valid;
    const bool planned = strcmp(row->chosen_for, "planned") == 0 && table->format == CLI_FORMAT_TABLE;
    const double ms = 1e3 * verdict->seconds;
    char name[TRV_ALGORITHM_NAME_MAX + 16], time[32] = "";
    snprintf(name, sizeof name, "%s%.*s", planned ? "planned: " : "", TRV_ALGORITHM_NAME_MAX, row->name);
    trv_snprintf(time, sizeof time, "%.*f ms", ms < 10 ? 2 : ms < 100 ? 1 : 0, ms);
    cli_cell_text(table, row->torus);
    cli_cell_text(table, name);
    cli_cell_text(table, row->chosen_for);
    cli_cell_text(table, trv_collective_shape(row->collective)->name);
    cli_cell_text(table, row->result);
    row->has_order ? cli_cell_bool(table, verdict->consistent) : cli_cell_none(table);
    add_number(table, verified, verdict->ranks);
    add_number(table, verified, verdict->units);
    add_number(table, verified && verdict->valid, verdict->messages);
    if (verified) {
        cli_cell_text(table, verdict->method == TRV_VERIFY_RANDOM ? "random" : "exhaustive");
        cli_cell_both(table, time, json_real(verdict->seconds));
    } else {
        cli_cell_none(table);
        cli_cell_none(table);
    }
    add_number(table, wrong && (row->has_order || verdict->fault_rank >= 0), verdict->fault_rank);
    add_number(table, wrong && row->has_order, verdict->fault_stream);
    add_number(table, wrong && row->has_order, verdict->fault_step);
    add_number(table, wrong && row->has_order, verdict->fault_unit);
    row->reason ? cli_cell_text(table, row->reason) : cli_cell_none(table);
    cli_row_end(table);
}

static void tally_add(tally_t *tally, bool valid)
{
    tally->proved += valid;
    tally->wrong += !valid;
}

/* Verifies a program of GPUs, which has no torus. The orders of additions on GPUs are not compared; threadblocks and
 * their steps are not streams. */
static int verify_program(cli_table_t *table, const trv_gpu_program_t *program, tally_t *tally)
{
    trv_gpu_program_verdict_t found;
    cli_progress_t progress;
    char gpus[32], what[CLI_PROGRESS_NAME_MAX];
    snprintf(what, sizeof what, "verifying %.63s", program->name);
    const trv_span_t all = cli_progress_begin(&progress, what, 1);
    int rc = trv_gpu_program_verify(program, all, &found);
    cli_progress_end(&progress);
    if (rc)
        return rc;
    snprintf(gpus, sizeof gpus, "%d GPUs", program->gpus);
    const trv_verdict_t verdict = {TRV_VERDICT,
                                   .valid = found.valid,
                                   .ranks = program->gpus,
                                   .units = program->chunks,
                                   .messages = found.messages,
                                   .seconds = found.seconds,
                                   .fault_rank = found.gpu};
    add_row(table, &(row_t){.torus = gpus,
                            .name = program->name,
                            .chosen_for = program->name,
                            .result = found.valid ? "exact" : "WRONG",
                            .collective = program->collective,
                            .verdict = &verdict,
                            .reason = found.valid ? NULL : found.fault});
    tally_add(tally, found.valid);
    return TRV_OK;
}

static int verify_one(cli_table_t *table, const options_t *options, const trv_schedule_t *schedule,
                      const char *chosen_for, tally_t *tally)
{
    const trv_network_t network = cli_network_on(trv_schedule_torus(schedule), &options->network.options);
    trv_verdict_t verdict = {TRV_VERDICT};
    int rc = cli_verify_schedule(schedule, &network, options->method, &verdict);
    if (rc)
        return rc;
    const bool exact = trv_schedule_exactness(schedule) == TRV_EXACT;
    char torus[TRV_TORUS_TEXT_MAX];
    add_row(table, &(row_t){.torus = trv_torus_format(trv_schedule_torus(schedule), torus, sizeof torus),
                            .name = trv_schedule_name(schedule),
                            .chosen_for = chosen_for,
                            .result = !verdict.valid ? "WRONG"
                                      : exact        ? "exact"
                                                     : "covers",
                            .collective = trv_schedule_collective(schedule),
                            .verdict = &verdict,
                            .has_order = true,
                            .reason = verdict.valid ? NULL : verdict.fault});
    tally_add(tally, verdict.valid);
    return TRV_OK;
}

/* Creates the schedule of a member of the choice, or its plan. */
static int create_member(const options_t *options, const trv_torus_t *torus, const cli_choice_t *choice, int member,
                         trv_collective_t collective, trv_schedule_t **schedule)
{
    const trv_network_t network = cli_network_on(torus, &options->network.options);
    trv_planner_choice_t best;
    const char *name = choice->planned ? best.algorithm : cli_member_name(choice, member);
    *schedule = NULL;
    int rc = choice->planned ? cli_planner_best(torus, collective, root_of(options, collective),
                                                &options->network.options, NULL, options->bytes, &best)
                             : TRV_OK;
    return rc ? rc : trv_schedule_create_on(schedule, &network, name, collective, root_of(options, collective));
}

static int verify_member(cli_table_t *table, const options_t *options, const trv_torus_t *torus,
                         const cli_choice_t *choice, int member, trv_collective_t collective, tally_t *tally)
{
    trv_schedule_t *schedule;
    char text[TRV_TORUS_TEXT_MAX];
    if (options->selection.all && !choice->planned && !trv_algorithm_has_collective(choice->member[member], collective))
        return TRV_OK;
    int rc = create_member(options, torus, choice, member, collective, &schedule);
    if (!rc && options->selection.all) /* with `all`, those that use a cut link are skipped */
        rc = cli_check_routes(schedule, &options->network.options);
    if (rc == TRV_ERR_UNSUPPORTED && (!options->selection.single || options->all_collectives)) {
        trv_schedule_destroy(schedule);
        add_row(table, &(row_t){.torus = trv_torus_format(torus, text, sizeof text),
                                .name = choice->planned ? "" : cli_member_name(choice, member),
                                .chosen_for = choice->label,
                                .result = "skipped",
                                .collective = collective,
                                .reason = trv_last_error()});
        tally->skipped++;
        return TRV_OK;
    }
    if (!rc)
        rc = verify_one(table, options, schedule, choice->label, tally);
    trv_schedule_destroy(schedule);
    return rc;
}

static int verify_tori(cli_table_t *table, const options_t *options, tally_t *tally)
{
    int rc = TRV_OK;
    for (int t = 0; t < options->tori.count && !rc; t++)
        for (int c = 0; c < TRV_COLLECTIVES; c++)
            for (int i = 0; options->collective[c] && i < options->selection.choices && !rc; i++) {
                const cli_choice_t *choice = &options->selection.choice[i];
                for (int m = 0; m < choice->members + choice->planned && !rc; m++)
                    rc = verify_member(table, options, &options->tori.torus[t], choice, m, (trv_collective_t)c, tally);
            }
    return rc;
}

/* Reads the file, which contains a schedule or a program of GPUs. */
static int read_file(const options_t *options, trv_schedule_file_t *file, trv_gpu_program_t *program)
{
    const char *name;
    char *text;
    size_t length;
    int rc = trv_whole_file_read(options->path, &name, &text, &length);
    if (rc)
        return rc;
    if (strstr(text, "\"threadblocks\"")) { /* a key that schedules lack */
        rc = trv_mscclpp_read(text, length, name, program);
        free(text);
        return rc;
    }
    rc = trv_schedule_file_parse(text, length, name, file, cli_warn_callback, (void *)(uintptr_t)options->command);
    free(text);
    return rc ? rc
              : cli_require_blocks(file, options->path,
                                   "nothing can be proved (plan, cost, simulate and export accept such a file)");
}

/* Rejects a root that a collective lacks before the table begins. With --collective=all it is that of the collectives
 * that have one. */
static int check_root(const options_t *options)
{
    int rc = TRV_OK;
    for (int c = 0; c < TRV_COLLECTIVES && !rc; c++) {
        if (!options->collective[c])
            continue;
        rc = cli_check_root((trv_collective_t)c, root_of(options, (trv_collective_t)c));
        for (int t = 0; t < options->tori.count && !rc; t++)
            rc = trv_collective_check((trv_collective_t)c, root_of(options, (trv_collective_t)c),
                                      options->tori.torus[t].ranks);
    }
    return rc;
}

/* Rejects a single algorithm that does not support a torus before the table begins. With --collective=all it must
 * support at least one of the collectives. */
static int check_single(const options_t *options)
{
    const cli_choice_t *choice = &options->selection.choice[0];
    for (int t = 0; options->selection.single && choice->members == 1 && t < options->tori.count; t++) {
        const trv_network_t network = cli_network_on(&options->tori.torus[t], &options->network.options);
        int rc = TRV_OK;
        bool supported = false;
        for (int c = 0; c < TRV_COLLECTIVES && (!rc || options->all_collectives); c++) {
            trv_schedule_t *schedule = NULL;
            if (!options->collective[c])
                continue;
            rc = trv_schedule_create_on(&schedule, &network, cli_member_name(choice, 0), (trv_collective_t)c, 0);
            trv_schedule_destroy(schedule);
            supported = supported || !rc;
            if (rc && rc != TRV_ERR_UNSUPPORTED)
                return rc;
        }
        if (!supported)
            return rc;
    }
    return TRV_OK;
}

/* Prints the table; *code receives the exit status if nothing fails. */
static int print_table(const options_t *options, const trv_schedule_t *schedule, const trv_gpu_program_t *program,
                       int *code)
{
    static const cli_column_t column[] = {{"torus", "torus", false, 0},
                                          {"algorithm", "algorithm", false, 0},
                                          {"chosen_for", NULL, false, 0},
                                          {"collective", "collective", false, 14},
                                          {"verdict", "verdict", false, 7},
                                          {"consistent", "consistent", false, 0},
                                          {"ranks", "ranks", true, 6},
                                          {"blocks", "blocks", true, 7},
                                          {"messages", "messages", true, 9},
                                          {"method", "method", false, 10},
                                          {"seconds", "time", true, 9},
                                          {"fault_rank", NULL, false, 0},
                                          {"fault_stream", NULL, false, 0},
                                          {"fault_step", NULL, false, 0},
                                          {"fault_block", NULL, false, 0},
                                          {"reason", "", false, 0},
                                          {0}};
    tally_t tally = {0};
    cli_table_t table;
    cli_table_begin(&table, stdout, options->format, column);
    int rc = program->gpus ? verify_program(&table, program, &tally)
             : schedule    ? verify_one(&table, options, schedule, trv_schedule_name(schedule), &tally)
                           : verify_tori(&table, options, &tally);
    int end = cli_table_end(&table);
    if (!rc && !end && tally.proved + tally.wrong == 0)
        rc = trv_fail(TRV_ERR_ARGUMENT, "no algorithm of the list supports the torus, so nothing was verified");
    *code = tally.wrong ? CLI_WRONG : CLI_OK;
    return rc ? rc : end;
}

static int run(options_t *options)
{
    trv_schedule_file_t file = {0};
    trv_gpu_program_t program = {.gpus = 0};
    int code = CLI_BAD, rc = options->path ? read_file(options, &file, &program) : TRV_OK;
    if (!rc && program.gpus && options->network.given)
        rc = trv_fail(TRV_ERR_ARGUMENT,
                      "options of links do not apply to a program of GPUs, which has no links; leave them out");
    else if (!rc && file.schedule)
        rc = cli_network_finish_file(&options->network, &file);
    if (!rc)
        rc = cli_finish_tori(&options->network, &options->tori);
    if (!rc)
        rc = cli_check_untimed(&options->network, options->path ? NULL : &options->selection, false);
    if (!rc && !options->path)
        rc = check_root(options);
    if (!rc && !options->path)
        rc = check_single(options);
    if (!rc)
        rc = print_table(options, file.schedule, &program, &code);
    trv_schedule_destroy(file.schedule);
    trv_gpu_program_clear(&program);
    return rc ? cli_bad_last(options->command) : code;
}

static int read_collective(options_t *options, const char *text)
{
    const int index = cli_words_find(CLI_COLLECTIVE_WORDS " all", text, "collective", "");
    options->all_collectives = index == TRV_COLLECTIVES;
    for (int c = 0; c < TRV_COLLECTIVES; c++)
        options->collective[c] = options->all_collectives || c == index;
    return index < 0 ? index : TRV_OK;
}

static int read_method(options_t *options, const char *text)
{
    const int index = cli_words_find("auto exhaustive random", text, "method", "");
    options->method = index < 0 ? options->method : (trv_verify_method_t)index;
    return index < 0 ? index : TRV_OK;
}

static int read_option(void *context, int key)
{
    options_t *options = context;
    if (key >= CLI_NETWORK_OPTION)
        return cli_network_set(&options->network, cli_network_name(key - CLI_NETWORK_OPTION), optarg);
    switch (key) {
    case 'a': return cli_select(optarg, &options->selection);
    case 'b': options->with_bytes = true; return trv_parse_vector(optarg, &options->bytes);
    case 'c': return read_collective(options, optarg);
    case OPTION_ROOT: return cli_parse_root(optarg, &options->root);
    case 's': options->path = optarg; return TRV_OK;
    case 'f': return cli_parse_format(optarg, &options->format);
    default: return read_method(options, optarg);
    }
}

int cli_verify(int argc, char **argv)
{
    static options_t options;
    options.command = argv[0];
    options.collective[TRV_ALLREDUCE] = true;
    options.bytes = 64 << 10;
    cli_network_init(&options.network);
    if (cli_select("all", &options.selection))
        return cli_bad_last(argv[0]);
    int code = cli_read_options(&cli_verify_command, argc, argv, read_option, &options);
    if (code >= 0)
        return code;
    if (cli_read_tori(argc, argv, optind, &options.tori))
        return cli_bad_last(argv[0]);
    unsigned collectives = 0;
    for (int c = 0; c < TRV_COLLECTIVES; c++)
        collectives |= (unsigned)options.collective[c] << c;
    cli_selection_restrict(&options.selection, collectives);
    if (options.with_bytes && !cli_has_planned(&options.selection))
        return cli_bad(argv[0],
                       "--bytes is only for planned; named algorithms are verified for all sizes; leave it out");
    return run(&options);
}
