/*
 * AllGather of any types. The number of bytes must be the same on all ranks, but the types may differ: a rank whose
 * type has gaps packs its data locally, without an effect on the other ranks.
 */
#ifndef TRIVANCE_MPI_OPERATIONS_GATHER_H
#define TRIVANCE_MPI_OPERATIONS_GATHER_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include "mpi/communicator/state.h"

typedef struct trv_mpi_gather {
    const void *sendbuf; /* or MPI_IN_PLACE */
    void *recvbuf;
    MPI_Count sendcount, recvcount;
    MPI_Datatype sendtype, recvtype;
} trv_mpi_gather_t;

/* *bytes: the size of one rank's contribution. *plain: this rank's types have no gaps. MPI_SUCCESS, or an error class
 * with the message in trv_last_error(). */
int trv_mpi_gather_measure(const trv_mpi_gather_t *gather, size_t *bytes, bool *contiguous);

/* AllGather of types with gaps, at most 2 GiB per rank. The first function allocates *packed for the blocks of all
 * ranks, which the caller frees, and packs this rank's contribution into its block; if the send buffer is MPI_IN_PLACE,
 * it replaces that in `gather` by the block of the receive buffer. The second function unpacks all blocks, after the
 * AllGather of bytes in *packed. TRV_OK or a code of the core. */
int trv_mpi_gather_pack(const trv_mpi_state_t *state, trv_mpi_gather_t *gather, size_t bytes, void **packed);
int trv_mpi_gather_unpack(const trv_mpi_state_t *state, const trv_mpi_gather_t *gather, size_t bytes,
                          const void *packed);

#endif
