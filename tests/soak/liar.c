/*
 * A preload library that occasionally returns a wrong result: it flips one bit of every 40th AllReduce on rank 1. It
 * shows that the comparison detects errors.
 */
#include <mpi.h>

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    static int calls;
    int rank, code = PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (++calls % 40 == 0 && rank == 1 && count > 0)
        *(unsigned char *)recvbuf ^= 1;
    return code;
}
