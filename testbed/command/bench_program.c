/*
 * `trivance testbed bench -- PROGRAM`: measures a program without the drop-in and with it, in turns. The time is that
 * from the moment when the last rank has left MPI_Init until the last one enters MPI_Finalize
 * (testbed/programs/clock.c). If that is not known (the program is statically linked, or ends without MPI_Finalize), it
 * is the time of the whole job.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trivance/common.h>

#include "cli/shared/tool.h"
#include "cli/shared/table.h"
#include "testbed/command/bench.h"
#include "base/clock.h"
#include "base/number.h"

#define PATH_BYTES 4608

typedef struct run {
    double time_ns, share;
    long calls;
    bool whole;
} run_t;

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* Reads the times that the ranks recorded; false unless all ranks did. */
static bool read_times(const char *path, int ranks, run_t *run)
{
    double begin_ns, end_ns, allreduce_ns, last_begin_ns = 0, last_end_ns = 0, share = 0;
    char line[160];
    long calls;
    int reported = 0;
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file) &&
           trv_sscanf(line, "%lf %lf %lf %ld", &begin_ns, &end_ns, &allreduce_ns, &calls) == 4) {
        reported++;
        last_begin_ns = fmax(last_begin_ns, begin_ns);
        last_end_ns = fmax(last_end_ns, end_ns);
        share += allreduce_ns / (end_ns - begin_ns) / ranks;
        run->calls = calls > run->calls ? calls : run->calls;
    }
    if (file)
        fclose(file);
    if (reported != ranks)
        return false;
    run->time_ns = last_end_ns - last_begin_ns;
    run->share = share;
    return true;
}

/* Runs the program once. Its output and the times of its ranks are written to files whose names begin with `label`. */
static int start(const char *command, cli_bench_job_t *job, bool drop_in, const char *folder, int number, run_t *run)
{
    char label[CLI_BENCH_LABEL_MAX], output[PATH_BYTES], times[PATH_BYTES];
    tb_status_t counts = {.lateness_p99_ns = 0};
    cli_bench_label(job, label);
    snprintf(output, sizeof output, "%s/%s-%s-%d.out", folder, label, drop_in ? "drop-in" : "plain", number + 1);
    snprintf(times, sizeof times, "%s/%s-%s-%d.times", folder, label, drop_in ? "drop-in" : "plain", number + 1);
    unlink(times);
    const cli_job_t started = {.mpi = job->mpi,
                               .ranks = job->network.torus.ranks,
                               .rendezvous = job->rendezvous,
                               .drop_in = drop_in,
                               .word = job->word,
                               .words = job->words,
                               .output = output,
                               .times = times};
    double begin_ns = trv_now_ns();
    int code = cli_testbed_job(command, &started, &counts);
    *run = (run_t){.time_ns = trv_now_ns() - begin_ns, .share = NAN, .whole = true};
    if (code > 128)
        return code;
    if (code != 0)
        return cli_bad(command, "%.200s failed with exit code %d; its output is in %.3000s", job->word[0], code,
                       output);
    run->whole = !read_times(times, job->network.torus.ranks, run);
    unlink(times);
    job->lateness_job_p99_ns = fmax(job->lateness_job_p99_ns, counts.lateness_p99_ns);
    return CLI_OK;
}

static int by_time(const void *a, const void *b)
{
    const run_t *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static cli_bench_times_t summarize(run_t *run, int runs)
{
    qsort(run, (size_t)runs, sizeof *run, by_time);
    const run_t *median = &run[runs / 2];
    return (cli_bench_times_t){.median_ns = median->time_ns,
                               .min_ns = run[0].time_ns,
                               .max_ns = run[runs - 1].time_ns,
                               .allreduce_share = median->share,
                               .calls = median->calls,
                               .whole = median->whole};
}

int cli_bench_run_program(const char *command, cli_bench_job_t *job, const char *folder, cli_bench_progress_t *progress)
{
    static run_t run[2][CLI_BENCH_ROUNDS_MAX];
    int code = CLI_OK;
    cli_bench_progress_job(progress, job, NULL);
    for (int i = 0; i < 2 * job->rounds && code == CLI_OK; i++) {
        cli_bench_progress_start(progress, i);
        code = start(command, job, i % 2, folder, i / 2, &run[i % 2][i / 2]);
    }
    cli_bench_progress_job_end(progress);
    for (int i = 0; i < 2 && code == CLI_OK; i++)
        job->times[i] = summarize(run[i], job->rounds);
    job->faithful = job->faithful && job->lateness_job_p99_ns <= trv_testbed_lateness_limit_ns(&job->network);
    return code;
}

/* ---- Output ------------------------------------------------------------------------------------------------------ */

static double gain(const cli_bench_job_t *job) { return job->times[0].median_ns / job->times[1].median_ns; }

static void print_row(cli_table_t *table, const cli_bench_times_t *times, const char *title, double ratio)
{
    cli_cell_text(table, title);
    cli_cell_real(table, times->median_ns / 1e9, 3);
    cli_cell_real(table, times->min_ns / 1e9, 3);
    cli_cell_real(table, times->max_ns / 1e9, 3);
    cli_cell_real(table, 100 * times->allreduce_share, 1);
    if (times->whole)
        cli_cell_none(table);
    else
        cli_cell_int(table, times->calls);
    cli_cell_real(table, ratio, 2);
    cli_row_end(table);
}

int cli_bench_print_program(const cli_bench_job_t *job)
{
    static const cli_column_t column[] = {{NULL, "", false, 0},
                                          {NULL, "median s", true, 0},
                                          {NULL, "min", true, 0},
                                          {NULL, "max", true, 0},
                                          {NULL, "% in MPI_Allreduce", true, 0},
                                          {NULL, "calls", true, 0},
                                          {NULL, "gain", true, 0},
                                          {0}};
    char title[CLI_BENCH_TITLE_MAX];
    cli_table_t table;
    bool whole = job->times[0].whole || job->times[1].whole;
    printf("\n%s: %s: %s, %d starts each\n", job->word[0], cli_bench_title(job, title),
           whole ? "from the job's start to its end (its ranks reported no times)" : "from MPI_Init to MPI_Finalize",
           job->rounds);
    cli_table_begin(&table, stdout, CLI_FORMAT_TABLE, column);
    print_row(&table, &job->times[0], "without the drop-in", NAN);
    print_row(&table, &job->times[1], "with it", gain(job));
    int code = cli_table_end(&table);
    cli_bench_print_lateness(job);
    fflush(stdout);
    return code;
}

static void write_rows(cli_table_t *table, const cli_bench_job_t *job)
{
    for (int drop_in = 0; drop_in < 2; drop_in++) {
        const cli_bench_times_t *times = &job->times[drop_in];
        cli_bench_row_begin(table, job);
        cli_cell_text(table, job->word[0]);
        cli_cell_bool(table, drop_in);
        cli_cell_int(table, job->rounds);
        cli_cell_text(table, times->whole ? "job" : "program");
        cli_cell_real(table, times->median_ns / 1e9, 4);
        cli_cell_real(table, times->min_ns / 1e9, 4);
        cli_cell_real(table, times->max_ns / 1e9, 4);
        cli_cell_real(table, 100 * times->allreduce_share, 1);
        cli_cell_int(table, times->calls);
        cli_cell_real(table, drop_in ? gain(job) : NAN, 3);
        cli_bench_row_end(table, job);
    }
}

int cli_bench_write_program_csv(const cli_bench_job_t *job, int jobs, const char *path)
{
    return cli_bench_write_rows(
        job, jobs, "program drop_in starts time_of median_s min_s max_s allreduce_percent allreduce_calls gain",
        write_rows, path);
}
