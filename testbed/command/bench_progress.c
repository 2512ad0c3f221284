/*
 * The progress of `trivance testbed bench`. The work of all jobs is estimated before the first, from the rough time of
 * a call of each size on each torus. The rows file of the running job shows the sizes that are measured.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/host/mpi_start.h"
#include "base/text/parse.h"
#include "testbed/command/bench.h"
#include "base/clock.h"

#define START_NS      2e9  /* start of a job, … */
#define START_RANK_NS 1e8  /* … plus this for each of its ranks */
#define CALL_NS       15e6 /* a call, in addition to the network's time */
#define ROUNDS_BEFORE 3    /* calls before the first round: one to check the sums, two to estimate the duration */

/* Expected duration of the calls of one size: an algorithm is assumed to send the vector four times, over ranks / 2
 * hops in all. */
static double size_work_ns(const cli_bench_job_t *job, int size)
{
    double call_ns = CALL_NS + job->network.latency_ns * job->network.torus.ranks / 2 +
                     4 * (double)job->bytes[size] * 8e9 / job->network.bandwidth_bps;
    return job->expected * (job->rounds + ROUNDS_BEFORE) * call_ns;
}

static double start_work_ns(const cli_bench_job_t *job) { return START_NS + START_RANK_NS * job->network.torus.ranks; }

static double job_work_ns(const cli_bench_job_t *job)
{
    double work_ns = start_work_ns(job) * (job->word ? 2 * job->rounds : 1);
    for (int s = 0; s < job->sizes; s++)
        work_ns += size_work_ns(job, s);
    return work_ns;
}

void cli_bench_progress_begin(cli_bench_progress_t *progress, const cli_bench_job_t *job, int jobs)
{
    double work_ns = 0;
    for (int j = 0; j < jobs; j++)
        work_ns += job_work_ns(&job[j]);
    *progress = (cli_bench_progress_t){.job = NULL};
    cli_progress_begin(&progress->bar, "testbed", work_ns);
    cli_progress_pause(&progress->bar);
}

void cli_bench_progress_job(cli_bench_progress_t *progress, const cli_bench_job_t *job, const char *rows)
{
    progress->job = job;
    progress->rows = rows;
    progress->done_ns = 0;
    progress->sizes = -1;
}

/* Reports progress, which never decreases. */
static void reach(cli_bench_progress_t *progress, double done_ns)
{
    if (done_ns > progress->done_ns)
        cli_progress_step(&progress->bar, done_ns - progress->done_ns);
    progress->done_ns = done_ns > progress->done_ns ? done_ns : progress->done_ns;
}

/* Columns of the rows, which trivance bench writes as CSV; and the bytes of a cell that are read. */
enum { COLLECTIVE_COLUMN = 0, BYTES_COLUMN = 6, ALGORITHM_COLUMN = 8, CELL_MAX = 32 };

/* Copies a cell of a row, without what exceeds `text`. */
static void read_cell(const char *line, int column, char text[CELL_MAX])
{
    for (; *line && column > 0; column--) {
        line += strcspn(line, ",");
        line += *line == ',';
    }
    snprintf(text, CELL_MAX, "%.*s", (int)strcspn(line, ",\n"), line);
}

/* The number of sizes that are measured; -1: the job has not begun to measure. The rows of a size appear together. */
static int read_sizes(const cli_bench_progress_t *progress)
{
    const cli_bench_job_t *job = progress->job;
    char line[2048], collective[CELL_MAX], bytes[CELL_MAX], algorithm[CELL_MAX];
    int sizes = -1;
    FILE *file = fopen(progress->rows, "re");
    while (file && fgets(line, sizeof line, file)) {
        read_cell(line, COLLECTIVE_COLUMN, collective);
        read_cell(line, BYTES_COLUMN, bytes);
        read_cell(line, ALGORITHM_COLUMN, algorithm);
        if (strcmp(collective, trv_collective_shape(job->collective)->name) == 0 && *algorithm) {
            sizes = sizes < 0 ? 0 : sizes;
            while (strcmp(algorithm, "exchange") != 0 && sizes < job->sizes &&
                   job->bytes[sizes] == strtoull(bytes, NULL, 10))
                sizes++;
        }
    }
    if (file)
        fclose(file);
    return sizes;
}

void cli_bench_progress_watch(void *context)
{
    cli_bench_progress_t *progress = context;
    const cli_bench_job_t *job = progress->job;
    char torus[TRV_TORUS_TEXT_MAX], bytes[TRV_BYTES_TEXT_MAX], name[CLI_PROGRESS_NAME_MAX];
    const int sizes = read_sizes(progress);
    if (sizes < 0 || sizes == job->sizes) /* the launcher may still print a message, so the bar is hidden */
        return;
    if (sizes != progress->sizes)
        progress->since_ns = trv_now_ns();
    progress->sizes = sizes;
    double done_ns = start_work_ns(job) + fmin(trv_now_ns() - progress->since_ns, size_work_ns(job, sizes));
    for (int s = 0; s < sizes; s++)
        done_ns += size_work_ns(job, s);
    reach(progress, done_ns);
    snprintf(name, sizeof name, "%s %s rendezvous %s: %s", trv_torus_format(&job->network.torus, torus, sizeof torus),
             cli_mpi_title(job->mpi), job->rendezvous ? "on" : "off", trv_format_bytes(job->bytes[sizes], bytes));
    cli_progress_name(&progress->bar, name);
}

void cli_bench_progress_start(cli_bench_progress_t *progress, int number)
{
    const cli_bench_job_t *job = progress->job;
    char torus[TRV_TORUS_TEXT_MAX], name[CLI_PROGRESS_NAME_MAX];
    reach(progress, number * start_work_ns(job));
    snprintf(name, sizeof name, "%s rendezvous %s: %s the drop-in, %d of %d",
             trv_torus_format(&job->network.torus, torus, sizeof torus), job->rendezvous ? "on" : "off",
             number % 2 ? "with" : "without", number / 2 + 1, job->rounds);
    cli_progress_name(&progress->bar, name);
}

void cli_bench_progress_job_end(cli_bench_progress_t *progress)
{
    reach(progress, job_work_ns(progress->job));
    cli_progress_pause(&progress->bar);
}
