/*
 * The output of `trivance testbed bench`: a table for every job, one CSV file for all, and its plots, which the Python
 * package draws (trivance.plots.testbed).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number.h"
#include "cli/shared/output.h"
#include "cli/shared/tool.h"
#include "cli/host/mpi_start.h"
#include "cli/shared/python.h"
#include "base/error.h"
#include "base/text/parse.h"
#include "cli/shared/table.h"
#include "testbed/command/bench.h"

#define CLOSE 0.15 /* maximum relative error of a good prediction */

int cli_bench_best_own(const cli_bench_job_t *job, int size)
{
    int best = -1;
    for (int r = 0; r < job->series_count; r++) {
        const cli_bench_cell_t *cell = job->cell[size];
        if (job->series[r].own && cell[r].measured && (best < 0 || cell[r].median_ns < cell[best].median_ns))
            best = r;
    }
    return best;
}

/* The time of the MPI library's best algorithm divided by the cell's; NAN if one of them was not measured. */
static double gain(const cli_bench_job_t *job, int size, const cli_bench_cell_t *cell)
{
    int own = cli_bench_best_own(job, size);
    return own >= 0 && cell && cell->measured ? job->cell[size][own].median_ns / cell->median_ns : NAN;
}

static const cli_bench_cell_t *cell_of(const cli_bench_job_t *job, int size, const char *name, const char *type)
{
    for (int r = 0; r < job->series_count; r++)
        if (strcmp(job->series[r].name, name) == 0 && strcmp(job->series[r].type, type) == 0)
            return &job->cell[size][r];
    return NULL;
}

/* The types of the sums by auto and planned. A collective that does not reduce has only the last one. */
static const char *const types[] = {"int", "double"};
enum { TYPES = sizeof types / sizeof types[0] };

static int first_type(const cli_bench_job_t *job)
{
    return trv_collective_shape(job->collective)->reduces ? 0 : TYPES - 1;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* "l-grouped dbl": the distinguishing part of the name of a series, abbreviated. */
static void title_of(const cli_bench_job_t *job, const cli_series_t *series, char text[CLI_BENCH_NAME_MAX + 8])
{
    const bool typed = !series->own && trv_collective_shape(job->collective)->reduces;
    const char *name = strncmp(series->name, "trivance-", 9) == 0 ? series->name + 9 : series->name;
    snprintf(text, CLI_BENCH_NAME_MAX + 8, "%s%s", name,
             !typed                                ? ""
             : strcmp(series->type, "double") == 0 ? " dbl"
             : strcmp(series->type, "max") == 0    ? " max"
                                                   : " int");
}

/* Prints a table with a row per size and a column per series; with `ratios` only Trivance's, as ratios. */
static int print_cells(const cli_bench_job_t *job, bool ratios)
{
    static char title[CLI_BENCH_SERIES_MAX][CLI_BENCH_NAME_MAX + 8];
    cli_column_t column[CLI_COLUMNS_MAX + 1] = {{NULL, "bytes", true, 0}};
    const int first = first_type(job);
    int shown[CLI_COLUMNS_MAX], columns = 1;
    for (int r = 0; r < job->series_count && columns < CLI_COLUMNS_MAX - 2; r++)
        if (!ratios || !job->series[r].own) {
            title_of(job, &job->series[r], title[r]);
            shown[columns] = r;
            column[columns++] = (cli_column_t){NULL, title[r], true, 0};
        }
    int cells = columns;
    if (!ratios) {
        for (int i = first; i < TYPES; i++)
            column[columns++] = (cli_column_t){NULL, first > 0 ? "gain" : i == 0 ? "gain int" : "gain dbl", true, 0};
    }
    cli_table_t table;
    cli_table_begin(&table, stdout, CLI_FORMAT_TABLE, column);
    for (int s = 0; s < job->sizes; s++) {
        char bytes[TRV_BYTES_TEXT_MAX];
        cli_cell_text(&table, trv_format_bytes(job->bytes[s], bytes));
        for (int c = 1; c < cells; c++) {
            const cli_bench_cell_t *cell = &job->cell[s][shown[c]];
            cli_cell_real(&table,
                          !cell->measured ? NAN
                          : ratios        ? cell->median_ns / cell->predicted_ns
                                          : cell->median_ns / 1e6,
                          2);
        }
        for (int i = first; i < TYPES && !ratios; i++)
            cli_cell_real(&table, gain(job, s, cell_of(job, s, "auto", types[i])), 2);
        cli_row_end(&table);
    }
    return cli_table_end(&table);
}

/* Compares times with predictions. The simulator predicts the time of the network only. Ranks and MPI libraries also
 * compute, on cores that they share, which can add as much as these are busy. */
static void print_agreement(const cli_bench_job_t *job)
{
    int cells = 0, close = 0, busy = 0;
    double min_share = 1;
    for (int s = 0; s < job->sizes; s++)
        for (int r = 0; r < job->series_count; r++) {
            const cli_bench_cell_t *cell = &job->cell[s][r];
            if (!cell->measured || isnan(cell->predicted_ns))
                continue;
            double more_ns = cell->median_ns - cell->predicted_ns;
            cells++;
            if (fabs(more_ns) <= CLOSE * cell->predicted_ns) {
                close++;
            } else if (more_ns > 0 && more_ns <= cell->core_ns) {
                busy++;
                min_share = fmin(min_share, cell->core_ns / cell->median_ns);
            }
        }
    printf("%d of %d within %.0f %% of the prediction.\n", close, cells, 100 * CLOSE);
    if (busy)
        printf("%d more are longer by less than the time for which the ranks' cores were busy, at least %.0f %% of the "
               "time: the prediction does not include the computation of MPI libraries and ranks.\n",
               busy, 100 * min_share);
}

char *cli_bench_title(const cli_bench_job_t *job, char text[CLI_BENCH_TITLE_MAX])
{
    const bool named = !job->word && job->collective != TRV_ALLREDUCE;
    char torus[TRV_TORUS_TEXT_MAX], links[CLI_LINKS_TEXT_MAX];
    trv_snprintf(text, CLI_BENCH_TITLE_MAX, "%s%s%s, torus %s of %g Mb/s and %g ms, rendezvous %s%s%s",
                 named ? trv_collective_shape(job->collective)->title : "", named ? ", " : "", cli_mpi_title(job->mpi),
                 trv_torus_format(&job->network.torus, torus, sizeof torus), job->network.bandwidth_bps / 1e6,
                 job->network.latency_ns / 1e6, job->rendezvous ? "on" : "off", job->links.count ? ", links " : "",
                 cli_links_format(&job->links, "", links));
    return text;
}

void cli_bench_print_lateness(const cli_bench_job_t *job)
{
    double limit_ns = trv_testbed_lateness_limit_ns(&job->network);
    printf("During the job deliveries were late by %.0f us at the 99th percentile (allowed %.0f)%s.\n",
           job->lateness_job_p99_ns / 1e3, limit_ns / 1e3, job->lateness_job_p99_ns > limit_ns ? ": NOT faithful" : "");
}

int cli_bench_print(const cli_bench_job_t *job, bool compare)
{
    char title[CLI_BENCH_TITLE_MAX];
    printf("\n%s: ms, medians of %d; gain of auto over the library's best algorithm\n", cli_bench_title(job, title),
           job->rounds);
    int code = print_cells(job, false);
    cli_bench_print_lateness(job);
    if (code == TRV_OK && compare) {
        printf("\nmeasured / predicted by the packet simulator, with alpha %.0f us, %.0f us per message and %.0f us "
               "for the common start, as measured\n",
               job->alpha_ns / 1e3, job->message_ns / 1e3, job->start_ns / 1e3);
        code = print_cells(job, true);
        print_agreement(job);
    }
    fflush(stdout);
    return code;
}

static void print_summary_row(cli_table_t *table, const cli_bench_job_t *job, int size)
{
    char torus[TRV_TORUS_TEXT_MAX], bytes[TRV_BYTES_TEXT_MAX];
    int own = cli_bench_best_own(job, size);
    cli_cell_text(table, trv_collective_shape(job->collective)->name);
    cli_cell_text(table, trv_torus_format(&job->network.torus, torus, sizeof torus));
    cli_cell_text(table, cli_mpi_title(job->mpi));
    cli_cell_text(table, job->rendezvous ? "on" : "off");
    cli_cell_text(table, trv_format_bytes(job->bytes[size], bytes));
    cli_cell_text(table, own < 0 ? "" : job->series[own].name);
    cli_cell_real(table, own < 0 ? NAN : job->cell[size][own].median_ns / 1e6, 2);
    for (int i = 0; i < TYPES; i++) {
        const cli_bench_cell_t *cell = cell_of(job, size, "auto", types[i]);
        cli_cell_text(table, cell && cell->measured ? cell->served_by : "");
        cli_cell_real(table, cell && cell->measured ? cell->median_ns / 1e6 : NAN, 2);
        cli_cell_real(table, gain(job, size, cell), 2);
    }
    cli_row_end(table);
}

/* Lists the jobs whose times are not valid because the machine did not keep up. */
void cli_bench_print_unfaithful(const cli_bench_job_t *job, int jobs)
{
    char label[CLI_BENCH_LABEL_MAX];
    int wrong = 0;
    for (int j = 0; j < jobs; j++)
        if (!job[j].faithful)
            printf("%s%s",
                   wrong++ ? ", " : "\nNOT faithful, according to the check before the job or the lateness during it: ",
                   cli_bench_label(&job[j], label));
    if (wrong)
        printf(".\n%d of %d jobs; use slower links or an otherwise idle machine.\n", wrong, jobs);
}

int cli_bench_print_summary(const cli_bench_job_t *job, int jobs)
{
    static const cli_column_t column[] = {{NULL, "collective", false, 0},
                                          {NULL, "torus", false, 0},
                                          {NULL, "MPI", false, 0},
                                          {NULL, "rendezvous", false, 0},
                                          {NULL, "bytes", true, 0},
                                          {NULL, "its best", false, 0},
                                          {NULL, "ms", true, 0},
                                          {NULL, "auto, int", false, 0},
                                          {NULL, "ms", true, 0},
                                          {NULL, "gain", true, 0},
                                          {NULL, "auto, double", false, 0},
                                          {NULL, "ms", true, 0},
                                          {NULL, "gain", true, 0},
                                          {0}};
    cli_table_t table;
    puts("\nAuto compared with the MPI library's best algorithm:");
    cli_table_begin(&table, stdout, CLI_FORMAT_TABLE, column);
    for (int j = 0; j < jobs; j++)
        for (int s = 0; s < job[j].sizes; s++)
            print_summary_row(&table, &job[j], s);
    return cli_table_end(&table);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

#define FIRST_KEYS "torus bandwidth_mbps hop_latency_ms mpi rendezvous slow_link"
#define LAST_KEYS  "faithful check_worst lateness_p99_us lateness_job_p99_us"

void cli_bench_row_begin(cli_table_t *table, const cli_bench_job_t *job)
{
    char torus[TRV_TORUS_TEXT_MAX], links[CLI_LINKS_TEXT_MAX];
    cli_cell_text(table, trv_torus_format(&job->network.torus, torus, sizeof torus));
    cli_cell_real(table, job->network.bandwidth_bps / 1e6, 3);
    cli_cell_real(table, job->network.latency_ns / 1e6, 3);
    cli_cell_text(table, job->mpi);
    cli_cell_bool(table, job->rendezvous);
    cli_cell_text(table, cli_links_format(&job->links, "", links));
}

void cli_bench_row_end(cli_table_t *table, const cli_bench_job_t *job)
{
    cli_cell_bool(table, job->faithful);
    cli_cell_real(table, job->check_worst, 3);
    cli_cell_real(table, job->lateness_p99_ns / 1e3, 1);
    cli_cell_real(table, job->lateness_job_p99_ns / 1e3, 1);
    cli_row_end(table);
}

int cli_bench_write_rows(const cli_bench_job_t *job, int jobs, const char *keys, cli_bench_rows_t *write_rows,
                         const char *path)
{
    char all[CLI_KEYS_MAX];
    cli_output_t output;
    cli_table_t table;
    const int code = cli_output_begin(&output, path);
    if (code < 0)
        return code;
    snprintf(all, sizeof all, FIRST_KEYS " %s " LAST_KEYS, keys);
    cli_table_begin_keys(&table, output.stream, CLI_FORMAT_CSV, all);
    for (int j = 0; j < jobs; j++)
        write_rows(&table, &job[j]);
    return cli_output_end(&output, cli_table_end(&table));
}

static void write_row(cli_table_t *table, const cli_bench_job_t *job, int size, int r)
{
    const cli_series_t *series = &job->series[r];
    const cli_bench_cell_t *cell = &job->cell[size][r];
    cli_bench_row_begin(table, job);
    cli_cell_int(table, (int64_t)job->bytes[size]);
    cli_cell_text(table, series->own ? "library" : "trivance");
    cli_cell_text(table, series->name);
    cli_cell_text(table, series->type);
    cli_cell_text(table, cell->served_by);
    cli_cell_int(table, job->rounds);
    cli_cell_real(table, cell->median_ns / 1e6, 3);
    cli_cell_real(table, cell->min_ns / 1e6, 3);
    cli_cell_real(table, cell->max_ns / 1e6, 3);
    cli_cell_real(table, cell->core_ns / 1e6, 3);
    cli_cell_real(table, gain(job, size, cell), 3);
    cli_cell_real(table, cell->predicted_ns / 1e6, 3);
    cli_cell_real(table, cell->median_ns / cell->predicted_ns, 3);
    cli_cell_real(table, job->alpha_ns / 1e3, 1);
    cli_cell_real(table, job->message_ns / 1e3, 1);
    cli_cell_real(table, job->start_ns / 1e3, 1);
    cli_cell_text(table, trv_collective_shape(job->collective)->name);
    cli_bench_row_end(table, job);
}

static void write_cells(cli_table_t *table, const cli_bench_job_t *job)
{
    for (int s = 0; s < job->sizes; s++)
        for (int r = 0; r < job->series_count; r++)
            if (job->cell[s][r].measured)
                write_row(table, job, s, r);
}

int cli_bench_write_csv(const cli_bench_job_t *job, int jobs, const char *path)
{
    return cli_bench_write_rows(
        job, jobs,
        "bytes whose algorithm type served_by rounds median_ms min_ms max_ms core_ms gain predicted_ms "
        "measured_by_predicted alpha_us message_us start_us collective",
        write_cells, path);
}

/* ---- Plots ------------------------------------------------------------------------------------------------------- */

int cli_bench_draw(const char *path)
{
    char *const word[] = {(char *)(size_t)path};
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        _exit(cli_python("testbed bench", "trivance.plots.testbed", true, word, 1));
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) == 1)
        return trv_fail(TRV_ERR_ARGUMENT, "python3 could not draw '%.200s'", path);
    return TRV_OK; /* also without the packages, which has been reported */
}
