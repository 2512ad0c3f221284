/*
 * Calls of the MPI library's collectives. MPI 4 has forms with large counts. Before MPI 4 a count must fit an int, and
 * persistent collectives are an extension of Open MPI.
 */
#include "mpi/front/library.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "mpi/front/library_functions.h"
#include "schedule/collective.h"
#include "transport/mpi/mpi_error.h"

static const bool HAS_LARGE_COUNTS = MPI_VERSION >= 4;

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

/* The number of blocks: of the ranks of the communicator; of an Allgatherv between two groups, of the other group. */
static int count_blocks(const trv_mpi_call_t *call, MPI_Comm comm, int *blocks)
{
    int inter = 0, code = PMPI_Comm_test_inter(comm, &inter);
    if (code == MPI_SUCCESS)
        code = inter && call->movement ? PMPI_Comm_remote_size(comm, blocks) : PMPI_Comm_size(comm, blocks);
    return code == MPI_SUCCESS ? MPI_SUCCESS : library_result(code);
}

/* Converts the counts of a call, in memory that the caller frees (blocks->count). MPI_SUCCESS or an error class. */
static int convert_counts(const trv_mpi_call_t *call, MPI_Comm comm, trv_mpi_library_blocks_t *blocks)
{
    const trv_mpi_counts_t *counts = trv_mpi_call_counts(call);
    int ranks = 0, code = count_blocks(call, comm, &ranks);
    if (code == MPI_SUCCESS)
        code = trv_mpi_counts_check(counts);
    if (code != MPI_SUCCESS)
        return code;
    const size_t count_bytes = ((size_t)ranks * sizeof(trv_mpi_library_count_t) + 15) / 16 * 16;
    blocks->count = malloc(count_bytes + (size_t)ranks * sizeof(trv_mpi_library_displacement_t));
    if (!blocks->count)
        return trv_fail_memory(), MPI_ERR_NO_MEM;
    if (counts->displacement)
        blocks->displacement = (trv_mpi_library_displacement_t *)(void *)((char *)blocks->count + count_bytes);
    for (int r = 0; r < ranks && code == MPI_SUCCESS; r++) {
        const MPI_Aint at = counts->displacement ? trv_mpi_displacement_at(counts, r) : 0;
        code = library_check("count", trv_mpi_count_at(counts, r));
        if (code == MPI_SUCCESS)
            code = library_check("displacement", at < 0 ? -at : at);
        blocks->count[r] = (trv_mpi_library_count_t)trv_mpi_count_at(counts, r);
        if (blocks->displacement)
            blocks->displacement[r] = (trv_mpi_library_displacement_t)at;
    }
    return code;
}

/* Checks the counts of a call, and converts those of blocks, which the caller frees (blocks->count). MPI_SUCCESS or an
 * error class. */
static int prepare(const trv_mpi_call_t *call, MPI_Comm comm, trv_mpi_library_blocks_t *blocks)
{
    int rank = 0;
    *blocks = (trv_mpi_library_blocks_t){NULL, NULL};
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

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

int trv_mpi_library_call(const trv_mpi_call_t *call, MPI_Comm comm)
{
    trv_mpi_library_blocks_t blocks;
    int code = prepare(call, comm, &blocks);
    if (code == MPI_SUCCESS)
        code = library_result(trv_mpi_library_blocking(call, &blocks, comm));
    free(blocks.count);
    return code;
}

int trv_mpi_library_call_start(const trv_mpi_call_t *call, MPI_Comm comm, MPI_Request *request, void **converted)
{
    trv_mpi_library_blocks_t blocks;
    const int code = prepare(call, comm, &blocks);
    *converted = blocks.count;
    return code == MPI_SUCCESS ? library_result(trv_mpi_library_nonblocking(call, &blocks, comm, request)) : code;
}

int trv_mpi_library_call_init(const trv_mpi_call_t *call, MPI_Comm comm, MPI_Info info, MPI_Request *request,
                              void **converted)
{
    trv_mpi_library_blocks_t blocks;
    const int code = prepare(call, comm, &blocks);
    *converted = blocks.count;
    return code == MPI_SUCCESS ? library_result(trv_mpi_library_persistent(call, &blocks, comm, info, request)) : code;
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
