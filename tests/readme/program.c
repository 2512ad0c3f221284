/*
 * The reader's MPI program in README; it does not use Trivance's interfaces.
 */
#include <stdio.h>

#include <mpi.h>

int main(int argc, char **argv)
{
    double part[1000], sum[1000];
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 1000; i++)
        part[i] = rank + i;
    MPI_Allreduce(part, sum, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    int wrong = sum[999] != ranks * (ranks - 1) / 2.0 + 999.0 * ranks;
    if (rank == 0)
        printf("the sum is %s\n", wrong ? "wrong" : "right");
    MPI_Finalize();
    return wrong;
}
