/*
 * An MPI of 4 ranks, of which this process is rank 2, and whose requests are complete when they were asked about so
 * many times.
 */
#include <mpi.h>

#include <stdlib.h>

int PMPI_Initialized(int *flag)
{
    *flag = 1;
    return MPI_SUCCESS;
}

int PMPI_Finalized(int *flag)
{
    *flag = 0;
    return MPI_SUCCESS;
}

int PMPI_Abort(MPI_Comm comm, int code)
{
    (void)comm;
    exit(code);
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = 2;
    return MPI_SUCCESS;
}

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    (void)comm;
    *size = 4;
    return MPI_SUCCESS;
}

int PMPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    (void)status;
    *done = --*request <= 0;
    return MPI_SUCCESS;
}
