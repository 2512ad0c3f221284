/*
 * Measures a row: creates the call, runs it, checks the result, times it, checks again, and collects the figures of all
 * ranks.
 *
 * Latency is defined as in the OSU benchmarks: each rank's average over the iterations, with a barrier before each;
 * then average, minimum and maximum over the ranks. In turns it is the time from a common start until the last rank has
 * finished.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mpi/communicator/job_fabric.h"
#include "cli/mpi/bench.h"
#include "cli/mpi/samples.h"
#include "cli/mpi/polled.h"
#include "schedule/collective.h"
#include "settings/settings.h"
#include "torus/torus.h"

/* Without -i a row takes about this time to measure, within the bounds below; in turns the number of runs is fixed. */
#define BUDGET_SECONDS   0.08
#define ITERATIONS_MIN   3
#define ITERATIONS_MAX   1000
#define ITERATIONS_TURNS 11

/* Measurements of one rank. */
typedef struct figures {
    double average_us, min_us; /* average and minimum over the runs */
    uint64_t wrong, hash, bytes_sent;
} figures_t;

typedef struct job {
    const bench_team_t *team;
    const bench_task_t *task;
    call_t call;
    figures_t figures;
} job_t;

/* ---- The call ---------------------------------------------------------------------------------------------------- */

static int job_create_call(job_t *job, bench_row_t *row)
{
    const bench_options_t *options = job->team->options;
    const bench_task_t *task = job->task;
    const bench_entry_t *entry = task->entry;
    char torus[TRV_TORUS_TEXT_MAX];
    const bool known = options->network.torus.ranks > 0; /* the environment specifies the torus */
    trv_mpi_job_fabric_pause(options->transport[task->transport] != TRV_TRANSPORT_OFI);
    int code = entry->kind == BENCH_SCHEDULE
                   ? call_create_schedule(&job->call, options->schedule)
                   : call_create(&job->call, known ? NULL : trv_torus_format(task->torus, torus, sizeof torus),
                                 entry->kind == BENCH_LIBRARY     ? CALL_LIBRARY
                                 : entry->kind == BENCH_ALGORITHM ? cli_member_name(&entry->choice, task->member)
                                                                  : entry->choice.label);
    const bool by_label = entry->kind == BENCH_LIBRARY || entry->kind == BENCH_SCHEDULE;
    const char *name = by_label ? entry->label : job->call.algorithm;
    snprintf(row->algorithm, sizeof row->algorithm, "%.*s", (int)strcspn(name, by_label ? "=" : ""), name);
    row->steps = job->call.steps;
    job->figures.bytes_sent = job->call.bytes_sent;
    return code;
}

/* Whether this rank's result replaces its input. The buffer of a Broadcast always holds both; of other collectives with
 * a root, only the root's may. */
static bool job_in_place(const job_t *job)
{
    const bench_data_t *data = &job->task->entry->data;
    return data->collective == TRV_BROADCAST ||
           (job->task->in_place && (!trv_collective_has_root(data->collective) || data->rank == BENCH_ROOT));
}

/* Whether the root of a Scatter keeps its block in the send buffer. */
static bool job_keeps_block(const job_t *job)
{
    return job->task->entry->data.collective == TRV_SCATTER && job_in_place(job);
}

/* A rank's block in a buffer that holds the blocks of all ranks. */
static char *job_own_block(const job_t *job, char *buffer)
{
    const bench_data_t *data = &job->task->entry->data;
    return buffer + (uint64_t)data->rank * job->call.count * trv_type_size(data->type);
}

static const char *job_result(const job_t *job)
{
    return job_keeps_block(job) ? job_own_block(job, job->team->send) : job->team->receive;
}

/* Fills in the input, and overwrites the output with data that every correct run changes. */
static void buffers_prepare(const job_t *job)
{
    const bench_data_t *data = &job->task->entry->data;
    const trv_collective_shape_t *shape = trv_collective_shape(data->collective);
    const uint64_t count = job->call.count, bytes = count * trv_type_size(data->type);
    char *receive = job->team->receive;
    memset(receive, 0xa5, bench_data_blocks(data, shape->after) * bytes);
    if (!job_in_place(job) || job_keeps_block(job))
        bench_data_fill(data, job->team->send, count);
    else
        bench_data_fill(data, shape->before == TRV_OWNER ? job_own_block(job, receive) : receive, count);
}

static void job_set_buffers(job_t *job)
{
    job->call.send = job_in_place(job) && !job_keeps_block(job) ? MPI_IN_PLACE : job->team->send;
    job->call.receive = job_keeps_block(job) ? MPI_IN_PLACE : job->team->receive;
}

/* Executes runs that are not measured, and checks the result of the last. */
static int job_warm_up(job_t *job, double *seconds)
{
    const bench_options_t *options = job->team->options;
    const bench_data_t *data = &job->task->entry->data;
    int runs = options->warmup > 1 ? options->warmup : 1, code = TRV_OK;
    if (options->warmup < 0 && !options->turns)
        runs = 2;
    for (int i = 0; i < runs && code == TRV_OK; i++) {
        if (i == 0 || i == runs - 1 || job->task->in_place) /* a run in place overwrites the input */
            buffers_prepare(job);
        double start = PMPI_Wtime();
        code = polled_barrier(job->team->comm);
        if (code == TRV_OK)
            code = call_run(&job->call);
        *seconds = PMPI_Wtime() - start;
    }
    if (code == TRV_OK && options->check) {
        job->figures.wrong += bench_data_wrong(data, job_result(job), job->call.count);
        job->figures.hash = bench_data_hash(data, job_result(job), job->call.count);
    }
    return code;
}

/* Fills in the row's description and creates the call, warmed up and checked. */
static int job_begin(job_t *job, const bench_team_t *team, const bench_task_t *task, bench_row_t *row, double *seconds)
{
    const bench_data_t *data = &task->entry->data;
    const uint64_t count = task->bytes / trv_type_size(data->type);
    *job = (job_t){.team = team, .task = task};
    job->call = (call_t){.comm = task->entry->comm != MPI_COMM_NULL ? task->entry->comm : team->comm,
                         .collective = data->collective,
                         .type = data->type,
                         .op = data->op,
                         .count = count / trv_collective_blocks(data->collective, team->ranks),
                         .root = BENCH_ROOT,
                         .setting = task->entry->setting};
    *row = (bench_row_t){.torus = task->torus,
                         .entry = task->entry,
                         .transport = bench_transport(team->options, task->entry, task->transport),
                         .bytes = task->bytes,
                         .count = count,
                         .in_place = task->in_place,
                         .checked = team->options->check};
    job_set_buffers(job);
    int code = job_create_call(job, row);
    return code == TRV_OK ? job_warm_up(job, seconds) : code;
}

/* Collects the figures of all ranks into the row, on all ranks. */
static int figures_collect(const job_t *job, bench_row_t *row)
{
    const int ranks = job->team->ranks;
    figures_t *all = malloc((size_t)ranks * sizeof *all);
    double min_us = 0;
    int code = polled_all_true(job->team->comm, all != NULL)
                   ? polled_allgather(job->team->comm, &job->figures, all, sizeof *all)
                   : trv_fail_memory();
    row->identical = true;
    row->min_us = row->max_us = code == TRV_OK ? all[0].average_us : 0;
    for (int r = 0; code == TRV_OK && r < ranks; r++) {
        row->average_us += all[r].average_us / ranks;
        min_us += all[r].min_us / ranks;
        row->min_us = fmin(row->min_us, all[r].average_us);
        row->max_us = fmax(row->max_us, all[r].average_us);
        row->wrong += all[r].wrong;
        row->bytes_sent = all[r].bytes_sent > row->bytes_sent ? all[r].bytes_sent : row->bytes_sent;
        row->identical = row->identical && all[r].hash == all[0].hash;
    }
    if (!bench_data_identical(job->call.collective))
        row->identical = true; /* results differ between ranks by definition */
    row->spread = min_us > 0 ? row->average_us / min_us : 1;
    free(all);
    return code;
}

/* ---- In sequence ------------------------------------------------------------------------------------------------- */

static int iterations_choose(const job_t *job, double seconds, int *result)
{
    *result = job->team->options->iterations;
    if (*result >= 0)
        return TRV_OK;
    int code = polled_reduce(job->team->comm, &seconds, 1, MPI_MAX);
    double fit = seconds > 0 ? BUDGET_SECONDS / seconds : ITERATIONS_MAX;
    *result = fit < ITERATIONS_MIN ? ITERATIONS_MIN : fit > ITERATIONS_MAX ? ITERATIONS_MAX : (int)fit;
    return code;
}

static int run_job(void *context, int kind)
{
    const job_t *job = context;
    return call_run(&job[kind].call);
}

static int job_time_runs(job_t *job, int runs)
{
    samples_t samples = {.comm = job->team->comm, .run = run_job, .context = job, .kinds = 1, .batch = 1};
    double sum_us = 0, min_us = INFINITY;
    int code = TRV_OK;
    for (int i = 0; i < runs && code == TRV_OK; i++) {
        code = samples_round(&samples, i);
        sum_us += samples.us[0];
        min_us = fmin(min_us, samples.us[0]);
    }
    job->figures.average_us = runs > 0 ? sum_us / runs : 0;
    job->figures.min_us = runs > 0 ? min_us : 0;
    if (code == TRV_OK && runs > 0 && job->team->options->check && !job->task->in_place)
        job->figures.wrong += bench_data_wrong(&job->task->entry->data, job_result(job), job->call.count);
    return code;
}

int bench_measure(const bench_team_t *team, const bench_task_t *task, bench_row_t *row)
{
    job_t job;
    double seconds = 0;
    int code = job_begin(&job, team, task, row, &seconds);
    if (code == TRV_OK)
        code = iterations_choose(&job, seconds, &row->iterations);
    if (code == TRV_OK)
        code = job_time_runs(&job, row->iterations);
    if (code == TRV_OK)
        code = figures_collect(&job, row);
    call_free(&job.call);
    return code;
}

/* ---- In turns ---------------------------------------------------------------------------------------------------- */

static void row_set_times(bench_row_t *row, const samples_times_t *times)
{
    row->average_us = times->median_us;
    row->min_us = times->min_us;
    row->max_us = times->max_us;
    row->core_us = times->core_us;
    row->spread = times->min_us > 0 ? times->median_us / times->min_us : 1;
}

static int turns_iterations(const bench_options_t *options)
{
    return options->iterations > 0 ? options->iterations : ITERATIONS_TURNS;
}

int bench_measure_turns(const bench_team_t *team, const bench_task_t *task, int tasks, bench_row_t *row)
{
    static job_t job[SAMPLES_KINDS_MAX];
    samples_times_t times[SAMPLES_KINDS_MAX];
    samples_t samples = {.comm = team->comm, .run = run_job, .context = job, .kinds = tasks, .batch = 1};
    const int runs = turns_iterations(team->options);
    double seconds;
    int code = TRV_OK, made = 0;
    while (made < tasks && code == TRV_OK) {
        code = job_begin(&job[made], team, &task[made], &row[made], &seconds);
        made++;
    }
    if (code == TRV_OK)
        code = samples_turns(&samples, runs, times);
    for (int i = 0; i < tasks && code == TRV_OK; i++) {
        code = figures_collect(&job[i], &row[i]);
        row_set_times(&row[i], &times[i]);
        row[i].iterations = runs;
    }
    for (int i = 0; i < made; i++)
        call_free(&job[i].call);
    return code;
}

/* ---- Exchanges with the neighbours ------------------------------------------------------------------------------- */

#define EXCHANGE_STEPS 5
#define EXCHANGE_BYTES 8

typedef struct exchange {
    MPI_Comm comm;
    int neighbours, neighbour[2 * TRV_DIMS_MAX]; /* the two neighbours in a dimension are adjacent */
    int steps[2];                                /* of each of the two measurements */
} exchange_t;

/* Runs steps without reductions: every rank sends to each of its neighbours and waits for a message of the same size
 * from each. */
static int run_exchange(void *context, int kind)
{
    const exchange_t *exchange = context;
    char in[2 * TRV_DIMS_MAX][EXCHANGE_BYTES], out[EXCHANGE_BYTES] = "";
    MPI_Request request[4 * TRV_DIMS_MAX];
    MPI_Status status[4 * TRV_DIMS_MAX]; /* MPI_STATUSES_IGNORE makes gcc warn about MPICH's header */
    int code = MPI_SUCCESS;
    for (int step = 0; step < exchange->steps[kind] && code == MPI_SUCCESS; step++) {
        for (int i = 0; i < exchange->neighbours; i++) {
            PMPI_Irecv(in[i], EXCHANGE_BYTES, MPI_BYTE, exchange->neighbour[i ^ 1], i, exchange->comm, &request[2 * i]);
            PMPI_Isend(out, EXCHANGE_BYTES, MPI_BYTE, exchange->neighbour[i], i, exchange->comm, &request[2 * i + 1]);
        }
        code = PMPI_Waitall(2 * exchange->neighbours, request, status);
    }
    return code == MPI_SUCCESS ? TRV_OK : trv_fail(TRV_ERR_TRANSPORT, "an exchange with the neighbours has failed");
}

int bench_measure_exchange(const bench_team_t *team, const bench_task_t *task, bench_row_t *row, int *rows)
{
    const trv_torus_t *torus = task->torus;
    exchange_t exchange = {.comm = team->comm, .steps = {1, EXCHANGE_STEPS}};
    samples_t samples = {.comm = team->comm, .run = run_exchange, .context = &exchange, .kinds = 2, .batch = 1};
    samples_times_t times[2];
    int code = TRV_OK;
    *rows = 0;
    for (int d = torus->dims - 1; d >= 0 && code == TRV_OK; d--) {
        if (torus->size[d] <= 2) /* the two neighbours would be the same rank */
            continue;
        exchange.neighbour[exchange.neighbours++] = trv_torus_shift(torus, team->rank, d, +1);
        exchange.neighbour[exchange.neighbours++] = trv_torus_shift(torus, team->rank, d, -1);
        code = samples_turns(&samples, turns_iterations(team->options), times);
        for (int i = 0; i < 2 && code == TRV_OK; i++) {
            bench_row_t *next = &row[(*rows)++];
            *next = (bench_row_t){.torus = torus,
                                  .entry = task->entry,
                                  .bytes = EXCHANGE_BYTES,
                                  .steps = exchange.steps[i],
                                  .bytes_sent = (uint64_t)(EXCHANGE_BYTES * exchange.neighbours * exchange.steps[i]),
                                  .iterations = turns_iterations(team->options)};
            snprintf(next->algorithm, sizeof next->algorithm, "exchange");
            row_set_times(next, &times[i]);
        }
    }
    return code;
}

/* ---- Bandwidths -------------------------------------------------------------------------------------------------- */

double bench_algorithm_bandwidth(const bench_row_t *row)
{
    return row->average_us > 0 ? (double)row->bytes / (1e3 * row->average_us) : 0;
}

double bench_bus_bandwidth(const bench_row_t *row)
{
    const trv_collective_t collective = row->entry->data.collective;
    const double n = row->torus->ranks;
    const double factor = trv_collective_has_blocks(collective) ? (n - 1) / n
                          : trv_collective_has_root(collective) ? 1
                                                                : 2 * (n - 1) / n;
    return bench_algorithm_bandwidth(row) * factor;
}
