/*
 * With more ranks than cores MPI_Waitall would keep a core that another rank needs (milliseconds, with MPICH), so that
 * there the exchanges use MPI_Testall and sched_yield.
 */
#include "by_hand.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <trivance/reduce.h>

static void add(double *result, const double *const *source, int sources, size_t count)
{
    trv_reduce(TRV_SUM, TRV_DOUBLE, result, (const void *const *)source, sources, count);
}

static void complete(const hand_t *hand, int requests, MPI_Request *request)
{
    MPI_Status status[2 * RANKS_MAX]; /* MPI_STATUSES_IGNORE makes gcc warn about MPICH's header */
    int done = !hand->crowded;
    if (done)
        PMPI_Waitall(requests, request, status);
    while (!done) {
        PMPI_Testall(requests, request, &done, status);
        if (!done)
            sched_yield();
    }
}

void hand_barrier(const hand_t *hand)
{
    MPI_Request request;
    PMPI_Ibarrier(hand->comm, &request);
    complete(hand, 1, &request);
}

double hand_most(const hand_t *hand, double value)
{
    MPI_Request request;
    double most = 0;
    PMPI_Iallreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, hand->comm, &request);
    complete(hand, 1, &request);
    return most;
}

void hand_whole(const hand_t *hand, const double *input, double *output, size_t count)
{
    MPI_Request request[2 * RANKS_MAX];
    const double *source[RANKS_MAX];
    int requests = 0, bytes = (int)(count * sizeof *input);
    for (int r = 0; r < hand->ranks; r++) {
        source[r] = r == hand->rank ? input : hand->part[r];
        if (r != hand->rank)
            PMPI_Irecv(hand->part[r], bytes, MPI_BYTE, r, 0, hand->comm, &request[requests++]);
    }
    for (int r = 0; r < hand->ranks; r++)
        if (r != hand->rank)
            PMPI_Isend(input, bytes, MPI_BYTE, r, 0, hand->comm, &request[requests++]);
    complete(hand, requests, request);
    add(output, source, hand->ranks, count);
}

static size_t first(const hand_t *hand, int rank, size_t count) { return count * (size_t)rank / (size_t)hand->ranks; }

static size_t length(const hand_t *hand, int rank, size_t count)
{
    return first(hand, rank + 1, count) - first(hand, rank, count);
}

void hand_parts(const hand_t *hand, const double *input, double *output, size_t count)
{
    MPI_Request request[2 * RANKS_MAX];
    const double *source[RANKS_MAX];
    int requests = 0, mine = hand->rank;
    for (int r = 0; r < hand->ranks; r++) {
        source[r] = r == mine ? input + first(hand, mine, count) : hand->part[r];
        if (r != mine)
            PMPI_Irecv(hand->part[r], (int)(length(hand, mine, count) * sizeof *input), MPI_BYTE, r, 0, hand->comm,
                       &request[requests++]);
    }
    for (int r = 0; r < hand->ranks; r++)
        if (r != mine)
            PMPI_Isend(input + first(hand, r, count), (int)(length(hand, r, count) * sizeof *input), MPI_BYTE, r, 0,
                       hand->comm, &request[requests++]);
    complete(hand, requests, request);
    add(output + first(hand, mine, count), source, hand->ranks, length(hand, mine, count));
    requests = 0;
    for (int r = 0; r < hand->ranks; r++)
        if (r != mine) {
            PMPI_Irecv(output + first(hand, r, count), (int)(length(hand, r, count) * sizeof *output), MPI_BYTE, r, 1,
                       hand->comm, &request[requests++]);
            PMPI_Isend(output + first(hand, mine, count), (int)(length(hand, mine, count) * sizeof *output), MPI_BYTE,
                       r, 1, hand->comm, &request[requests++]);
        }
    complete(hand, requests, request);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double hand_median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, by_value);
    return count % 2 ? value[count / 2] : (value[count / 2 - 1] + value[count / 2]) / 2;
}

bool hand_begin(hand_t *hand, MPI_Comm comm, const char *name)
{
    *hand = (hand_t){.comm = comm};
    PMPI_Comm_rank(comm, &hand->rank);
    PMPI_Comm_size(comm, &hand->ranks);
    hand->crowded = hand->ranks > sysconf(_SC_NPROCESSORS_ONLN);
    if (hand->ranks < 2 || hand->ranks > RANKS_MAX) {
        if (hand->rank == 0)
            fprintf(stderr, "%s: %d ranks were started; it takes 2 or 3, for example mpirun -n 2 %s\n", name,
                    hand->ranks, name);
        return false;
    }
    for (int r = 0; r < RANKS_MAX; r++)
        hand->part[r] = malloc(BYTES_MAX);
    return true;
}

void hand_end(hand_t *hand)
{
    for (int r = 0; r < RANKS_MAX; r++)
        free(hand->part[r]);
}
