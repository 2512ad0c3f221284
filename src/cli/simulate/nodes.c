/*
 * trivance simulate --nodes: the plan for a set of nodes, and named algorithms with their ranks in the order of the
 * plan. Each schedule is embedded in the machine; the comparison takes it as a schedule of the caller.
 */
#include <stdlib.h>
#include <string.h>

#include <trivance/network.h>

#include "base/append.h"
#include "base/error.h"
#include "cli/simulate/simulate.h"

int cli_simulate_expand(cli_selection_t *selection)
{
    const cli_selection_t asked = *selection;
    char list[CLI_CHOICES_MAX * TRV_ALGORITHM_NAME_MAX] = "";
    for (int i = 0; i < asked.choices; i++)
        for (int m = 0; m < (asked.choice[i].family ? asked.choice[i].members : 1); m++)
            trv_append(list, sizeof list, "%s%s", *list ? "," : "",
                       asked.choice[i].planned ? asked.choice[i].label : cli_member_name(&asked.choice[i], m));
    const int rc = cli_select(list, selection);
    selection->all = asked.all;
    return rc;
}

int cli_simulate_shapes(int nodes, trv_torus_t *ring, trv_torus_t *line)
{
    int rc = trv_torus_init(ring, 1, &nodes);
    if (!rc)
        rc = trv_torus_init(line, 1, &nodes);
    return rc ? rc : trv_torus_set_lines(line, nodes > 1);
}

/* Embeds the schedule of a point in the machine, along the nodes in the order of the plan. That of a named algorithm is
 * for the torus of the plan if that is a box; otherwise, or if it is not supported, for a ring of the nodes, or else
 * for a line. */
static int embed(const cli_group_t *group, const trv_planner_node_choice_t *plan, const int *node, int root_node,
                 cli_point_t *point)
{
    const trv_network_t machine = cli_network_on(&group->torus, &group->options);
    const bool planned = point->choice->planned;
    const char *name = planned ? plan->choice.algorithm : point->choice->label;
    trv_torus_t shape[3] = {plan->torus};
    trv_schedule_t *schedule;
    int root = 0, rc = cli_simulate_shapes(group->nodes, &shape[1], &shape[2]);
    while (root_node >= 0 && node[root] != root_node)
        root++;
    if (!rc)
        rc = TRV_ERR_UNSUPPORTED;
    for (int i = planned || plan->torus.dims > 1 ? 0 : 1; i < 3 && rc == TRV_ERR_UNSUPPORTED; i++)
        rc = trv_schedule_create_on(&schedule, &(trv_network_t){TRV_NETWORK, .torus = shape[i]}, name,
                                    group->collective, root);
    if (rc)
        return trv_fail(rc, "%s cannot run on these nodes: %s", name, trv_last_error());
    return trv_schedule_embed(&point->schedule, schedule, &machine, node);
}

int cli_simulate_nodes(cli_group_t *group, const int *listed, trv_span_t span)
{
    const trv_network_t machine = cli_network_on(&group->torus, &group->options);
    const trv_simulate_options_t network = cli_network_reporting(&group->options, &span);
    int *node = malloc((size_t)group->nodes * sizeof *node), rc = node ? TRV_OK : trv_fail_memory();
    for (int size = 0; size < group->sizes && !rc; size++) {
        trv_planner_node_choice_t *plan = &group->plan[size];
        rc = trv_planner_nodes(&group->torus, group->nodes, listed, group->collective, group->root,
                               group->point[size].bytes, &network, NULL, 1, plan);
        memcpy(node, listed, (size_t)group->nodes * sizeof *node);
        rc = rc < 0 ? rc : trv_order_nodes(&machine, plan->order, group->nodes, node);
        for (int line = 0; line < group->lines && !rc; line++)
            rc = embed(group, plan, node, trv_collective_has_root(group->collective) ? listed[group->root] : -1,
                       &group->point[line * group->sizes + size]);
    }
    free(node);
    return rc;
}
