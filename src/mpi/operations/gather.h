/*
 * AllGather of any types. Only the number of bytes must be the same on all ranks, the types need not: whoever has a
 * type with gaps packs it, and no other rank knows.
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

/* Bytes of one rank's contribution, and whether this rank's types lie without gaps. MPI_SUCCESS, or an error class with
 * a sentence in trv_last_error(). */
int trv_mpi_gather_measure(const trv_mpi_gather_t *gather, size_t *bytes, bool *plain);

/* AllGather of types with gaps, at most 2 GiB per rank: packs this rank's contribution to its place in *packed, which
 * is made for all ranks' and is the caller's to free; after the bytes are gathered in there, unpacks all. TRV_OK or a
 * code of the core. What was in place is so no longer in `gather`. */
int trv_mpi_gather_pack(const trv_mpi_state_t *state, trv_mpi_gather_t *gather, size_t bytes, void **packed);
int trv_mpi_gather_unpack(const trv_mpi_state_t *state, const trv_mpi_gather_t *gather, size_t bytes,
                          const void *packed);

#endif
