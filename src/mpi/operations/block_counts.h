/*
 * The counts of MPI_Allgatherv and MPI_Reduce_scatter, which all ranks pass alike, and displacements, which may differ
 * between ranks.
 */
#ifndef TRIVANCE_MPI_OPERATIONS_BLOCK_COUNTS_H
#define TRIVANCE_MPI_OPERATIONS_BLOCK_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

/* As the program passes them: arrays with an entry for each rank. */
typedef struct trv_mpi_counts {
    const void *count, *displacement;       /* displacement NULL: the blocks are one after the other */
    size_t count_bytes, displacement_bytes; /* size of an entry: of an int, or of an MPI_Count and an MPI_Aint */
} trv_mpi_counts_t;

/* Whether the arrays that MPI requires are not NULL. */
static inline bool trv_mpi_counts_complete(const trv_mpi_counts_t *counts)
{
    return counts->count && (counts->displacement || counts->displacement_bytes == 0);
}

/* MPI_SUCCESS, or MPI_ERR_ARG with the message in trv_last_error() if the arrays are not complete. */
int trv_mpi_counts_check(const trv_mpi_counts_t *counts);

MPI_Count trv_mpi_count_at(const trv_mpi_counts_t *counts, int rank);
MPI_Aint trv_mpi_displacement_at(const trv_mpi_counts_t *counts, int rank);

/* Converted for the executor, in its elements. */
typedef struct trv_mpi_blocks {
    size_t total, largest;
    bool equal;           /* all blocks have the same size */
    bool in_sequence;     /* each block begins where the previous one ends */
    bool apart;           /* displacements are at least 0 and ascending, and blocks do not overlap */
    uint64_t digest;      /* a hash of the counts, 1 … TRV_WORD_MAX */
    size_t *count;        /* per rank */
    size_t *displacement; /* NULL: the blocks are one after the other */
} trv_mpi_blocks_t;

/* Converts counts of elements that consist of `unit` elements of the executor, and displacements in units of `stride`
 * of them. The blocks are freed by free(). `size`: bytes of an element of the executor. MPI_SUCCESS; MPI_ERR_NO_MEM; or
 * another error class with the message in trv_last_error(). */
int trv_mpi_blocks_create(trv_mpi_blocks_t **blocks, const trv_mpi_counts_t *counts, int ranks, size_t unit,
                          MPI_Aint stride, size_t size);

#endif
