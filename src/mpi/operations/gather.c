/*
 * The types of an AllGather: computes sizes, packs and unpacks.
 */
#include "mpi/operations/gather.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "mpi/operations/elements.h"
#include "transport/mpi/mpi_error.h"

/* *bytes: the size of one rank's block. *element: the size of an element, or 0 if it has gaps. MPI_SUCCESS or an error
 * class. */
static int measure(MPI_Datatype type, MPI_Count count, size_t *bytes, size_t *element)
{
    MPI_Count size = 0;
    int code = trv_mpi_count_bytes(count, 0, bytes);
    if (code == MPI_SUCCESS)
        code = trv_mpi_contiguous(type, element);
    if (code != MPI_SUCCESS)
        return code;
    PMPI_Type_size_x(type, &size);
    return trv_mpi_count_bytes(count, (size_t)size, bytes);
}

int trv_mpi_gather_measure(const trv_mpi_gather_t *gather, size_t *bytes, bool *contiguous)
{
    const bool in_place = gather->sendbuf == MPI_IN_PLACE;
    size_t send_element = 1, receive_element = 0, sent = 0;
    int code = measure(gather->recvtype, gather->recvcount, bytes, &receive_element);
    if (code == MPI_SUCCESS && !in_place)
        code = measure(gather->sendtype, gather->sendcount, &sent, &send_element);
    *contiguous = receive_element > 0 && send_element > 0;
    if (code == MPI_SUCCESS && !in_place && sent != *bytes)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "%zu bytes are sent and %zu are received from each rank; they must be the same", sent, *bytes),
               MPI_ERR_COUNT;
    return code;
}

/* Arguments of MPI_Pack and MPI_Unpack for elements in memory. MPICH's functions reject MPI_BOTTOM, so a type with
 * absolute addresses is replaced by one that is relative to the first address. */
typedef struct view {
    void *buffer;
    int count;
    MPI_Datatype type;
    bool own_type;
} view_t;

static int view_init(view_t *view, const void *buffer, MPI_Count count, MPI_Datatype type)
{
    *view = (view_t){(void *)buffer, (int)count, type, false};
    if (buffer != MPI_BOTTOM)
        return MPI_SUCCESS;
    MPI_Aint first = 0, back = 0, extent = 0;
    int code = PMPI_Type_get_true_extent(type, &first, &extent);
    back = -first;
    if (code == MPI_SUCCESS)
        code = PMPI_Type_create_hindexed(1, &view->count, &back, type, &view->type);
    if (code != MPI_SUCCESS)
        return code;
    *view = (view_t){(void *)((uintptr_t)MPI_BOTTOM + (uintptr_t)first), 1, view->type, true};
    return PMPI_Type_commit(&view->type);
}

static void view_clear(view_t *view)
{
    if (view->own_type)
        PMPI_Type_free(&view->type);
}

/* The address of a rank's block in the receive buffer. */
static char *block_of(const trv_mpi_gather_t *gather, int rank)
{
    MPI_Aint lower = 0, extent = 0;
    PMPI_Type_get_extent(gather->recvtype, &lower, &extent);
    return (char *)((uintptr_t)gather->recvbuf +
                    (uintptr_t)(rank * gather->recvcount * extent)); /* MPI_BOTTOM is NULL */
}

int trv_mpi_gather_pack(const trv_mpi_state_t *state, trv_mpi_gather_t *gather, size_t bytes, void **packed)
{
    *packed = NULL;
    if (gather->sendbuf == MPI_IN_PLACE) {
        gather->sendbuf = block_of(gather, state->rank);
        gather->sendcount = gather->recvcount;
        gather->sendtype = gather->recvtype;
    }
    if (bytes > INT32_MAX || gather->recvcount > INT32_MAX || gather->sendcount > INT32_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "an AllGather of a type with gaps supports at most 2 GiB per rank; pass a type without gaps");
    char *all = malloc(bytes * (size_t)state->ranks);
    if (!all)
        return trv_fail_memory();
    int position = 0; /* MPI_Pack counts in ints */
    view_t view;
    int code = view_init(&view, gather->sendbuf, gather->sendcount, gather->sendtype);
    if (code == MPI_SUCCESS)
        code = PMPI_Pack(view.buffer, view.count, view.type, all + (size_t)state->rank * bytes, (int)bytes, &position,
                         state->members->domain->comm);
    view_clear(&view);
    if (code != MPI_SUCCESS) {
        free(all);
        return trv_mpi_transport_error("MPI_Pack", code);
    }
    *packed = all;
    return TRV_OK;
}

int trv_mpi_gather_unpack(const trv_mpi_state_t *state, const trv_mpi_gather_t *gather, size_t bytes,
                          const void *packed)
{
    for (int rank = 0; rank < state->ranks; rank++) {
        int position = 0;
        view_t view;
        int code = view_init(&view, block_of(gather, rank), gather->recvcount, gather->recvtype);
        if (code == MPI_SUCCESS)
            code = PMPI_Unpack((const char *)packed + (size_t)rank * bytes, (int)bytes, &position, view.buffer,
                               view.count, view.type, state->members->domain->comm);
        view_clear(&view);
        if (code != MPI_SUCCESS)
            return trv_mpi_transport_error("MPI_Unpack", code);
    }
    return TRV_OK;
}
