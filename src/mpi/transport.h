/*
 * The transport of the executor over MPI point-to-point messages.
 *
 * A *channel* is one plan's transport: its requests, and a range of tags on a communicator that belongs to the library.
 * Plans that may run at the same time need tags of their own; plans that run one after the other (those behind the
 * blocking calls) may share one range, because messages of the same sender and tag never overtake each other.
 */
#ifndef TRIVANCE_MPI_TRANSPORT_H
#define TRIVANCE_MPI_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include <trivance/execute.h>

/* The tags of one communicator. The lower half is cut into positions of the same size, each for plans that run one
 * after the other; position 0 is that of the blocking calls. The upper half is given out range by range, lowest
 * first: ranks that create and free plans in the same order get the same ranges. */
#define TRV_MPI_POSITION_TAGS 128 /* more than a plan has lanes */
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

typedef struct trv_mpi_channel trv_mpi_channel_t;

/* Messages above `piece_bytes` travel in pieces of at most so many bytes; 0: INT_MAX, what one MPI call takes.
 * `shared`: runs at a position, 0 at first; otherwise the channel has a range of its own. `tags` must outlive the
 * channel. */
int trv_mpi_channel_create(trv_mpi_channel_t **channel, MPI_Comm comm, trv_mpi_tags_t *tags, bool shared,
                           size_t piece_bytes);
/* The position of a shared channel's later runs. */
void trv_mpi_channel_place(trv_mpi_channel_t *channel, int position);
/* The rank that a plan's rank stands for, one for each; they must outlive the channel. NULL, as at first: itself. */
void trv_mpi_channel_map(trv_mpi_channel_t *channel, const int *member);
const int *trv_mpi_channel_members(const trv_mpi_channel_t *channel);
/* After the plan that used it. */
void trv_mpi_channel_destroy(trv_mpi_channel_t *channel);
const trv_transport_t *trv_mpi_channel_transport(const trv_mpi_channel_t *channel);

/* TRV_ERR_TRANSPORT with the text of an MPI error code. */
int trv_mpi_transport_error(const char *what, int code);

#endif
