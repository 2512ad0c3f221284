/*
 * The input of the choice of a schedule: the network of a communicator, its shared paths, and the settings.
 */
#ifndef TRIVANCE_MPI_SELECTION_CHOOSER_H
#define TRIVANCE_MPI_SELECTION_CHOOSER_H

#include "collective/choice.h"
#include "mpi/communicator/state.h"
#include "mpi/operations/call_arguments.h"

/* `network`: the communicator's, or that of the whole job if the communicator has only some of its nodes.
 * `shared_port`: bit d is set if both directions of dimension d share one port. */
trv_chooser_t trv_mpi_chooser(const trv_mpi_state_t *state, const trv_network_t *network, unsigned shared_port);

/* The torus coordinate of the root for which a schedule is chosen: 0 if decisions apply to all roots. */
int trv_mpi_chooser_root(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments);

#endif
