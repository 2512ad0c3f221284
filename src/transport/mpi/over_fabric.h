/*
 * Channels whose messages go over libfabric (transport/fabric) instead of MPI: TRIVANCE_TRANSPORT=ofi. What a channel promises
 * stays as it is (channel.h).
 */
#ifndef TRIVANCE_TRANSPORT_MPI_OVER_FABRIC_H
#define TRIVANCE_TRANSPORT_MPI_OVER_FABRIC_H

#include <mpi.h>

#include "transport/mpi/channel.h"

struct trv_fabric;

/* The fabric of a communicator, whose ranks it has; or NULL. Set once, before any channel is made. */
void trv_mpi_find_fabric(struct trv_fabric *(*find)(MPI_Comm comm));

/* Makes the channel one of those, if it is to be. */
void trv_mpi_channel_over(trv_mpi_channel_t *channel);

#endif
