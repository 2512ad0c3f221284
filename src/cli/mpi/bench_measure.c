/*
 * One row: make the plan, run it, check the result, time it, check again, and collect all ranks' figures.
 *
 * Latency as the OSU benchmarks define it: each rank's average over the iterations, each behind a barrier of its own;
 * then average, least and most over the ranks. Barriers and collections poll and yield: more ranks than cores must not
 * matter.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/mpi/bench.h"
#include "mpi/front/library.h"
#include "transport/mpi/mpi_error.h"
#include "transport/mpi/waiting.h"

/* Without -i a row's measurement takes about so long, within the bounds below. */
#define BUDGET_SECONDS 0.08
#define ITERATIONS_MIN 3
#define ITERATIONS_MAX 1000

typedef struct job {
    const bench_options_t *options;
    const bench_data_t *data;
    const bench_buffers_t *buffers;
    MPI_Comm comm;
    TRV_Plan plan; /* TRV_PLAN_NULL: the MPI library's own collective */
    bool in_place;
    uint64_t count; /* the executor's: the vector, or a block */
} job_t;

/* What one rank found. */
typedef struct figures {
    double average_us, least_us; /* over the runs */
    uint64_t wrong, hash, bytes_sent;
} figures_t;

static int finish(MPI_Request *request, int code)
{
    if (code == MPI_SUCCESS)
        code = trv_mpi_poll(request);
    return code == MPI_SUCCESS ? TRV_OK : trv_mpi_transport_error("a collective of the benchmark", code);
}

static int barrier(MPI_Comm comm)
{
    MPI_Request request;
    return finish(&request, PMPI_Ibarrier(comm, &request));
}

static int run_library(const job_t *job)
{
    MPI_Datatype type = bench_mpi_type(job->options->type);
    trv_mpi_arguments_t call = {job->options->collective,
                                job->in_place ? MPI_IN_PLACE : job->buffers->send,
                                job->buffers->receive,
                                (MPI_Count)job->count,
                                type,
                                bench_mpi_op(job->options->op)};
    return trv_mpi_library_run(&call, job->comm);
}

static int run_once(const job_t *job)
{
    int code = job->plan == TRV_PLAN_NULL
                   ? run_library(job)
                   : TRV_Plan_run(job->plan, job->in_place ? MPI_IN_PLACE : job->buffers->send, job->buffers->receive);
    return code == MPI_SUCCESS ? TRV_OK : TRV_ERR_TRANSPORT; /* the sentence is there */
}

static uint64_t blocks(const job_t *job, trv_collective_t with_blocks)
{
    return job->options->collective == with_blocks ? (uint64_t)job->data->ranks : 1;
}

/* Fresh input, and an output that no correct run leaves as it is. */
static void prepare(const job_t *job)
{
    size_t size = trv_type_size(job->options->type);
    char *receive = job->buffers->receive;
    memset(receive, 0xa5, blocks(job, TRV_ALLGATHER) * job->count * size);
    if (!job->in_place)
        bench_data_fill(job->data, job->buffers->send, job->count);
    else if (job->options->collective == TRV_ALLGATHER)
        bench_data_fill(job->data, receive + (uint64_t)job->data->rank * job->count * size, job->count);
    else
        bench_data_fill(job->data, receive, job->count);
}

/* Runs that are not measured, the last of them checked. */
static int warm_up(const job_t *job, figures_t *figures, double *seconds)
{
    int runs = job->options->warmup > 1 ? job->options->warmup : 1, code = TRV_OK;
    if (job->options->warmup < 0)
        runs = 2;
    for (int i = 0; i < runs && code == TRV_OK; i++) {
        if (i == 0 || i == runs - 1 || job->in_place) /* what ran in place is input no more */
            prepare(job);
        double start = PMPI_Wtime();
        code = barrier(job->comm);
        if (code == TRV_OK)
            code = run_once(job);
        *seconds = PMPI_Wtime() - start;
    }
    if (code == TRV_OK && job->options->check) {
        figures->wrong += bench_data_wrong(job->data, job->buffers->receive, job->count);
        figures->hash = bench_data_hash(job->data, job->buffers->receive, job->count);
    }
    return code;
}

static int iterations(const job_t *job, double seconds, int *result)
{
    *result = job->options->iterations;
    if (*result >= 0)
        return TRV_OK;
    double most = 0;
    MPI_Request request;
    int code = finish(&request, PMPI_Iallreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, job->comm, &request));
    double fit = most > 0 ? BUDGET_SECONDS / most : ITERATIONS_MAX;
    *result = fit < ITERATIONS_MIN ? ITERATIONS_MIN : fit > ITERATIONS_MAX ? ITERATIONS_MAX : (int)fit;
    return code;
}

static int time_runs(const job_t *job, int runs, figures_t *figures)
{
    double sum = 0, least = INFINITY;
    int code = TRV_OK;
    for (int i = 0; i < runs && code == TRV_OK; i++) {
        code = barrier(job->comm);
        double start = PMPI_Wtime();
        if (code == TRV_OK)
            code = run_once(job);
        const double run = PMPI_Wtime() - start;
        sum += run;
        least = fmin(least, run);
    }
    figures->average_us = runs > 0 ? 1e6 * sum / runs : 0;
    figures->least_us = runs > 0 ? 1e6 * least : 0;
    if (code == TRV_OK && runs > 0 && job->options->check && !job->in_place)
        figures->wrong += bench_data_wrong(job->data, job->buffers->receive, job->count);
    return code;
}

/* All ranks' figures, on all ranks, into the row. */
static int collect(const job_t *job, const figures_t *mine, bench_row_t *row)
{
    int ranks = job->data->ranks;
    figures_t *all = malloc((size_t)ranks * sizeof *all);
    if (!all)
        return trv_fail_memory();
    MPI_Request request;
    int code = finish(&request,
                      PMPI_Iallgather(mine, sizeof *mine, MPI_BYTE, all, sizeof *mine, MPI_BYTE, job->comm, &request));
    double least_us = 0;
    row->identical = true;
    row->least_us = row->most_us = all[0].average_us;
    for (int r = 0; code == TRV_OK && r < ranks; r++) {
        row->average_us += all[r].average_us / ranks;
        least_us += all[r].least_us / ranks;
        row->least_us = all[r].average_us < row->least_us ? all[r].average_us : row->least_us;
        row->most_us = all[r].average_us > row->most_us ? all[r].average_us : row->most_us;
        row->wrong += all[r].wrong;
        row->bytes_sent = all[r].bytes_sent > row->bytes_sent ? all[r].bytes_sent : row->bytes_sent;
        row->identical = row->identical && all[r].hash == all[0].hash;
    }
    row->spread = least_us > 0 ? row->average_us / least_us : 1;
    free(all);
    return code;
}

/* The plan of what is measured: the file's schedule, or what is named. */
static int create_plan(job_t *job, const trv_torus_t *torus, const char *algorithm)
{
    char text[TRV_TORUS_TEXT_MAX];
    const bench_options_t *options = job->options;
    MPI_Datatype type = bench_mpi_type(options->type);
    MPI_Op op = bench_mpi_op(options->op);
    MPI_Count count = (MPI_Count)job->count;
    if (options->schedule && strcmp(algorithm, options->schedule_label) == 0)
        return TRV_Plan_create(options->schedule, count, type, op, job->comm, &job->plan);
    int code = TRV_Comm_set(job->comm, trv_torus_format(torus, text, sizeof text), algorithm);
    if (code != MPI_SUCCESS)
        return code;
    if (options->collective == TRV_ALLREDUCE)
        return TRV_Allreduce_plan_create(count, type, op, job->comm, &job->plan);
    if (options->collective == TRV_REDUCE_SCATTER)
        return TRV_Reduce_scatter_block_plan_create(count, type, op, job->comm, &job->plan);
    return TRV_Allgather_plan_create(count, type, job->comm, &job->plan);
}

static int make_plan(job_t *job, const trv_torus_t *torus, const char *algorithm, bench_row_t *row, figures_t *figures)
{
    snprintf(row->algorithm, sizeof row->algorithm, "%s", algorithm);
    if (strcmp(algorithm, "mpi") == 0)
        return TRV_OK;
    int code = create_plan(job, torus, algorithm);
    TRV_Plan_info info = {TRV_PLAN_INFO};
    if (code == MPI_SUCCESS)
        code = TRV_Plan_query(job->plan, &info);
    if (code != MPI_SUCCESS)
        return TRV_ERR_ARGUMENT; /* the sentence is there */
    if (strcmp(algorithm, job->options->schedule_label) != 0)
        snprintf(row->algorithm, sizeof row->algorithm, "%s", info.algorithm);
    row->steps = info.steps;
    figures->bytes_sent = info.bytes_sent;
    return TRV_OK;
}

int bench_measure(const bench_options_t *options, const bench_data_t *data, const bench_buffers_t *buffers,
                  MPI_Comm comm, const trv_torus_t *torus, const char *algorithm, uint64_t bytes, bool in_place,
                  bench_row_t *row)
{
    job_t job = {.options = options, .data = data, .buffers = buffers, .comm = comm, .in_place = in_place};
    figures_t figures = {0};
    double seconds = 0;
    *row = (bench_row_t){.torus = torus,
                         .bytes = bytes,
                         .count = bytes / trv_type_size(options->type),
                         .in_place = in_place,
                         .checked = options->check};
    job.count = row->count / (options->collective == TRV_ALLREDUCE ? 1 : (uint64_t)data->ranks);
    int code = make_plan(&job, torus, algorithm, row, &figures);
    if (code == TRV_OK)
        code = warm_up(&job, &figures, &seconds);
    if (code == TRV_OK)
        code = iterations(&job, seconds, &row->iterations);
    if (code == TRV_OK)
        code = time_runs(&job, row->iterations, &figures);
    if (code == TRV_OK)
        code = collect(&job, &figures, row);
    if (options->collective == TRV_REDUCE_SCATTER)
        row->identical = true; /* every rank has a result of its own */
    if (job.plan != TRV_PLAN_NULL)
        TRV_Plan_free(&job.plan);
    return code;
}

double bench_algorithm_bandwidth(const bench_row_t *row)
{
    return row->average_us > 0 ? (double)row->bytes / (1e3 * row->average_us) : 0;
}

double bench_bus_bandwidth(const bench_row_t *row, trv_collective_t collective)
{
    double n = row->torus->ranks;
    return bench_algorithm_bandwidth(row) * (collective == TRV_ALLREDUCE ? 2 : 1) * (n - 1) / n;
}
