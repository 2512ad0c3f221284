/*
 * AllGather of any types. Only the number of bytes must be the same on all ranks, the types need not: whoever has a
 * type with gaps packs it, and no other rank knows.
 */
#ifndef TRIVANCE_MPI_GATHER_H
#define TRIVANCE_MPI_GATHER_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include "mpi/state.h"

typedef struct trv_mpi_gather {
    const void *sendbuf; /* or MPI_IN_PLACE */
    void *recvbuf;
    MPI_Count sendcount, recvcount;
    MPI_Datatype sendtype, recvtype;
} trv_mpi_gather_t;

/* Bytes of one rank's contribution, and whether this rank's types lie without gaps. MPI_SUCCESS, or an error class with
 * a sentence in trv_last_error(). */
int trv_mpi_gather_measure(const trv_mpi_gather_t *gather, size_t *bytes, bool *plain);

/* Gathers `bytes` bytes of every rank, in the order of the ranks; input may be MPI_IN_PLACE. */
typedef int (*trv_mpi_gather_run_t)(void *context, const void *input, void *output, size_t bytes);

/* Packs this rank's contribution, gathers it by `run`, unpacks what all ranks sent. At most 2 GiB per rank. */
int trv_mpi_gather_packed(const trv_mpi_state_t *state, trv_mpi_gather_t gather, size_t bytes, trv_mpi_gather_run_t run,
                          void *context);

#endif
