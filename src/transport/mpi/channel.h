/*
 * The transport of the executor over MPI point-to-point messages.
 *
 * A *channel* is the transport of one plan: its messages are sent on an internal communicator of the library, which
 * returns errors. The caller allocates the tags. A channel uses TRV_MPI_POSITION_TAGS tags from its first tag on; two
 * channels that may run at the same time between the same ranks need different tags.
 *
 * The length of every message is checked. If it is not the expected one, `test` returns TRV_ERR_TRANSPORT with a
 * message that names the sender by its rank in the communicator. A receive never writes beyond its buffer. A slot is
 * free again when its `test` has returned another value than 0.
 *
 * `cancel` waits until MPI no longer writes to memory of the caller. A send that its receiver has not accepted is
 * abandoned after some time, because neither MPI library can cancel it, and `cancel` returns 1: MPI reads the send's
 * memory if a later receive matches the message. Therefore the tags of a failed run must not be used again, nor may the
 * memory be freed.
 */
#ifndef TRIVANCE_TRANSPORT_MPI_CHANNEL_H
#define TRIVANCE_TRANSPORT_MPI_CHANNEL_H

#include <stddef.h>

#include <mpi.h>

#include <trivance/execute.h>

/* The tags of a position: those of the plan, then for each of them one for large messages (messages.c), then one that
 * channels do not use: the out-of-band group has it. */
#define TRV_MPI_LANE_TAGS     64
#define TRV_MPI_POSITION_TAGS (2 * TRV_MPI_LANE_TAGS + 1)
#define TRV_MPI_OOB_TAG       (TRV_MPI_POSITION_TAGS - 1)
/* The number of positions of a context id. Runs on one communicator that may overlap use different positions: one is
 * for blocking calls, the others are for requests. */
#define TRV_MPI_POSITIONS 16

typedef struct trv_mpi_channel trv_mpi_channel_t;

/* Creates a channel whose first tag is 0. Messages of more than `fragment_bytes` are sent as a header and fragments of
 * at most this size; 0: INT_MAX, the maximum of one MPI call. It must be the same on both sides. `comm` is not
 * owned. */
int trv_mpi_channel_create(trv_mpi_channel_t **channel, MPI_Comm comm, size_t fragment_bytes);
/* Sets the first tag of later runs. */
void trv_mpi_channel_set_tag(trv_mpi_channel_t *channel, int first_tag);
/* Sets the rank in the communicator for every rank of the plan; the array must outlive the channel. NULL, the initial
 * value: both numbers are equal. */
void trv_mpi_channel_set_members(trv_mpi_channel_t *channel, const int *member);
/* The plan that uses the channel must have been destroyed. */
void trv_mpi_channel_destroy(trv_mpi_channel_t *channel);
const trv_transport_t *trv_mpi_channel_transport(const trv_mpi_channel_t *channel);

#endif
