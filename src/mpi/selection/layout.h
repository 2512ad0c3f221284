/*
 * A line, ring or mesh of ranks that is embedded in a set of machine nodes: the rank at each of its coordinates.
 */
#ifndef TRIVANCE_MPI_SELECTION_LAYOUT_H
#define TRIVANCE_MPI_SELECTION_LAYOUT_H

#include <trivance/network.h>

#include "mpi/communicator/state.h"

typedef struct trv_mpi_layout {
    int coordinate;          /* the coordinate of this rank, or of its node */
    int *member, *comm_rank; /* at every coordinate the rank in the domain, and the rank in the communicator */
} trv_mpi_layout_t;

/* Local: all ranks have the same list of nodes, and so compute the same layout. TRV_OK, TRV_ERR_MEMORY, or
 * TRV_ERR_STATE if the nodes are not known. */
int trv_mpi_layout_init(trv_mpi_layout_t *layout, const trv_mpi_state_t *state, trv_order_t order);
void trv_mpi_layout_clear(trv_mpi_layout_t *layout);

#endif
