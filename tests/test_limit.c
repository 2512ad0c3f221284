/*
 * Lower bounds: their values against calculations by hand, and no simulated schedule is faster.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include <trivance/cost.h>
#include <trivance/network.h>
#include <trivance/planner.h>

#include "exhaustive.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* A byte takes 1 ns, a step 1000 ns and a hop 10 ns. */
static const trv_hockney_t times = {.bandwidth_bps = 8e9, .alpha_ns = 1000, .hop_ns = 10};

static trv_network_t network_of(const char *torus, const trv_slow_link_t *link, int links)
{
    trv_network_t network = {TRV_NETWORK, .slow_links = links, .slow_link = link};
    assert_int_equal(trv_torus_parse(torus, &network.torus), TRV_OK);
    return network;
}

/* `last_ns`: the greatest distance of the ranks of which one needs all steps. */
static void expect(const char *torus, const trv_slow_link_t *link, int links, trv_collective_t collective, int steps,
                   double last_ns, double route_ns, double sets_ns, double links_ns)
{
    trv_network_t network = network_of(torus, link, links);
    const double startup_ns = steps * 1000 + last_ns, steps_ns = steps * 1000 + route_ns;
    trv_limit_t limit;
    assert_int_equal(trv_limit_find(&network, &times, collective, 0, 7200, 0, &limit), TRV_OK);
    assert_float_equal(limit.steps_ns, steps_ns, 1e-6);
    assert_float_equal(limit.startup_ns, startup_ns, 1e-6);
    assert_float_equal(limit.sets_ns, sets_ns, 1e-6);
    assert_float_equal(limit.links_ns, links_ns, 1e-6);
    assert_float_equal(limit.time_ns, fmax(startup_ns, fmax(sets_ns, links_ns)), 1e-6);
    network.messages_per_port = 0; /* one step */
    assert_int_equal(trv_limit_find(&network, &times, collective, 0, 7200, 0, &limit), TRV_OK);
    assert_float_equal(limit.startup_ns, (steps > 0 ? 1000 : 0) + route_ns, 1e-6);
}

static void limits_by_hand(void **state)
{
    const trv_slow_link_t cut[] = {{3, 0, INFINITY}, {4, 1, INFINITY}}, slow[] = {{3, 0, 4}}, one = {0, 0, INFINITY};
    (void)state;
    expect("1", NULL, 0, TRV_ALLREDUCE, 0, 0, 0, 0, 0);
    /* A ring: two links leave every rank and every interval; 18 links for 2 * 8 crossings of each byte. */
    expect("9", NULL, 0, TRV_ALLREDUCE, 2, 30, 40, 7200 / 2, 7200 * 16 / 18.);
    expect("10", NULL, 0, TRV_ALLREDUCE, 3, 10, 50, 7200 / 2, 7200 * 18 / 20.);
    expect("9", NULL, 0, TRV_REDUCE_SCATTER, 2, 30, 40, 7200 * 8 / 9. / 2, 7200 * 8 / 18.);
    expect("9", NULL, 0, TRV_ALLGATHER, 2, 30, 40, 7200 * 8 / 9. / 2, 7200 * 8 / 18.);
    /* A line: one link leaves the rank at the end; 16 links. A ring with a cut is the same. */
    expect("9m", NULL, 0, TRV_ALLREDUCE, 2, 60, 80, 7200, 7200);
    expect("9", cut, 2, TRV_ALLREDUCE, 2, 60, 80, 7200, 7200);
    /* A cut in one direction: 17 links; one rank has one link less to send, and another has one less to receive. */
    expect("9", &one, 1, TRV_ALLREDUCE, 2, 60, 80, 7200, 7200 * 16 / 17.);
    /* A slow link: 1 + 1/4 leave rank 3. */
    expect("9", slow, 1, TRV_ALLREDUCE, 2, 30, 40, 7200 / 1.25, 7200 * 16 / 17.25);
    /* A torus with four ports, and a mesh, whose corners have two links. */
    expect("4x4", NULL, 0, TRV_ALLREDUCE, 2, 30, 40, 7200 / 4, 7200 * 30 / 64.);
    expect("4mx4m", NULL, 0, TRV_ALLREDUCE, 2, 40, 60, 7200 / 2, 7200 * 30 / 48.);
    /* The set that is half of the longer side: 2 * 2 links lead to it, as many as leave a rank. In a dimension of 2,
     * two links join the two ranks. */
    expect("16x2", NULL, 0, TRV_ALLREDUCE, 3, 20, 90, 7200 / 4, 7200 * 62 / 128.);
    expect("2", NULL, 0, TRV_ALLREDUCE, 1, 10, 10, 7200 / 2, 7200 * 2 / 4.);
    expect("2m", NULL, 0, TRV_ALLREDUCE, 1, 10, 10, 7200, 7200);
}

static void rejects_bad_links(void **state)
{
    const trv_slow_link_t bad[] = {{9, 0, 2}, {0, 2, 2}, {0, 0, 0.5}, {-1, 0, 2}};
    trv_limit_t limit;
    (void)state;
    for (int i = 0; i < COUNT(bad); i++) {
        const trv_network_t network = network_of("9", &bad[i], 1);
        assert_int_equal(trv_limit_find(&network, &times, TRV_ALLREDUCE, 0, 1, 0, &limit), TRV_ERR_ARGUMENT);
    }
}

/* Every function that takes a collective and a root accepts root 0 only, and no number that is not a collective. */
static void rejects_bad_roots(void **state)
{
    const trv_network_t ring = network_of("9", NULL, 0);
    const trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    const int node[] = {0, 1};
    trv_limit_t limit;
    trv_schedule_t *schedule;
    trv_planner_t *planner;
    trv_planner_choice_t choice;
    trv_planner_node_choice_t node_choice;
    char name[TRV_FULL_NAME_MAX];
    double time_ns;
    bool is_bound;
    (void)state;
    for (int i = 0; i < 3; i++) {
        const trv_collective_t collective = (trv_collective_t)(i == 2 ? 99 : 0);
        const int root = i == 0 ? 1 : i == 1 ? -1 : 0;
        const int code[] = {
            trv_limit_find(&ring, &times, collective, root, 1, 0, &limit),
            trv_schedule_create_on(&schedule, &ring, "trivance-l", collective, root),
            trv_schedule_full_name_on(&ring, "trivance-l", collective, root, name, sizeof name),
            trv_planner_best(&ring.torus, collective, root, 1, &options, NULL, &choice),
            trv_planner_create(&planner, &ring.torus, collective, root, &options, NULL),
            trv_planner_nodes(&ring.torus, 2, node, collective, root, 1, &options, NULL, 1, &node_choice),
            trv_planner_nodes_time(&ring.torus, 2, node, collective, root, 1, &options, "ring", &time_ns, &is_bound),
        };
        for (int f = 0; f < COUNT(code); f++)
            assert_int_equal(code[f], TRV_ERR_ARGUMENT);
        assert_non_null(strstr(trv_last_error(), i == 2 ? "no collective 99" : "AllReduce has no root"));
    }
}

/* No plan takes less than the lower bound, whether packets arrive with their head or with their last byte. The quick
 * tier takes a fifth of the sizes of each network, and sizes above 64 KiB only on every fourth network. */
static void no_simulation_is_faster(void **state)
{
    static const struct {
        const char *torus;
        int links;
        trv_slow_link_t link[2];
    } cases[] = {{"9", 0, {{0}}},
                 {"9m", 0, {{0}}},
                 {"2m", 0, {{0}}},
                 {"2m", 1, {{0, 0, 1000}}},
                 {"6", 2, {{2, 0, 1000}, {0, 1, INFINITY}}},
                 {"8x8", 0, {{0}}},
                 {"4x4x4", 0, {{0}}},
                 {"8mx8m", 0, {{0}}},
                 {"27m", 0, {{0}}},
                 {"8x8m", 0, {{0}}},
                 {"2x8", 0, {{0}}},
                 {"9", 1, {{3, 0, 10}}},
                 {"4x4", 1, {{5, 0, INFINITY}}}};
    static const uint64_t bytes[] = {8, 1024, 4096, 8192, 64 << 10, 4 << 20, 256 << 20};
    (void)state;
    for (int i = 0; i < COUNT(cases); i++)
        for (int b = i % 2; b < 2 * COUNT(bytes); b += exhaustive() ? 1 + sample_draw(2) : 5) {
            const trv_network_t network = network_of(cases[i].torus, cases[i].link, cases[i].links);
            const uint64_t vector = bytes[b / 2];
            if (!exhaustive() && vector > 64 << 10 && i % 4 != 0)
                continue;
            trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
            trv_planner_choice_t plan;
            trv_limit_t limit;
            options.delivery = b % 2 ? TRV_DELIVERY_TAIL : TRV_DELIVERY_HEAD;
            options.slow_links = cases[i].links;
            options.slow_link = cases[i].link;
            const uint64_t in_flight = b % 2 ? 0 : options.packet_bytes;
            const trv_hockney_t paper = {options.bandwidth_bps, options.alpha_ns, 200, 300};
            assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, vector, &options, NULL, &plan), TRV_OK);
            assert_int_equal(trv_limit_find(&network, &paper, TRV_ALLREDUCE, 0, vector, in_flight, &limit), TRV_OK);
            if (plan.time_ns < limit.time_ns)
                fail_msg("%s of %llu bytes: %s takes %.1f ns, the limit is %.1f", cases[i].torus,
                         (unsigned long long)vector, plan.algorithm, plan.time_ns, limit.time_ns);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_by_hand),
        cmocka_unit_test(rejects_bad_links),
        cmocka_unit_test(rejects_bad_roots),
        cmocka_unit_test(no_simulation_is_faster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
