/*
 * Calls of the MPI library's own collectives. MPI 4 has forms with large counts; before it a count must fit an int.
 */
#include "mpi/fallback.h"

#include <limits.h>

#include "common/error.h"
#include "mpi/transport.h"

static int outcome(int code)
{
    int class = MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        return MPI_SUCCESS;
    trv_mpi_transport_error("the MPI library's own collective", code);
    return PMPI_Error_class(code, &class) == MPI_SUCCESS ? class : MPI_ERR_OTHER;
}

#if MPI_VERSION >= 4

static int run(const trv_mpi_arguments_t *a, MPI_Comm comm)
{
    if (a->collective == TRV_ALLREDUCE)
        return PMPI_Allreduce_c(a->input, a->output, a->count, a->datatype, a->op, comm);
    if (a->collective == TRV_REDUCE_SCATTER)
        return PMPI_Reduce_scatter_block_c(a->input, a->output, a->count, a->datatype, a->op, comm);
    return PMPI_Allgather_c(a->input, a->count, a->datatype, a->output, a->count, a->datatype, comm);
}

static int start(const trv_mpi_arguments_t *a, MPI_Comm comm, MPI_Request *request)
{
    if (a->collective == TRV_ALLREDUCE)
        return PMPI_Iallreduce_c(a->input, a->output, a->count, a->datatype, a->op, comm, request);
    if (a->collective == TRV_REDUCE_SCATTER)
        return PMPI_Ireduce_scatter_block_c(a->input, a->output, a->count, a->datatype, a->op, comm, request);
    return PMPI_Iallgather_c(a->input, a->count, a->datatype, a->output, a->count, a->datatype, comm, request);
}

#else

static int too_large(MPI_Count count)
{
    trv_fail(TRV_ERR_UNSUPPORTED,
             "the count %lld does not fit an int, and this MPI library's own collective, which serves "
             "this call, takes no more than %d",
             (long long)count, INT_MAX);
    return MPI_ERR_COUNT;
}

static int run(const trv_mpi_arguments_t *a, MPI_Comm comm)
{
    int count = (int)a->count;
    if (a->collective == TRV_ALLREDUCE)
        return PMPI_Allreduce(a->input, a->output, count, a->datatype, a->op, comm);
    if (a->collective == TRV_REDUCE_SCATTER)
        return PMPI_Reduce_scatter_block(a->input, a->output, count, a->datatype, a->op, comm);
    return PMPI_Allgather(a->input, count, a->datatype, a->output, count, a->datatype, comm);
}

static int start(const trv_mpi_arguments_t *a, MPI_Comm comm, MPI_Request *request)
{
    int count = (int)a->count;
    if (a->collective == TRV_ALLREDUCE)
        return PMPI_Iallreduce(a->input, a->output, count, a->datatype, a->op, comm, request);
    if (a->collective == TRV_REDUCE_SCATTER)
        return PMPI_Ireduce_scatter_block(a->input, a->output, count, a->datatype, a->op, comm, request);
    return PMPI_Iallgather(a->input, count, a->datatype, a->output, count, a->datatype, comm, request);
}

#endif

int trv_mpi_library_run(const trv_mpi_arguments_t *arguments, MPI_Comm comm)
{
#if MPI_VERSION < 4
    if (arguments->count > INT_MAX)
        return too_large(arguments->count);
#endif
    return outcome(run(arguments, comm));
}

int trv_mpi_library_start(const trv_mpi_arguments_t *arguments, MPI_Comm comm, MPI_Request *request)
{
#if MPI_VERSION < 4
    if (arguments->count > INT_MAX)
        return too_large(arguments->count);
#endif
    return outcome(start(arguments, comm, request));
}
