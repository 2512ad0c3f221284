/*
 * trivance simulate --nodes: the plan for a set of nodes, and named algorithms with their ranks in the order of the plan.
 * Each schedule is embedded in the machine; the comparison takes it as a schedule of the caller.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/network.h>

#include "base/append.h"
#include "base/error.h"
#include "cli/simulate/simulate.h"

typedef struct job_nodes {
    cli_group_t *group;
    trv_network_t machine;
    int root; /* the node of the root */
    int *node;
} job_nodes_t;

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

/* The schedule of a name on the torus of the plan if that is a box; otherwise, or if the algorithm does not support it,
 * on a ring of the nodes, or else a line. That of the plan is on its own torus. */
static int create_schedule(const job_nodes_t *nodes, const trv_planner_node_choice_t *plan, bool planned,
                           const char *name, trv_schedule_t **schedule)
{
    const int count = nodes->group->nodes;
    int root = 0, rc = TRV_ERR_UNSUPPORTED;
    trv_torus_t shape[3] = {plan->torus};
    for (int i = 1; i < 3; i++)
        if (trv_torus_init(&shape[i], 1, &count) || trv_torus_set_lines(&shape[i], i == 2 && count > 1))
            return TRV_ERR_ARGUMENT;
    for (int i = 0; i < count && trv_collective_has_root(nodes->group->collective); i++)
        root = nodes->node[i] == nodes->root ? i : root;
    for (int i = planned || plan->torus.dims > 1 ? 0 : 1; i < 3 && rc == TRV_ERR_UNSUPPORTED; i++)
        rc = trv_schedule_create_on(schedule, &(trv_network_t){TRV_NETWORK, .torus = shape[i]}, name,
                                    nodes->group->collective, root);
    return rc;
}

/* Embeds the schedule of a point, in the order of the plan; an unsupported algorithm has the reason instead. */
static int embed(const job_nodes_t *nodes, const trv_planner_node_choice_t *plan, cli_point_t *point)
{
    trv_schedule_t *schedule;
    const char *name = point->choice->planned ? plan->choice.algorithm : point->choice->label;
    snprintf(point->row.algorithm, sizeof point->row.algorithm, "%s", name);
    int rc = trv_order_nodes(&nodes->machine, plan->order, nodes->group->nodes, nodes->node);
    if (!rc)
        rc = create_schedule(nodes, plan, point->choice->planned, name, &schedule);
    if (!rc)
        rc = trv_schedule_embed(&point->schedule, schedule, &nodes->machine, nodes->node);
    if (rc != TRV_ERR_UNSUPPORTED)
        return rc;
    point->row.code = rc;
    point->reason = strdup(trv_last_error());
    point->row.reason = point->reason;
    return point->reason ? TRV_OK : trv_fail_memory();
}

static int plan_size(job_nodes_t *nodes, const cli_simulate_t *job, int size, trv_span_t span)
{
    cli_group_t *group = nodes->group;
    const trv_simulate_options_t network = cli_network_reporting(&group->options, &span);
    int rc = trv_planner_nodes(&group->torus, group->nodes, nodes->node, group->collective, group->root,
                               job->bytes[size], &network, NULL, 1, &group->plan[size]);
    rc = rc < 0 ? rc : TRV_OK;
    for (int line = 0; line < group->lines && !rc; line++)
        rc = embed(nodes, &group->plan[size], &group->point[line * group->sizes + size]);
    return rc;
}

int cli_simulate_nodes(const cli_simulate_t *job, cli_group_t *group, trv_span_t span)
{
    int *listed = malloc((size_t)group->torus.ranks * sizeof *listed);
    job_nodes_t nodes = {.group = group, .machine = cli_network_on(&group->torus, &group->options)};
    nodes.node = malloc((size_t)group->torus.ranks * sizeof *nodes.node);
    int rc = listed && nodes.node ? cli_read_nodes(job->nodes, group->torus.ranks, listed, &group->nodes)
                                  : trv_fail_memory();
    if (!rc)
        rc = trv_collective_check(group->collective, group->root, group->nodes);
    for (int size = 0; size < group->sizes && !rc; size++) {
        memcpy(nodes.node, listed, (size_t)group->nodes * sizeof *listed);
        nodes.root = listed[group->root];
        rc = plan_size(&nodes, job, size, trv_span(span, (double)size / group->sizes, 1.0 / group->sizes));
    }
    free(nodes.node);
    free(listed);
    return rc;
}
