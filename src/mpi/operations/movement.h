/*
 * Collectives that move data and combine none: AllGather, Broadcast, Scatter, Gather and All-to-All, of any types. The
 * number of bytes must be the same on all ranks, but the types may differ: a rank whose type has gaps packs its data
 * locally, without an effect on the other ranks.
 */
#ifndef TRIVANCE_MPI_OPERATIONS_MOVEMENT_H
#define TRIVANCE_MPI_OPERATIONS_MOVEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include <trivance/schedule.h>

#include "mpi/communicator/state.h"
#include "mpi/operations/block_counts.h"

/* The arguments that the program passes. The buffer of a Broadcast is the receive buffer; the send buffer is then
 * MPI_IN_PLACE. Members of a side that MPI ignores on this rank (for example the send buffer of a Scatter on ranks
 * other than the root) may have any value and are not read. */
typedef struct trv_mpi_movement {
    trv_collective_t collective;
    const void *sendbuf; /* or MPI_IN_PLACE */
    void *recvbuf;       /* Scatter: or MPI_IN_PLACE */
    MPI_Count sendcount, recvcount;
    MPI_Datatype sendtype, recvtype;
    int root;                       /* without meaning for AllGather and All-to-All */
    const trv_mpi_counts_t *counts; /* of an AllGather with a count per rank, instead of `recvcount`; else NULL */
} trv_mpi_movement_t;

/* The buffers of a rank, as in trv_mpi_reduction_t: *input is MPI_IN_PLACE if the data to be sent is in *output. A
 * buffer that the rank does not have is NULL. */
void trv_mpi_movement_buffers(const trv_mpi_movement_t *movement, int rank, const void **input, void **output);

/* The larger one of the counts that have a meaning on this rank. */
MPI_Count trv_mpi_movement_count(const trv_mpi_movement_t *movement, int rank);

/* Whether the types that have a meaning on this rank are committed, as far as the MPI library checks that. */
bool trv_mpi_movement_is_committed(const trv_mpi_movement_t *movement, int rank);

/* Whether the data to be sent begins at the address at which this rank receives the same data. */
bool trv_mpi_movement_is_same(const trv_mpi_movement_t *movement, int rank, int ranks);

/* *bytes: the size of the vector of a Broadcast, or of a block. *contiguous: this rank's types have no gaps.
 * MPI_SUCCESS, or an error class with the message in trv_last_error(). */
int trv_mpi_movement_measure(const trv_mpi_movement_t *movement, int rank, size_t *bytes, bool *contiguous);

/* The same for an AllGather with a count per rank: *blocks, which the caller frees, are its blocks in bytes, with their
 * displacements in the receive buffer. *contiguous: this rank's types have no gaps, and its blocks do not overlap each
 * other or the send buffer. */
int trv_mpi_movement_measure_blocks(const trv_mpi_movement_t *movement, int rank, int ranks, trv_mpi_blocks_t **blocks,
                                    bool *contiguous);

/* Movement of types with gaps, at most 2 GiB per block, and of blocks with counts, which are then one after the other
 * in rank order. The first function allocates *packed for the larger one of this rank's buffers, which the caller
 * frees, and packs the data to be sent into it. The second function unpacks the received data, after the collective was
 * executed in place on the bytes of *packed. TRV_OK or a code of the core. */
int trv_mpi_movement_pack(const trv_mpi_state_t *state, const trv_mpi_movement_t *movement, size_t bytes,
                          void **packed);
int trv_mpi_movement_unpack(const trv_mpi_state_t *state, const trv_mpi_movement_t *movement, size_t bytes,
                            const void *packed);

#endif
