/*
 * A line or ring of ranks laid along a set of nodes: who is where in it.
 */
#ifndef TRIVANCE_MPI_SELECTION_LAYOUT_H
#define TRIVANCE_MPI_SELECTION_LAYOUT_H

#include <trivance/network.h>

#include "mpi/communicator/state.h"

typedef struct trv_mpi_layout {
    int place;          /* this rank's, or its node's */
    int *member, *name; /* of every place the rank in the domain, and in the communicator */
} trv_mpi_layout_t;

/* The same on all ranks, which all know the nodes. TRV_OK, or TRV_ERR_MEMORY. */
int trv_mpi_layout_init(trv_mpi_layout_t *layout, const trv_mpi_state_t *state, trv_order_t order);
void trv_mpi_layout_clear(trv_mpi_layout_t *layout);

#endif
