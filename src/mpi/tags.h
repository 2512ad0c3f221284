/*
 * The tags of one communicator. The lower half is cut into positions of TRV_MPI_POSITION_TAGS, each for plans that run
 * one after the other; position 0 is that of the blocking calls. The upper half is given out range by range, lowest
 * first: ranks that create and free plans in the same order get the same ranges.
 */
#ifndef TRIVANCE_MPI_TAGS_H
#define TRIVANCE_MPI_TAGS_H

#include <mpi.h>

typedef struct trv_mpi_range {
    int first, count;
    struct trv_mpi_range *next;
} trv_mpi_range_t;

typedef struct trv_mpi_tags {
    int limit; /* tags are 0 … limit - 1 */
    trv_mpi_range_t *range; /* taken, ascending */
} trv_mpi_tags_t;

/* Reads MPI_TAG_UB. */
int trv_mpi_tags_init(trv_mpi_tags_t *tags, MPI_Comm comm);
int trv_mpi_tags_positions(const trv_mpi_tags_t *tags);
/* The lowest free range in the upper half. */
int trv_mpi_tags_take(trv_mpi_tags_t *tags, int count, int *first);
void trv_mpi_tags_give_back(trv_mpi_tags_t *tags, int first);

#endif
