/*
 * Non-blocking and persistent calls: TRV_Iallreduce, TRV_Allreduce_init and the like.
 *
 * These functions do not wait for other ranks, so they cannot make a decision. They run a schedule if an earlier
 * blocking call or plan with the same operation signature and size class has had one decided; otherwise they fall back
 * to the MPI library.
 */
#include <stdlib.h>

#include <trivance/trivance_mpi.h>

#include "base/error.h"
#include "mpi/communicator/attribute.h"
#include "mpi/front/library.h"
#include "mpi/front/dispatch.h"
#include "transport/mpi/mpi_error.h"
#include "transport/mpi/waiting.h"

/* Either `scheduled` or `library` executes the call; neither is set for a persistent call without elements. */
struct trv_mpi_handle {
    trv_mpi_request_t *scheduled;
    MPI_Request library;
    bool persistent;
    bool started; /* and its completion has not been returned to the program yet */
};

/* The arguments that all six functions have in common. */
typedef struct call {
    trv_mpi_call_t call;
    MPI_Comm comm;
    MPI_Info info;
    bool persistent;
} call_t;

/* ---- Creating ---------------------------------------------------------------------------------------------------- */

static int fall_back(const call_t *call, MPI_Request *request)
{
    const trv_mpi_movement_t *movement = call->call.movement;
    const trv_mpi_reduction_t *reduction = call->call.reduction;
    if (movement)
        return call->persistent ? trv_mpi_library_movement_init(movement, call->comm, call->info, request)
                                : trv_mpi_library_movement_start(movement, call->comm, request);
    return call->persistent ? trv_mpi_library_init(reduction, call->comm, call->info, request)
                            : trv_mpi_library_start(reduction, call->comm, request);
}

static int begin_on_state(trv_mpi_state_t *state, const call_t *call, const trv_mpi_request_spec_t *spec,
                          TRV_Request handle)
{
    int code = trv_mpi_make_request(&handle->scheduled, state, spec, call->persistent);
    if (code < 0)
        return trv_mpi_class(code);
    if (!handle->scheduled)
        return fall_back(call, &handle->library);
    if (!call->persistent)
        trv_mpi_request_start(handle->scheduled);
    return MPI_SUCCESS;
}

static int handle_begin(const call_t *call, TRV_Request *request)
{
    if (!request)
        return trv_fail(TRV_ERR_ARGUMENT, "the request argument is NULL; pass the address of a TRV_Request"),
               MPI_ERR_ARG;
    *request = TRV_REQUEST_NULL;
    if (call->comm == MPI_COMM_NULL)
        return trv_fail(TRV_ERR_ARGUMENT, "the communicator is MPI_COMM_NULL; pass MPI_COMM_WORLD, for example"),
               MPI_ERR_COMM;
    trv_mpi_request_spec_t spec;
    trv_mpi_state_t *state = NULL;
    int code = MPI_SUCCESS;
    /* These collectives have no root, so that the rank is not needed. */
    bool has_elements = trv_mpi_make_request_spec(&call->call, 0, 1, &spec, &code);
    if (code != MPI_SUCCESS || (!has_elements && !call->persistent))
        return code;
    if (has_elements && !trv_mpi_state_known(call->comm, &state))
        state = NULL;
    TRV_Request handle = malloc(sizeof *handle);
    if (!handle) {
        code = trv_mpi_class(trv_fail_memory());
        if (has_elements && state && trv_mpi_dispatches(state))
            trv_mpi_state_fail_memory(state); /* the other ranks may wait for this one in their requests */
        return code;
    }
    *handle = (struct trv_mpi_handle){.library = MPI_REQUEST_NULL,
                                      .persistent = call->persistent,
                                      .started = !call->persistent};
    if (has_elements)
        code = state && trv_mpi_dispatches(state) ? begin_on_state(state, call, &spec, handle)
                                                  : fall_back(call, &handle->library);
    if (code == MPI_SUCCESS)
        *request = handle;
    else
        free(handle);
    return code;
}

static int reduction(trv_collective_t collective, const void *sendbuf, void *recvbuf, MPI_Count count,
                     MPI_Datatype datatype, MPI_Op op, call_t call, TRV_Request *request)
{
    const trv_mpi_reduction_t arguments = {collective, sendbuf, recvbuf, count, datatype, op, 0};
    call.call.reduction = &arguments;
    return handle_begin(&call, request);
}

int TRV_Iallreduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   TRV_Request *request)
{
    return reduction(TRV_ALLREDUCE, sendbuf, recvbuf, count, datatype, op, (call_t){.comm = comm}, request);
}

int TRV_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm, TRV_Request *request)
{
    return reduction(TRV_REDUCE_SCATTER, sendbuf, recvbuf, recvcount, datatype, op, (call_t){.comm = comm}, request);
}

int TRV_Iallgather(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, TRV_Request *request)
{
    const trv_mpi_movement_t gather = {TRV_ALLGATHER, sendbuf, recvbuf, sendcount, recvcount, sendtype, recvtype, 0};
    return handle_begin(&(call_t){.call.movement = &gather, .comm = comm}, request);
}

int TRV_Allreduce_init(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                       MPI_Comm comm, MPI_Info info, TRV_Request *request)
{
    return reduction(TRV_ALLREDUCE, sendbuf, recvbuf, count, datatype, op,
                     (call_t){.comm = comm, .info = info, .persistent = true}, request);
}

int TRV_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                  MPI_Op op, MPI_Comm comm, MPI_Info info, TRV_Request *request)
{
    return reduction(TRV_REDUCE_SCATTER, sendbuf, recvbuf, recvcount, datatype, op,
                     (call_t){.comm = comm, .info = info, .persistent = true}, request);
}

int TRV_Allgather_init(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                       MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, TRV_Request *request)
{
    const trv_mpi_movement_t gather = {TRV_ALLGATHER, sendbuf, recvbuf, sendcount, recvcount, sendtype, recvtype, 0};
    return handle_begin(&(call_t){.call.movement = &gather, .comm = comm, .info = info, .persistent = true}, request);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

int TRV_Start(TRV_Request *request)
{
    TRV_Request handle = request ? *request : TRV_REQUEST_NULL;
    if (!handle || !handle->persistent)
        return trv_fail(TRV_ERR_STATE,
                        "the request is not persistent; create one with TRV_Allreduce_init, for example"),
               MPI_ERR_REQUEST;
    if (handle->started)
        return trv_fail(TRV_ERR_STATE, "the request is active; wait for it before it is started again"),
               MPI_ERR_REQUEST;
    if (handle->library != MPI_REQUEST_NULL) {
        int code = PMPI_Start(&handle->library);
        if (code != MPI_SUCCESS)
            return trv_mpi_transport_error("MPI_Start", code), MPI_ERR_OTHER;
    } else if (handle->scheduled) {
        trv_mpi_request_start(handle->scheduled);
    }
    handle->started = true;
    return MPI_SUCCESS;
}

static void handle_free(TRV_Request *request)
{
    if ((*request)->scheduled)
        trv_mpi_request_free((*request)->scheduled);
    free(*request);
    *request = TRV_REQUEST_NULL;
}

/* Returns the result of a completed run, and frees a non-blocking request. Called once per run. */
static int handle_finish(TRV_Request *request, int code)
{
    const trv_mpi_request_t *scheduled = (*request)->scheduled;
    if (scheduled) {
        code = trv_mpi_request_outcome(scheduled);
        code = code < 0 ? trv_mpi_class(code) : MPI_SUCCESS;
        if (code == MPI_SUCCESS)
            code = trv_mpi_alias_class(trv_mpi_request_alias(scheduled));
    }
    (*request)->started = false;
    if (!(*request)->persistent)
        handle_free(request);
    return code;
}

/* Whether a run is complete. *code is the result of a run of the MPI library; handle_finish replaces it for
 * `scheduled`. */
static bool handle_test(TRV_Request handle, int *code)
{
    int done = 1;
    *code = MPI_SUCCESS;
    trv_mpi_requests_progress();
    if (handle->scheduled)
        return !trv_mpi_request_active(handle->scheduled);
    if (handle->library != MPI_REQUEST_NULL)
        *code = PMPI_Test(&handle->library, &done, MPI_STATUS_IGNORE);
    if (*code == MPI_SUCCESS)
        return done != 0;
    trv_mpi_transport_error("MPI_Test", *code);
    *code = MPI_ERR_OTHER;
    return true;
}

int TRV_Test(TRV_Request *request, int *flag)
{
    int code;
    if (!request || !flag)
        return trv_fail(TRV_ERR_ARGUMENT, "the argument %s is NULL; pass its address", request ? "flag" : "request"),
               MPI_ERR_ARG;
    *flag = !*request || !(*request)->started;
    if (*flag || !handle_test(*request, &code))
        return MPI_SUCCESS;
    *flag = 1;
    return handle_finish(request, code);
}

int TRV_Wait(TRV_Request *request)
{
    int code;
    if (!request)
        return trv_fail(TRV_ERR_ARGUMENT, "the argument request is NULL; pass its address"), MPI_ERR_ARG;
    if (!*request || !(*request)->started)
        return MPI_SUCCESS;
    for (unsigned polls = 1; !handle_test(*request, &code); polls++)
        trv_mpi_pause(polls);
    return handle_finish(request, code);
}

int TRV_Request_free(TRV_Request *request)
{
    if (!request || !*request)
        return trv_fail(TRV_ERR_STATE, "the request is TRV_REQUEST_NULL"), MPI_ERR_REQUEST;
    if ((*request)->started)
        return trv_fail(TRV_ERR_STATE, "the request is active; wait for it before it is freed"), MPI_ERR_REQUEST;
    if ((*request)->library != MPI_REQUEST_NULL)
        PMPI_Request_free(&(*request)->library);
    handle_free(request);
    return MPI_SUCCESS;
}
