/*
 * Non-blocking collectives of MPI that are polled until they are complete (transport/mpi/waiting.h).
 */
#include "cli/mpi/polled.h"

#include <stdio.h>

#include <trivance/common.h>

#include "transport/mpi/mpi_error.h"
#include "transport/mpi/waiting.h"

static int polled_wait(MPI_Request *request, int code, const char *what)
{
    if (code == MPI_SUCCESS)
        code = trv_mpi_poll(request);
    return code == MPI_SUCCESS ? TRV_OK : trv_mpi_transport_error(what, code);
}

int polled_barrier(MPI_Comm comm)
{
    MPI_Request request;
    return polled_wait(&request, PMPI_Ibarrier(comm, &request), "MPI_Ibarrier");
}

int polled_broadcast(MPI_Comm comm, void *data, int bytes)
{
    MPI_Request request;
    return polled_wait(&request, PMPI_Ibcast(data, bytes, MPI_BYTE, 0, comm, &request), "MPI_Ibcast");
}

int polled_reduce(MPI_Comm comm, double *value, int count, MPI_Op op)
{
    MPI_Request request;
    return polled_wait(&request, PMPI_Iallreduce(MPI_IN_PLACE, value, count, MPI_DOUBLE, op, comm, &request),
                       "MPI_Iallreduce");
}

int polled_allgather(MPI_Comm comm, const void *mine, void *all, int bytes)
{
    MPI_Request request;
    return polled_wait(&request, PMPI_Iallgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm, &request),
                       "MPI_Iallgather");
}

bool polled_all_true(MPI_Comm comm, bool mine)
{
    double all = mine;
    return polled_reduce(comm, &all, 1, MPI_MIN) == TRV_OK && all > 0;
}

bool polled_on_one_machine(MPI_Comm comm)
{
    char id[37] = "", first[37];
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    bool same = file && fread(id, 1, sizeof id - 1, file) == sizeof id - 1;
    if (file)
        fclose(file);
    for (size_t i = 0; i < sizeof id; i++)
        first[i] = id[i];
    if (polled_broadcast(comm, first, sizeof first) < 0)
        return false;
    for (size_t i = 0; i < sizeof id; i++)
        same = same && id[i] == first[i];
    return polled_all_true(comm, same);
}
