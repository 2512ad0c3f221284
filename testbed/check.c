/*
 * Checks the emulator against its model: packets over idle routes, over a link that several flows share, in both
 * directions at once, and over all links at once. Each time is compared with the one that the model yields. If nodes do
 * not forward, only neighbours send to each other.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"
#include "base/error.h"
#include "testbed/probe.h"
#include "testbed/testbed.h"
#include "testbed/emulator/torusnet.h"
#include "torus/torus.h"

#define SMALL       64u /* bytes of a packet, headers included */
#define LARGE       9000u
#define BURST       16 /* minimum number of packets of a flow */
#define SHARERS_MAX 4
#define ROUNDS      11
#define TIMEOUT_NS  5e9

typedef struct check {
    const tb_network_t *network;
    tb_probe_t probe;
    tb_report_t *report;
    void *context;
} check_t;

static double transmission_ns(const check_t *check, double bytes)
{
    return bytes * 8e9 / check->network->bandwidth_bps;
}

/* Reports a test with the median of its rounds, `time_ns`. */
static void report_test(const check_t *check, tb_test_t test, double *time_ns)
{
    qsort(time_ns, ROUNDS, sizeof *time_ns, trv_compare_double);
    test.min_ns = time_ns[0];
    test.median_ns = time_ns[ROUNDS / 2];
    test.max_ns = time_ns[ROUNDS - 1];
    check->report(check->context, &test);
}

/* ---- Idle routes ------------------------------------------------------------------------------------------------- */

/* The node that is `hops` away from node 0, dimension by dimension; -1 if there is none. */
static int node_away(const trv_torus_t *torus, int hops)
{
    int at[TRV_DIMS_MAX] = {0};
    for (int d = 0; d < torus->dims; d++) {
        const int hops_max = trv_torus_is_line(torus, d) ? torus->size[d] - 1 : torus->size[d] / 2;
        at[d] = hops < hops_max ? hops : hops_max;
        hops -= at[d];
    }
    return hops ? -1 : trv_torus_rank(torus, at);
}

static int check_route(const check_t *check, int to, int hops, uint32_t bytes)
{
    const tb_flow_t flow = {0, to, 1, trv_torus_route_port(&check->network->torus, 0, to)};
    double time_ns[ROUNDS], theory_ns = hops * check->network->latency_ns + transmission_ns(check, bytes);
    for (int i = -1; i < ROUNDS; i++) { /* the first round warms the machine's caches and does not count */
        int code = trv_testbed_ping_pong(&check->probe, &flow, bytes, theory_ns + TIMEOUT_NS, &time_ns[i < 0 ? 0 : i]);
        if (code < 0)
            return code;
    }
    tb_test_t test = {.what = "ping-pong over hops", .number = hops, .bytes = bytes, .theory_ns = theory_ns};
    report_test(check, test, time_ns);
    return TRV_OK;
}

static int check_routes(const check_t *check)
{
    const tb_network_t *network = check->network;
    const int hops_max = network->no_forwarding ? 1 : network->torus.ranks;
    int code = TRV_OK, to;
    for (int hops = 1; code == TRV_OK && hops <= hops_max && (to = node_away(&network->torus, hops)) >= 0; hops++) {
        code = check_route(check, to, hops, SMALL);
        if (code == TRV_OK)
            code = check_route(check, to, hops, LARGE);
    }
    return code;
}

/* ---- Simultaneous flows ------------------------------------------------------------------------------------------ */

/* Measures flows of which `share` use the busiest link, which is never idle from the start on. */
static int check_flows(const check_t *check, tb_test_t test, const tb_flow_t *flow, int flows, int share)
{
    double time_ns[ROUNDS];
    double carried = (double)share * flow[0].packets * LARGE;
    test.bytes = (uint64_t)carried;
    test.theory_ns = transmission_ns(check, carried) + check->network->latency_ns;
    for (int i = -1; i < ROUNDS; i++) {
        int code = trv_testbed_burst(&check->probe, flow, flows, LARGE, test.theory_ns + TIMEOUT_NS,
                                     &time_ns[i < 0 ? 0 : i]);
        if (code < 0)
            return code;
    }
    report_test(check, test, time_ns);
    return TRV_OK;
}

/* The hops of the route from a node to `to` if its last link leaves node 0, else 0. */
static int hops_over_link(const trv_torus_t *torus, int from, int to)
{
    int hops = 0, last = from;
    for (int node = from; node != to; hops++) {
        last = node;
        node = trv_torus_neighbour(torus, node, trv_torus_route_port(torus, node, to));
    }
    return last == 0 ? hops : 0;
}

/* Finds the nearest nodes whose routes to `to`, a neighbour of node 0, end with the link from node 0; the first is node
 * 0 itself. Returns their number. */
static int find_sharers(const trv_torus_t *torus, int to, int sharer[SHARERS_MAX], int *farthest)
{
    int count = 0;
    *farthest = 1;
    for (int hops = 1; hops < torus->ranks && count < SHARERS_MAX; hops++)
        for (int from = 0; from < torus->ranks && count < SHARERS_MAX; from++)
            if (from != to && hops_over_link(torus, from, to) == hops) {
                sharer[count++] = from;
                *farthest = hops;
            }
    return count;
}

/* The last dimension that has links. */
static int last_dimension(const trv_torus_t *torus)
{
    int d = torus->dims - 1;
    while (d > 0 && torus->size[d] == 1)
        d--;
    return d;
}

/* Measures several flows over one link. Node 0 sends enough packets to keep the link busy until those of the other
 * nodes arrive. */
static int check_shared(const check_t *check)
{
    const trv_torus_t *torus = &check->network->torus;
    tb_flow_t flow[SHARERS_MAX];
    const int port = trv_port(last_dimension(torus), 1), to = trv_torus_neighbour(torus, 0, port);
    int sharer[SHARERS_MAX] = {0}, farthest = 1;
    int sharers = check->network->no_forwarding ? 1 : find_sharers(torus, to, sharer, &farthest);
    double wait = (farthest - 1) * check->network->latency_ns / transmission_ns(check, LARGE);
    int packets = BURST + (wait < 1000 ? (int)wait : 1000);
    for (int i = 0; i < sharers; i++)
        flow[i] = (tb_flow_t){sharer[i], to, packets, port};
    int code = TRV_OK;
    for (int flows = 1; flows <= sharers && code == TRV_OK; flows++)
        code = check_flows(check, (tb_test_t){.what = "flows on one link", .number = flows}, flow, flows, flows);
    flow[1] = (tb_flow_t){to, 0, packets, trv_port_opposite(port)};
    if (code == TRV_OK)
        code = check_flows(check, (tb_test_t){.what = "flows in opposite directions", .number = 2}, flow, 2, 1);
    return code;
}

/* Measures all links at once: every node sends to all its neighbours. In a dimension of two nodes both ports lead to
 * the same neighbour, and both flows use one link, unless the address of a cable selects it. */
static int check_all(const check_t *check)
{
    const trv_torus_t *torus = &check->network->torus;
    tb_flow_t *flow = calloc((size_t)torus->ranks * (size_t)trv_port_count(torus), sizeof *flow);
    int flows = 0;
    for (int node = 0; flow && node < torus->ranks; node++)
        for (int port = 0; port < trv_port_count(torus); port++) {
            const int d = trv_port_dimension(port);
            const bool shared = torus->size[d] == 2 && !trv_torus_is_line(torus, d) && !check->network->no_forwarding;
            if (tn_has_link(torus, node, port) && !(shared && trv_port_sign(port) < 0))
                flow[flows++] = (tb_flow_t){node, trv_torus_neighbour(torus, node, port), BURST, port};
        }
    int code = flow ? check_flows(check, (tb_test_t){.what = "flows on all links", .number = flows}, flow, flows, 1)
                    : trv_fail_memory();
    free(flow);
    return code;
}

/* Sends a packet over every cable. The system then knows the Ethernet address of each neighbour; it would drop packets
 * of a burst that is sent before. */
static int resolve_addresses(const check_t *check)
{
    const trv_torus_t *torus = &check->network->torus;
    double time_ns;
    int code = TRV_OK;
    for (int i = 0; i < torus->ranks * trv_port_count(torus) && code == TRV_OK; i++) {
        const int node = i / trv_port_count(torus), port = i % trv_port_count(torus);
        if (trv_port_sign(port) < 0 || !tn_has_link(torus, node, port))
            continue;
        const tb_flow_t flow = {node, trv_torus_neighbour(torus, node, port), 1, port};
        code = trv_testbed_ping_pong(&check->probe, &flow, SMALL, check->network->latency_ns + TIMEOUT_NS, &time_ns);
    }
    return code;
}

int trv_testbed_check(const tb_network_t *network, tb_report_t *report, void *context)
{
    check_t check = {.network = network, .report = report, .context = context};
    int code = trv_testbed_ask("reset", NULL);
    if (code == TRV_OK)
        code = trv_testbed_probe_open(&check.probe, network);
    if (code < 0)
        return code;
    code = network->no_forwarding ? resolve_addresses(&check) : TRV_OK;
    if (code == TRV_OK)
        code = check_routes(&check);
    if (code == TRV_OK)
        code = check_shared(&check);
    if (code == TRV_OK)
        code = check_all(&check);
    trv_testbed_probe_close(&check.probe);
    return code;
}

double trv_testbed_lateness_limit_ns(const tb_network_t *network)
{
    double packet_ns = TN_MTU * 8e9 / network->bandwidth_bps;
    return TB_FAITHFUL * (network->latency_ns > 0 ? network->latency_ns : packet_ns);
}
