/*
 * The emulator's links in virtual time: routes, times computed by hand, and comparison with the packet simulator's
 * times. The test needs no device and no clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <trivance/trivance.h>

#include "testbed/emulator/torusnet.h"
#include "torus/torus.h"

#define BANDWIDTH 50e6
#define LATENCY   2000000
#define BYTES     8192u
#define TAKEN     ((int64_t)(BYTES * 8e9 / BANDWIDTH + 0.5)) /* 1.31072 ms */

static void make(tn_net_t *net, const char *text)
{
    trv_torus_t torus;
    assert_int_equal(trv_torus_parse(text, &torus), TRV_OK);
    assert_int_equal(tn_net_create(net, &torus, BANDWIDTH, LATENCY), TRV_OK);
}

static void enter(tn_net_t *net, tn_packet_t *packet, int from, int to, int64_t at_ns)
{
    packet->due_ns = at_ns;
    packet->order = net->entered++;
    packet->node = from;
    packet->destination = to;
    packet->leaves = packet->arrives = -1;
    packet->through = false;
    packet->tail_ns = 0;
    packet->bytes = BYTES;
    assert_true(tn_timer_add(net, packet));
}

/* Runs until no packet is in flight; returns the time of the last delivery, and the number of deliveries. */
static int64_t run(tn_net_t *net, int *delivered)
{
    int64_t last_ns = 0;
    *delivered = 0;
    for (tn_packet_t *packet; (packet = tn_timer_take(net));)
        if (tn_has_arrived(packet)) {
            assert_true(packet->due_ns >= last_ns);
            last_ns = packet->due_ns;
            *delivered += !tn_is_lost(net, packet);
        } else {
            tn_forward(net, packet);
        }
    return last_ns;
}

/* Every route is as short as the torus allows, and equals the library's route. */
static void test_routes(void **state)
{
    static const char *const tori[] = {"2", "9", "8", "3x3", "4x3x2", "1x5", "2x2x2x2", "9m", "3mx4", "2x3m"};
    (void)state;
    for (size_t i = 0; i < sizeof tori / sizeof tori[0]; i++) {
        tn_net_t net;
        make(&net, tori[i]);
        for (int from = 0; from < net.torus.ranks; from++)
            for (int to = 0; to < net.torus.ranks; to++) {
                trv_route_t route;
                int at, node = from;
                trv_route_begin(&route, &net.torus, from, to, trv_torus_route_port(&net.torus, from, to), 0);
                for (int port; from != to && (port = trv_route_next(&route, &at)) >= 0;) {
                    assert_int_equal(at, node);
                    assert_true(tn_has_link(&net.torus, node, port));
                    assert_int_equal(net.route_port[node * net.torus.ranks + to], port);
                    node = trv_torus_neighbour(&net.torus, node, port);
                }
                assert_int_equal(node, to);
            }
        tn_net_destroy(&net);
    }
}

static void test_one_packet(void **state)
{
    tn_net_t net;
    tn_packet_t packet;
    int delivered;
    (void)state;
    make(&net, "9");
    for (int hops = 1; hops <= 4; hops++) {
        int64_t start_ns = hops * (int64_t)1000000000;
        enter(&net, &packet, 0, hops, start_ns);
        assert_int_equal(run(&net, &delivered) - start_ns, hops * LATENCY + TAKEN);
        assert_int_equal(delivered, 1);
    }
    assert_int_equal(net.link[0].count.packets, 4);
    assert_int_equal(net.link[0].count.busy_ns, 4 * TAKEN);
    /* The slowest link of a route determines a packet's time, at any position in the route. */
    for (int slow = 0; slow < 3; slow++) {
        int64_t start_ns = (10 + slow) * (int64_t)1000000000;
        net.link[slow * net.ports].bandwidth_bps = BANDWIDTH / 4;
        net.link[slow * net.ports].latency_ns = 3 * LATENCY;
        enter(&net, &packet, 0, 3, start_ns);
        assert_int_equal(run(&net, &delivered) - start_ns, 5 * LATENCY + 4 * TAKEN);
        net.link[slow * net.ports].bandwidth_bps = BANDWIDTH;
        net.link[slow * net.ports].latency_ns = LATENCY;
    }
    tn_net_destroy(&net);
}

/* Three flows of four packets share the link from 0 to 1. Its queue is longest at the start, when node 0's own
 * packets are queued and one is being sent; packets of the other flows arrive over one link, so no faster than
 * packets leave. */
static void test_queue(void **state)
{
    static tn_packet_t packet[12];
    tn_net_t net;
    int delivered;
    (void)state;
    make(&net, "9");
    for (int i = 0; i < 12; i++)
        enter(&net, &packet[i], i % 3 == 0 ? 0 : 9 - i % 3, 1, 0);
    assert_int_equal(run(&net, &delivered), 12 * TAKEN + LATENCY);
    assert_int_equal(delivered, 12);
    assert_int_equal(net.link[0].count.bytes, 12 * BYTES);
    assert_int_equal(net.link[0].count.queue_max_bytes, 3 * BYTES);
    tn_net_destroy(&net);
}

/* Packets do not overtake one another when the route becomes shorter, and are lost where it is cut. */
static void test_change(void **state)
{
    static tn_packet_t packet[2];
    tn_net_t net;
    int delivered;
    (void)state;
    make(&net, "9");
    enter(&net, &packet[0], 0, 2, 0);
    tn_forward(&net, tn_timer_take(&net));
    net.link[0].latency_ns = 0;
    enter(&net, &packet[1], 0, 2, TAKEN);
    tn_forward(&net, tn_timer_take(&net));
    assert_ptr_equal(tn_timer_first(&net), &packet[0]);
    assert_int_equal(run(&net, &delivered), LATENCY + TAKEN + LATENCY + TAKEN);
    assert_int_equal(delivered, 2);
    net.link[1 * net.ports].down = true;
    enter(&net, &packet[0], 0, 2, 10 * LATENCY);
    run(&net, &delivered);
    assert_int_equal(delivered, 0);
    assert_int_equal(net.link[1 * net.ports].count.dropped, 1);
    tn_net_destroy(&net);
}

/* After new routes are computed, packets travel in the other direction round a ring with a cut; with a second cut
 * they are lost. */
static void test_cut(void **state)
{
    static tn_packet_t packet;
    tn_net_t net;
    int delivered;
    (void)state;
    make(&net, "3x9");
    net.link[1 * net.ports + 2].down = true; /* from 1 to 2 in row 0 */
    tn_route(&net);
    enter(&net, &packet, 0, 2, 0);
    assert_int_equal(run(&net, &delivered), 7 * LATENCY + TAKEN);
    assert_int_equal(delivered, 1);
    enter(&net, &packet, 9, 11, 0); /* row 1 has no cut */
    assert_int_equal(run(&net, &delivered), 2 * LATENCY + TAKEN);
    net.link[5 * net.ports + 3].down = true; /* from 5 to 4 */
    tn_route(&net);
    enter(&net, &packet, 0, 2, 0);
    run(&net, &delivered);
    assert_int_equal(delivered, 0);
    net.link[1 * net.ports + 2].down = false;
    tn_route(&net);
    enter(&net, &packet, 0, 2, 10 * LATENCY);
    assert_int_equal(run(&net, &delivered), 12 * LATENCY + TAKEN);
    tn_net_destroy(&net);
}

/* Network cards of two ports: each is a queue of its own, as fast as a link. */
static void test_cards(void **state)
{
    enum { UP, DOWN };
    static tn_packet_t packet[6];
    tn_net_t net;
    int delivered;
    (void)state;
    make(&net, "9");
    assert_int_equal(tn_net_add_cards(&net), TRV_OK);
    for (int shared = 0; shared < 2; shared++) {
        const int64_t start_ns = shared * (int64_t)1000000000;
        /* Three packets in each direction. With one card they are serialized; with two they are not. */
        for (int i = 0; i < 6; i++) {
            enter(&net, &packet[i], 0, i % 2 ? 8 : 1, start_ns);
            packet[i].leaves = i % 2 && !shared ? DOWN : UP;
            packet[i].arrives = i % 2 ? UP : DOWN;
        }
        assert_int_equal(run(&net, &delivered) - start_ns, (shared ? 6 : 3) * TAKEN + LATENCY);
        assert_int_equal(delivered, 6);
    }
    assert_int_equal(net.card[1][UP].count.bytes, 9 * BYTES);
    assert_int_equal(net.card[1][DOWN].count.bytes, 3 * BYTES);
    assert_int_equal(net.card[0][1 * net.ports + DOWN].count.bytes, 6 * BYTES);
    /* Both directions end at one card. */
    for (int i = 0; i < 6; i++) {
        enter(&net, &packet[i], i % 2 ? 8 : 1, 0, 3000000000);
        packet[i].leaves = i % 2 ? UP : DOWN;
        packet[i].arrives = UP;
    }
    assert_int_equal(run(&net, &delivered) - 3000000000, 6 * TAKEN + LATENCY);
    tn_net_destroy(&net);
    /* If both directions are equally short, a packet arrives at the port to which it is addressed. */
    make(&net, "8");
    assert_int_equal(tn_net_add_cards(&net), TRV_OK);
    for (int port = UP; port <= DOWN; port++) {
        enter(&net, &packet[0], 2, 6, 0);
        packet[0].arrives = port;
        run(&net, &delivered);
        assert_int_equal(net.link[2 * net.ports + (port ^ 1)].count.packets, 1);
        assert_int_equal(net.link[(port == UP ? 7 : 5) * net.ports + (port ^ 1)].count.packets, 1);
        tn_reset(&net, 0);
    }
    tn_net_destroy(&net);
}

/* Without forwarding: a packet crosses the cable of its port, also where two cables lead to the same node. */
static void test_cables(void **state)
{
    enum { UP, DOWN };
    static tn_packet_t packet[4];
    tn_net_t net;
    int delivered;
    (void)state;
    make(&net, "2");
    assert_int_equal(tn_net_use_cables(&net, 0, 0), TRV_OK);
    assert_int_equal(tn_devices(&net), 1 + 2);
    for (int i = 0; i < 4; i++) {
        enter(&net, &packet[i], i / 2, 1 - i / 2, 0);
        packet[i].leaves = i % 2;
        packet[i].arrives = trv_port_opposite(i % 2);
    }
    assert_int_equal(run(&net, &delivered), TAKEN + LATENCY); /* four links, one packet each */
    assert_int_equal(delivered, 4);
    assert_int_equal(net.link[UP].count.packets, 1);
    assert_int_equal(net.link[net.ports + DOWN].count.packets, 1);
    /* A cable is pulled while a packet is on it: it is lost; one on the other cable arrives. */
    for (int i = 0; i < 2; i++) {
        enter(&net, &packet[i], 0, 1, 1000000000);
        packet[i].leaves = i;
        packet[i].arrives = trv_port_opposite(i);
        tn_forward(&net, tn_timer_take(&net));
    }
    net.link[UP].down = net.link[net.ports + DOWN].down = true;
    run(&net, &delivered);
    assert_int_equal(delivered, 1);
    assert_int_equal(net.link[UP].count.dropped, 1);
    enter(&net, &packet[0], 0, 1, 2000000000);
    packet[0].leaves = UP;
    packet[0].arrives = DOWN;
    run(&net, &delivered);
    assert_int_equal(delivered, 0);
    assert_int_equal(net.link[UP].count.dropped, 2);
    tn_net_destroy(&net);
}

/* The management network: a link from each node to a switch, and one back; the switch copies a broadcast to all
 * others. */
static void test_management(void **state)
{
    enum { SLOWER = 20, COPIES = 8 };
    static tn_packet_t packet[2], copy[COPIES];
    tn_net_t net;
    int delivered;
    (void)state;
    make(&net, "5");
    for (int i = 0; i < COPIES; i++)
        tn_packet_put(&net, &copy[i]);
    assert_int_equal(tn_net_use_cables(&net, BANDWIDTH / SLOWER, LATENCY), TRV_OK);
    /* Two packets to one node share the link from the switch. */
    for (int i = 0; i < 2; i++) {
        enter(&net, &packet[i], 1 + i, 4, 0);
        packet[i].leaves = TN_MANAGEMENT;
    }
    assert_int_equal(run(&net, &delivered), LATENCY + 2 * SLOWER * TAKEN);
    assert_int_equal(delivered, 2);
    tn_packet_t *all = tn_packet_get(&net); /* its copies come from the pool, too */
    enter(&net, all, 3, TN_ALL, 1000000000);
    all->leaves = TN_MANAGEMENT;
    assert_int_equal(run(&net, &delivered) - 1000000000, LATENCY + SLOWER * TAKEN);
    assert_int_equal(delivered, 4);
    assert_int_equal(net.management[1][3].count.packets, 1);
    assert_int_equal(net.management[0][3].count.packets, 0);
    tn_net_destroy(&net);
}

static void test_timer(void **state)
{
    enum { COUNT = 5000 };
    tn_packet_t *packet = malloc(COUNT * sizeof *packet);
    tn_net_t net;
    (void)state;
    assert_non_null(packet);
    make(&net, "3");
    uint64_t random = 1;
    for (int i = 0; i < COUNT; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        enter(&net, &packet[i], 0, 1, (int64_t)(random >> 54)); /* many at the same time */
    }
    tn_packet_t *before = tn_timer_take(&net);
    for (tn_packet_t *next; (next = tn_timer_take(&net)); before = next)
        assert_true(before->due_ns < next->due_ns || (before->due_ns == next->due_ns && before->order < next->order));
    tn_net_destroy(&net);
    free(packet);
}

static void test_lateness(void **state)
{
    tn_net_t net;
    (void)state;
    make(&net, "3");
    assert_int_equal(tn_lateness_ns(&net, 0.99), 0);
    for (int i = 0; i < 100; i++)
        tn_count_lateness(&net, i < 98 ? 20500 : i * 1000000);
    assert_int_equal(tn_lateness_ns(&net, 0.5), 21000);
    assert_int_equal(tn_lateness_ns(&net, 0.99), 99000000);
    tn_reset(&net, 5);
    assert_int_equal(net.delivered, 0);
    assert_int_equal(tn_lateness_ns(&net, 0.99), 0);
    tn_net_destroy(&net);
}

/* ---- The packet simulator's times -------------------------------------------------------------------------------- */

/* Every rank sends `packets` packets to the rank `delta` further. */
static double simulated_ns(const trv_torus_t *torus, int delta, int packets)
{
    trv_explicit_options_t form = {TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 1, .registers = 2, .units = 1};
    trv_explicit_part_t part = {.from_reg = 0, .to_reg = 1, .count = 1, .unit = (int64_t[]){0}};
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    trv_schedule_t *schedule;
    trv_simulator_t *simulator;
    trv_simulation_t result;
    assert_int_equal(trv_explicit_create(&schedule, torus, "shift", &form), TRV_OK);
    for (int from = 0; from < torus->ranks; from++) {
        int to = (from + delta) % torus->ranks;
        trv_explicit_message(schedule, 0, 0, from, to, trv_torus_route_port(torus, from, to), -1,
                             TRV_SEND | TRV_RECEIVE, 1, &part);
    }
    options.delivery = TRV_DELIVERY_TAIL;
    options.bandwidth_bps = BANDWIDTH;
    options.nic_bandwidth_bps = 1e15;
    options.link_latency_ns = LATENCY - 256 * 8e9 / BANDWIDTH; /* the simulator adds the time of a flit to every hop */
    options.alpha_ns = options.host_latency_ns = options.router_in_ns = options.router_out_ns = 0;
    options.packet_bytes = BYTES;
    assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
    assert_int_equal(trv_simulate(simulator, &options, (uint64_t)packets * BYTES, &result), TRV_OK);
    double time_ns = result.time_ns;
    trv_simulation_clear(&result);
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
    return time_ns;
}

static void test_simulator(void **state)
{
    static const char *const tori[] = {"9", "8", "3x3x3"};
    enum { PACKETS = 3, RANKS_MAX = 27 };
    tn_packet_t *packet = malloc(RANKS_MAX * PACKETS * sizeof *packet);
    (void)state;
    assert_non_null(packet);
    for (size_t i = 0; i < sizeof tori / sizeof tori[0]; i++)
        for (int delta = 1; delta < 9; delta++) {
            tn_net_t net;
            int delivered, ranks;
            make(&net, tori[i]);
            ranks = net.torus.ranks;
            if (delta < ranks) {
                for (int p = 0; p < ranks * PACKETS; p++)
                    enter(&net, &packet[p], p % ranks, (p % ranks + delta) % ranks, 0);
                double wanted_ns = simulated_ns(&net.torus, delta, PACKETS), got_ns = (double)run(&net, &delivered);
                assert_int_equal(delivered, ranks * PACKETS);
                if (got_ns < 0.9999 * wanted_ns || got_ns > 1.0001 * wanted_ns)
                    fail_msg("%s, shift by %d: %.0f ns, and %.0f by the simulator", tori[i], delta, got_ns, wanted_ns);
            }
            tn_net_destroy(&net);
        }
    free(packet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_routes),   cmocka_unit_test(test_one_packet), cmocka_unit_test(test_queue),
        cmocka_unit_test(test_change),   cmocka_unit_test(test_cut),        cmocka_unit_test(test_cards),
        cmocka_unit_test(test_cables),   cmocka_unit_test(test_management), cmocka_unit_test(test_timer),
        cmocka_unit_test(test_lateness), cmocka_unit_test(test_simulator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
