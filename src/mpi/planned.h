/*
 * The planner behind auto, planned and families: it is asked once per communicator, collective, class of sizes and kind
 * of operation, and its answer is kept.
 *
 * All that it is asked is the same on all ranks, and it is limited by work, not by time, so the answer is, too.
 */
#ifndef TRIVANCE_MPI_PLANNED_H
#define TRIVANCE_MPI_PLANNED_H

#include <stdint.h>

#include <trivance/simulate.h>

#include "mpi/choose.h"

/* The network of TRIVANCE_ALPHA & co., or one that was measured, as the simulator takes it: one queue per link, delivery
 * of the tail, a hop costs hop_ns, a message overhead_ns of its sender's processor, all else as in
 * TRV_SIMULATE_DEFAULTS. */
trv_simulate_options_t trv_mpi_network(double alpha_ns, double bandwidth_bps, double hop_ns, double overhead_ns);

/* The fastest schedule that is right for `want`, of a family or (NULL) of all algorithms. Appends the reason to
 * choice->why; choice->schedule = NULL where there is none. */
int trv_mpi_planned(trv_mpi_state_t *state, const trv_mpi_want_t *want, const char *family, trv_mpi_choice_t *choice);

/* Forgets the state's answers: its torus changes. */
void trv_mpi_planned_clear(trv_mpi_state_t *state);

#endif
