/*
 * Calls of the MPI library's collectives. MPI 4 has forms with large counts. Before MPI 4 a count must fit an int, and
 * persistent collectives are an extension of Open MPI.
 */
#include "mpi/front/library.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include "base/error.h"
#include "schedule/collective.h"
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
#define PMPI_Reduce_scatter_init       PMPIX_Reduce_scatter_init
#define PMPI_Reduce_init               PMPIX_Reduce_init
#define PMPI_Bcast_init                PMPIX_Bcast_init
#define PMPI_Allgather_init            PMPIX_Allgather_init
#define PMPI_Allgatherv_init           PMPIX_Allgatherv_init
#define PMPI_Gather_init               PMPIX_Gather_init
#define PMPI_Scatter_init              PMPIX_Scatter_init
#define PMPI_Alltoall_init             PMPIX_Alltoall_init
#define PMPI_Barrier_init              PMPIX_Barrier_init
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

/* `noun`: what the number is, for the message. */
static int library_check(const char *noun, MPI_Count count)
{
    if (HAS_LARGE_COUNTS || count <= INT_MAX)
        return MPI_SUCCESS;
    trv_fail(TRV_ERR_UNSUPPORTED,
             "the %s %lld is too large: the call falls back to the collective of this MPI library, which accepts at "
             "most %d",
             noun, (long long)count, INT_MAX);
    return MPI_ERR_COUNT;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

/* Counts and displacements as the MPI library's functions take them. */
#if MPI_VERSION >= 4
typedef MPI_Count library_count_t;
typedef MPI_Aint library_displacement_t;
#else
typedef int library_count_t, library_displacement_t;
#endif
typedef struct library_blocks {
    library_count_t *count;
    library_displacement_t *displacement; /* NULL: none */
} library_blocks_t;

/* The number of blocks: of the ranks of the communicator; of an Allgatherv between two groups, of the other group. */
static int count_blocks(const trv_mpi_call_t *call, MPI_Comm comm, int *blocks)
{
    int inter = 0, code = PMPI_Comm_test_inter(comm, &inter);
    if (code == MPI_SUCCESS)
        code = inter && call->movement ? PMPI_Comm_remote_size(comm, blocks) : PMPI_Comm_size(comm, blocks);
    return code == MPI_SUCCESS ? MPI_SUCCESS : library_result(code);
}

/* Converts the counts of a call, in memory that the caller frees (blocks->count). MPI_SUCCESS or an error class. */
static int convert_counts(const trv_mpi_call_t *call, MPI_Comm comm, library_blocks_t *blocks)
{
    const trv_mpi_counts_t *counts = trv_mpi_call_counts(call);
    int ranks = 0, code = count_blocks(call, comm, &ranks);
    if (code == MPI_SUCCESS)
        code = trv_mpi_counts_check(counts);
    if (code != MPI_SUCCESS)
        return code;
    const size_t count_bytes = ((size_t)ranks * sizeof(library_count_t) + 15) / 16 * 16;
    blocks->count = malloc(count_bytes + (size_t)ranks * sizeof(library_displacement_t));
    if (!blocks->count)
        return trv_fail_memory(), MPI_ERR_NO_MEM;
    if (counts->displacement)
        blocks->displacement = (library_displacement_t *)(void *)((char *)blocks->count + count_bytes);
    for (int r = 0; r < ranks && code == MPI_SUCCESS; r++) {
        const MPI_Aint at = counts->displacement ? trv_mpi_displacement_at(counts, r) : 0;
        code = library_check("count", trv_mpi_count_at(counts, r));
        if (code == MPI_SUCCESS)
            code = library_check("displacement", at < 0 ? -at : at);
        blocks->count[r] = (library_count_t)trv_mpi_count_at(counts, r);
        if (blocks->displacement)
            blocks->displacement[r] = (library_displacement_t)at;
    }
    return code;
}

/* Checks the counts of a call, and converts those of blocks, which the caller frees (blocks->count). MPI_SUCCESS or an
 * error class. */
static int prepare(const trv_mpi_call_t *call, MPI_Comm comm, library_blocks_t *blocks)
{
    int rank = 0;
    *blocks = (library_blocks_t){NULL, NULL};
    if (trv_mpi_call_counts(call)) {
        const bool sends = call->movement && call->movement->sendbuf != MPI_IN_PLACE;
        const int code = convert_counts(call, comm, blocks);
        return code == MPI_SUCCESS && sends ? library_check("count", call->movement->sendcount) : code;
    }
    if (!call->movement)
        return library_check("count", call->reduction->count);
    const int code = PMPI_Comm_rank(comm, &rank);
    return code == MPI_SUCCESS ? library_check("count", trv_mpi_movement_count(call->movement, rank))
                               : library_result(code);
}

/* ---- The functions ----------------------------------------------------------------------------------------------- */

/* The names of a function in its forms, for the macros below. */
#define BLOCKING(Name, name)    LARGE(PMPI_##Name)
#define NONBLOCKING(Name, name) LARGE(PMPI_I##name)
#define PERSISTENT(Name, name)  INIT(PMPI_##Name)

/* Calls the MPI library's function of a collective. FORM is one of the three macros above; the arguments after the call
 * are the communicator and, for the other forms, an info and a request. */
#define ARGUMENTS(a) (a)->input, (a)->output, COUNT((a)->count), (a)->datatype, (a)->op
#define CALL_REDUCTION(FORM, a, ...)                                                                                   \
    ((a)->collective == TRV_ALLREDUCE ? FORM(Allreduce, allreduce)(ARGUMENTS(a), __VA_ARGS__)                          \
     : (a)->collective == TRV_REDUCE  ? FORM(Reduce, reduce)(ARGUMENTS(a), (a)->root, __VA_ARGS__)                     \
                                      : FORM(Reduce_scatter_block, reduce_scatter_block)(ARGUMENTS(a), __VA_ARGS__))

#define SEND_SIDE(m) (m)->sendbuf, COUNT((m)->sendcount), (m)->sendtype
#define SIDES(m)     SEND_SIDE(m), (m)->recvbuf, COUNT((m)->recvcount), (m)->recvtype
#define CALL_MOVEMENT(FORM, m, ...)                                                                                    \
    ((m)->collective == TRV_BROADCAST                                                                                  \
         ? FORM(Bcast, bcast)((m)->recvbuf, COUNT((m)->recvcount), (m)->recvtype, (m)->root, __VA_ARGS__)              \
     : (m)->collective == TRV_GATHER   ? FORM(Gather, gather)(SIDES(m), (m)->root, __VA_ARGS__)                        \
     : (m)->collective == TRV_SCATTER  ? FORM(Scatter, scatter)(SIDES(m), (m)->root, __VA_ARGS__)                      \
     : (m)->collective == TRV_ALLTOALL ? FORM(Alltoall, alltoall)(SIDES(m), __VA_ARGS__)                               \
                                       : FORM(Allgather, allgather)(SIDES(m), __VA_ARGS__))

#define CALL_BLOCKS(FORM, call, blocks, ...)                                                                           \
    ((call)->movement                                                                                                  \
         ? FORM(Allgatherv, allgatherv)(SEND_SIDE((call)->movement), (call)->movement->recvbuf, (blocks).count,        \
                                        (blocks).displacement, (call)->movement->recvtype, __VA_ARGS__)                \
         : FORM(Reduce_scatter, reduce_scatter)((call)->reduction->input, (call)->reduction->output, (blocks).count,   \
                                                (call)->reduction->datatype, (call)->reduction->op, __VA_ARGS__))

/* Any call but a Barrier, which has no form with large counts. */
#define CALL(FORM, call, blocks, ...)                                                                                  \
    (trv_mpi_call_counts(call) ? CALL_BLOCKS(FORM, call, blocks, __VA_ARGS__)                                          \
     : (call)->movement        ? CALL_MOVEMENT(FORM, (call)->movement, __VA_ARGS__)                                    \
                               : CALL_REDUCTION(FORM, (call)->reduction, __VA_ARGS__))

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

int trv_mpi_library_call(const trv_mpi_call_t *call, MPI_Comm comm)
{
    library_blocks_t blocks;
    int code = prepare(call, comm, &blocks);
    if (code == MPI_SUCCESS)
        code = library_result(call->is_barrier ? PMPI_Barrier(comm) : CALL(BLOCKING, call, blocks, comm));
    free(blocks.count);
    return code;
}

int trv_mpi_library_call_start(const trv_mpi_call_t *call, MPI_Comm comm, MPI_Request *request, void **converted)
{
    library_blocks_t blocks;
    const int code = prepare(call, comm, &blocks);
    *converted = blocks.count;
    if (code != MPI_SUCCESS)
        return code;
    return library_result(call->is_barrier ? PMPI_Ibarrier(comm, request)
                                           : CALL(NONBLOCKING, call, blocks, comm, request));
}

int trv_mpi_library_call_init(const trv_mpi_call_t *call, MPI_Comm comm, MPI_Info info, MPI_Request *request,
                              void **converted)
{
    library_blocks_t blocks;
    int code = prepare(call, comm, &blocks);
    *converted = blocks.count;
    if (code != MPI_SUCCESS)
        return code;
#if defined(HAS_INIT)
    code = call->is_barrier ? PMPI_Barrier_init(comm, info, request)
                            : CALL(PERSISTENT, call, blocks, comm, info, request);
#else
    (void)info, (void)request;
    code = MPI_ERR_UNSUPPORTED_OPERATION;
#endif
    return library_result(code);
}

/* ---- Calls of plans ---------------------------------------------------------------------------------------------- */

/* A call of any collective, whose input and output have one type. `movement`: memory for its arguments. */
static trv_mpi_call_t call_of(const trv_mpi_reduction_t *a, trv_mpi_movement_t *movement)
{
    if (trv_collective_shape(a->collective)->reduces)
        return (trv_mpi_call_t){.reduction = a};
    *movement = (trv_mpi_movement_t){a->collective, a->input,    a->output, a->count, a->count,
                                     a->datatype,   a->datatype, a->root,   NULL};
    return (trv_mpi_call_t){.movement = movement};
}

int trv_mpi_library_run(const trv_mpi_reduction_t *arguments, MPI_Comm comm)
{
    trv_mpi_movement_t movement;
    const trv_mpi_call_t call = call_of(arguments, &movement);
    return trv_mpi_library_call(&call, comm);
}

int trv_mpi_library_start(const trv_mpi_reduction_t *arguments, MPI_Comm comm, MPI_Request *request)
{
    trv_mpi_movement_t movement;
    const trv_mpi_call_t call = call_of(arguments, &movement);
    void *none; /* plans have no counts per rank */
    return trv_mpi_library_call_start(&call, comm, request, &none);
}
