/*
 * The blocking functions of the API: TRV_Allreduce, TRV_Bcast and the other collectives, their forms with large counts,
 * and TRV_Comm_set. A call for which no schedule runs uses the MPI library's collective.
 */
#include <stdatomic.h>

#include <trivance/trivance_mpi.h>

#include "base/error.h"
#include "mpi/communicator/attribute.h"
#include "mpi/front/collectives.h"
#include "mpi/front/comm_set.h"
#include "mpi/front/library.h"
#include "mpi/front/dispatch.h"
#include "mpi/reports/log.h"
#include "mpi/reports/log_table.h"
#include "schedule/collective.h"
#include "mpi/settings/job_settings.h"

/* Logs once per process that calls on intercommunicators use the MPI library. */
static void log_intercommunicator(MPI_Comm comm)
{
    static atomic_flag logged = ATOMIC_FLAG_INIT;
    int rank = 0, inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_rank(comm, &rank);
    if (inter && trv_mpi_settings()->info && rank == 0 && !atomic_flag_test_and_set(&logged))
        trv_mpi_log_line("intercommunicators: mpi (schedules need one group of ranks)");
}

static int run_call(const trv_mpi_call_t *call, MPI_Comm comm)
{
    int code;
    const trv_mpi_span_t span = trv_mpi_span_begin(trv_collective_shape(trv_mpi_call_collective(call))->name);
    if (!trv_mpi_dispatch(call, comm, &code)) {
        log_intercommunicator(comm);
        code = call->movement ? trv_mpi_library_movement(call->movement, comm)
                              : trv_mpi_library_run(call->reduction, comm);
    }
    trv_mpi_span_end(span, "no schedule was decided");
    return code;
}

static int reduction(trv_collective_t collective, const void *sendbuf, void *recvbuf, MPI_Count count,
                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    if (count == 0 && comm != MPI_COMM_NULL && !trv_mpi_settings()->check)
        return MPI_SUCCESS; /* an empty call does not initialize the communicator */
    const trv_mpi_reduction_t arguments = {collective, sendbuf, recvbuf, count, datatype, op, 0};
    return run_call(&(trv_mpi_call_t){.reduction = &arguments}, comm);
}

int TRV_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm)
{
    return reduction(TRV_ALLREDUCE, sendbuf, recvbuf, count, datatype, op, comm);
}

int TRV_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return reduction(TRV_ALLREDUCE, sendbuf, recvbuf, count, datatype, op, comm);
}

int TRV_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm)
{
    return reduction(TRV_REDUCE_SCATTER, sendbuf, recvbuf, recvcount, datatype, op, comm);
}

int TRV_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm)
{
    return reduction(TRV_REDUCE_SCATTER, sendbuf, recvbuf, recvcount, datatype, op, comm);
}

int TRV_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm)
{
    if (recvcount == 0 && (sendcount == 0 || sendbuf == MPI_IN_PLACE) && comm != MPI_COMM_NULL &&
        !trv_mpi_settings()->check)
        return MPI_SUCCESS;
    const trv_mpi_movement_t gather = {TRV_ALLGATHER, sendbuf, recvbuf, sendcount, recvcount, sendtype, recvtype, 0};
    return run_call(&(trv_mpi_call_t){.movement = &gather}, comm);
}

int TRV_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm)
{
    return TRV_Allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int TRV_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return run_call(&(const trv_mpi_call_t)TRV_MPI_CALL_Bcast, comm);
}

int TRV_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return TRV_Bcast_c(buffer, count, datatype, root, comm);
}

int TRV_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                 MPI_Comm comm)
{
    return run_call(&(const trv_mpi_call_t)TRV_MPI_CALL_Reduce, comm);
}

int TRV_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    return TRV_Reduce_c(sendbuf, recvbuf, count, datatype, op, root, comm);
}

int TRV_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return run_call(&(const trv_mpi_call_t)TRV_MPI_CALL_Gather, comm);
}

int TRV_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
               MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return TRV_Gather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int TRV_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return run_call(&(const trv_mpi_call_t)TRV_MPI_CALL_Scatter, comm);
}

int TRV_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return TRV_Scatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int TRV_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm)
{
    return run_call(&(const trv_mpi_call_t)TRV_MPI_CALL_Alltoall, comm);
}

int TRV_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm)
{
    return TRV_Alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int TRV_Comm_set(MPI_Comm comm, const char *torus, const char *algorithm)
{
    trv_mpi_state_t *state;
    int code = trv_mpi_state_find(comm, &state);
    if (code != MPI_SUCCESS)
        return code;
    if (!state)
        return trv_fail(TRV_ERR_UNSUPPORTED, "an intercommunicator has no torus; pass an intracommunicator"),
               MPI_ERR_COMM;
    if (state->abandoned)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "all calls on the communicator fall back to the MPI library; it has no torus"),
               MPI_ERR_COMM;
    return trv_mpi_comm_set(state, torus, algorithm, false);
}
