/*
 * What the library costs over the messages themselves: TRV_Allreduce against a loop of MPI_Isend, MPI_Irecv and
 * MPI_Waitall written by hand for 2 and for 3 ranks, which sends the same messages and adds the same numbers.
 *
 *     mpirun -n 2 overhead [--rounds N]     mpirun -n 3 overhead
 *
 * Both sides do the same job at every size: up to the switch, every rank sends its whole vector to every other rank and
 * adds all of them (trivance-l-grouped, one step); above it, reduce-scatter and allgather by parts of 1/n (trivance-b,
 * two steps). The two are interleaved run by run, so that both see the same machine; shown are the medians of the
 * slowest rank. With more ranks than cores MPI_Waitall would keep a core that another rank needs (milliseconds, with
 * MPICH), so that there the loop by hand is given MPI_Testall and sched_yield.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include <trivance/trivance.h>
#include <trivance/trivance_mpi.h>

#define RANKS_MAX 3
#define BYTES_MAX ((size_t)1 << 20)
#define ROUNDS 400
#define ROUNDS_LARGE 100

typedef struct hand {
    int rank, ranks;
    int crowded; /* more ranks than cores */
    MPI_Comm comm;
    double *part[RANKS_MAX]; /* what the others send */
} hand_t;

static void add(double *result, const double *const *source, int sources, size_t count)
{
    trv_reduce(TRV_SUM, TRV_DOUBLE, result, (const void *const *)source, sources, count);
}

static void complete(const hand_t *hand, int requests, MPI_Request *request)
{
    MPI_Status status[2 * RANKS_MAX]; /* MPI_STATUSES_IGNORE makes gcc warn about MPICH's header */
    int done = !hand->crowded;
    if (done)
        MPI_Waitall(requests, request, status);
    while (!done) {
        MPI_Testall(requests, request, &done, status);
        if (!done)
            sched_yield();
    }
}

static void barrier(const hand_t *hand)
{
    MPI_Request request;
    MPI_Ibarrier(hand->comm, &request);
    complete(hand, 1, &request);
}

static double most_of_all(const hand_t *hand, double value)
{
    MPI_Request request;
    double most = 0;
    MPI_Iallreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, hand->comm, &request);
    complete(hand, 1, &request);
    return most;
}

/* Everybody's whole vector to everybody. */
static void whole(const hand_t *hand, const double *input, double *output, size_t count)
{
    MPI_Request request[2 * RANKS_MAX];
    const double *source[RANKS_MAX];
    int requests = 0, bytes = (int)(count * sizeof *input);
    for (int r = 0; r < hand->ranks; r++) {
        source[r] = r == hand->rank ? input : hand->part[r];
        if (r != hand->rank)
            MPI_Irecv(hand->part[r], bytes, MPI_BYTE, r, 0, hand->comm, &request[requests++]);
    }
    for (int r = 0; r < hand->ranks; r++)
        if (r != hand->rank)
            MPI_Isend(input, bytes, MPI_BYTE, r, 0, hand->comm, &request[requests++]);
    complete(hand, requests, request);
    add(output, source, hand->ranks, count);
}

static size_t first(const hand_t *hand, int rank, size_t count)
{
    return count * (size_t)rank / (size_t)hand->ranks;
}

static size_t length(const hand_t *hand, int rank, size_t count)
{
    return first(hand, rank + 1, count) - first(hand, rank, count);
}

/* Part r of the vector is added on rank r and sent to all. */
static void parts(const hand_t *hand, const double *input, double *output, size_t count)
{
    MPI_Request request[2 * RANKS_MAX];
    const double *source[RANKS_MAX];
    int requests = 0, mine = hand->rank;
    for (int r = 0; r < hand->ranks; r++) {
        source[r] = r == mine ? input + first(hand, mine, count) : hand->part[r];
        if (r != mine)
            MPI_Irecv(hand->part[r], (int)(length(hand, mine, count) * sizeof *input), MPI_BYTE, r, 0, hand->comm,
                      &request[requests++]);
    }
    for (int r = 0; r < hand->ranks; r++)
        if (r != mine)
            MPI_Isend(input + first(hand, r, count), (int)(length(hand, r, count) * sizeof *input), MPI_BYTE, r, 0,
                      hand->comm, &request[requests++]);
    complete(hand, requests, request);
    add(output + first(hand, mine, count), source, hand->ranks, length(hand, mine, count));
    requests = 0;
    for (int r = 0; r < hand->ranks; r++)
        if (r != mine) {
            MPI_Irecv(output + first(hand, r, count), (int)(length(hand, r, count) * sizeof *output), MPI_BYTE, r, 1,
                      hand->comm, &request[requests++]);
            MPI_Isend(output + first(hand, mine, count), (int)(length(hand, mine, count) * sizeof *output), MPI_BYTE, r,
                      1, hand->comm, &request[requests++]);
        }
    complete(hand, requests, request);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, by_value);
    return count % 2 ? value[count / 2] : (value[count / 2 - 1] + value[count / 2]) / 2;
}

/* The medians over the rounds, of the slowest rank in every round, in microseconds: by hand, and the library's. */
static void compare(const hand_t *hand, const double *input, double *output, size_t count, int large, int rounds,
                    double *by_hand, double *library)
{
    double *time[2] = {malloc((size_t)rounds * sizeof(double)), malloc((size_t)rounds * sizeof(double))};
    for (int i = -5; i < rounds; i++) /* the first ones only warm up */
        for (int k = 0; k < 2; k++) {
            int side = (i + 5 + k) % 2;
            barrier(hand);
            double start = MPI_Wtime();
            if (side == 1)
                TRV_Allreduce(input, output, (int)count, MPI_DOUBLE, MPI_SUM, hand->comm);
            else if (large)
                parts(hand, input, output, count);
            else
                whole(hand, input, output, count);
            double most = most_of_all(hand, 1e6 * (MPI_Wtime() - start));
            if (i >= 0)
                time[side][i] = most;
        }
    *by_hand = median(time[0], rounds);
    *library = median(time[1], rounds);
    free(time[0]);
    free(time[1]);
}

static void run(const hand_t *hand, int rounds)
{
    double *input = malloc(BYTES_MAX), *output = malloc(BYTES_MAX), ratio[64];
    int sizes = 0;
    for (size_t i = 0; i < BYTES_MAX / sizeof *input; i++)
        input[i] = (double)(i % 100);
    if (hand->rank == 0)
        printf("TRV_Allreduce against the same messages by hand, %d ranks, sum of double\n%10s  %12s  %12s  %6s\n",
               hand->ranks, "bytes", "by hand us", "trivance us", "ratio");
    for (size_t bytes = 8; bytes <= BYTES_MAX; bytes *= 2) {
        double by_hand = 0, library = 0;
        int large = bytes > 65536;
        TRV_Comm_set(hand->comm, NULL, large ? "trivance-b" : "trivance-l-grouped");
        int these = rounds ? rounds : large ? ROUNDS_LARGE : ROUNDS;
        compare(hand, input, output, bytes / sizeof *input, large, these, &by_hand, &library);
        ratio[sizes++] = library / by_hand;
        if (hand->rank == 0)
            printf("%10zu  %12.2f  %12.2f  %6.2f\n", bytes, by_hand, library, library / by_hand);
    }
    double middle = median(ratio, sizes);
    if (hand->rank == 0)
        printf("median ratio %.2f (aim: at most 1.10)\n", middle);
    free(input);
    free(output);
}

int main(int argc, char **argv)
{
    hand_t hand = {.comm = MPI_COMM_WORLD};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(hand.comm, &hand.rank);
    MPI_Comm_size(hand.comm, &hand.ranks);
    hand.crowded = hand.ranks > sysconf(_SC_NPROCESSORS_ONLN);
    int rounds = argc == 3 && strcmp(argv[1], "--rounds") == 0 ? atoi(argv[2]) : 0;
    if (hand.ranks < 2 || hand.ranks > RANKS_MAX || (argc > 1 && rounds < 1)) {
        if (hand.rank == 0)
            fprintf(stderr,
                    "overhead: usage: mpirun -n 2 overhead [--rounds N], with 2 or 3 ranks and N of 1 or more\n");
        MPI_Finalize();
        return 2;
    }
    for (int r = 0; r < RANKS_MAX; r++)
        hand.part[r] = malloc(BYTES_MAX);
    run(&hand, rounds);
    for (int r = 0; r < RANKS_MAX; r++)
        free(hand.part[r]);
    MPI_Finalize();
    return 0;
}
