/*
 * The planner behind auto, planned and families. It keeps its plans per process, so a second communicator of the same
 * shape is answered at once.
 */
#ifndef TRIVANCE_MPI_SELECTION_PLANNED_H
#define TRIVANCE_MPI_SELECTION_PLANNED_H

#include <stdint.h>

#include <trivance/simulate.h>

#include "mpi/selection/choice.h"

/* All sizes of the class of `bytes`. */
void trv_mpi_class_bounds(uint64_t bytes, uint64_t *least, uint64_t *most);

/* The network of TRIVANCE_ALPHA & co., or one that was measured, as the simulator takes it: one queue per link, delivery
 * of the tail, a hop costs hop_ns, a message overhead_ns of its sender's processor, all else as in
 * TRV_SIMULATE_DEFAULTS. */
trv_simulate_options_t trv_mpi_network(double alpha_ns, double bandwidth_bps, double hop_ns, double overhead_ns);

/* The fastest schedule that is right for `want`, of a family or (NULL) of all algorithms. Appends the reason to
 * choice->why; choice->algorithm = "" where there is none. TRV_OK, or a code of the core. */
int trv_mpi_planned(const trv_mpi_state_t *state, const trv_mpi_want_t *want, const char *family,
                    trv_mpi_choice_t *choice);

#endif
