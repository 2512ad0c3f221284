/*
 * The exchanges of exchange.h over MPI. With more ranks than cores MPI_Waitall would occupy a core that another rank
 * needs (for milliseconds, with MPICH); in that case the exchanges use MPI_Testall and sched_yield.
 */
#include "baseline.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct pending {
    const baseline_t *baseline;
    int requests;
    MPI_Request request[2 * RANKS_MAX];
} pending_t;

static void baseline_complete(void *context)
{
    pending_t *pending = context;
    MPI_Status status[2 * RANKS_MAX]; /* MPI_STATUSES_IGNORE makes gcc warn about MPICH's header */
    int done = !pending->baseline->oversubscribed;
    if (done)
        PMPI_Waitall(pending->requests, pending->request, status);
    while (!done) {
        PMPI_Testall(pending->requests, pending->request, &done, status);
        if (!done)
            sched_yield();
    }
    pending->requests = 0;
}

static void baseline_receive(void *context, int peer, int tag, void *data, size_t bytes)
{
    pending_t *pending = context;
    PMPI_Irecv(data, (int)bytes, MPI_BYTE, peer, tag, pending->baseline->comm, &pending->request[pending->requests++]);
}

static void baseline_send(void *context, int peer, int tag, const void *data, size_t bytes)
{
    pending_t *pending = context;
    PMPI_Isend(data, (int)bytes, MPI_BYTE, peer, tag, pending->baseline->comm, &pending->request[pending->requests++]);
}

void baseline_run(const baseline_t *baseline, bool parts)
{
    pending_t pending = {.baseline = baseline};
    const exchange_transport_t transport = {baseline_receive, baseline_send, baseline_complete};
    exchange_run(&baseline->exchange, transport, &pending, parts, baseline->input, baseline->output, baseline->count);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

void baseline_barrier(const baseline_t *baseline)
{
    pending_t pending = {.baseline = baseline, .requests = 1};
    PMPI_Ibarrier(baseline->comm, pending.request);
    baseline_complete(&pending);
}

double baseline_max(const baseline_t *baseline, double value)
{
    pending_t pending = {.baseline = baseline, .requests = 1};
    double maximum = 0;
    PMPI_Iallreduce(&value, &maximum, 1, MPI_DOUBLE, MPI_MAX, baseline->comm, pending.request);
    baseline_complete(&pending);
    return maximum;
}

typedef struct sides {
    const baseline_t *baseline;
    baseline_call_t *call;
    void *context;
} sides_t;

static double baseline_sample(void *context, int side)
{
    const sides_t *sides = context;
    const baseline_t *baseline = sides->baseline;
    const size_t bytes = baseline->count * sizeof *baseline->input;
    const int calls = bytes <= 8192 ? 50 : bytes <= 131072 ? 10 : 3;
    sides->call(baseline, sides->context, side);
    baseline_barrier(baseline);
    const double start = PMPI_Wtime();
    for (int i = 0; i < calls; i++)
        sides->call(baseline, sides->context, side);
    return baseline_max(baseline, 1e6 * (PMPI_Wtime() - start) / calls);
}

void baseline_measure(const baseline_t *baseline, baseline_call_t *call, void *context, int sides, int rounds,
                      double *median)
{
    sides_t all = {baseline, call, context};
    measure_sides(baseline_sample, &all, sides, 3, rounds, 0, median);
}

bool baseline_create(baseline_t *baseline, MPI_Comm comm, const char *name)
{
    exchange_t *exchange = &baseline->exchange;
    *baseline = (baseline_t){.comm = comm};
    PMPI_Comm_rank(comm, &exchange->rank);
    PMPI_Comm_size(comm, &exchange->ranks);
    baseline->oversubscribed = exchange->ranks > sysconf(_SC_NPROCESSORS_ONLN);
    if (exchange->ranks < 2 || exchange->ranks > RANKS_MAX) {
        if (exchange->rank == 0)
            fprintf(stderr, "%s: %d ranks were started; expected 2 or 3, for example mpirun -n 2 %s\n", name,
                    exchange->ranks, name);
        return false;
    }
    for (int r = 0; r < RANKS_MAX; r++)
        exchange->part[r] = malloc(BYTES_MAX);
    baseline->input = malloc(BYTES_MAX);
    baseline->output = malloc(BYTES_MAX);
    for (size_t i = 0; i < BYTES_MAX / sizeof *baseline->input; i++)
        baseline->input[i] = (double)(i % 100);
    return true;
}

void baseline_destroy(baseline_t *baseline)
{
    for (int r = 0; r < RANKS_MAX; r++)
        free(baseline->exchange.part[r]);
    free(baseline->input);
    free(baseline->output);
}
