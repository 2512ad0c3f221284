/*
 * The exchanges of exchange.h over MPI. With more ranks than cores MPI_Waitall would occupy a core that another rank
 * needs (for milliseconds, with MPICH); in that case the exchanges use MPI_Testall and sched_yield.
 */
#include "by_hand.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct pending {
    const hand_t *hand;
    int requests;
    MPI_Request request[2 * RANKS_MAX];
} pending_t;

static void hand_complete(void *context)
{
    pending_t *pending = context;
    MPI_Status status[2 * RANKS_MAX]; /* MPI_STATUSES_IGNORE makes gcc warn about MPICH's header */
    int done = !pending->hand->crowded;
    if (done)
        PMPI_Waitall(pending->requests, pending->request, status);
    while (!done) {
        PMPI_Testall(pending->requests, pending->request, &done, status);
        if (!done)
            sched_yield();
    }
    pending->requests = 0;
}

static void hand_receive(void *context, int peer, int tag, void *data, size_t bytes)
{
    pending_t *pending = context;
    PMPI_Irecv(data, (int)bytes, MPI_BYTE, peer, tag, pending->hand->comm, &pending->request[pending->requests++]);
}

static void hand_send(void *context, int peer, int tag, const void *data, size_t bytes)
{
    pending_t *pending = context;
    PMPI_Isend(data, (int)bytes, MPI_BYTE, peer, tag, pending->hand->comm, &pending->request[pending->requests++]);
}

void hand_run(const hand_t *hand, bool parts)
{
    pending_t pending = {.hand = hand};
    const exchange_way_t way = {hand_receive, hand_send, hand_complete};
    exchange_run(&hand->exchange, way, &pending, parts, hand->input, hand->output, hand->count);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

void hand_barrier(const hand_t *hand)
{
    pending_t pending = {.hand = hand, .requests = 1};
    PMPI_Ibarrier(hand->comm, pending.request);
    hand_complete(&pending);
}

double hand_most(const hand_t *hand, double value)
{
    pending_t pending = {.hand = hand, .requests = 1};
    double most = 0;
    PMPI_Iallreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, hand->comm, pending.request);
    hand_complete(&pending);
    return most;
}

typedef struct sides {
    const hand_t *hand;
    hand_call_t *call;
    void *context;
} sides_t;

static double hand_sample(void *context, int side)
{
    const sides_t *sides = context;
    const hand_t *hand = sides->hand;
    const size_t bytes = hand->count * sizeof *hand->input;
    const int calls = bytes <= 8192 ? 50 : bytes <= 131072 ? 10 : 3;
    sides->call(hand, sides->context, side);
    hand_barrier(hand);
    const double start = PMPI_Wtime();
    for (int i = 0; i < calls; i++)
        sides->call(hand, sides->context, side);
    return hand_most(hand, 1e6 * (PMPI_Wtime() - start) / calls);
}

void hand_sides(const hand_t *hand, hand_call_t *call, void *context, int sides, int rounds, double *median)
{
    sides_t all = {hand, call, context};
    measure_sides(hand_sample, &all, sides, 3, rounds, 0, median);
}

bool hand_begin(hand_t *hand, MPI_Comm comm, const char *name)
{
    exchange_t *exchange = &hand->exchange;
    *hand = (hand_t){.comm = comm};
    PMPI_Comm_rank(comm, &exchange->rank);
    PMPI_Comm_size(comm, &exchange->ranks);
    hand->crowded = exchange->ranks > sysconf(_SC_NPROCESSORS_ONLN);
    if (exchange->ranks < 2 || exchange->ranks > RANKS_MAX) {
        if (exchange->rank == 0)
            fprintf(stderr, "%s: %d ranks were started; it takes 2 or 3, for example mpirun -n 2 %s\n", name,
                    exchange->ranks, name);
        return false;
    }
    for (int r = 0; r < RANKS_MAX; r++)
        exchange->part[r] = malloc(BYTES_MAX);
    hand->input = malloc(BYTES_MAX);
    hand->output = malloc(BYTES_MAX);
    for (size_t i = 0; i < BYTES_MAX / sizeof *hand->input; i++)
        hand->input[i] = (double)(i % 100);
    return true;
}

void hand_end(hand_t *hand)
{
    for (int r = 0; r < RANKS_MAX; r++)
        free(hand->exchange.part[r]);
    free(hand->input);
    free(hand->output);
}
