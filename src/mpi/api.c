/*
 * The blocking calls: find the kept plan of these arguments, or make it, and run it.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance_mpi.h>

#include "common/error.h"
#include "mpi/buffers.h"
#include "mpi/call.h"
#include "mpi/gather.h"
#include "mpi/report.h"
#include "mpi/reports/settings.h"

static int run(trv_mpi_operation_t *operation, trv_mpi_state_t *state, const trv_mpi_arguments_t *call)
{
    trv_mpi_buffers_t buffers;
    trv_mpi_report_call(operation, state);
    if (!trv_mpi_operation_serves(operation))
        return trv_mpi_library_run(call, state->comm);
    int code = trv_mpi_buffers_begin(&buffers, state, &operation->want, call->input, call->output);
    if (code == TRV_OK)
        code = trv_mpi_buffers_end(&buffers, state,
                                   trv_mpi_operation_run(operation, buffers.input, buffers.output));
    if (code < 0)
        return trv_mpi_class(code);
    return buffers.overlapped ? trv_mpi_overlap(state, &operation->want, call->input, call->output) : MPI_SUCCESS;
}

/* A call whose plan is not kept yet, or that is to be checked. */
static int run_new(trv_mpi_state_t *state, const trv_mpi_arguments_t *call, const trv_mpi_want_t *given)
{
    trv_mpi_want_t want;
    int fault = MPI_SUCCESS;
    if (given)
        want = *given;
    else
        fault = trv_mpi_want(call, &want);
    bool buffers = fault == MPI_SUCCESS && want.count > 0 && want.elements.way != TRV_MPI_LIBRARY;
    if (buffers && (!call->output || !call->input))
        fault = (trv_fail(TRV_ERR_ARGUMENT, "a buffer is NULL, and the count is not 0"), MPI_ERR_BUFFER);
    if (trv_mpi_settings()->check && buffers && fault == MPI_SUCCESS)
        fault = trv_mpi_overlap(state, &want, call->input, call->output);
    int code = trv_mpi_agree(state, call->collective, &want, fault);
    if (code != MPI_SUCCESS || want.count == 0)
        return code;
    trv_mpi_operation_t *operation;
    code = trv_mpi_cache_get(state, &want, &operation);
    return code < 0 ? trv_mpi_class(code) : run(operation, state, call);
}

/* Once; what serves an intercommunicator never changes. */
static void say_intercommunicator(MPI_Comm comm)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    if (trv_mpi_settings()->info && rank == 0 && !atomic_flag_test_and_set(&said))
        trv_mpi_say("intercommunicators: mpi (schedules need one group of ranks)");
}

static int collective(const trv_mpi_arguments_t *call, MPI_Comm comm)
{
    trv_mpi_state_t *state;
    if (call->count == 0 && comm != MPI_COMM_NULL && !trv_mpi_settings()->check)
        return MPI_SUCCESS; /* before anything collective happens */
    int code = trv_mpi_state_get(comm, &state);
    if (code != MPI_SUCCESS)
        return code;
    if (!state) {
        say_intercommunicator(comm);
        return trv_mpi_library_run(call, comm);
    }
    if (call->count > 0 && !trv_mpi_settings()->check && call->input && call->output) {
        trv_mpi_operation_t *operation =
            trv_mpi_cache_find(state, call->collective, (size_t)call->count, call->datatype, call->op);
        if (operation)
            return run(operation, state, call);
    }
    return run_new(state, call, NULL);
}

int TRV_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm)
{
    return collective(&(trv_mpi_arguments_t){TRV_ALLREDUCE, sendbuf, recvbuf, count, datatype, op}, comm);
}

int TRV_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return TRV_Allreduce_c(sendbuf, recvbuf, count, datatype, op, comm);
}

int TRV_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm)
{
    return collective(&(trv_mpi_arguments_t){TRV_REDUCE_SCATTER, sendbuf, recvbuf, recvcount, datatype, op}, comm);
}

int TRV_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm)
{
    return TRV_Reduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm);
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
    return trv_mpi_state_set(state, torus, algorithm);
}

/* ---- AllGather --------------------------------------------------------------------------------------------------- */

static int gather_bytes(trv_mpi_state_t *state, const void *input, void *output, size_t bytes)
{
    trv_mpi_want_t want = trv_mpi_bytes(bytes);
    trv_mpi_arguments_t call = {TRV_ALLGATHER, input, output, (MPI_Count)bytes, MPI_BYTE, MPI_OP_NULL};
    return run_new(state, &call, &want);
}

static int gather_packed(trv_mpi_state_t *state, const trv_mpi_gather_t *gather, size_t bytes)
{
    trv_mpi_buffers_t buffers;
    int code = trv_mpi_buffers_begin_packed(&buffers, state, gather, bytes);
    if (code < 0)
        return trv_mpi_class(code);
    int gathered = gather_bytes(state, MPI_IN_PLACE, buffers.output, bytes);
    code = trv_mpi_buffers_end(&buffers, state, gathered == MPI_SUCCESS ? TRV_OK : TRV_ERR_TRANSPORT);
    return gathered != MPI_SUCCESS || code == TRV_OK ? gathered : trv_mpi_class(code);
}

int TRV_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm)
{
    trv_mpi_gather_t gather = {sendbuf, recvbuf, sendcount, recvcount, sendtype, recvtype};
    if (recvcount == 0 && (sendcount == 0 || sendbuf == MPI_IN_PLACE) && comm != MPI_COMM_NULL &&
        !trv_mpi_settings()->check)
        return MPI_SUCCESS;
    trv_mpi_state_t *state;
    int code = trv_mpi_state_get(comm, &state);
    if (code != MPI_SUCCESS)
        return code;
    if (!state) {
        say_intercommunicator(comm);
        return trv_mpi_library_gather(&gather, comm);
    }
    size_t bytes = 0;
    bool plain = false;
    code = trv_mpi_gather_measure(&gather, &bytes, &plain);
    if (code != MPI_SUCCESS) {
        trv_mpi_want_t want = trv_mpi_bytes(0);
        return trv_mpi_agree(state, TRV_ALLGATHER, &want, code);
    }
    if (bytes == 0 || plain)
        return gather_bytes(state, sendbuf, recvbuf, bytes);
    return gather_packed(state, &gather, bytes);
}

int TRV_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm)
{
    return TRV_Allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}
