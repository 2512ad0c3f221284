/*
 * The decisions of a communicator, latest used first. Only the order of calls decides which are kept, so all ranks keep
 * the same ones.
 */
#ifndef TRIVANCE_MPI_SELECTION_KEPT_H
#define TRIVANCE_MPI_SELECTION_KEPT_H

#include "mpi/selection/decide.h"

/* The decision for a call; NULL: there is none yet. The first is for predefined types and operations, whose handles
 * alone tell the kind. */
trv_mpi_decision_t *trv_mpi_kept_find(trv_mpi_state_t *state, const trv_mpi_arguments_t *call);
trv_mpi_decision_t *trv_mpi_kept_look(trv_mpi_state_t *state, const trv_mpi_want_t *want);

/* The decision for a call, made collectively if there is none. TRV_MPI_DECIDED, or why there is none. */
trv_mpi_verdict_t trv_mpi_kept_get(trv_mpi_state_t *state, const trv_mpi_want_t *want, bool on_device,
                                   trv_mpi_decision_t **decision);

/* Tells the communicator's room who stands above. Before the first state is made; any number of times. */
void trv_mpi_kept_begin(void);

#endif
