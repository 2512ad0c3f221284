/*
 * The network of a communicator and the settings, for which schedules are chosen.
 */
#ifndef TRIVANCE_MPI_SELECTION_CHOOSER_H
#define TRIVANCE_MPI_SELECTION_CHOOSER_H

#include "collective/choice.h"
#include "mpi/communicator/state.h"

/* On this network: the communicator's own, or that of the whole job, of which it has some nodes. shared_port: bits of
 * dimensions both of whose ways leave by one port. */
trv_chooser_t trv_mpi_chooser(const trv_mpi_state_t *state, const trv_network_t *network, unsigned shared_port);

#endif
