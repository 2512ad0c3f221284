/*
 * The transport of the executor over MPI point-to-point messages.
 *
 * A *channel* is one plan's transport: its messages on a communicator of the library's, whose errors are returned. The
 * caller hands out the tags: a channel has TRV_MPI_POSITION_TAGS of them, from the one it was placed at, and two
 * channels that may run at the same time between the same ranks need different ones.
 *
 * Every arrived length is checked: a message of another length than is due ends `test` with TRV_ERR_TRANSPORT and a
 * sentence that names the sender by its rank in the communicator. Nothing is written past a receive's buffer. A slot whose
 * `test` has not returned 0 is free.
 *
 * `cancel` waits for what MPI still writes to memory of the caller's. A send that its receiver has not taken is left to
 * MPI after a while (no MPI here can take it back), and `cancel` returns 1: its memory is read if a later receive takes the
 * message, so the tags of a run that failed must not be used again, nor may the memory be freed.
 */
#ifndef TRIVANCE_TRANSPORT_MPI_CHANNEL_H
#define TRIVANCE_TRANSPORT_MPI_CHANNEL_H

#include <stddef.h>

#include <mpi.h>

#include <trivance/execute.h>

/* The tags of a position: the plan's own first, then one of the large kind (messages.c) for each of them, and one that is
 * not a channel's. */
#define TRV_MPI_LANE_TAGS     64
#define TRV_MPI_POSITION_TAGS (2 * TRV_MPI_LANE_TAGS + 1)
#define TRV_MPI_SPARE_TAG     (TRV_MPI_POSITION_TAGS - 1)
/* Runs of one communicator that may overlap have a position each: one for blocking calls, the others for requests, by
 * turns. */
#define TRV_MPI_POSITIONS 16

typedef struct trv_mpi_channel trv_mpi_channel_t;

/* Messages above `piece_bytes` travel in pieces of at most so many bytes behind a header, on both sides alike; 0: INT_MAX, what one MPI
 * call takes. Its first tag is 0. */
int trv_mpi_channel_create(trv_mpi_channel_t **channel, MPI_Comm comm, size_t piece_bytes);
/* The first tag of later runs. */
void trv_mpi_channel_place(trv_mpi_channel_t *channel, int first_tag);
/* The rank that a plan's rank stands for, one for each; they must outlive the channel. NULL, as at first: itself. */
void trv_mpi_channel_map(trv_mpi_channel_t *channel, const int *member);
/* After the plan that used it. */
void trv_mpi_channel_destroy(trv_mpi_channel_t *channel);
const trv_transport_t *trv_mpi_channel_transport(const trv_mpi_channel_t *channel);

#endif
