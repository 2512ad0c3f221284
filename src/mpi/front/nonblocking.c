/*
 * Non-blocking and persistent calls: TRV_Iallreduce, TRV_Allreduce_init and the like.
 *
 * These functions do not wait for other ranks, so they cannot make a decision. They run a schedule if an earlier
 * blocking call or plan with the same operation signature and size class has had one decided; otherwise they fall back
 * to the MPI library.
 */
#include <stdlib.h>

#include "base/error.h"
#include "mpi/communicator/attribute.h"
#include "mpi/front/api.h"
#include "mpi/front/dispatch.h"
#include "mpi/front/library.h"
#include "transport/mpi/mpi_error.h"
#include "transport/mpi/waiting.h"

/* Either `scheduled` or `library` executes the call; neither is set for a persistent call without elements. */
struct trv_mpi_handle {
    trv_mpi_request_t *scheduled;
    MPI_Request library;
    void *counts; /* converted for `library`, which owns them until the end */
    bool persistent;
    bool started; /* and its completion has not been returned to the program yet */
};

/* The arguments that all functions have in common. */
typedef struct call {
    const trv_mpi_call_t *call;
    MPI_Comm comm;
    MPI_Info info;
    bool persistent;
} call_t;

/* ---- Creating ---------------------------------------------------------------------------------------------------- */

static bool is_inter(MPI_Comm comm)
{
    int inter = 0;
    return PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter;
}

static int fall_back(const call_t *call, TRV_Request handle)
{
    const bool inter = is_inter(call->comm);
    trv_mpi_log_fallback_of(trv_mpi_call_name(call->call), inter ? NULL : call->call,
                            inter ? "an intercommunicator" : trv_mpi_undecided_reason(call->persistent), call->comm);
    return call->persistent
               ? trv_mpi_library_call_init(call->call, call->comm, call->info, &handle->library, &handle->counts)
               : trv_mpi_library_call_start(call->call, call->comm, &handle->library, &handle->counts);
}

static int begin_on_state(trv_mpi_state_t *state, const call_t *call, trv_mpi_request_spec_t *spec, TRV_Request handle)
{
    int code = trv_mpi_make_request(&handle->scheduled, state, spec, call->persistent);
    if (code < 0)
        return trv_mpi_class(code);
    if (!handle->scheduled)
        return fall_back(call, handle);
    if (!call->persistent)
        trv_mpi_request_start(handle->scheduled);
    return MPI_SUCCESS;
}

/* Fills the specification of a request; `state` is NULL if the communicator is not initialized. Return value and *code
 * are those of trv_mpi_make_request_spec. */
static bool make_spec(const call_t *call, const trv_mpi_state_t *state, trv_mpi_request_spec_t *spec, int *code)
{
    int rank = 0, ranks = 0;
    spec->arguments.blocks = NULL;
    if (state)
        return trv_mpi_make_request_spec(call->call, state->rank, state->ranks, spec, code);
    if (PMPI_Comm_rank(call->comm, &rank) != MPI_SUCCESS || PMPI_Comm_size(call->comm, &ranks) != MPI_SUCCESS) {
        trv_fail(TRV_ERR_ARGUMENT, "the communicator is not valid; pass MPI_COMM_WORLD, for example");
        return *code = MPI_ERR_COMM, false;
    }
    return trv_mpi_make_request_spec(call->call, rank, ranks, spec, code);
}

/* Breaks the communicator on a rank without memory, because the other ranks may wait for it in their requests. */
static int fail_memory(trv_mpi_state_t *state)
{
    return trv_mpi_class(state && trv_mpi_dispatches(state) ? trv_mpi_state_fail_memory(state) : trv_fail_memory());
}

/* Creates the handle of a call. `spec` is NULL on an intercommunicator; `has_elements` is then set. */
static int handle_create(const call_t *call, trv_mpi_state_t *state, trv_mpi_request_spec_t *spec, bool has_elements,
                         TRV_Request *request)
{
    int code = MPI_SUCCESS;
    TRV_Request handle = malloc(sizeof *handle);
    if (!handle)
        return fail_memory(has_elements ? state : NULL);
    *handle = (struct trv_mpi_handle){.library = MPI_REQUEST_NULL,
                                      .persistent = call->persistent,
                                      .started = !call->persistent};
    if (has_elements)
        code = state && trv_mpi_dispatches(state) ? begin_on_state(state, call, spec, handle) : fall_back(call, handle);
    if (code == MPI_SUCCESS) {
        *request = handle;
        return MPI_SUCCESS;
    }
    free(handle->counts);
    free(handle);
    return code;
}

int trv_mpi_api_begin(const trv_mpi_call_t *arguments, MPI_Comm comm, MPI_Info info, bool persistent,
                      TRV_Request *request)
{
    const call_t common = {arguments, comm, info, persistent}, *call = &common;
    if (!request)
        return trv_fail(TRV_ERR_ARGUMENT, "the request argument is NULL; pass the address of a TRV_Request"),
               MPI_ERR_ARG;
    *request = TRV_REQUEST_NULL;
    if (trv_mpi_process_init() != MPI_SUCCESS)
        return MPI_ERR_OTHER;
    if (call->comm == MPI_COMM_NULL)
        return trv_fail(TRV_ERR_ARGUMENT, "the communicator is MPI_COMM_NULL; pass MPI_COMM_WORLD, for example"),
               MPI_ERR_COMM;
    trv_mpi_request_spec_t spec;
    trv_mpi_state_t *state = NULL;
    int code = MPI_SUCCESS;
    if (!trv_mpi_state_known(call->comm, &state))
        state = NULL;
    if (!state && is_inter(call->comm))
        return handle_create(call, NULL, NULL, true, request);
    const bool has_elements = make_spec(call, state, &spec, &code);
    if (code == MPI_ERR_NO_MEM)
        code = fail_memory(state);
    else if (code == MPI_SUCCESS && (has_elements || call->persistent))
        code = handle_create(call, state, &spec, has_elements, request);
    trv_mpi_arguments_clear(&spec.arguments);
    return code;
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
    free((*request)->counts);
    free(*request);
    *request = TRV_REQUEST_NULL;
}

/* Returns the result of a completed run, and frees a non-blocking request. Called once per run. */
static int handle_finish(TRV_Request *request, int code)
{
    if ((*request)->scheduled)
        code = trv_mpi_request_outcome((*request)->scheduled);
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
