/*
 * Open MPI requests that wrap the requests of Trivance (mpi/front/request.h). opal_progress makes progress on
 * them.
 */
#include "mpi/component/coll.h"

#include <stdatomic.h>

#include "opal/runtime/opal_progress.h"

#include "mpi/front/intercept.h"
#include "mpi/front/request.h"
#include "mpi/communicator/state.h"

/* Derived from the type to which Open MPI casts all requests of collectives: in its fields Open MPI retains the
 * program's operations and types until completion. */
typedef struct trv_coll_request {
    ompi_coll_base_nbc_request_t super;
    trv_mpi_request_t *request;
} trv_coll_request_t;

static int request_free(ompi_request_t **handle)
{
    trv_coll_request_t *request = (trv_coll_request_t *)*handle;
    if (!REQUEST_COMPLETE(*handle))
        return MPI_ERR_REQUEST;
    trv_mpi_request_free(request->request);
    OMPI_REQUEST_FINI(*handle);
    OBJ_RELEASE(request);
    *handle = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

static int request_start(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++) {
        requests[i]->req_complete = REQUEST_PENDING;
        requests[i]->req_state = OMPI_REQUEST_ACTIVE;
        trv_mpi_request_start(((trv_coll_request_t *)requests[i])->request);
    }
    return OMPI_SUCCESS;
}

static void request_construct(trv_coll_request_t *request)
{
    ompi_request_t *base = &request->super.super;
    base->req_type = OMPI_REQUEST_COLL;
    base->req_start = request_start;
    base->req_free = request_free;
    base->req_cancel = NULL; /* collectives cannot be cancelled */
}

static OBJ_CLASS_INSTANCE(trv_coll_request_t, ompi_coll_base_nbc_request_t, request_construct, NULL);

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

static atomic_bool registered;

static void register_progress(void)
{
    if (!atomic_exchange(&registered, true))
        opal_progress_register(trv_mpi_requests_progress);
}

void trv_coll_requests_end(void)
{
    if (atomic_exchange(&registered, false))
        opal_progress_unregister(trv_mpi_requests_progress);
}

static void request_done(void *context, int class)
{
    ompi_request_t *base = context;
    base->req_status.MPI_ERROR = class;
    ompi_request_complete(base, true);
}

/* ---- Creating ---------------------------------------------------------------------------------------------------- */

bool trv_coll_request(const char *name, const trv_mpi_call_t *call, ompi_communicator_t *comm, bool persistent,
                      ompi_request_t **made, int *code)
{
    trv_coll_request_t *request = OBJ_NEW(trv_coll_request_t);
    if (!request) {
        trv_mpi_intercept_post(name, call, comm, persistent, NULL, NULL, code);
        return *code != MPI_SUCCESS;
    }
    ompi_request_t *base = &request->super.super;
    request->request = trv_mpi_intercept_post(name, call, comm, persistent, request_done, base, code);
    if (!request->request) {
        OBJ_RELEASE(request);
        return *code != MPI_SUCCESS;
    }
    register_progress();
    OMPI_REQUEST_INIT(base, persistent);
    base->req_mpi_object.comm = comm;
    base->req_status = (ompi_status_public_t){.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};
    if (!persistent)
        request_start(1, &base);
    *made = base;
    return true;
}
