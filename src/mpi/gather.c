/*
 * AllGather's types: measuring, packing, unpacking.
 */
#include "mpi/gather.h"

#include <stdint.h>
#include <stdlib.h>

#include "common/error.h"
#include "mpi/elements.h"

int trv_mpi_gather_measure(const trv_mpi_gather_t *gather, size_t *bytes, bool *plain)
{
    bool in_place = gather->sendbuf == MPI_IN_PLACE;
    if (gather->recvcount < 0 || (!in_place && gather->sendcount < 0))
        return trv_fail(TRV_ERR_ARGUMENT, "a count is negative; it must be 0 or more"), MPI_ERR_COUNT;
    size_t send_size = 0, receive_size = 0;
    int code = trv_mpi_contiguous(gather->recvtype, &receive_size);
    if (code == MPI_SUCCESS && !in_place)
        code = trv_mpi_contiguous(gather->sendtype, &send_size);
    if (code != MPI_SUCCESS)
        return code;
    MPI_Count receive_bytes = 0, send_bytes = 0;
    PMPI_Type_size_x(gather->recvtype, &receive_bytes);
    *bytes = (size_t)(receive_bytes * gather->recvcount);
    *plain = receive_size > 0 && (in_place || send_size > 0);
    if (in_place)
        return MPI_SUCCESS;
    PMPI_Type_size_x(gather->sendtype, &send_bytes);
    if (send_bytes * gather->sendcount != receive_bytes * gather->recvcount)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "%lld bytes are sent and %lld are received from each rank; they must be the same",
                        (long long)(send_bytes * gather->sendcount), (long long)*bytes),
               MPI_ERR_COUNT;
    return MPI_SUCCESS;
}

/* Where a rank's block begins in the receive buffer. */
static char *block_of(const trv_mpi_gather_t *gather, int rank)
{
    MPI_Aint lower = 0, extent = 0;
    PMPI_Type_get_extent(gather->recvtype, &lower, &extent);
    return (char *)gather->recvbuf + (MPI_Aint)rank * gather->recvcount * extent;
}

int trv_mpi_gather_pack(const trv_mpi_state_t *state, trv_mpi_gather_t *gather, size_t bytes, void **packed)
{
    *packed = NULL;
    if (bytes > INT32_MAX || gather->recvcount > INT32_MAX || gather->sendcount > INT32_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED, "a type with gaps is gathered up to 2 GiB per rank; send it without gaps");
    if (gather->sendbuf == MPI_IN_PLACE) {
        gather->sendbuf = block_of(gather, state->rank);
        gather->sendcount = gather->recvcount;
        gather->sendtype = gather->recvtype;
    }
    char *all = malloc(bytes * (size_t)state->ranks);
    if (!all)
        return trv_fail_memory();
    int position = 0; /* MPI_Pack counts in ints */
    int code = PMPI_Pack(gather->sendbuf, (int)gather->sendcount, gather->sendtype, all + (size_t)state->rank * bytes,
                         (int)bytes, &position, state->comm);
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
        int code = PMPI_Unpack((const char *)packed + (size_t)rank * bytes, (int)bytes, &position,
                               block_of(gather, rank), (int)gather->recvcount, gather->recvtype, state->comm);
        if (code != MPI_SUCCESS)
            return trv_mpi_transport_error("MPI_Unpack", code);
    }
    return TRV_OK;
}
