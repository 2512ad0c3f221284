/*
 * trivance figures: the figures and tables of the paper's evaluation, recomputed, in a folder. What they show and how
 * they are made is in src/cli/figures.
 *
 * SIGINT, SIGTERM and SIGHUP are waited for by a thread of their own. It ends the process between two simulations, which
 * are kept in the folder; once all are there, the files are written to the end.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/subcommands.h"
#include "cli/shared/output.h"
#include "cli/shared/tool.h"
#include "cli/shared/cost_paper.h"
#include "base/text/parse.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/figures/figures.h"

enum { OPTION_ONLY = CLI_NO_LETTER, OPTION_QUICK, OPTION_MODEL, OPTION_DELIVERY };

static const cli_option_t option[] =
    {{"output", 'o', "DIR", "the folder (default: evaluation); made where it is missing", "DIR"},
     {"only", OPTION_ONLY, "LIST", "these figures only, numbers from 6 to 33 separated by commas", NULL},
     {"quick", OPTION_QUICK, NULL,
      "every second size and, without --only, tori of at most 64 ranks only: seconds instead of minutes", NULL},
     {"model", OPTION_MODEL, "M",
      "queues of a link: dateline (two channels that take turns, as in SST/Merlin; default) or fifo (one queue, the "
      "ideal router; quicker)",
      "dateline fifo"},
     {"delivery", OPTION_DELIVERY, "D",
      "a packet has arrived with its head (as in SST/Merlin; default) or with its tail (as on a real link)",
      "head tail"},
     {"workers", 'j', "N", "threads (default: one per core)", NULL},
     CLI_OPTIONS_END};

const cli_command_t cli_figures_command = {
    .name = "figures",
    .summary = "the figures and tables of the paper's evaluation, recomputed",
    .usage = "[OPTIONS]",
    .about = "Simulates figures 6 to 20 of the paper's evaluation and tables 1 and 2, and compares them with what the "
             "paper says. Figures 21 to 32, beyond the paper, show what planned schedules (`trivance plan`) gain over "
             "all of its algorithms, on meshes up to 512 MiB (30 to 32); figure 33 what they lose as links fail. The "
             "folder then has index.html (all of it, opens offline), evaluation.md (claim by "
             "claim), tables.csv, and in figures/ every figure as CSV and gnuplot script and, where gnuplot is "
             "installed, as SVG and PDF.",
    .option = option,
    .examples = "trivance figures --output evaluation\n"
                "trivance figures --quick --only 6,17\n"
                "trivance figures --model=fifo --output ideal-router\n",
};

#define QUICK_RANKS_MAX 64
#define PATH_TEXT_MAX   1024

typedef struct options {
    const char *command, *folder;
    bool chosen[FIG_COUNT], with_only;
    fig_result_t result, variant[FIG_VARIANTS];
    fig_kept_t kept;
    char kept_path[PATH_TEXT_MAX + 32];
    double begun_s;
} options_t;

/* ---- Interruption ------------------------------------------------------------------------------------------------ */

static sigset_t interruptions(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    return set;
}

static void *end_when_interrupted(void *context)
{
    options_t *options = context;
    sigset_t set = interruptions();
    int signal = 0;
    sigwait(&set, &signal);
    pthread_mutex_lock(&options->kept.lock);
    cli_progress_end(&options->kept.progress);
    cli_bad(options->command, "interrupted; what was simulated is kept in '%s', and the same command goes on there",
            options->kept_path);
    _exit(128 + signal);
}

/* From here on all threads leave the signals to one. */
static void watch_signals(options_t *options)
{
    pthread_t thread;
    sigset_t set = interruptions();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (pthread_create(&thread, NULL, end_when_interrupted, options) == 0)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- The folder -------------------------------------------------------------------------------------------------- */

/* Finds out before anything is simulated whether files can be written. */
static int prepare_folder(const char *folder)
{
    char path[PATH_TEXT_MAX + 32];
    cli_output_t output;
    int rc = cli_make_folder(folder);
    snprintf(path, sizeof path, "%.*s/figures", PATH_TEXT_MAX, folder);
    if (!rc)
        rc = cli_make_folder(path);
    for (int i = 0; i < 2 && !rc; i++) {
        snprintf(path, sizeof path, "%.*s/%s", PATH_TEXT_MAX, folder, i ? "figures/figure" : "index.html");
        rc = cli_output_begin(&output, path);
        if (!rc)
            (void)cli_output_end(&output, TRV_ERR_STATE); /* only whether it can be made */
    }
    return rc;
}

/* ---- The files --------------------------------------------------------------------------------------------------- */

/* One file, complete or not there. */
static int write_file(const options_t *options, const fig_figure_t *figure, fig_write_t *write, const char *name)
{
    char path[PATH_TEXT_MAX + 64];
    cli_output_t output;
    snprintf(path, sizeof path, "%.*s/%s", PATH_TEXT_MAX, options->folder, name);
    int rc = cli_output_begin(&output, path);
    if (rc)
        return rc;
    return cli_output_end(&output, write(&options->result, figure, output.stream));
}

/* gnuplot writes over the temporary, which then gets its name, or over what is no regular file. */
static int draw(const options_t *options, const char *name, const char *terminal, const char *ending)
{
    char script[PATH_TEXT_MAX + 64], path[PATH_TEXT_MAX + 64];
    cli_output_t output;
    snprintf(script, sizeof script, "%.*s/%s.gnuplot", PATH_TEXT_MAX, options->folder, name);
    snprintf(path, sizeof path, "%.*s/%s.%s", PATH_TEXT_MAX, options->folder, name, ending);
    int rc = cli_output_begin(&output, path);
    if (rc)
        return rc;
    return cli_output_end(&output, fig_draw(script, terminal, output.temporary ? output.temporary : output.path));
}

static int write_figure(const options_t *options, const fig_figure_t *figure)
{
    char name[48], file[64];
    snprintf(name, sizeof name, "figures/figure-%02d", figure->spec->number);
    snprintf(file, sizeof file, "%s.csv", name);
    int rc = write_file(options, figure, fig_write_csv, file);
    snprintf(file, sizeof file, "%s.gnuplot", name);
    if (!rc)
        rc = write_file(options, figure, fig_write_gnuplot, file);
    if (!rc && options->result.drawn)
        rc = draw(options, name, FIG_SVG, "svg");
    if (!rc && options->result.drawn)
        rc = draw(options, name, FIG_PDF, "pdf");
    return rc;
}

/* Tables 1 and 2, as `trivance cost --paper` has them. */
static int read_tables(fig_result_t *result)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    int rc = stream ? TRV_OK : trv_fail_memory();
    if (!rc)
        rc = cli_cost_paper(stream, CLI_FORMAT_JSON);
    if (stream && fclose(stream) && !rc)
        rc = trv_fail_memory();
    if (!rc) {
        result->tables = json_loads(text, 0, NULL);
        rc = result->tables ? TRV_OK : trv_fail_memory();
    }
    free(text);
    return rc;
}

static int write_all(options_t *options)
{
    fig_result_t *result = &options->result;
    int rc = read_tables(result);
    result->drawn = fig_can_draw();
    for (int f = 0; f < result->figures && !rc; f++)
        rc = write_figure(options, &result->figure[f]);
    if (!rc)
        rc = write_file(options, NULL, fig_write_tables, "tables.csv");
    if (!rc)
        rc = write_file(options, NULL, fig_write_report, "evaluation.md");
    if (!rc)
        rc = write_file(options, NULL, fig_write_page, "index.html");
    return rc;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int read_only(options_t *options, const char *list)
{
    char item[32];
    const char *rest = list;
    int more, number = 0;
    options->with_only = true;
    while ((more = trv_next_item(&rest, "figures", item, sizeof item)) > 0) {
        int rc = trv_parse_int(item, "a figure", fig_spec[0].number, fig_spec[FIG_COUNT - 1].number, &number);
        if (rc)
            return rc;
        options->chosen[number - fig_spec[0].number] = true;
    }
    return more;
}

static int read_option(void *context, int key)
{
    options_t *options = context;
    fig_result_t *result = &options->result;
    switch (key) {
    case 'o': options->folder = optarg; return TRV_OK;
    case 'j': return trv_parse_int(optarg, "--workers", 1, 1024, &result->workers);
    case OPTION_ONLY: return read_only(options, optarg);
    case OPTION_QUICK: result->quick = true; return TRV_OK;
    case OPTION_MODEL: return cli_network_set(&result->network, "model", optarg);
    case OPTION_DELIVERY: return cli_network_set(&result->network, "delivery", optarg);
    default: return TRV_ERR_ARGUMENT;
    }
}

/* The command without its folder, which changes nothing but the place. */
static void keep_command(fig_result_t *result, const options_t *options)
{
    const trv_simulate_options_t *network = &result->network.options;
    size_t used = (size_t)snprintf(result->command, sizeof result->command, "trivance figures%s",
                                   result->quick ? " --quick" : "");
    for (int i = 0, listed = 0; i < FIG_COUNT && options->with_only; i++)
        if (options->chosen[i])
            used += (size_t)snprintf(result->command + used, sizeof result->command - used, "%s%d",
                                     listed++ ? "," : " --only ", fig_spec[i].number);
    if (network->model != TRV_DATELINE)
        used += (size_t)snprintf(result->command + used, sizeof result->command - used, " --model=%s",
                                 cli_model_name(network->model));
    if (network->delivery != TRV_DELIVERY_HEAD)
        snprintf(result->command + used, sizeof result->command - used, " --delivery=%s",
                 cli_delivery_name(network->delivery));
}

/* The figures that were chosen; the sizes, 32 B to 128 MiB, on meshes to 512 MiB. */
static int choose(options_t *options)
{
    fig_result_t *result = &options->result;
    for (int i = 0; i < FIG_COUNT; i++) {
        trv_torus_t torus;
        int rc = trv_torus_parse(fig_spec[i].torus, &torus);
        if (rc)
            return rc;
        if (options->with_only ? options->chosen[i] : !result->quick || torus.ranks <= QUICK_RANKS_MAX)
            result->figure[result->figures++].spec = &fig_spec[i];
    }
    for (uint64_t bytes = 32; bytes <= UINT64_C(512) << 20; bytes *= result->quick ? 4 : 2) {
        int *count = bytes <= UINT64_C(128) << 20 ? &result->sizes : &result->larger;
        result->bytes[result->sizes + result->larger] = bytes;
        ++*count;
    }
    keep_command(result, options);
    return TRV_OK;
}

/* Those that the variants needed, too, and all the time since the command began. */
static void print_work(const options_t *options)
{
    const fig_result_t *result = &options->result, *fifo = result->variant[FIG_FIFO],
                       *tail = result->variant[FIG_FIFO_TAIL];
    int simulations = result->all.simulations + (fifo ? fifo->all.simulations : 0) + (tail ? tail->all.simulations : 0);
    printf("%d figure%s of %d simulations in %.1f s. ", result->figures, result->figures == 1 ? "" : "s", simulations,
           trv_now_s() - options->begun_s);
}

static void print_summary(const options_t *options)
{
    const fig_result_t *result = &options->result;
    int count[3] = {0};
    print_work(options);
    for (int c = 0; c < fig_claims; c++) {
        fig_finding_t finding;
        fig_check(result, &fig_claim[c], &finding);
        count[finding.verdict]++;
    }
    printf("Of the paper's claims %d agree, %d differ, %d were not measured.\n"
           "%s/index.html shows all of it, %s/evaluation.md compares claim by claim.\n",
           count[FIG_AGREES], count[FIG_DIFFERS], count[FIG_NOT_MEASURED], options->folder, options->folder);
    if (!result->drawn)
        fprintf(stderr, "trivance %s: there is no gnuplot, so SVG and PDF are left out; its scripts are there\n",
                options->command);
}

/* The figures once more under another model and rule, to find out why claims do not hold. */
static int run_variant(options_t *options, fig_variant_t variant, const char *what, trv_delivery_t delivery)
{
    fig_result_t *result = &options->variant[variant];
    *result = options->result;
    result->network.options.model = TRV_FIFO;
    result->network.options.delivery = delivery;
    while (result->figures > 0 && fig_is_beyond(result->figure[result->figures - 1].spec))
        result->figures--; /* no claim is about them */
    result->symmetric_only = true;
    int rc = fig_run(what, result);
    if (!rc)
        options->result.variant[variant] = result;
    return rc;
}

static int run_variants(options_t *options)
{
    const fig_result_t *result = &options->result;
    bool fifo = result->network.options.model == TRV_FIFO, tail = result->network.options.delivery == TRV_DELIVERY_TAIL;
    int rc = TRV_OK;
    if (!fifo)
        rc = run_variant(options, FIG_FIFO, "one queue per link", result->network.options.delivery);
    if (!rc && !tail)
        rc = run_variant(options, FIG_FIFO_TAIL, "tails", TRV_DELIVERY_TAIL);
    return rc;
}

static int begin_keeping(options_t *options)
{
    snprintf(options->kept_path, sizeof options->kept_path, "%.*s/unfinished.jsonl", PATH_TEXT_MAX, options->folder);
    pthread_mutex_init(&options->kept.lock, NULL);
    int rc = fig_kept_open(&options->kept, options->kept_path);
    if (rc)
        return rc;
    options->result.kept = &options->kept;
    watch_signals(options);
    return TRV_OK;
}

static int run(options_t *options)
{
    int rc = choose(options);
    if (!rc)
        rc = prepare_folder(options->folder);
    if (!rc)
        rc = begin_keeping(options);
    if (!rc)
        rc = fig_run("figures", &options->result);
    if (!rc)
        rc = run_variants(options);
    if (options->result.kept)
        pthread_mutex_lock(&options->kept.lock); /* too late to be interrupted */
    if (!rc)
        rc = write_all(options);
    fig_kept_close(&options->kept, rc != TRV_OK);
    if (!rc)
        print_summary(options);
    json_decref(options->result.tables);
    return rc ? cli_bad_last(options->command) : CLI_OK;
}

int cli_figures(int argc, char **argv)
{
    static options_t options;
    options = (options_t){.command = argv[0], .folder = "evaluation"};
    options.begun_s = trv_now_s();
    cli_network_init(&options.result.network);
    int code = cli_read_options(&cli_figures_command, argc, argv, read_option, &options);
    if (code >= 0)
        return code;
    if (optind < argc)
        return cli_bad(argv[0], "figures takes options only, not '%.40s'; --only=6,8 chooses figures", argv[optind]);
    return run(&options);
}
