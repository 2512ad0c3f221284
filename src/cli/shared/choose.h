/*
 * Selection of a schedule for an algorithm, a family or `planned` on a torus and a network.
 */
#ifndef TRIVANCE_CLI_SHARED_CHOOSE_H
#define TRIVANCE_CLI_SHARED_CHOOSE_H

#include <trivance/planner.h>

#include "cli/shared/input.h"
#include "cli/shared/network_options.h"
#include "cli/shared/select.h"

/* A schedule's simulated time on a network. */
typedef struct cli_time {
    double ns; /* NAN: unknown */
    bool
        approximate; /* with enlarged packets (trv_simulate): marked with ~ in tables, which CLI_APPROXIMATE explains */
} cli_time_t;

#define CLI_APPROXIMATE "simulated with larger packets, because there are millions; usually within 1 %"

/* cli_network_finish for every torus; links require a single one. The pointers in the options are the same for all of
 * them. */
int cli_finish_tori(cli_network_t *network, const cli_tori_t *tori);

/* For commands that compute no times: rejects options of links that have no effect on the selected algorithms (NULL:
 * the schedule of a file). --messages-per-port affects plans, and --slow-link also names with @F and algorithms that
 * choose their links; both affect families if their `fastest` member is selected. */
int cli_check_untimed(const cli_network_t *network, const cli_selection_t *selection, bool fastest);

/* Calls trv_planner_best with a progress bar. */
int cli_planner_best(const trv_torus_t *torus, trv_collective_t collective, int root,
                     const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints,
                     uint64_t vector_bytes, trv_planner_choice_t *best);

/* Creates the schedule of the choice: of its only member, of the member that is fastest for the vector, or the plan
 * that satisfies the constraints (NULL: exact). The latter two are compared by simulation on this network with one
 * queue per link. Also stores the time of the schedule, which is unknown where nothing was simulated.
 * TRV_ERR_UNSUPPORTED with the reason where there is no schedule. */
int cli_choose(const cli_choice_t *choice, const trv_torus_t *torus, trv_collective_t collective, int root,
               const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints,
               uint64_t vector_bytes, trv_schedule_t **schedule, cli_time_t *time);

#endif
