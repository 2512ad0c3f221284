/*
 * Creates the schedule of the user's choice: that of the only member, of the member that is fastest in simulation, or
 * of the planner's choice.
 */
#include "cli/shared/choose.h"

#include <math.h>
#include <string.h>

#include <trivance/compare.h>

#include "algorithms/algorithm.h"
#include "base/error.h"
#include "cli/shared/progress.h"

int cli_finish_tori(cli_network_t *network, const cli_tori_t *tori)
{
    int rc = TRV_OK;
    if (network->links.count && tori->count > 1)
        return trv_fail(TRV_ERR_ARGUMENT, "--cut and --slow-link require a single torus; give one, for example 9");
    for (int t = 0; t < tori->count && !rc; t++)
        rc = cli_network_finish(network, &tori->torus[t]);
    return rc;
}

int cli_check_untimed(const cli_network_t *network, const cli_selection_t *selection, bool fastest)
{
    bool planned = false, avoids = false, slow = false;
    for (int i = 0; selection && i < selection->choices; i++) {
        const cli_choice_t *choice = &selection->choice[i];
        planned |= choice->planned || (fastest && choice->family);
        avoids |= strchr(choice->label, '@') != NULL;
        for (int m = 0; m < choice->members; m++)
            avoids |= choice->member[m]->any_network;
    }
    for (int i = 0; i < network->links.count; i++)
        slow |= strcmp(network->links.link[i].option, "--slow-link") == 0 && !isinf(network->links.link[i].slow.factor);
    if (slow && !planned && !avoids)
        return trv_fail(TRV_ERR_ARGUMENT, "--slow-link affects only times, and what is selected by them; leave it out");
    return planned || !cli_network_given(network, "messages-per-port")
               ? TRV_OK
               : trv_fail(TRV_ERR_ARGUMENT, "--messages-per-port affects only plans and limits; leave it out");
}

/* Finds the fastest member of a family. */
static int find_fastest(const cli_choice_t *choice, const trv_torus_t *torus, trv_collective_t collective, int root,
                        const trv_simulate_options_t *network, uint64_t vector_bytes, trv_planner_choice_t *best)
{
    trv_compare_row_t row;
    int rc = trv_compare_one(&(trv_compare_point_t){TRV_COMPARE_POINT, .torus = *torus, .network = network,
                                                    .collective = collective, .root = root,
                                                    .vector_bytes = vector_bytes, .algorithms = choice->label,
                                                    .as_planned = true},
                             &row);
    if (rc)
        return rc;
    memcpy(best->algorithm, row.algorithm, sizeof best->algorithm);
    best->time_ns = row.time_ns;
    return TRV_OK;
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
    trv_planner_choice_t best = {.time_ns = NAN};
    *schedule = NULL;
    *time = (cli_time_t){.ns = NAN};
    const char *name = choice->planned || choice->members > 1 ? best.algorithm : cli_member_name(choice, 0);
    int rc = choice->planned ? cli_planner_best(torus, collective, root, network, constraints, vector_bytes, &best)
             : choice->members > 1 ? find_fastest(choice, torus, collective, root, network, vector_bytes, &best)
                                   : TRV_OK;
    if (rc)
        return rc;
    *time = (cli_time_t){.ns = best.time_ns, .approximate = best.approximate};
    return trv_schedule_create_on(schedule, &on, name, collective, root);
}
