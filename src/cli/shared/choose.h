/*
 * The schedule that a choice of the user becomes on a torus and a network.
 */
#ifndef TRIVANCE_CLI_SHARED_CHOOSE_H
#define TRIVANCE_CLI_SHARED_CHOOSE_H

#include <trivance/planner.h>

#include "cli/shared/select.h"

/* A schedule's time on a network: simulated, or that of its model where a plan has no more (trv_planned_t). */
typedef struct cli_time {
    double ns; /* NAN: unknown */
    bool modelled;
} cli_time_t;

/* trv_planner_best with a progress bar. */
int cli_plan_best(const trv_torus_t *torus, trv_collective_t collective, const trv_simulate_options_t *network,
                  const trv_planner_constraints_t *constraints, uint64_t vector_bytes, trv_planned_t *plan);

/* The schedule of the choice: of its only member, of the member that takes the vector fastest, or the plan that keeps
 * to the constraints (NULL: to be exact), the latter two as simulated on this network with one queue per link;
 * that time, unknown where nothing was simulated. TRV_ERR_UNSUPPORTED with the reason where there is none. */
int cli_choose(const cli_choice_t *choice, const trv_torus_t *torus, trv_collective_t collective,
               const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints,
               uint64_t vector_bytes, trv_schedule_t **schedule, cli_time_t *time);

#endif
