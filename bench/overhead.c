/*
 * What the library costs over the messages themselves: TRV_Allreduce against a loop of MPI_Isend, MPI_Irecv and
 * MPI_Waitall written by hand for 2 and for 3 ranks, which sends the same messages and adds the same numbers.
 *
 *     mpirun -n 2 overhead [--rounds N]     mpirun -n 3 overhead
 *
 * Both sides do the same job at every size: up to the switch, every rank sends its whole vector to every other rank and
 * adds all of them (trivance-l-grouped, one step); above it, reduce-scatter and allgather by parts of 1/n (trivance-b,
 * two steps). The two are interleaved run by run, so that both see the same machine; shown are the medians of the
 * slowest rank.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <trivance/trivance.h>
#include <trivance/trivance_mpi.h>

#include "by_hand.h"

#define ROUNDS       400
#define ROUNDS_LARGE 100

/* The medians over the rounds, of the slowest rank in every round, in microseconds: by hand, and the library's. */
static void compare(const hand_t *hand, const double *input, double *output, size_t count, int large, int rounds,
                    double *by_hand, double *library)
{
    double *time[2] = {malloc((size_t)rounds * sizeof(double)), malloc((size_t)rounds * sizeof(double))};
    for (int i = -5; i < rounds; i++) /* the first ones only warm up */
        for (int k = 0; k < 2; k++) {
            int side = (i + 5 + k) % 2;
            hand_barrier(hand);
            double start = MPI_Wtime();
            if (side == 1)
                TRV_Allreduce(input, output, (int)count, MPI_DOUBLE, MPI_SUM, hand->comm);
            else if (large)
                hand_parts(hand, input, output, count);
            else
                hand_whole(hand, input, output, count);
            double most = hand_most(hand, 1e6 * (MPI_Wtime() - start));
            if (i >= 0)
                time[side][i] = most;
        }
    *by_hand = hand_median(time[0], rounds);
    *library = hand_median(time[1], rounds);
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
    double middle = hand_median(ratio, sizes);
    if (hand->rank == 0)
        printf("median ratio %.2f (aim: at most 1.10)\n", middle);
    free(input);
    free(output);
}

int main(int argc, char **argv)
{
    hand_t hand;
    MPI_Init(&argc, &argv);
    int rounds = argc == 3 && strcmp(argv[1], "--rounds") == 0 ? atoi(argv[2]) : 0;
    if (argc > 1 && rounds < 1) {
        fprintf(stderr, "overhead: usage: mpirun -n 2 overhead [--rounds N], with N of 1 or more\n");
        MPI_Finalize();
        return 2;
    }
    if (!hand_begin(&hand, MPI_COMM_WORLD, "overhead"))
        return MPI_Finalize(), 2;
    run(&hand, rounds);
    hand_end(&hand);
    MPI_Finalize();
    return 0;
}
