/*
 * Creates the schedule of the user's choice: that of the only member, of the member that is fastest in simulation, or
 * of the planner's choice.
 */
#include "cli/shared/choose.h"

#include <math.h>

#include "cli/shared/network_options.h"
#include "cli/shared/progress.h"
#include "planner/timing.h"

/* Creates the schedule of the member that is fastest in simulation. */
static int schedule_fastest(const cli_choice_t *choice, const trv_torus_t *torus, trv_collective_t collective, int root,
                            const trv_simulate_options_t *network, uint64_t vector_bytes, trv_schedule_t **schedule,
                            double *best_ns)
{
    const trv_network_t on = cli_network_on(torus, network);
    int failure = TRV_OK;
    for (int i = 0; i < choice->members; i++) {
        trv_schedule_t *candidate;
        double time_ns = NAN;
        int rc = trv_schedule_create_on(&candidate, &on, cli_member_name(choice, i), collective, root);
        if (!rc && choice->members > 1 && (rc = trv_timing_find(candidate, network, vector_bytes, &time_ns)) != 0)
            trv_schedule_destroy(candidate);
        if (rc && rc != TRV_ERR_UNSUPPORTED) {
            trv_schedule_destroy(*schedule);
            *schedule = NULL;
            return rc;
        }
        if (rc) {
            failure = rc;
        } else if (*schedule && time_ns >= *best_ns) {
            trv_schedule_destroy(candidate);
        } else {
            trv_schedule_destroy(*schedule);
            *schedule = candidate;
            *best_ns = time_ns;
        }
    }
    return *schedule ? TRV_OK : failure;
}

int cli_planner_best(const trv_torus_t *torus, trv_collective_t collective, int root,
                     const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints,
                     uint64_t vector_bytes, trv_planner_choice_t *best)
{
    cli_progress_t progress;
    trv_span_t all = cli_progress_begin(&progress, "planning", 1);
    const trv_simulate_options_t reporting = cli_network_reporting(network, &all);
    int rc = trv_planner_best(torus, collective, root, vector_bytes, &reporting, constraints, best);
    cli_progress_end(&progress);
    return rc;
}

int cli_choose(const cli_choice_t *choice, const trv_torus_t *torus, trv_collective_t collective, int root,
               const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints,
               uint64_t vector_bytes, trv_schedule_t **schedule, cli_time_t *time)
{
    const trv_network_t on = cli_network_on(torus, network);
    trv_planner_choice_t best;
    *schedule = NULL;
    *time = (cli_time_t){.ns = NAN};
    if (!choice->planned)
        return schedule_fastest(choice, torus, collective, root, network, vector_bytes, schedule, &time->ns);
    int rc = cli_planner_best(torus, collective, root, network, constraints, vector_bytes, &best);
    if (rc)
        return rc;
    *time = (cli_time_t){.ns = best.time_ns, .modelled = best.modelled};
    return trv_schedule_create_on(schedule, &on, best.algorithm, collective, root);
}
