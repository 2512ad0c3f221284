/*
 * Channels that send their messages by libfabric (transport/fabric) instead of MPI, with TRIVANCE_TRANSPORT=ofi. The
 * contract of a channel (channel.h) is the same.
 */
#ifndef TRIVANCE_TRANSPORT_MPI_FABRIC_CHANNEL_H
#define TRIVANCE_TRANSPORT_MPI_FABRIC_CHANNEL_H

#include <mpi.h>

#include "transport/mpi/channel.h"

struct trv_fabric;

/* Sets the function that returns the fabric of a communicator, which has the same ranks, or NULL if the communicator
 * has none. Called before a channel is created, and with NULL when the fabrics are closed. */
void trv_mpi_channel_set_fabric_lookup(struct trv_fabric *(*lookup)(MPI_Comm comm));

/* Makes a new channel use libfabric if its communicator has a fabric. */
void trv_mpi_channel_use_fabric(trv_mpi_channel_t *channel);

#endif
