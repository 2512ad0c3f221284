/*
 * Networks that do not forward: schedules whose messages are passed on are proved on random networks for every
 * collective; other schedules are rejected; neighbour has one message per link and step; plans are valid and never
 * slower than any algorithm; limits by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trivance/trivance.h>

#include "exhaustive.h"
#include "schedule/collective.h"
#include "schedule/relay.h"
#include "torus/torus.h"
#include "verify/verifier.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static trv_network_t network_of(const char *torus)
{
    trv_network_t network = {TRV_NETWORK, .no_forwarding = true};
    assert_int_equal(trv_torus_parse(torus, &network.torus), TRV_OK);
    return network;
}

static trv_simulate_options_t options_of(const trv_network_t *network)
{
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    options.bandwidth_bps = 200e9;
    options.alpha_ns = 5000;
    options.no_forwarding = network->no_forwarding;
    options.messages_per_port = 0;
    options.slow_links = network->slow_links;
    options.slow_link = network->slow_link;
    return options;
}

static const char *describe(const trv_network_t *network, const char *name, trv_collective_t collective, int root)
{
    static char text[400];
    char torus[TRV_TORUS_TEXT_MAX];
    snprintf(text, sizeof text, "%s, %s from root %d, on %s with %d cut links", name,
             trv_collective_shape(collective)->name, root, trv_torus_format(&network->torus, torus, sizeof torus),
             network->slow_links);
    return text;
}

/* Creates and proves a schedule. NULL if the algorithm does not support the network, or if a message would pass a cut
 * link. */
static trv_schedule_t *prove(const trv_network_t *network, const char *name, trv_collective_t collective, int root)
{
    const char *text = describe(network, name, collective, root);
    trv_verdict_t verdict = {TRV_VERDICT};
    trv_schedule_t *schedule;
    const int rc = trv_schedule_create_on(&schedule, network, name, collective, root);
    if (rc == TRV_ERR_UNSUPPORTED && *trv_last_error())
        return NULL;
    if (rc || trv_verify_on(schedule, network, TRV_VERIFY_EXHAUSTIVE, &verdict, NULL, NULL))
        fail_msg("%s: %s", text, trv_last_error());
    if (!verdict.valid && strstr(verdict.fault, "which is cut")) {
        trv_schedule_destroy(schedule);
        return NULL;
    }
    if (!verdict.valid)
        fail_msg("%s: %s", text, verdict.fault);
    assert_int_equal(trv_schedule_is_multi_hop(schedule), 0);
    return schedule;
}

/* ---- Proofs ------------------------------------------------------------------------------------------------------ */

static uint64_t seed = 1;

static int draw(int below) { return (int)((seed = trv_mix(seed + 1)) % (uint64_t)below); }

/* A torus of 1 to 3 dimensions and up to `ranks_max` ranks, of which some are lines, with a cut link in one of three.
 * */
static void draw_network(int ranks_max, trv_network_t *network, trv_slow_link_t link[2])
{
    int size[TRV_DIMS_MAX] = {0}, dims = 1 + draw(3), ranks = 1;
    unsigned lines = 0;
    for (int d = 0; d < dims; d++) {
        const int most = ranks_max / ranks < 9 ? ranks_max / ranks : 9;
        size[d] = 1 + draw(most);
        ranks *= size[d];
        lines |= (unsigned)(size[d] > 1 && draw(3) == 0) << d;
    }
    *network = (trv_network_t){TRV_NETWORK, .no_forwarding = true, .slow_link = link};
    assert_int_equal(trv_torus_init(&network->torus, dims, size), TRV_OK);
    assert_int_equal(trv_torus_set_lines(&network->torus, lines), TRV_OK);
    const int rank = draw(ranks), port = trv_port(draw(dims), 1);
    const int other = trv_torus_neighbour(&network->torus, rank, port);
    if (draw(3) || other < 0 || trv_torus_is_line(&network->torus, trv_port_dimension(port)))
        return;
    link[0] = (trv_slow_link_t){rank, port, INFINITY};
    link[1] = (trv_slow_link_t){other, port ^ 1, INFINITY};
    network->slow_links = 2;
}

static int prove_relayed(const trv_network_t *network, const trv_algorithm_t *algorithm, trv_collective_t collective,
                         int root)
{
    char name[TRV_ALGORITHM_NAME_MAX];
    trv_schedule_t *base;
    snprintf(name, sizeof name, "relayed:%s", trv_algorithm_name(algorithm));
    trv_schedule_t *schedule = prove(network, name, collective, root);
    if (!schedule)
        return 0;
    assert_int_equal(trv_schedule_create_on(&base, network, trv_algorithm_name(algorithm), collective, root), TRV_OK);
    assert_int_equal(trv_schedule_consistent(schedule), trv_schedule_consistent(base));
    assert_int_equal(trv_schedule_exactness(schedule), trv_schedule_exactness(base));
    assert_true(trv_schedule_steps(schedule) >= trv_schedule_steps(base));
    trv_schedule_destroy(base);
    trv_schedule_destroy(schedule);
    return 1;
}

static void test_relayed(void **state)
{
    (void)state;
    seed = sample_seed();
    for (int i = 0; i < (exhaustive() ? 30 : 6); i++) {
        trv_network_t network;
        trv_slow_link_t link[2];
        draw_network(exhaustive() ? 64 : 24, &network, link);
        for (int c = 0; c < TRV_COLLECTIVES; c++) {
            const trv_collective_t collective = (trv_collective_t)c;
            const int root = trv_collective_has_root(collective) ? draw(network.torus.ranks) : 0;
            int proved = 0;
            for (int a = 0; a < trv_algorithms_count(); a++)
                if (trv_algorithm_has_collective(trv_algorithm_at(a), collective) &&
                    strcmp(trv_algorithm_name(trv_algorithm_at(a)), "relayed") != 0)
                    proved += prove_relayed(&network, trv_algorithm_at(a), collective, root);
            assert_true(proved >= 1);
        }
    }
}

/* The sum of the distances to the farthest rank in every dimension. */
static int diameter(const trv_torus_t *torus)
{
    int hops = 0;
    for (int d = 0; d < torus->dims; d++)
        hops += trv_torus_is_line(torus, d) ? torus->size[d] - 1 : torus->size[d] / 2;
    return hops;
}

static void check_neighbour(const trv_network_t *network, const char *name, bool consistent)
{
    trv_cost_t cost;
    trv_schedule_t *schedule = prove(network, name, TRV_ALLREDUCE, 0);
    assert_non_null(schedule);
    assert_int_equal(trv_schedule_consistent(schedule), consistent);
    if (network->slow_links == 0)
        assert_int_equal(trv_schedule_steps(schedule), diameter(&network->torus));
    assert_int_equal(trv_schedule_messages_per_port(schedule), 1);
    assert_int_equal(trv_cost_measure(schedule, &cost), TRV_OK);
    for (int k = 0; k < cost.steps && network->torus.dims == 1; k++)
        assert_int_equal(cost.step[k].messages, trv_schedule_streams(schedule));
    trv_cost_clear(&cost);
    trv_schedule_destroy(schedule);
}

static void test_neighbour(void **state)
{
    (void)state;
    seed = sample_seed();
    for (int i = 0; i < (exhaustive() ? 50 : 12); i++) {
        trv_network_t network;
        trv_slow_link_t link[2];
        draw_network(exhaustive() ? 100 : 40, &network, link);
        check_neighbour(&network, "neighbour", false);
        check_neighbour(&network, "neighbour:gathered", true);
        check_neighbour(&network, "neighbour:gathered:2", true);
        trv_schedule_destroy(prove(&network, "neighbour:3", TRV_ALLREDUCE, 0));
        for (int c = TRV_BROADCAST; c < TRV_COLLECTIVES && network.slow_links == 0; c++) {
            const trv_collective_t collective = (trv_collective_t)c;
            if (collective == TRV_ALLTOALL && network.torus.lines)
                continue;
            trv_schedule_t *schedule = prove(&network, "neighbour", collective,
                                             trv_collective_has_root(collective) ? draw(network.torus.ranks) : 0);
            assert_non_null(schedule);
            assert_true(trv_schedule_steps(schedule) <= diameter(&network.torus));
            trv_schedule_destroy(schedule);
        }
    }
}

/* A link of an even ring carries half a vector in the last step. */
static void test_neighbour_load(void **state)
{
    (void)state;
    for (int size = 2; size <= 12; size++) {
        trv_network_t network = {TRV_NETWORK, .no_forwarding = true};
        trv_schedule_t *schedule;
        trv_cost_t cost;
        double load = 0;
        assert_int_equal(trv_torus_init(&network.torus, 1, &size), TRV_OK);
        assert_int_equal(trv_schedule_create_on(&schedule, &network, "neighbour", TRV_ALLREDUCE, 0), TRV_OK);
        assert_int_equal(trv_cost_measure(schedule, &cost), TRV_OK);
        for (int k = 0; k < cost.steps; k++)
            load += cost.step[k].link_fraction;
        assert_float_equal(load, (size - 1) / 2.0, 1e-9);
        trv_cost_clear(&cost);
        trv_schedule_destroy(schedule);
    }
}

/* ---- Rejections -------------------------------------------------------------------------------------------------- */

static void test_rejections(void **state)
{
    const trv_network_t network = network_of("9");
    const trv_simulate_options_t options = options_of(&network);
    trv_verdict_t verdict = {TRV_VERDICT};
    trv_schedule_t *schedule;
    trv_simulator_t *simulator;
    trv_simulation_t result;
    trv_planner_t *planner;
    trv_planner_choice_t choice;
    (void)state;
    assert_int_equal(trv_schedule_create_on(&schedule, &network, "trivance-l", TRV_ALLREDUCE, 0), TRV_OK);
    assert_int_equal(trv_verify(schedule, TRV_VERIFY_AUTO, &verdict, NULL, NULL), TRV_OK);
    assert_true(verdict.valid);
    assert_int_equal(trv_verify_on(schedule, &network, TRV_VERIFY_AUTO, &verdict, NULL, NULL), TRV_OK);
    assert_false(verdict.valid);
    assert_string_equal(verdict.fault,
                        "step 1 of stream 0: rank 0 sends to rank 3 over 3 links, but the network does not "
                        "forward: a message may cross one link, to a neighbour");
    assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
    assert_int_equal(trv_simulate(simulator, &options, 1024, &result), TRV_ERR_UNSUPPORTED);
    assert_string_equal(
        trv_last_error(),
        "rank 0 sends to rank 3 over 3 links, but the network does not forward: a message may cross one "
        "link, to a neighbour; relayed:NAME passes on the messages of the algorithm NAME");
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
    assert_int_equal(trv_planner_create(&planner, &network.torus, TRV_ALLREDUCE, 0, &options, NULL), TRV_OK);
    assert_int_equal(trv_planner_time(planner, 1024, "trivance-l", &choice), TRV_ERR_UNSUPPORTED);
    assert_string_equal(trv_last_error(), "trivance-l violates the constraints: one link per message");
    trv_planner_destroy(planner);
}

static void expect_error(const char *name, trv_collective_t collective, int code, const char *sentence)
{
    const trv_network_t network = network_of("9");
    trv_schedule_t *schedule;
    assert_int_equal(trv_schedule_create_on(&schedule, &network, name, collective, 0), code);
    assert_string_equal(trv_last_error(), sentence);
}

static void test_names(void **state)
{
    (void)state;
    expect_error("relayed:relayed", TRV_ALLREDUCE, TRV_ERR_ARGUMENT,
                 "relayed: 'relayed' is not an algorithm whose messages can be passed on; for example relayed:swing-b");
    expect_error("relayed:", TRV_ALLREDUCE, TRV_ERR_ARGUMENT,
                 "'relayed:' has a colon but no parameters: expected relayed:[NAME], for example relayed:swing-b");
    expect_error("neighbour:x", TRV_ALLREDUCE, TRV_ERR_ARGUMENT,
                 "neighbour: 'x' is not the word gathered or a number of streams from 1 to 16; for example "
                 "neighbour:gathered:2");
    expect_error("neighbour:gathered", TRV_BROADCAST, TRV_ERR_ARGUMENT,
                 "neighbour:gathered is a form of AllReduce only; use neighbour");
    expect_error(
        "relayed:line-l", TRV_ALLREDUCE, TRV_ERR_UNSUPPORTED,
        "all dimensions of 9 are rings, but line-l and line-b need a line, as in 9m; use trivance-l-grouped or "
        "trivance-b");
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

/* Checks a plan: it is valid on the network, and no algorithm, relayed or not, is faster. */
static void check_plan(const trv_network_t *network, trv_collective_t collective, int root, uint64_t bytes)
{
    const trv_simulate_options_t options = options_of(network);
    const char *text = describe(network, "planned", collective, root);
    trv_planner_choice_t best;
    trv_planner_t *planner;
    if (trv_planner_create(&planner, &network->torus, collective, root, &options, NULL) ||
        trv_planner_rank(planner, bytes, 1, &best) < 1)
        fail_msg("%s: %s", text, trv_last_error());
    trv_schedule_t *schedule = prove(network, best.algorithm, collective, root);
    assert_non_null(schedule);
    trv_schedule_destroy(schedule);
    for (int i = 0; i < 2 * trv_algorithms_count(); i++) {
        const char *plain = trv_algorithm_name(trv_algorithm_at(i / 2));
        char name[TRV_ALGORITHM_NAME_MAX];
        trv_planner_choice_t choice;
        snprintf(name, sizeof name, "%s%s", i % 2 ? "relayed:" : "", plain);
        const int rc = strcmp(plain, "relayed") == 0 ? TRV_ERR_UNSUPPORTED
                                                     : trv_planner_time(planner, bytes, name, &choice);
        if (rc == TRV_ERR_UNSUPPORTED)
            continue;
        if (rc)
            fail_msg("%s, %s: %s", text, name, trv_last_error());
        if (choice.time_ns < best.time_ns)
            fail_msg("%s of %llu bytes: %s takes %g ns, %s takes %g ns", text, (unsigned long long)bytes,
                     best.algorithm, best.time_ns, name, choice.time_ns);
    }
    trv_planner_destroy(planner);
}

static void test_plans(void **state)
{
    static const char *const tori[] = {"2", "3", "4", "5", "6", "8", "5m", "3x3", "4x4", "3x4m", "4mx4m", "2x3x2"};
    static const uint64_t bytes[] = {8, 48 << 10, 4 << 20};
    (void)state;
    for (int t = 0; t < COUNT(tori); t++)
        for (int c = 0; c < TRV_COLLECTIVES; c++)
            for (int b = 0; b < COUNT(bytes); b++) {
                const trv_network_t network = network_of(tori[t]);
                const bool rooted = trv_collective_has_root((trv_collective_t)c);
                if (exhaustive() || (t + c + b) % 3 == 0)
                    check_plan(&network, (trv_collective_t)c, rooted ? t % network.torus.ranks : 0, bytes[b]);
            }
}

static void test_plans_with_cuts(void **state)
{
    static const trv_slow_link_t cut[] = {{2, 0, INFINITY}, {3, 1, INFINITY}, {5, 0, INFINITY}, {0, 1, INFINITY}};
    (void)state;
    for (int links = 2; links <= 4; links += 2)
        for (int c = 0; c < TRV_COLLECTIVES; c++) {
            trv_network_t network = network_of(links == 2 ? "6" : "3x6m"); /* there 5 is the end of a line */
            network.slow_links = 2;
            network.slow_link = cut;
            const bool trees = trv_collective_has_root((trv_collective_t)c) || c == TRV_ALLREDUCE;
            if (links == 2 || trees) /* a divided row has no schedules of the others */
                check_plan(&network, (trv_collective_t)c, 0, 48 << 10);
        }
}

/* Results that are the same on all ranks can be required. */
static void test_consistent_plans(void **state)
{
    static const char *const tori[] = {"3", "4", "5", "8", "4x4", "5m"};
    const trv_planner_constraints_t constraints = {TRV_PLANNER_CONSTRAINTS, .consistent = true};
    (void)state;
    for (int t = 0; t < COUNT(tori); t++) {
        const trv_network_t network = network_of(tori[t]);
        const trv_simulate_options_t options = options_of(&network);
        trv_planner_choice_t best;
        assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, 8, &options, &constraints, &best), TRV_OK);
        assert_true(best.consistent);
        assert_int_equal(best.steps, diameter(&network.torus));
    }
}

/* The cache distinguishes networks that forward from others. */
static void test_cache(void **state)
{
    const trv_network_t network = network_of("9");
    trv_simulate_options_t options = options_of(&network);
    trv_planner_choice_t hop_by_hop, forwarded;
    (void)state;
    options.messages_per_port = 1;
    assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, 8, &options, NULL, &hop_by_hop), TRV_OK);
    options.no_forwarding = false;
    assert_int_equal(trv_planner_best(&network.torus, TRV_ALLREDUCE, 0, 8, &options, NULL, &forwarded), TRV_OK);
    assert_int_equal(hop_by_hop.steps, 4);
    assert_int_equal(forwarded.steps, 2);
}

/* ---- Limits ------------------------------------------------------------------------------------------------------ */

static void expect_limit(const char *torus, trv_collective_t collective, int root, int hops)
{
    static const trv_hockney_t times = {.bandwidth_bps = 8e9, .alpha_ns = 1000, .hop_ns = 10};
    trv_network_t network = network_of(torus);
    trv_limit_t limit;
    assert_int_equal(trv_limit_find(&network, &times, collective, root, 7200, 0, &limit), TRV_OK);
    assert_float_equal(limit.startup_ns, hops * 1010, 1e-6);
    assert_true(limit.steps_ns >= limit.startup_ns);
    network.no_forwarding = false;
    network.messages_per_port = 0;
    assert_int_equal(trv_limit_find(&network, &times, collective, root, 7200, 0, &limit), TRV_OK);
    assert_float_equal(limit.startup_ns, 1000 + hops * 10, 1e-6);
}

static void test_limits(void **state)
{
    (void)state;
    expect_limit("9", TRV_ALLREDUCE, 0, 4);
    expect_limit("4x5", TRV_ALLTOALL, 0, 4);
    expect_limit("9m", TRV_ALLREDUCE, 0, 8);
    expect_limit("9m", TRV_BROADCAST, 4, 4);
    expect_limit("9m", TRV_BROADCAST, 0, 8);
    expect_limit("2", TRV_ALLREDUCE, 0, 1);
}

/* No plan is faster than the limit. */
static void test_limits_of_plans(void **state)
{
    static const char *const tori[] = {"3", "5", "8", "5m", "4x4", "3x4m"};
    (void)state;
    for (int t = 0; t < COUNT(tori); t++)
        for (int c = 0; c < TRV_COLLECTIVES; c++)
            for (uint64_t bytes = 8; bytes <= 1 << 20; bytes <<= 17) {
                const trv_network_t network = network_of(tori[t]);
                const trv_simulate_options_t o = options_of(&network);
                const double router_ns = o.router_in_ns + o.router_out_ns;
                const trv_hockney_t times = {o.bandwidth_bps, o.alpha_ns, o.link_latency_ns + router_ns,
                                             2 * o.host_latency_ns + router_ns};
                trv_planner_choice_t best;
                trv_limit_t limit;
                assert_int_equal(trv_limit_find(&network, &times, (trv_collective_t)c, 0, bytes, o.packet_bytes,
                                                &limit),
                                 TRV_OK);
                assert_int_equal(trv_planner_best(&network.torus, (trv_collective_t)c, 0, bytes, &o, NULL, &best),
                                 TRV_OK);
                if (best.time_ns < limit.time_ns)
                    fail_msg("%s, %llu bytes: %g ns is less than the limit of %g ns",
                             describe(&network, best.algorithm, (trv_collective_t)c, 0), (unsigned long long)bytes,
                             best.time_ns, limit.time_ns);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_relayed),         cmocka_unit_test(test_neighbour),
        cmocka_unit_test(test_neighbour_load),  cmocka_unit_test(test_rejections),
        cmocka_unit_test(test_names),           cmocka_unit_test(test_plans),
        cmocka_unit_test(test_plans_with_cuts), cmocka_unit_test(test_cache),
        cmocka_unit_test(test_limits),          cmocka_unit_test(test_consistent_plans),
        cmocka_unit_test(test_limits_of_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
