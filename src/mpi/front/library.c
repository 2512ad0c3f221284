/*
 * Calls of the MPI library's collectives. MPI 4 has forms with large counts. Before MPI 4 a count must fit an int, and
 * persistent collectives are an extension of Open MPI.
 */
#include "mpi/front/library.h"

#include <limits.h>

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include "base/error.h"
#include "transport/mpi/mpi_error.h"

static int library_result(int code)
{
    int class = MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        return MPI_SUCCESS;
    trv_mpi_transport_error("the MPI library's collective", code);
    return PMPI_Error_class(code, &class) == MPI_SUCCESS ? class : MPI_ERR_OTHER;
}

#if MPI_VERSION >= 4

static int library_run(const trv_mpi_reduction_t *a, MPI_Comm comm)
{
    if (a->collective == TRV_ALLREDUCE)
        return PMPI_Allreduce_c(a->input, a->output, a->count, a->datatype, a->op, comm);
    if (a->collective == TRV_REDUCE_SCATTER)
        return PMPI_Reduce_scatter_block_c(a->input, a->output, a->count, a->datatype, a->op, comm);
    return PMPI_Allgather_c(a->input, a->count, a->datatype, a->output, a->count, a->datatype, comm);
}

static int library_start(const trv_mpi_reduction_t *a, MPI_Comm comm, MPI_Request *request)
{
    if (a->collective == TRV_ALLREDUCE)
        return PMPI_Iallreduce_c(a->input, a->output, a->count, a->datatype, a->op, comm, request);
    if (a->collective == TRV_REDUCE_SCATTER)
        return PMPI_Ireduce_scatter_block_c(a->input, a->output, a->count, a->datatype, a->op, comm, request);
    return PMPI_Iallgather_c(a->input, a->count, a->datatype, a->output, a->count, a->datatype, comm, request);
}

static int library_init(const trv_mpi_reduction_t *a, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    if (a->collective == TRV_ALLREDUCE)
        return PMPI_Allreduce_init_c(a->input, a->output, a->count, a->datatype, a->op, comm, info, request);
    return PMPI_Reduce_scatter_block_init_c(a->input, a->output, a->count, a->datatype, a->op, comm, info, request);
}

static int library_gather(const trv_mpi_gather_t *g, MPI_Comm comm)
{
    return PMPI_Allgather_c(g->sendbuf, g->sendcount, g->sendtype, g->recvbuf, g->recvcount, g->recvtype, comm);
}

static int library_gather_start(const trv_mpi_gather_t *g, MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Iallgather_c(g->sendbuf, g->sendcount, g->sendtype, g->recvbuf, g->recvcount, g->recvtype, comm,
                             request);
}

static int library_gather_init(const trv_mpi_gather_t *g, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return PMPI_Allgather_init_c(g->sendbuf, g->sendcount, g->sendtype, g->recvbuf, g->recvcount, g->recvtype, comm,
                                 info, request);
}

static int library_check(MPI_Count count)
{
    (void)count;
    return MPI_SUCCESS;
}

#else

static int library_check(MPI_Count count)
{
    if (count <= INT_MAX)
        return MPI_SUCCESS;
    trv_fail(TRV_ERR_UNSUPPORTED,
             "the count %lld is too large: the call falls back to the collective of this MPI library, which accepts at "
             "most %d",
             (long long)count, INT_MAX);
    return MPI_ERR_COUNT;
}

static int library_run(const trv_mpi_reduction_t *a, MPI_Comm comm)
{
    int count = (int)a->count;
    if (a->collective == TRV_ALLREDUCE)
        return PMPI_Allreduce(a->input, a->output, count, a->datatype, a->op, comm);
    if (a->collective == TRV_REDUCE_SCATTER)
        return PMPI_Reduce_scatter_block(a->input, a->output, count, a->datatype, a->op, comm);
    return PMPI_Allgather(a->input, count, a->datatype, a->output, count, a->datatype, comm);
}

static int library_start(const trv_mpi_reduction_t *a, MPI_Comm comm, MPI_Request *request)
{
    int count = (int)a->count;
    if (a->collective == TRV_ALLREDUCE)
        return PMPI_Iallreduce(a->input, a->output, count, a->datatype, a->op, comm, request);
    if (a->collective == TRV_REDUCE_SCATTER)
        return PMPI_Ireduce_scatter_block(a->input, a->output, count, a->datatype, a->op, comm, request);
    return PMPI_Iallgather(a->input, count, a->datatype, a->output, count, a->datatype, comm, request);
}

#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)

static int library_init(const trv_mpi_reduction_t *a, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    int count = (int)a->count;
    if (a->collective == TRV_ALLREDUCE)
        return PMPIX_Allreduce_init(a->input, a->output, count, a->datatype, a->op, comm, info, request);
    return PMPIX_Reduce_scatter_block_init(a->input, a->output, count, a->datatype, a->op, comm, info, request);
}

static int library_gather_init(const trv_mpi_gather_t *g, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return PMPIX_Allgather_init(g->sendbuf, (int)g->sendcount, g->sendtype, g->recvbuf, (int)g->recvcount, g->recvtype,
                                comm, info, request);
}

#else

static int library_init(const trv_mpi_reduction_t *a, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    (void)a, (void)comm, (void)info, (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

static int library_gather_init(const trv_mpi_gather_t *g, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    (void)g, (void)comm, (void)info, (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

#endif

static int library_gather(const trv_mpi_gather_t *g, MPI_Comm comm)
{
    return PMPI_Allgather(g->sendbuf, (int)g->sendcount, g->sendtype, g->recvbuf, (int)g->recvcount, g->recvtype, comm);
}

static int library_gather_start(const trv_mpi_gather_t *g, MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Iallgather(g->sendbuf, (int)g->sendcount, g->sendtype, g->recvbuf, (int)g->recvcount, g->recvtype, comm,
                           request);
}

#endif

int trv_mpi_library_run(const trv_mpi_reduction_t *arguments, MPI_Comm comm)
{
    int code = library_check(arguments->count);
    return code == MPI_SUCCESS ? library_result(library_run(arguments, comm)) : code;
}

int trv_mpi_library_start(const trv_mpi_reduction_t *arguments, MPI_Comm comm, MPI_Request *request)
{
    int code = library_check(arguments->count);
    return code == MPI_SUCCESS ? library_result(library_start(arguments, comm, request)) : code;
}

int trv_mpi_library_init(const trv_mpi_reduction_t *arguments, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    int code = library_check(arguments->count);
    return code == MPI_SUCCESS ? library_result(library_init(arguments, comm, info, request)) : code;
}

/* Checks the larger count; with MPI_IN_PLACE the send count has no meaning. */
static int library_check_gather(const trv_mpi_gather_t *g)
{
    bool send = g->sendbuf != MPI_IN_PLACE && g->sendcount > g->recvcount;
    return library_check(send ? g->sendcount : g->recvcount);
}

int trv_mpi_library_gather(const trv_mpi_gather_t *g, MPI_Comm comm)
{
    int code = library_check_gather(g);
    return code == MPI_SUCCESS ? library_result(library_gather(g, comm)) : code;
}

int trv_mpi_library_gather_start(const trv_mpi_gather_t *g, MPI_Comm comm, MPI_Request *request)
{
    int code = library_check_gather(g);
    return code == MPI_SUCCESS ? library_result(library_gather_start(g, comm, request)) : code;
}

int trv_mpi_library_gather_init(const trv_mpi_gather_t *g, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    int code = library_check_gather(g);
    return code == MPI_SUCCESS ? library_result(library_gather_init(g, comm, info, request)) : code;
}
