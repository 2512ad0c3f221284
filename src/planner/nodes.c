/*
 * Plans for any set of nodes: a line or a ring of ranks is laid along the nodes in several orders. What the planner
 * thinks best for such a line or ring by itself, and what Trivance is compared with, is simulated on the machine.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/algorithms.h>
#include <trivance/network.h>
#include <trivance/planner.h>

#include "common/error.h"
#include "planner/timing.h"

#define NAMES_MAX 64
#define BEST      8   /* of the line, and of the ring */
#define HOPS_MAX  1e6 /* of packets in one simulation */

typedef struct question {
    const trv_torus_t *machine;
    int nodes, *node; /* in the present order */
    trv_collective_t collective;
    uint64_t vector_bytes;
    trv_simulate_options_t network;
    int room, plans;
    trv_node_plan_t *plan; /* the best so far, the fastest first */
} question_t;

typedef struct names {
    int count;
    trv_planned_t name[NAMES_MAX];
} names_t;

static void add_name(names_t *names, const trv_planned_t *plan)
{
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->name[i].algorithm, plan->algorithm) == 0)
            return;
    if (names->count < NAMES_MAX)
        names->name[names->count++] = *plan;
}

/* Those whose time on the line or ring itself is best, and all that Trivance is compared with. */
static int find_names(const question_t *question, const trv_torus_t *torus,
                      const trv_planner_constraints_t *constraints, names_t *names)
{
    trv_planner_t *planner;
    trv_planned_t best[BEST];
    names->count = 0;
    int rc = trv_planner_create(&planner, torus, question->collective, &question->network, constraints);
    if (rc)
        return rc;
    int found = trv_planner_rank(planner, question->vector_bytes, BEST, best);
    for (int i = 0; i < found; i++)
        add_name(names, &best[i]);
    for (int i = 0; i < trv_algorithms_count() && found >= 0; i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if (trv_algorithm_baseline(algorithm) &&
            trv_planner_time(planner, question->vector_bytes, trv_algorithm_name(algorithm), best) == TRV_OK)
            add_name(names, best);
    }
    trv_planner_destroy(planner);
    return found < 0 ? found : TRV_OK;
}

/* The schedule on the machine. */
static int place(const question_t *question, const trv_torus_t *torus, const char *name, trv_simulator_t **simulator)
{
    trv_schedule_t *schedule, *placed;
    *simulator = NULL;
    int rc = trv_schedule_create(&schedule, torus, name, question->collective);
    const trv_network_t network = {TRV_NETWORK, .torus = *question->machine, .slow_links = question->network.slow_links,
                                   .slow_link = question->network.slow_link};
    if (!rc)
        rc = trv_schedule_place(&placed, schedule, &network, question->node);
    if (rc)
        return rc;
    rc = trv_simulator_create(simulator, placed);
    trv_schedule_destroy(placed);
    return rc;
}

static void insert(question_t *question, const trv_node_plan_t *plan)
{
    int at = question->plans;
    if (at == question->room && question->plan[--at].plan.time_ns <= plan->plan.time_ns)
        return;
    for (; at > 0 && question->plan[at - 1].plan.time_ns > plan->plan.time_ns; at--)
        question->plan[at] = question->plan[at - 1];
    question->plan[at] = *plan;
    question->plans += question->plans < question->room;
}

/* A schedule whose messages would pass a cut link is none here. */
static int try_plan(question_t *question, trv_order_t order, const trv_torus_t *torus, const trv_planned_t *name)
{
    trv_simulator_t *simulator;
    trv_simulation_t result, empty;
    trv_node_plan_t plan = {.order = order, .torus = *torus, .plan = *name};
    int rc = place(question, torus, name->algorithm, &simulator);
    if (rc)
        return rc;
    const trv_simulate_options_t network = trv_timing_packets(simulator, &question->network, question->vector_bytes,
                                                              HOPS_MAX);
    rc = trv_simulate(simulator, &network, question->vector_bytes, &result);
    if (!rc)
        rc = trv_simulate(simulator, &network, 1, &empty);
    trv_simulator_destroy(simulator);
    if (rc)
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    plan.plan.time_ns = result.time_ns;
    plan.plan.hops_ns = empty.time_ns - plan.plan.alpha_ns;
    plan.plan.transmission_ns = result.time_ns - empty.time_ns;
    insert(question, &plan);
    return TRV_OK;
}

/* What makes links differ is of the machine: the line or ring by itself has only equal ones. */
static int try_shape(question_t *question, unsigned lines, const trv_planner_constraints_t *constraints)
{
    trv_torus_t torus;
    names_t *names = malloc(sizeof *names);
    int rc = names ? trv_torus_init(&torus, 1, &question->nodes) : trv_fail_memory();
    if (!rc)
        rc = trv_torus_set_lines(&torus, lines);
    question_t alone = *question;
    alone.network = trv_timing_network(&question->network);
    alone.network.slow_links = 0;
    alone.network.slow_link = NULL;
    if (!rc)
        rc = find_names(&alone, &torus, constraints, names);
    for (int order = TRV_ORDER_SNAKE; order <= TRV_ORDER_THIRDS && !rc; order++) {
        rc = trv_order_nodes(question->machine, (trv_order_t)order, question->nodes, question->node);
        for (int i = 0; !rc && i < names->count; i++)
            rc = try_plan(question, (trv_order_t)order, &torus, &names->name[i]);
    }
    free(names);
    return rc;
}

int trv_planner_nodes(const trv_torus_t *machine, int nodes, const int *node, trv_collective_t collective,
                      uint64_t vector_bytes, const trv_simulate_options_t *network,
                      const trv_planner_constraints_t *constraints, int room, trv_node_plan_t *plan)
{
    question_t question = {machine, nodes, NULL, collective, vector_bytes, *network, room, 0, plan};
    if (room < 1 || nodes < 1)
        return trv_fail(TRV_ERR_ARGUMENT, "a plan for %d nodes, %d of them: it takes one at least of either", nodes,
                        room);
    question.node = malloc((size_t)nodes * sizeof *question.node);
    if (!question.node)
        return trv_fail_memory();
    memcpy(question.node, node, (size_t)nodes * sizeof *node);
    question.network.model = TRV_FIFO;
    question.network.buffer_bytes = 0;
    question.network.full = question.network.link_loads = false;
    question.network.observer = NULL;
    int rc = trv_order_nodes(machine, TRV_ORDER_SNAKE, nodes, question.node);
    if (!rc && nodes > 1)
        rc = try_shape(&question, 1, constraints);
    if (!rc)
        rc = try_shape(&question, 0, constraints);
    free(question.node);
    if (!rc && question.plans == 0)
        return trv_fail(TRV_ERR_UNSUPPORTED, "between some of the %d nodes every message would pass a link that is cut",
                        nodes);
    return rc ? rc : question.plans;
}
