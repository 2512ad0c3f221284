/*
 * Converts the counts and displacements of blocks for the executor.
 */
#include "mpi/operations/block_counts.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/hash.h"
#include "mpi/communicator/exchange.h"
#include "mpi/operations/elements.h"

int trv_mpi_counts_check(const trv_mpi_counts_t *counts)
{
    if (trv_mpi_counts_complete(counts))
        return MPI_SUCCESS;
    return trv_fail(TRV_ERR_ARGUMENT, "the array of %s is NULL; it has an entry for each rank",
                    counts->count ? "displacements" : "counts"),
           MPI_ERR_ARG;
}

MPI_Count trv_mpi_count_at(const trv_mpi_counts_t *counts, int rank)
{
    return counts->count_bytes == sizeof(int) ? ((const int *)counts->count)[rank]
                                              : ((const MPI_Count *)counts->count)[rank];
}

MPI_Aint trv_mpi_displacement_at(const trv_mpi_counts_t *counts, int rank)
{
    return counts->displacement_bytes == sizeof(int) ? ((const int *)counts->displacement)[rank]
                                                     : ((const MPI_Aint *)counts->displacement)[rank];
}

static trv_mpi_blocks_t *blocks_allocate(int ranks, bool displaced)
{
    const size_t n = (size_t)ranks;
    trv_mpi_blocks_t *blocks = malloc(sizeof *blocks + (displaced ? 2 : 1) * n * sizeof(size_t));
    if (!blocks) {
        trv_fail_memory();
        return NULL;
    }
    *blocks = (trv_mpi_blocks_t){.equal = true, .in_sequence = true, .apart = true};
    blocks->count = (size_t *)(blocks + 1);
    blocks->displacement = displaced ? blocks->count + n : NULL;
    return blocks;
}

/* Converts the count of a rank. MPI_SUCCESS or an error class. */
static int convert_count(trv_mpi_blocks_t *blocks, const trv_mpi_counts_t *counts, int rank, size_t unit, size_t size)
{
    const MPI_Count count = trv_mpi_count_at(counts, rank);
    size_t bytes = 0;
    int code = trv_mpi_count_bytes(count, unit * size, &bytes);
    if (code != MPI_SUCCESS)
        return code;
    blocks->count[rank] = (size_t)count * unit;
    blocks->total += blocks->count[rank];
    blocks->largest = blocks->count[rank] > blocks->largest ? blocks->count[rank] : blocks->largest;
    blocks->equal = blocks->equal && blocks->count[rank] == blocks->count[0];
    return trv_mpi_count_bytes((MPI_Count)blocks->total, size, &bytes);
}

int trv_mpi_blocks_create(trv_mpi_blocks_t **created, const trv_mpi_counts_t *counts, int ranks, size_t unit,
                          MPI_Aint stride, size_t size)
{
    size_t end = 0; /* of the blocks before, at their displacements */
    int code = MPI_SUCCESS;
    *created = NULL;
    if (!trv_mpi_counts_complete(counts))
        return trv_mpi_counts_check(counts);
    trv_mpi_blocks_t *blocks = blocks_allocate(ranks, counts->displacement != NULL);
    if (!blocks)
        return MPI_ERR_NO_MEM;
    for (int r = 0; r < ranks && code == MPI_SUCCESS; r++) {
        const size_t before = blocks->total;
        code = convert_count(blocks, counts, r, unit, size);
        if (counts->displacement)
            blocks->displacement[r] = end;
        if (code != MPI_SUCCESS || !counts->displacement || blocks->count[r] == 0)
            continue;
        const MPI_Aint at = trv_mpi_displacement_at(counts, r) * stride;
        blocks->in_sequence = blocks->in_sequence && at >= 0 && (size_t)at == before;
        blocks->apart = blocks->apart && at >= 0 && (size_t)at >= end;
        blocks->displacement[r] = (size_t)at;
        end = (size_t)at + blocks->count[r];
    }
    if (code != MPI_SUCCESS) {
        free(blocks);
        return code;
    }
    blocks->digest = trv_hash(TRV_HASH_SEED, blocks->count, (size_t)ranks * sizeof *blocks->count);
    blocks->digest = (blocks->digest & TRV_WORD_MAX) | 1;
    *created = blocks;
    return MPI_SUCCESS;
}
