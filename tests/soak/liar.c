/*
 * A preload library that is wrong now and then: on rank 1 one bit of every 40th AllReduce, without which nobody knew
 * whether the comparison sees anything.
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
