/*
 * An MPI of 4 ranks, of which this process is rank 2. A request is a number of milliseconds, after which it is
 * complete, counted from its first test; one request is tested at a time.
 */
#include <mpi.h>

#include <stdlib.h>
#include <time.h>

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
    static double first_ms; /* 0: not tested yet */
    struct timespec now;
    (void)status;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double now_ms = 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
    first_ms = first_ms > 0 ? first_ms : now_ms;
    *done = now_ms - first_ms >= *request;
    if (*done)
        first_ms = *request = 0;
    return MPI_SUCCESS;
}

int PMPI_Cancel(MPI_Request *request)
{
    (void)request;
    return MPI_SUCCESS;
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    (void)status;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}
