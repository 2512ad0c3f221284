/*
 * Messages per port: the number of every algorithm on random networks, of embedded and of random schedules equals a
 * naive count of the messages that leave and arrive; the verifier accepts this number and rejects a smaller one; and no
 * schedule is faster than the limit of a network that allows its number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance.h>

#include "exhaustive.h"
#include "random_network.h"
#include "schedule/collective.h"
#include "schedule/schedule.h"
#include "torus/torus.h"

static int naive_count(const trv_schedule_t *schedule)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    const int streams = trv_schedule_streams(schedule);
    int ports = 0, most = 1;
    trv_step_t step = TRV_STEP_INIT;
    for (int d = 0; d < torus->dims; d++)
        ports += torus->size[d] > 2 ? 2 : torus->size[d] < 2 ? 0 : trv_torus_is_line(torus, d) ? 1 : 2;
    for (int at = 0; at < streams * trv_schedule_steps(schedule); at++)
        for (int rank = 0; rank < torus->ranks; rank++) {
            assert_int_equal(trv_schedule_step(schedule, rank, at % streams, at / streams, &step), TRV_OK);
            while (most * ports < step.sends || most * ports < step.receives)
                most++;
        }
    trv_step_clear(&step);
    return most;
}

/* Simulates a schedule, which may not be faster than the limit of a network that allows its messages. */
static void expect_slower_than_limit(const trv_schedule_t *schedule, const trv_network_t *given, const char *text)
{
    static const uint64_t bytes[] = {1, 5000, 1 << 20};
    trv_network_t network = *given;
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    const trv_hockney_t times = {options.bandwidth_bps, options.alpha_ns, 200, 300};
    trv_simulator_t *simulator;
    network.messages_per_port = trv_schedule_messages_per_port(schedule);
    options.slow_links = network.slow_links;
    options.slow_link = network.slow_link;
    assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
    for (size_t b = 0; b < sizeof bytes / sizeof *bytes; b++) {
        trv_simulation_t result;
        trv_limit_t limit;
        assert_int_equal(trv_limit_find(&network, &times, trv_schedule_collective(schedule),
                                        trv_schedule_root(schedule), bytes[b], options.packet_bytes, &limit),
                         TRV_OK);
        const int rc = trv_simulate(simulator, &options, bytes[b], &result);
        if (!rc && result.time_ns < limit.time_ns)
            fail_msg("%s: %llu bytes take %.3f ns, the limit is %.3f", text, (unsigned long long)bytes[b],
                     result.time_ns, limit.time_ns);
    }
    trv_simulator_destroy(simulator);
}

/* An explicit copy that declares `messages`: the verifier accepts as many as there are, and no fewer. */
static void expect_verdict(const trv_schedule_t *schedule, const trv_network_t *network, int count, int messages,
                           const char *text)
{
    trv_schedule_t *copy;
    trv_verdict_t verdict = {TRV_VERDICT};
    assert_int_equal(trv_explicit_copy(&copy, schedule), TRV_OK);
    copy->messages_per_port = messages;
    assert_int_equal(trv_verify_on(copy, network, TRV_VERIFY_AUTO, &verdict, NULL, NULL), TRV_OK);
    const bool declares = strstr(verdict.fault, " for each of its ") != NULL;
    if (!strstr(verdict.fault, "which is cut") && (declares != (messages < count) || (!declares && !verdict.valid)))
        fail_msg("%s: %d messages, %d declared: %s", text, count, messages, verdict.fault);
    trv_schedule_destroy(copy);
}

static int check_algorithm(const trv_network_t *network, trv_collective_t collective, int root, const char *name)
{
    char text[300], torus[TRV_TORUS_TEXT_MAX];
    trv_schedule_t *schedule;
    if (trv_schedule_create_on(&schedule, network, name, collective, root))
        return 0;
    snprintf(text, sizeof text, "%s, %s from root %d on %s with %d links, routes %d", name,
             trv_collective_shape(collective)->name, root, trv_torus_format(&network->torus, torus, sizeof torus),
             network->slow_links, (int)network->routes);
    const int count = naive_count(schedule), number = trv_schedule_messages_per_port(schedule);
    if (count != number)
        fail_msg("%s: %d messages per port, counted %d", text, number, count);
    if (draw(4) == 0)
        expect_verdict(schedule, network, count, 1 + draw(count + 1), text);
    if (draw(4) == 0)
        expect_slower_than_limit(schedule, network, text);
    trv_schedule_destroy(schedule);
    return 1;
}

static void test_every_algorithm(void **state)
{
    static const char *const more[] = {"linear:3",     "trivance-l:2",     "trivance-l:5",    "linear:64",
                                       "line-l:2",     "star:l",           "hybrid:3",        "relayed:trivance-b",
                                       "trivance-b@2", "spanning-trees:3", "disjoint-trees:2"};
    const int extra = (int)(sizeof more / sizeof *more);
    (void)state;
    seed = sample_seed();
    for (int i = 0; i < (exhaustive() ? 60 : 12); i++) {
        trv_network_t network;
        trv_slow_link_t link[2];
        draw_network(exhaustive() ? 100 : 40, &network, link);
        for (int c = 0; c < TRV_COLLECTIVES; c++) {
            const trv_collective_t collective = (trv_collective_t)c;
            const int root = trv_collective_has_root(collective) ? draw(network.torus.ranks) : 0;
            int checked = 0;
            for (int a = 0; a < trv_algorithms_count() + extra; a++)
                checked += check_algorithm(&network, collective, root,
                                           a < extra ? more[a] : trv_algorithm_name(trv_algorithm_at(a - extra)));
            assert_true(checked > 0);
        }
    }
}

/* Messages between random ranks by random ports, of which some go the longer way. */
static void test_random_schedules(void **state)
{
    (void)state;
    seed = sample_seed();
    for (int i = 0; i < (exhaustive() ? 400 : 100); i++) {
        static const int64_t unit = 0;
        const trv_explicit_part_t part = {.to_reg = 1, .count = 1, .unit = &unit};
        trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS, .registers = 2, .units = 1, .streams = 1 + draw(2),
                                          .steps = 1 + draw(3)};
        trv_network_t network;
        trv_slow_link_t link[2];
        trv_schedule_t *schedule;
        draw_network(30, &network, link);
        const trv_torus_t *torus = &network.torus;
        options.mirrored_streams = draw(options.streams + 1);
        assert_int_equal(trv_explicit_create(&schedule, torus, "random", &options), TRV_OK);
        for (int m = draw(4 * torus->ranks); m > 0; m--) {
            const int from = draw(torus->ranks), to = draw(torus->ranks), d = draw(torus->dims);
            const int ahead = trv_torus_coordinate(torus, to, d) - trv_torus_coordinate(torus, from, d);
            const int sign = trv_torus_is_line(torus, d) ? (ahead > 0 ? 1 : -1) : 1 - 2 * draw(2);
            if (ahead != 0)
                assert_int_equal(trv_explicit_message(schedule, draw(options.streams), draw(options.steps), from, to,
                                                      trv_port(d, sign), -1, TRV_SEND | TRV_RECEIVE, 1, &part),
                                 TRV_OK);
        }
        assert_int_equal(trv_schedule_messages_per_port(schedule), naive_count(schedule));
        trv_schedule_destroy(schedule);
    }
}

/* On a set of nodes the count is that of the machine's routes. */
static void test_embedded(void **state)
{
    (void)state;
    seed = sample_seed();
    for (int i = 0; i < (exhaustive() ? 100 : 20); i++) {
        trv_network_t network;
        trv_slow_link_t link[2];
        trv_schedule_t *schedule, *embedded;
        trv_torus_t ring;
        int node[60], nodes = 0;
        draw_network(60, &network, link);
        for (int n = 0; n < network.torus.ranks; n++)
            if (draw(3) && nodes < 60)
                node[nodes++] = n;
        if (nodes < 2)
            continue;
        assert_int_equal(trv_torus_init(&ring, 1, &nodes), TRV_OK);
        assert_int_equal(trv_schedule_create(&schedule, &ring, draw(2) ? "trivance-l" : "bruck-b", TRV_ALLREDUCE),
                         TRV_OK);
        if (trv_schedule_embed(&embedded, schedule, &network, node))
            continue;
        assert_int_equal(trv_schedule_messages_per_port(embedded), naive_count(embedded));
        trv_schedule_destroy(embedded);
    }
}

/* Algorithms that exceed one message per port on a torus, or are made for lines and exceed it there, state it. */
static void test_stated(void **state)
{
    static const char *const tori[] = {"8", "9", "25", "4x4", "5x7", "3x4x5", "9m", "5mx6m"};
    (void)state;
    for (size_t t = 0; t < sizeof tori / sizeof *tori; t++)
        for (int c = 0; c < TRV_COLLECTIVES; c++)
            for (int a = 0; a < trv_algorithms_count(); a++) {
                const trv_algorithm_t *algorithm = trv_algorithm_at(a);
                trv_network_t network = {TRV_NETWORK};
                trv_schedule_t *schedule;
                assert_int_equal(trv_torus_parse(tori[t], &network.torus), TRV_OK);
                if ((network.torus.lines && strcmp(trv_algorithm_family(algorithm), "line") != 0) ||
                    trv_schedule_create_on(&schedule, &network, trv_algorithm_name(algorithm), (trv_collective_t)c, 0))
                    continue;
                if (trv_schedule_messages_per_port(schedule) > 1 &&
                    !strstr(trv_algorithm_sizes(algorithm), "messages per port"))
                    fail_msg("%s on %s: %d messages per port", trv_algorithm_name(algorithm), tori[t],
                             trv_schedule_messages_per_port(schedule));
                trv_schedule_destroy(schedule);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_algorithm), cmocka_unit_test(test_random_schedules),
                                       cmocka_unit_test(test_embedded), cmocka_unit_test(test_stated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
