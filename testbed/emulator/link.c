/*
 * The link model, in virtual time, and its statistics. It is independent of devices and clocks.
 */
#include "testbed/emulator/torusnet.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "torus/torus.h"

int tn_port_for(const trv_torus_t *torus, int node, int destination, int arrives)
{
    const int port = trv_torus_route_port(torus, node, destination), d = trv_port_dimension(port),
              size = torus->size[d];
    if (arrives < 0 || trv_port_dimension(arrives) != d || trv_torus_is_line(torus, d))
        return port;
    const int displacement = trv_torus_coordinate(torus, destination, d) - trv_torus_coordinate(torus, node, d);
    return 2 * abs(displacement) == size ? trv_port_opposite(arrives) : port;
}

bool tn_has_link(const trv_torus_t *torus, int node, int port) { return trv_torus_neighbour(torus, node, port) >= 0; }

/* Whether the row of `node` has a cut link between it and the destination's coordinate, in the direction of a port. */
static bool is_cut(const tn_net_t *net, int node, int destination, int port)
{
    const int d = trv_port_dimension(port);
    while (trv_torus_coordinate(&net->torus, node, d) != trv_torus_coordinate(&net->torus, destination, d)) {
        if (net->link[node * net->ports + port].down)
            return true;
        node = trv_torus_neighbour(&net->torus, node, port);
    }
    return false;
}

static int find_route_port(const tn_net_t *net, int node, int destination)
{
    const int port = trv_torus_route_port(&net->torus, node, destination), back = trv_port_opposite(port);
    return !trv_torus_is_line(&net->torus, trv_port_dimension(port)) && is_cut(net, node, destination, port) &&
                   !is_cut(net, node, destination, back)
               ? back
               : port;
}

void tn_route(tn_net_t *net)
{
    const int ranks = net->torus.ranks;
    bool cut = false;
    for (int i = 0; i < ranks * net->ports; i++)
        cut = cut || net->link[i].down;
    net->cut = cut;
    for (int from = 0; from < ranks; from++)
        for (int to = 0; to < ranks; to++) {
            const int port = cut ? find_route_port(net, from, to) : trv_torus_route_port(&net->torus, from, to);
            net->route_port[(size_t)from * (size_t)ranks + (size_t)to] = (unsigned char)port;
        }
}

int tn_net_create(tn_net_t *net, const trv_torus_t *torus, double bandwidth_bps, int64_t latency_ns)
{
    const size_t ranks = (size_t)torus->ranks;
    *net = (tn_net_t){.torus = *torus, .ports = trv_port_count(torus), .bandwidth_bps = bandwidth_bps};
    net->link = calloc(ranks * (size_t)net->ports, sizeof *net->link);
    net->route_port = malloc(ranks * ranks);
    if (!net->link || !net->route_port) {
        tn_net_destroy(net);
        return trv_fail_memory();
    }
    for (size_t i = 0; i < ranks * (size_t)net->ports; i++)
        net->link[i] = (tn_link_t){.bandwidth_bps = bandwidth_bps, .latency_ns = latency_ns};
    tn_route(net);
    return TRV_OK;
}

int tn_net_add_cards(tn_net_t *net)
{
    const size_t cards = (size_t)net->torus.ranks * (size_t)net->ports;
    for (int out = 0; out < 2; out++) {
        net->card[out] = calloc(cards, sizeof *net->card[out]);
        if (!net->card[out])
            return trv_fail_memory();
        for (size_t i = 0; i < cards; i++)
            net->card[out][i].bandwidth_bps = net->bandwidth_bps;
    }
    return TRV_OK;
}

int tn_net_use_cables(tn_net_t *net, double management_bps, int64_t management_latency_ns)
{
    const size_t ranks = (size_t)net->torus.ranks;
    net->cables = true;
    for (int out = 0; out < 2 && management_bps > 0; out++) {
        net->management[out] = calloc(ranks, sizeof *net->management[out]);
        if (!net->management[out])
            return trv_fail_memory();
        for (size_t i = 0; i < ranks; i++)
            net->management[out][i] = (tn_link_t){.bandwidth_bps = management_bps,
                                                  .latency_ns = out ? management_latency_ns : 0};
    }
    return TRV_OK;
}

/* Frees the network, but not the packets, which exist as long as the process. */
void tn_net_destroy(tn_net_t *net)
{
    free(net->card[0]);
    free(net->card[1]);
    free(net->management[0]);
    free(net->management[1]);
    free(net->device);
    free(net->link);
    free(net->route_port);
    free(net->heap);
    *net = (tn_net_t){0};
}

static void count(tn_link_t *link, const tn_packet_t *packet, int64_t begin_ns, int64_t taken_ns)
{
    uint64_t waits = (uint64_t)((double)(begin_ns - packet->due_ns) * link->bandwidth_bps / 8e9);
    link->count.packets++;
    link->count.bytes += packet->bytes;
    link->count.busy_ns += taken_ns;
    if (waits > link->count.queue_max_bytes)
        link->count.queue_max_bytes = waits;
}

/* Sends a packet over a link or a card: sets packet->due_ns to the time at which its head has passed it. */
static void cross(tn_link_t *link, tn_packet_t *packet)
{
    int64_t begin_ns = packet->due_ns > link->free_ns ? packet->due_ns : link->free_ns;
    int64_t taken_ns = (int64_t)(packet->bytes * 8e9 / link->bandwidth_bps + 0.5);
    count(link, packet, begin_ns, taken_ns);
    link->free_ns = begin_ns + taken_ns;
    if (begin_ns + link->latency_ns > link->head_ns)
        link->head_ns = begin_ns + link->latency_ns;
    packet->tail_ns = taken_ns > packet->tail_ns ? taken_ns : packet->tail_ns;
    packet->due_ns = link->head_ns;
}

bool tn_has_arrived(const tn_packet_t *packet)
{
    return packet->node == packet->destination && packet->leaves < 0 && packet->through;
}

static int next_port(const tn_net_t *net, const tn_packet_t *packet)
{
    return packet->arrives >= 0 && !net->cut
               ? tn_port_for(&net->torus, packet->node, packet->destination, packet->arrives)
               : net->route_port[(size_t)packet->node * (size_t)net->torus.ranks + (size_t)packet->destination];
}

/* True if the link is cut and therefore drops a packet, which is counted. */
static bool drops(tn_link_t *link)
{
    link->count.dropped += link->down;
    return link->down;
}

/* The last link before a packet's destination. */
static bool cross_last(tn_net_t *net, tn_link_t *link, tn_packet_t *packet)
{
    if (drops(link))
        return false;
    cross(link, packet);
    packet->node = packet->destination;
    packet->leaves = -1;
    packet->through = true;
    packet->due_ns += packet->tail_ns;
    return tn_timer_add(net, packet);
}

/* The switch of the management network copies a packet to all nodes except its sender. */
static void broadcast(tn_net_t *net, const tn_packet_t *packet)
{
    for (int to = 0; to < net->torus.ranks; to++) {
        tn_packet_t *copy = to != packet->node ? tn_packet_get(net) : NULL;
        if (!copy)
            continue;
        *copy = *packet;
        copy->destination = to;
        if (!cross_last(net, &net->management[0][to], copy))
            tn_packet_put(net, copy);
    }
}

/* Without forwarding, a packet crosses one cable; or first the link to the switch of the management network, then the
 * one from it. */
static bool forward_to_neighbour(tn_net_t *net, tn_packet_t *packet)
{
    if (packet->leaves == TN_MANAGEMENT) {
        cross(&net->management[1][packet->node], packet);
        packet->leaves = -1;
        return tn_timer_add(net, packet);
    }
    if (packet->leaves >= 0)
        return cross_last(net, &net->link[packet->node * net->ports + packet->leaves], packet);
    if (packet->destination != TN_ALL)
        return cross_last(net, &net->management[0][packet->destination], packet);
    broadcast(net, packet);
    return false;
}

bool tn_is_lost(tn_net_t *net, const tn_packet_t *packet)
{
    if (!net->cables || packet->arrives < 0)
        return false;
    const int sender = trv_torus_neighbour(&net->torus, packet->node, packet->arrives);
    return drops(&net->link[sender * net->ports + trv_port_opposite(packet->arrives)]);
}

bool tn_forward(tn_net_t *net, tn_packet_t *packet)
{
    if (net->cables)
        return forward_to_neighbour(net, packet);
    const int first = packet->node * net->ports;
    if (packet->leaves >= 0) {
        cross(&net->card[1][first + packet->leaves], packet);
        packet->leaves = -1;
    } else if (packet->node != packet->destination) {
        const int port = next_port(net, packet);
        tn_link_t *link = &net->link[first + port];
        if (drops(link))
            return false;
        cross(link, packet);
        packet->node = trv_torus_neighbour(&net->torus, packet->node, port);
        packet->through = packet->node == packet->destination && packet->arrives < 0;
    } else {
        cross(&net->card[0][first + packet->arrives], packet);
        packet->through = true;
    }
    packet->due_ns += packet->through ? packet->tail_ns : 0;
    return tn_timer_add(net, packet);
}

/* ---- Statistics -------------------------------------------------------------------------------------------------- */

void tn_count_lateness(tn_net_t *net, int64_t late_ns)
{
    int64_t bucket = late_ns / 1000;
    bucket = bucket < 0 ? 0 : bucket < TN_LATENESS_BUCKETS ? bucket : TN_LATENESS_BUCKETS - 1;
    net->lateness[bucket]++;
    net->delivered++;
    if (late_ns > net->lateness_max_ns)
        net->lateness_max_ns = late_ns;
}

int64_t tn_lateness_ns(const tn_net_t *net, double share)
{
    uint64_t seen = 0;
    for (int i = 0; i < TN_LATENESS_BUCKETS; i++) {
        seen += net->lateness[i];
        if (seen > 0 && (double)seen >= share * (double)net->delivered)
            return i == TN_LATENESS_BUCKETS - 1 ? net->lateness_max_ns : (int64_t)(i + 1) * 1000;
    }
    return 0;
}

void tn_reset(tn_net_t *net, int64_t now_ns)
{
    for (int i = 0; i < net->torus.ranks * net->ports; i++) {
        net->link[i].count = (tn_count_t){0};
        for (int out = 0; out < 2 && net->card[out]; out++)
            net->card[out][i].count = (tn_count_t){0};
    }
    for (int i = 0; i < net->torus.ranks; i++)
        for (int out = 0; out < 2 && net->management[out]; out++)
            net->management[out][i].count = (tn_count_t){0};
    memset(net->lateness, 0, sizeof net->lateness);
    net->entered = net->delivered = net->misaddressed = 0;
    net->lateness_max_ns = 0;
    net->since_ns = now_ns;
}
