/*
 * Calls of the MPI library's collectives. MPI 4 has forms with large counts. Before MPI 4 a count must fit an int, and
 * persistent collectives are an extension of Open MPI.
 */
#include "mpi/front/library.h"

#include <limits.h>
#include <stdbool.h>

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include "base/error.h"
#include "transport/mpi/mpi_error.h"

#if MPI_VERSION >= 4
#define LARGE(function) function##_c
#define INIT(function)  function##_init_c
#define COUNT(count)    (count)
#define HAS_INIT
static const bool HAS_LARGE_COUNTS = true;
#else
#define LARGE(function) function
#define INIT(function)  function##_init
#define COUNT(count)    (int)(count)
static const bool HAS_LARGE_COUNTS = false;
#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define HAS_INIT
#define PMPI_Allreduce_init            PMPIX_Allreduce_init
#define PMPI_Reduce_scatter_block_init PMPIX_Reduce_scatter_block_init
#define PMPI_Allgather_init            PMPIX_Allgather_init
#endif
#endif

static int library_result(int code)
{
    int class = MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        return MPI_SUCCESS;
    trv_mpi_transport_error("the MPI library's collective", code);
    return PMPI_Error_class(code, &class) == MPI_SUCCESS ? class : MPI_ERR_OTHER;
}

static int library_check(MPI_Count count)
{
    if (HAS_LARGE_COUNTS || count <= INT_MAX)
        return MPI_SUCCESS;
    trv_fail(TRV_ERR_UNSUPPORTED,
             "the count %lld is too large: the call falls back to the collective of this MPI library, which accepts at "
             "most %d",
             (long long)count, INT_MAX);
    return MPI_ERR_COUNT;
}

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

/* An AllGather of one type, which plans use. */
static trv_mpi_movement_t movement_of(const trv_mpi_reduction_t *a)
{
    return (trv_mpi_movement_t){a->collective, a->input,    a->output,   a->count,
                                a->count,      a->datatype, a->datatype, a->root};
}

int trv_mpi_library_run(const trv_mpi_reduction_t *a, MPI_Comm comm)
{
    int code = library_check(a->count);
    if (code != MPI_SUCCESS)
        return code;
    switch (a->collective) {
    case TRV_ALLREDUCE:
        code = LARGE(PMPI_Allreduce)(a->input, a->output, COUNT(a->count), a->datatype, a->op, comm);
        break;
    case TRV_REDUCE_SCATTER:
        code = LARGE(PMPI_Reduce_scatter_block)(a->input, a->output, COUNT(a->count), a->datatype, a->op, comm);
        break;
    case TRV_REDUCE:
        code = LARGE(PMPI_Reduce)(a->input, a->output, COUNT(a->count), a->datatype, a->op, a->root, comm);
        break;
    default: {
        const trv_mpi_movement_t movement = movement_of(a);
        return trv_mpi_library_movement(&movement, comm);
    }
    }
    return library_result(code);
}

int trv_mpi_library_start(const trv_mpi_reduction_t *a, MPI_Comm comm, MPI_Request *request)
{
    int code = library_check(a->count);
    if (code != MPI_SUCCESS)
        return code;
    switch (a->collective) {
    case TRV_ALLREDUCE:
        code = LARGE(PMPI_Iallreduce)(a->input, a->output, COUNT(a->count), a->datatype, a->op, comm, request);
        break;
    case TRV_REDUCE_SCATTER:
        code = LARGE(PMPI_Ireduce_scatter_block)(a->input, a->output, COUNT(a->count), a->datatype, a->op, comm,
                                                 request);
        break;
    case TRV_REDUCE:
        code = LARGE(PMPI_Ireduce)(a->input, a->output, COUNT(a->count), a->datatype, a->op, a->root, comm, request);
        break;
    default: {
        const trv_mpi_movement_t movement = movement_of(a);
        return trv_mpi_library_movement_start(&movement, comm, request);
    }
    }
    return library_result(code);
}

/* ---- Movement of data -------------------------------------------------------------------------------------------- */

static int check_counts(const trv_mpi_movement_t *m, MPI_Comm comm)
{
    int rank = 0, code = PMPI_Comm_rank(comm, &rank);
    return code == MPI_SUCCESS ? library_check(trv_mpi_movement_count(m, rank)) : library_result(code);
}

int trv_mpi_library_movement(const trv_mpi_movement_t *m, MPI_Comm comm)
{
    int code = check_counts(m, comm);
    if (code != MPI_SUCCESS)
        return code;
    switch (m->collective) {
    case TRV_BROADCAST: code = LARGE(PMPI_Bcast)(m->recvbuf, COUNT(m->recvcount), m->recvtype, m->root, comm); break;
    case TRV_GATHER:
        code = LARGE(PMPI_Gather)(m->sendbuf, COUNT(m->sendcount), m->sendtype, m->recvbuf, COUNT(m->recvcount),
                                  m->recvtype, m->root, comm);
        break;
    case TRV_SCATTER:
        code = LARGE(PMPI_Scatter)(m->sendbuf, COUNT(m->sendcount), m->sendtype, m->recvbuf, COUNT(m->recvcount),
                                   m->recvtype, m->root, comm);
        break;
    case TRV_ALLTOALL:
        code = LARGE(PMPI_Alltoall)(m->sendbuf, COUNT(m->sendcount), m->sendtype, m->recvbuf, COUNT(m->recvcount),
                                    m->recvtype, comm);
        break;
    default:
        code = LARGE(PMPI_Allgather)(m->sendbuf, COUNT(m->sendcount), m->sendtype, m->recvbuf, COUNT(m->recvcount),
                                     m->recvtype, comm);
    }
    return library_result(code);
}

int trv_mpi_library_movement_start(const trv_mpi_movement_t *m, MPI_Comm comm, MPI_Request *request)
{
    int code = check_counts(m, comm);
    if (code != MPI_SUCCESS)
        return code;
    switch (m->collective) {
    case TRV_BROADCAST:
        code = LARGE(PMPI_Ibcast)(m->recvbuf, COUNT(m->recvcount), m->recvtype, m->root, comm, request);
        break;
    case TRV_GATHER:
        code = LARGE(PMPI_Igather)(m->sendbuf, COUNT(m->sendcount), m->sendtype, m->recvbuf, COUNT(m->recvcount),
                                   m->recvtype, m->root, comm, request);
        break;
    case TRV_SCATTER:
        code = LARGE(PMPI_Iscatter)(m->sendbuf, COUNT(m->sendcount), m->sendtype, m->recvbuf, COUNT(m->recvcount),
                                    m->recvtype, m->root, comm, request);
        break;
    case TRV_ALLTOALL:
        code = LARGE(PMPI_Ialltoall)(m->sendbuf, COUNT(m->sendcount), m->sendtype, m->recvbuf, COUNT(m->recvcount),
                                     m->recvtype, comm, request);
        break;
    default:
        code = LARGE(PMPI_Iallgather)(m->sendbuf, COUNT(m->sendcount), m->sendtype, m->recvbuf, COUNT(m->recvcount),
                                      m->recvtype, comm, request);
    }
    return library_result(code);
}

/* ---- Persistent requests ----------------------------------------------------------------------------------------- */

#if defined(HAS_INIT)

int trv_mpi_library_init(const trv_mpi_reduction_t *a, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    int code = library_check(a->count);
    if (code != MPI_SUCCESS)
        return code;
    return library_result(
        a->collective == TRV_ALLREDUCE
            ? INIT(PMPI_Allreduce)(a->input, a->output, COUNT(a->count), a->datatype, a->op, comm, info, request)
            : INIT(PMPI_Reduce_scatter_block)(a->input, a->output, COUNT(a->count), a->datatype, a->op, comm, info,
                                              request));
}

int trv_mpi_library_movement_init(const trv_mpi_movement_t *m, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    int code = check_counts(m, comm);
    if (code != MPI_SUCCESS)
        return code;
    return library_result(INIT(PMPI_Allgather)(m->sendbuf, COUNT(m->sendcount), m->sendtype, m->recvbuf,
                                               COUNT(m->recvcount), m->recvtype, comm, info, request));
}

#else

int trv_mpi_library_init(const trv_mpi_reduction_t *a, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    (void)comm, (void)info, (void)request;
    int code = library_check(a->count);
    return code == MPI_SUCCESS ? library_result(MPI_ERR_UNSUPPORTED_OPERATION) : code;
}

int trv_mpi_library_movement_init(const trv_mpi_movement_t *m, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    (void)info, (void)request;
    int code = check_counts(m, comm);
    return code == MPI_SUCCESS ? library_result(MPI_ERR_UNSUPPORTED_OPERATION) : code;
}

#endif
