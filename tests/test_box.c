/*
 * Sets of nodes that form a torus or mesh are recognised and planned as that torus or mesh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/network.h>
#include <trivance/planner.h>
#include <trivance/simulate.h>

#include "exhaustive.h"
#include "torus/box.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static trv_torus_t torus_of(const char *text)
{
    trv_torus_t torus;
    assert_int_equal(trv_torus_parse(text, &torus), TRV_OK);
    return torus;
}

/* Lists the nodes whose coordinate in each dimension d is one of the size[d] coordinates from begin[d] on, around the
 * ring. */
static int list_nodes(const trv_torus_t *machine, const int *begin, const int *size, int *node)
{
    int nodes = 0;
    for (int n = 0; n < machine->ranks; n++) {
        int at[TRV_DIMS_MAX];
        bool inside = true;
        trv_torus_coordinates(machine, n, at);
        for (int d = 0; d < machine->dims; d++)
            inside = inside && (at[d] - begin[d] + machine->size[d]) % machine->size[d] < size[d];
        if (inside)
            node[nodes++] = n;
    }
    return nodes;
}

static void boxes_are_found(void **state)
{
    static const struct {
        const char *machine;
        int begin[3], size[3];
        const char *box;
        bool enclosed;
    } row[] = {
        {"16x16", {0, 0}, {4, 4}, "4mx4m", true},         {"16x16", {14, 3}, {4, 4}, "4mx4m", true},
        {"16x16", {0, 0}, {4, 16}, "4mx16", true},        {"16x16", {0, 5}, {16, 1}, "16", true},
        {"16x16", {2, 2}, {9, 2}, "9mx2m", false},        {"16x16", {2, 2}, {8, 2}, "8mx2m", true},
        {"8mx8m", {0, 0}, {8, 8}, "8mx8m", true},         {"8mx8m", {1, 2}, {7, 5}, "7mx5m", true},
        {"4x2x8", {1, 0, 4}, {2, 2, 3}, "2mx2x3m", true}, {"4x2x8", {1, 1, 4}, {1, 1, 1}, "1", true},
    };
    int node[256];
    (void)state;
    for (int i = 0; i < COUNT(row); i++) {
        const trv_torus_t machine = torus_of(row[i].machine);
        const int nodes = list_nodes(&machine, row[i].begin, row[i].size, node);
        char text[TRV_TORUS_TEXT_MAX];
        trv_box_t box;
        assert_int_equal(trv_box_find(&box, &machine, nodes, node), 1);
        assert_string_equal(trv_torus_format(&box.torus, text, sizeof text), row[i].box);
        assert_int_equal(box.enclosed, row[i].enclosed);
    }
}

static void other_sets_are_rejected(void **state)
{
    const trv_torus_t machine = torus_of("4x4");
    const int corner[] = {0, 1, 4}, diagonal[] = {0, 5, 10, 15},
              gap[] = {0, 2, 8, 10}; /* opposite in both dimensions */
    trv_box_t box;
    (void)state;
    assert_int_equal(trv_box_find(&box, &machine, COUNT(corner), corner), 0);
    assert_int_equal(trv_box_find(&box, &machine, COUNT(diagonal), diagonal), 0);
    assert_int_equal(trv_box_find(&box, &machine, COUNT(gap), gap), 1);
    assert_true(box.torus.lines == 0 && box.torus.ranks == 4 && !box.enclosed);
}

static double time_embedded(const trv_network_t *machine, const trv_planner_node_choice_t *choice, int nodes,
                            const int *node, const trv_simulate_options_t *options, uint64_t bytes)
{
    int *ordered = malloc((size_t)nodes * sizeof *ordered);
    trv_schedule_t *schedule, *embedded;
    trv_simulator_t *simulator;
    trv_simulation_t result;
    assert_non_null(ordered);
    memcpy(ordered, node, (size_t)nodes * sizeof *ordered);
    assert_int_equal(trv_order_nodes(machine, choice->order, nodes, ordered), TRV_OK);
    assert_int_equal(trv_schedule_create(&schedule, &choice->torus, choice->choice.algorithm, TRV_ALLREDUCE), TRV_OK);
    assert_int_equal(trv_schedule_embed(&embedded, schedule, machine, ordered), TRV_OK);
    assert_int_equal(trv_simulator_create(&simulator, embedded), TRV_OK);
    assert_int_equal(trv_simulate(simulator, options, bytes, &result), TRV_OK);
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(embedded);
    free(ordered);
    return result.time_ns;
}

/* The best choice for a box is not slower than the planner's choice for its torus or mesh. Its time is that of the
 * embedded schedule on the whole machine, because messages take the same routes there. */
static void planned_as_their_torus(void **state)
{
    static const struct {
        const char *machine;
        int begin[3], size[3];
    } row[] = {{"8x8", {6, 1}, {4, 3}},         {"8mx8m", {0, 0}, {8, 8}}, {"6x6", {1, 0}, {3, 6}},
               {"5x4x6", {3, 0, 1}, {3, 4, 3}}, {"9", {2}, {4}},           {"12x3", {0, 0}, {12, 3}}};
    static const uint64_t sizes[] = {8, 4096, 65536, 1 << 20};
    int node[64];
    (void)state;
    for (int i = 0; i < COUNT(row); i++)
        for (int s = 0; s < COUNT(sizes); s++) {
            if (!try_case(i + s, 4))
                continue;
            const trv_network_t machine = {TRV_NETWORK, .torus = torus_of(row[i].machine)};
            const int nodes = list_nodes(&machine.torus, row[i].begin, row[i].size, node);
            trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
            trv_planner_node_choice_t choice;
            trv_planner_choice_t alone;
            trv_box_t box;
            assert_int_equal(trv_box_find(&box, &machine.torus, nodes, node), 1);
            assert_int_equal(trv_planner_nodes(&machine.torus, nodes, node, TRV_ALLREDUCE, 0, sizes[s], &options, NULL,
                                               1, &choice),
                             1);
            assert_int_equal(trv_planner_best(&box.torus, TRV_ALLREDUCE, 0, sizes[s], &options, NULL, &alone), TRV_OK);
            assert_true(choice.choice.time_ns <= alone.time_ns);
            assert_float_equal(time_embedded(&machine, &choice, nodes, node, &options, sizes[s]), choice.choice.time_ns,
                               1e-6);
        }
}

/* The time is that of a simulation on the machine where a link in the box is slow, where routes leave the box, and
 * where another row of the machine is cut, which opens no row of the box. Long vectors are planned with larger
 * packets. */
static void simulated_where_links_differ(void **state)
{
    static const struct {
        int size[2];
        trv_slow_link_t link;
    } row[] = {{{3, 3}, {0, 2, 4}}, {{5, 5}, {63, 0, 1}}, {{8, 1}, {1, 0, INFINITY}}, {{8, 2}, {9, 0, INFINITY}}};
    static const uint64_t sizes[] = {1024, 65536, 1 << 20, 64 << 20};
    const int begin[] = {0, 0};
    int node[64];
    (void)state;
    for (int i = 0; i < COUNT(row); i++)
        for (int s = 0; s < COUNT(sizes); s++) {
            if (!try_case(i + s + 1, 4))
                continue;
            const trv_network_t machine = {TRV_NETWORK, .torus = torus_of("8x8"), .slow_links = 1,
                                           .slow_link = &row[i].link};
            trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
            trv_planner_node_choice_t choice;
            options.slow_links = 1;
            options.slow_link = &row[i].link;
            const int nodes = list_nodes(&machine.torus, begin, row[i].size, node);
            assert_int_equal(trv_planner_nodes(&machine.torus, nodes, node, TRV_ALLREDUCE, 0, sizes[s], &options, NULL,
                                               1, &choice),
                             1);
            assert_float_equal(time_embedded(&machine, &choice, nodes, node, &options, sizes[s]), choice.choice.time_ns,
                               (sizes[s] > 1 << 20 ? 0.05 : 1e-9) * choice.choice.time_ns);
        }
}

/* Of several entries for a link the last one counts, in every function: a link that is cut and then slow is not cut. */
static void the_last_entry_of_a_link_counts(void **state)
{
    const trv_slow_link_t links[] = {{0, trv_port(0, 1), INFINITY}, {0, trv_port(0, 1), 4}};
    const trv_network_t network = {TRV_NETWORK, .torus = torus_of("3m"), .slow_links = 2, .slow_link = links};
    const int node[] = {0, 1, 2};
    int order[] = {2, 0, 1};
    trv_schedule_t *schedule, *embedded;
    trv_step_t step = TRV_STEP_INIT;
    (void)state;
    assert_int_equal(trv_network_check(&network), TRV_OK);
    assert_int_equal(trv_order_nodes(&network, TRV_ORDER_SNAKE, 3, order), TRV_OK);
    assert_memory_equal(order, node, sizeof node);
    assert_int_equal(trv_schedule_create(&schedule, &network.torus, "line-l", TRV_ALLREDUCE), TRV_OK);
    assert_int_equal(trv_schedule_embed(&embedded, schedule, &network, node), TRV_OK);
    assert_int_equal(trv_schedule_step(embedded, 0, 0, 0, &step), TRV_OK);
    assert_int_equal(step.send[0].port, trv_port(0, 1));
    trv_step_clear(&step);
    trv_schedule_destroy(embedded);
}

/* With a limit on the messages per port no node sends more, although messages leave by other ports than on a line or
 * ring. */
static void messages_per_port_on_the_machine(void **state)
{
    const trv_torus_t torus = torus_of("4x4");
    const trv_slow_link_t cut[] = {{0, trv_port(1, +1), INFINITY}, {1, trv_port(1, -1), INFINITY}};
    const trv_network_t machine = {TRV_NETWORK, .torus = torus, .slow_links = 2, .slow_link = cut};
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    trv_planner_node_choice_t plan[8];
    (void)state;
    network.slow_links = 2;
    network.slow_link = cut;
    const int nodes[] = {0, 1, 2, 4, 5, 6, 8, 9, 10}, count = sizeof nodes / sizeof *nodes;
    const int plans = trv_planner_nodes(&torus, count, nodes, TRV_ALLREDUCE, 0, 65536, &network, NULL, 8, plan);
    assert_true(plans > 0);
    for (int p = 0; p < plans; p++) {
        trv_schedule_t *schedule, *embedded;
        int node[9];
        memcpy(node, nodes, sizeof node);
        assert_int_equal(trv_order_nodes(&machine, plan[p].order, count, node), TRV_OK);
        assert_int_equal(trv_schedule_create(&schedule, &plan[p].torus, plan[p].choice.algorithm, TRV_ALLREDUCE), 0);
        assert_int_equal(trv_schedule_embed(&embedded, schedule, &machine, node), TRV_OK);
        assert_int_equal(trv_schedule_messages_per_port(embedded), 1);
        trv_schedule_destroy(embedded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_per_port_on_the_machine), cmocka_unit_test(boxes_are_found),
        cmocka_unit_test(other_sets_are_rejected),          cmocka_unit_test(planned_as_their_torus),
        cmocka_unit_test(simulated_where_links_differ),     cmocka_unit_test(the_last_entry_of_a_link_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
