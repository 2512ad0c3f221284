/*
 * An ordinary MPI program that calls AllReduce repeatedly for the given number of seconds and checks every result,
 * while the tests change the network.
 */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

enum { COUNT = 500 };

int main(int argc, char **argv)
{
    static int input[COUNT], output[COUNT];
    int rank, ranks, wrong = 0, calls = 0;
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double start = MPI_Wtime();
    for (int ended = 0; !ended; calls++) {
        for (int i = 1; i < COUNT; i++)
            input[i] = rank * i + calls;
        input[0] = rank == 0 && MPI_Wtime() - start > seconds; /* rank 0 decides, so that all ranks end together */
        MPI_Allreduce(input, output, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 1; i < COUNT; i++)
            wrong += output[i] != ranks * (ranks - 1) / 2 * i + ranks * calls;
        ended = output[0];
        if (rank == 0 && calls == 0) {
            puts("begun");
            fflush(stdout);
        }
    }
    printf("rank %d: %d calls, %d wrong\n", rank, calls, wrong);
    MPI_Finalize();
    return wrong != 0;
}
