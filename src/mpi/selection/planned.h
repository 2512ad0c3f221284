/*
 * The planner behind auto, planned and families. It keeps its plans per process, so a second communicator of the same
 * shape is answered at once.
 */
#ifndef TRIVANCE_MPI_SELECTION_PLANNED_H
#define TRIVANCE_MPI_SELECTION_PLANNED_H

#include <stdint.h>

#include <trivance/planner.h>
#include <trivance/simulate.h>

#include "mpi/selection/choice.h"

/* All sizes of the class of `bytes`. */
void trv_mpi_class_bounds(uint64_t bytes, uint64_t *least, uint64_t *most);

/* The network of TRIVANCE_ALPHA & co., with a torus's slow and cut links, which it borrows. */
trv_simulate_options_t trv_mpi_network_as_set(const trv_mpi_state_t *state, const trv_network_t *links,
                                              unsigned shared_port);

/* What is right for `want`. */
trv_planner_constraints_t trv_mpi_constraints(const trv_mpi_want_t *want);

/* The fastest schedule that is right for `want`, of a family or (NULL) of all algorithms. Appends the reason to
 * choice->why; choice->algorithm = "" where there is none. TRV_OK, or a code of the core. */
int trv_mpi_planned(const trv_mpi_state_t *state, const trv_mpi_want_t *want, const char *family,
                    trv_mpi_choice_t *choice);

/* ---- Telling ----------------------------------------------------------------------------------------------------- */

/* Appends to choice->why. */
void trv_mpi_append(trv_mpi_choice_t *choice, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "planned: 4.473 us expected, of which …"; returns the unit of its times. */
typedef struct trv_mpi_unit {
    double ns;
    const char *name;
} trv_mpi_unit_t;
trv_mpi_unit_t trv_mpi_describe_plan(trv_mpi_choice_t *choice, const char *how, const trv_planned_t *plan);

/* "; planning took 12 ms", where it was long. */
void trv_mpi_describe_time(trv_mpi_choice_t *choice, double took_ms);

#endif
