/*
 * Sets of nodes of a torus or mesh: orders of the nodes, plans on the whole machine, their times, and invalid sets.
 */
#include "verify_all.h"

#include <math.h>

#include "torus/rows.h"

#define trv_order_nodes(on, ...) trv_order_nodes(&(trv_network_t){TRV_NETWORK, .torus = *(on)}, __VA_ARGS__)

static unsigned long long seed = 1;

static int random_below(int limit)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((seed >> 33) % (unsigned)limit);
}

static trv_torus_t torus_of(const char *text)
{
    trv_torus_t torus;
    if (trv_torus_parse(text, &torus))
        fail_msg("%s: %s", text, trv_last_error());
    return torus;
}

enum { NODES_MAX = 64 };

static int random_nodes(const trv_torus_t *torus, int *node)
{
    int nodes = 0;
    for (int n = 0; n < torus->ranks && nodes < NODES_MAX; n++)
        if (random_below(3) > 0)
            node[nodes++] = n;
    return nodes;
}

/* The error states the reason: a cut link, even if other schedules were too much work to try; or a constraint. */
static void error_for_node_set_without_plan(void **state)
{
    const trv_torus_t torus = torus_of("8x8");
    const trv_slow_link_t cut[] = {{6, trv_port(0, -1), INFINITY}, {63, trv_port(1, -1), INFINITY}};
    const int node[] = {0,  2,  5,  6,  7,  8,  9,  13, 15, 16, 20, 21, 23, 24, 25, 26, 27, 29, 31, 32, 33, 34,
                        35, 36, 37, 38, 41, 42, 43, 45, 46, 47, 48, 50, 51, 52, 53, 55, 56, 57, 58, 59, 62};
    const trv_planner_constraints_t small = {TRV_PLANNER_CONSTRAINTS, .memory_bytes = 1};
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    trv_planner_node_choice_t plan;
    (void)state;
    assert_int_equal(trv_planner_nodes(&torus, 4, node, TRV_ALLREDUCE, 0, 2, &network, &small, 1, &plan),
                     TRV_ERR_UNSUPPORTED);
    assert_non_null(strstr(trv_last_error(), "meets all constraints"));
    network.slow_links = 2;
    network.slow_link = cut;
    network.routes = TRV_ROUTES_FIXED;
    assert_int_equal(trv_planner_nodes(&torus, sizeof node / sizeof *node, node, TRV_ALLREDUCE, 0, 2, &network, NULL, 1,
                                       &plan),
                     TRV_ERR_UNSUPPORTED);
    assert_non_null(strstr(trv_last_error(), "none of the schedules that were tried can run on the 43 nodes of 8x8: "));
    assert_non_null(strstr(trv_last_error(), ", which is cut"));
}

/* An order contains every node once, whatever order the input has. */
static void node_orders_are_permutations(void **state)
{
    static const char *const tori[] = {"9", "9m", "5x7", "4mx6", "3x4x5", "8mx8m"};
    (void)state;
    for (int turn = 0; turn < 60; turn++) {
        const trv_torus_t torus = torus_of(tori[turn % 6]);
        int node[NODES_MAX], nodes = random_nodes(&torus, node), again[NODES_MAX];
        bool seen[NODES_MAX] = {false};
        if (nodes == 0)
            continue;
        for (int i = 0; i < nodes; i++)
            again[i] = node[nodes - 1 - i];
        const trv_order_t order = turn % 2 ? TRV_ORDER_SNAKE : TRV_ORDER_THIRDS;
        assert_int_equal(trv_order_nodes(&torus, order, nodes, node), TRV_OK);
        assert_int_equal(trv_order_nodes(&torus, order, nodes, again), TRV_OK);
        for (int i = 0; i < nodes; i++) {
            assert_int_equal(node[i], again[i]);
            assert_false(seen[node[i]]);
            seen[node[i]] = true;
        }
    }
}

/* In the snake order of a box, successive nodes are neighbours; it begins behind the gap of the ring. */
static void snake_order_visits_neighbours(void **state)
{
    int box[12], across[] = {0, 1, 14, 15};
    const trv_torus_t torus = torus_of("16x16"), ring = torus_of("16");
    (void)state;
    for (int i = 0; i < 12; i++)
        box[i] = i / 4 * 16 + i % 4;
    assert_int_equal(trv_order_nodes(&torus, TRV_ORDER_SNAKE, 12, box), TRV_OK);
    for (int i = 0; i + 1 < 12; i++) {
        trv_route_t route;
        trv_route_begin(&route, &torus, box[i], box[i + 1], box[i] / 16 == box[i + 1] / 16 ? 2 : 0, 0);
        if (box[i + 1] < box[i] && box[i] / 16 == box[i + 1] / 16)
            trv_route_begin(&route, &torus, box[i], box[i + 1], 3, 0);
        assert_int_equal(trv_route_length(&route), 1);
    }
    assert_int_equal(trv_order_nodes(&ring, TRV_ORDER_SNAKE, 4, across), TRV_OK);
    assert_int_equal(across[0], 14);
    assert_int_equal(across[3], 1);
}

/* An order is found at once on a ring of millions; of two equally wide gaps the one that begins first counts. */
static void node_sets_begin_after_the_widest_gap(void **state)
{
    static const struct {
        const char *ring;
        int nodes, node[4], first;
    } set[] = {{"9", 1, {4}, 4},          {"9", 2, {0, 5}, 5},
               {"8", 2, {0, 4}, 4},       {"8", 2, {2, 6}, 6},
               {"9", 4, {1, 2, 5, 6}, 1}, {"9", 3, {0, 3, 6}, 3},
               {"12", 3, {2, 5, 6}, 2},   {"10000000", 2, {1, 9999999}, 9999999}};
    (void)state;
    for (size_t i = 0; i < sizeof set / sizeof set[0]; i++) {
        const trv_torus_t ring = torus_of(set[i].ring);
        int node[4];
        memcpy(node, set[i].node, sizeof node);
        assert_int_equal(trv_order_nodes(&ring, TRV_ORDER_SNAKE, set[i].nodes, node), TRV_OK);
        assert_int_equal(node[0], set[i].first);
    }
}

/* No part of a plan's time is negative; 0 bytes take less than one byte, which is reduced. */
static void parts_on_a_set_of_nodes(void **state)
{
    static const int node[] = {22, 7, 17, 44, 15, 41, 21, 10, 18, 36};
    const trv_torus_t torus = torus_of("3x3x5");
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    trv_planner_node_choice_t plan[64];
    (void)state;
    network.gamma_ns = 1;
    const int plans = trv_planner_nodes(&torus, sizeof node / sizeof *node, node, TRV_ALLREDUCE, 0, 0, &network, NULL,
                                        64, plan);
    assert_true(plans > 8);
    for (int i = 0; i < plans; i++) {
        const trv_planner_choice_t *parts = &plan[i].choice;
        assert_true(parts->alpha_ns >= 0 && parts->hops_ns >= 0 && parts->transmission_ns >= 0);
        assert_true(fabs(parts->alpha_ns + parts->hops_ns + parts->transmission_ns - parts->time_ns) < 0.001);
    }
}

/* The plan is faster than the baseline, and the schedule that it names has the simulated time of the plan. */
static void plans_for_a_set_of_nodes(void **state)
{
    const trv_torus_t torus = torus_of("16x16");
    const trv_network_t machine = {TRV_NETWORK, .torus = torus};
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    trv_planner_node_choice_t plan[64];
    int node[29], nodes = 0;
    (void)state;
    for (int n = 0; n < 41; n++)
        if (n < 10 || (n >= 16 && n < 26) || n >= 32)
            node[nodes++] = n;
    assert_int_equal(nodes, 29);
    network.messages_per_port = 0;
    const int plans = trv_planner_nodes(&torus, nodes, node, TRV_ALLREDUCE, 0, 32, &network, NULL, 64, plan);
    assert_true(plans > 8);
    double recdoub_ns = INFINITY;
    for (int i = 0; i < plans; i++) {
        assert_int_equal(plan[i].torus.ranks, nodes);
        assert_true(i == 0 || plan[i].choice.time_ns >= plan[i - 1].choice.time_ns);
        if (strcmp(plan[i].choice.algorithm, "recdoub-l") == 0)
            recdoub_ns = fmin(recdoub_ns, plan[i].choice.time_ns);
    }
    assert_false(isinf(recdoub_ns));
    assert_true(plan[0].choice.time_ns < recdoub_ns / 1.25);

    trv_schedule_t *schedule, *embedded;
    trv_simulator_t *simulator;
    trv_simulation_t result;
    assert_int_equal(trv_order_nodes(&torus, plan[0].order, nodes, node), TRV_OK);
    assert_int_equal(trv_schedule_create(&schedule, &plan[0].torus, plan[0].choice.algorithm, TRV_ALLREDUCE), TRV_OK);
    assert_int_equal(trv_schedule_embed(&embedded, schedule, &machine, node), TRV_OK);
    assert_int_equal(trv_simulator_create(&simulator, embedded), TRV_OK);
    assert_int_equal(trv_simulate(simulator, &network, 32, &result), TRV_OK);
    assert_true(fabs(result.time_ns - plan[0].choice.time_ns) < 0.001);
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(embedded);
}

/* An algorithm that ignores the network is slower on scattered ranks; of a large ring the bound is returned. */
static int nodes_time(const trv_torus_t *torus, int nodes, const int *node, const trv_simulate_options_t *network,
                      const char *algorithm, double *ns, bool *bound)
{
    return trv_planner_nodes_time(torus, nodes, node, TRV_ALLREDUCE, 0, 32, network, algorithm, ns, bound);
}

static void times_on_a_set_of_nodes(void **state)
{
    const trv_torus_t torus = torus_of("32x32"), small = torus_of("3x3");
    const trv_slow_link_t cut[] = {{0, trv_port(0, 1), INFINITY}};
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    trv_planner_node_choice_t plan;
    double ns, other_ns;
    bool bound;
    int node[1023];
    (void)state;
    for (int i = 0; i < 1023; i++)
        node[i] = i;
    assert_int_equal(nodes_time(&torus, 8, node, &network, "recdoub-l", &ns, &bound), 0);
    assert_false(bound);
    node[1] = 500;
    assert_int_equal(nodes_time(&torus, 8, node, &network, "recdoub-l", &other_ns, &bound), 0);
    assert_true(other_ns > ns);
    node[1] = 1;
    assert_int_equal(nodes_time(&torus, 1023, node, &network, "ring", &ns, &bound), 0);
    const double steps = 2 * 1022; /* each over at least one link, but for that between the last and the first node */
    assert_true(bound && ns >= steps * network.alpha_ns);
    assert_true(ns < steps * (network.alpha_ns + 1000));
    assert_int_equal(nodes_time(&torus, 3, node, &network, "no", &ns, &bound), TRV_ERR_ARGUMENT);

    /* Nodes 0 and 3 of a column whose link between them is cut: the long way round has the same time. */
    const int pair[] = {0, 3};
    assert_int_equal(nodes_time(&small, 2, pair, &network, "ring", &ns, &bound), 0);
    network.slow_links = 1;
    network.slow_link = cut;
    assert_int_equal(nodes_time(&small, 2, pair, &network, "ring", &other_ns, &bound), 0);
    assert_true(other_ns > ns);

    /* From 0 to 4 by a corner whose second link is cut, with fixed routes: the time without cuts is the lower bound. */
    const int corner[] = {0, 4}, bent[] = {0, 1, 8192};
    const trv_slow_link_t turn[] = {{3, trv_port(1, 1), INFINITY}};
    network.routes = TRV_ROUTES_FIXED;
    network.slow_links = 0;
    assert_int_equal(nodes_time(&small, 2, corner, &network, "ring", &ns, &bound), 0);
    assert_false(bound);
    network.slow_links = 1;
    network.slow_link = turn;
    assert_int_equal(nodes_time(&small, 2, corner, &network, "ring", &other_ns, &bound), 0);
    assert_true(bound && other_ns == ns); /* finite */
    /* The work is limited: on this machine a single step of all nodes exceeds the limit. */
    const trv_torus_t larger = torus_of("8192x8192");
    network.slow_links = 0;
    assert_int_equal(trv_planner_nodes(&larger, 3, bent, TRV_ALLREDUCE, 0, 32, &network, NULL, 1, &plan),
                     TRV_ERR_UNSUPPORTED);
    assert_non_null(strstr(trv_last_error(), "3 nodes of 8192x8192 are too many to simulate"));
}

static void rejects_invalid_node_sets(void **state)
{
    const trv_torus_t torus = torus_of("4x4");
    const trv_network_t machine = {TRV_NETWORK, .torus = torus};
    const trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    int twice[] = {1, 2, 1}, beyond[] = {16}, pair[] = {3, 3};
    trv_schedule_t *schedule, *embedded;
    trv_planner_node_choice_t plan;
    (void)state;
    assert_int_equal(trv_order_nodes(&torus, TRV_ORDER_SNAKE, 3, twice), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "node 1 is listed twice"));
    assert_int_equal(trv_order_nodes(&torus, TRV_ORDER_THIRDS, 1, beyond), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_order_nodes(&torus, TRV_ORDER_THIRDS, 0, beyond), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_planner_nodes(&torus, 3, twice, TRV_ALLREDUCE, 0, 32, &network, NULL, 1, &plan),
                     TRV_ERR_ARGUMENT);
    const trv_torus_t two = torus_of("2");
    assert_int_equal(trv_schedule_create(&schedule, &two, "trivance-l", TRV_ALLREDUCE), TRV_OK);
    assert_int_equal(trv_schedule_embed(&embedded, schedule, &machine, pair), TRV_ERR_ARGUMENT);
    assert_null(embedded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(node_orders_are_permutations),
        cmocka_unit_test(snake_order_visits_neighbours),
        cmocka_unit_test(node_sets_begin_after_the_widest_gap),
        cmocka_unit_test(plans_for_a_set_of_nodes),
        cmocka_unit_test(parts_on_a_set_of_nodes),
        cmocka_unit_test(times_on_a_set_of_nodes),
        cmocka_unit_test(rejects_invalid_node_sets),
        cmocka_unit_test(error_for_node_set_without_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
