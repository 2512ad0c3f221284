/*
 * Embedded schedules: the steps of another schedule, whose ranks are mapped to a set of nodes of a machine. All other
 * nodes are idle. trivance/network.h describes the routes of the messages (trv_schedule_embed).
 */
#include <stdlib.h>
#include <string.h>

#include <trivance/network.h>

#include "base/error.h"
#include "schedule/schedule.h"
#include "torus/box.h"
#include "torus/reach.h"
#include "torus/torus.h"

typedef struct embedded {
    trv_schedule_t *schedule;
    bool in_box; /* the nodes form the schedule's torus or mesh, in the order of its ranks */
    trv_box_t box;
    int *node; /* node of each rank */
    int *rank; /* rank of each node of the machine; -1 if there is none */
    int cuts;
    trv_slow_link_t *cut;
} embedded_t;

static bool passes_cut(const embedded_t *embedded, const trv_torus_t *torus, int from, int to, int port, bool mirrored)
{
    trv_route_t route;
    int node = from, port_used;
    trv_route_begin(&route, torus, from, to, port, mirrored);
    while (embedded->cuts > 0 && (port_used = trv_route_next(&route, &node)) >= 0)
        for (int i = 0; i < embedded->cuts; i++)
            if (embedded->cut[i].rank == node && embedded->cut[i].port == port_used)
                return true;
    return false;
}

/* The port along dimension `d` by which a route continues if `d` is not its first dimension: the shorter way, or the
 * only way along a line. */
static int port_along(const trv_torus_t *torus, int from, int to, int d, bool mirrored)
{
    const int size = torus->size[d], ahead = trv_torus_coordinate(torus, to, d) - trv_torus_coordinate(torus, from, d);
    if (trv_torus_is_line(torus, d))
        return trv_port(d, ahead > 0 ? 1 : -1);
    const int forward = (ahead + size) % size;
    return trv_port(d, 2 * forward < size || (2 * forward == size && !mirrored) ? 1 : -1);
}

/* The machine's port of a message that leaves by `port` in the schedule. In a box: the same direction of the same
 * dimension, if no link of that route is cut. Otherwise: along the first dimension in which the nodes differ, the
 * shorter way, or the longer one, or along the next dimension: the first of these whose route passes no cut link, or
 * the shorter way along the first dimension if every route passes one. */
static int port_between(const trv_schedule_t *schedule, int from, int to, int port, bool mirrored)
{
    const trv_torus_t *torus = &schedule->torus;
    const embedded_t *embedded = schedule->tables;
    int first = -1;
    if (embedded->in_box) {
        const int same = trv_port(embedded->box.dimension[trv_port_dimension(port)], trv_port_sign(port));
        if (!passes_cut(embedded, torus, from, to, same, mirrored))
            return same;
    }
    for (int d = 0; d < torus->dims; d++) {
        if (trv_torus_coordinate(torus, from, d) == trv_torus_coordinate(torus, to, d))
            continue;
        const int shorter = port_along(torus, from, to, d, mirrored), longer = trv_port(d, -trv_port_sign(shorter));
        if (!passes_cut(embedded, torus, from, to, shorter, mirrored))
            return shorter;
        if (!trv_torus_is_line(torus, d) && !passes_cut(embedded, torus, from, to, longer, mirrored))
            return longer;
        first = first < 0 ? shorter : first;
    }
    return first;
}

/* The machine's port of the interface that injects a message, which a schedule may name; -1 for any. */
static int interface_of(const embedded_t *embedded, int nic)
{
    return embedded->in_box && nic >= 0 ? trv_port(embedded->box.dimension[trv_port_dimension(nic)], trv_port_sign(nic))
                                        : -1;
}

/* Where routes are fixed, the ports are left at 0; trv_schedule_step sets them. */
static int embedded_step(const trv_schedule_t *schedule, int node, int stream, int step, trv_step_t *out)
{
    const embedded_t *embedded = schedule->tables;
    const bool mirrored = trv_schedule_mirrored(schedule, stream);
    if (embedded->rank[node] < 0)
        return TRV_OK;
    int rc = trv_schedule_step(embedded->schedule, embedded->rank[node], stream, step, out);
    for (int i = 0; i < out->sends && !rc; i++) {
        trv_message_t *message = (trv_message_t *)&out->send[i];
        message->peer = embedded->node[message->peer];
        message->port = schedule->fixed_rows ? 0 : port_between(schedule, node, message->peer, message->port, mirrored);
        message->nic = interface_of(embedded, message->nic);
    }
    for (int i = 0; i < out->receives && !rc; i++) {
        trv_message_t *message = (trv_message_t *)&out->receive[i];
        message->peer = embedded->node[message->peer];
        message->port = schedule->fixed_rows ? 0 : port_between(schedule, message->peer, node, message->port, mirrored);
        message->nic = interface_of(embedded, message->nic);
    }
    out->dimension = -1;
    return rc;
}

static void embedded_destroy(void *tables)
{
    embedded_t *embedded = tables;
    trv_schedule_destroy(embedded->schedule);
    free(embedded->node);
    free(embedded->rank);
    free(embedded->cut);
    free(embedded);
}

static int embedded_check_nodes(const trv_torus_t *torus, int nodes, const int *node, int *rank)
{
    for (int n = 0; n < torus->ranks; n++)
        rank[n] = -1;
    for (int i = 0; i < nodes; i++) {
        if (node[i] < 0 || node[i] >= torus->ranks || rank[node[i]] >= 0)
            return trv_fail(TRV_ERR_ARGUMENT, "rank %d cannot be mapped to node %d, which %s", i, node[i],
                            node[i] < 0 || node[i] >= torus->ranks ? "does not exist" : "already has a rank");
        rank[node[i]] = i;
    }
    return TRV_OK;
}

/* Sets in_box. */
static int embedded_find_box(embedded_t *embedded, const trv_torus_t *machine)
{
    const trv_torus_t *torus = &embedded->schedule->torus;
    const size_t bytes = (size_t)torus->ranks * sizeof *embedded->node;
    int rc = trv_box_find(&embedded->box, machine, torus->ranks, embedded->node);
    if (rc <= 0 || !trv_torus_equal(&embedded->box.torus, torus))
        return rc < 0 ? rc : TRV_OK;
    int *ordered = malloc(bytes);
    if (!ordered)
        return trv_fail_memory();
    memcpy(ordered, embedded->node, bytes);
    rc = trv_order_nodes(&(trv_network_t){TRV_NETWORK, .torus = *machine}, TRV_ORDER_ROWS, torus->ranks, ordered);
    embedded->in_box = !rc && memcmp(ordered, embedded->node, bytes) == 0;
    free(ordered);
    return rc;
}

static int embedded_copy_cuts(embedded_t *embedded, const trv_network_t *network)
{
    embedded->cut = malloc(((size_t)network->slow_links + 1) * sizeof *embedded->cut);
    if (!embedded->cut)
        return trv_fail_memory();
    for (int i = 0; i < network->slow_links; i++)
        if (trv_link_is_cut(network, i))
            embedded->cut[embedded->cuts++] = network->slow_link[i];
    return TRV_OK;
}

/* Sets the properties. Positions and owners are left out, because an embedded schedule is not executed. */
static int embedded_set_properties(trv_schedule_t *s, const trv_schedule_t *schedule)
{
    const int rc = trv_schedule_copy_properties(s, schedule);
    s->step = embedded_step;
    s->messages_per_port = 0; /* messages take other ports than in the schedule */
    s->symmetry = TRV_SYMMETRY_NONE;
    s->owned = false;
    return rc;
}

int trv_schedule_embed(trv_schedule_t **out, trv_schedule_t *schedule, const trv_network_t *network, const int *node)
{
    const size_t nodes = (size_t)schedule->torus.ranks, all = (size_t)network->torus.ranks;
    trv_schedule_t *s = trv_schedule_allocate(&network->torus, schedule->name, schedule->collective,
                                              node[schedule->root]);
    embedded_t *embedded = calloc(1, sizeof *embedded);
    *out = NULL;
    if (!s || !embedded) {
        free(embedded);
        trv_schedule_destroy(s);
        trv_schedule_destroy(schedule);
        return trv_fail_memory();
    }
    *embedded = (embedded_t){.schedule = schedule,
                             .node = malloc(nodes * sizeof(int)),
                             .rank = malloc(all * sizeof(int))};
    s->tables = embedded;
    s->destroy = embedded_destroy;
    int rc = embedded_set_properties(s, schedule);
    if (!rc)
        rc = embedded->node && embedded->rank ? embedded_check_nodes(&network->torus, (int)nodes, node, embedded->rank)
                                              : trv_fail_memory();
    if (!rc) {
        memcpy(embedded->node, node, nodes * sizeof *node);
        rc = embedded_find_box(embedded, &network->torus);
    }
    if (!rc)
        rc = embedded_copy_cuts(embedded, network);
    if (!rc)
        rc = trv_rows_create_any(&s->fixed_rows, network); /* checks the links, too */
    if (!rc && network->routes != TRV_ROUTES_FIXED) {
        trv_rows_destroy(s->fixed_rows);
        s->fixed_rows = NULL;
    }
    if (rc) {
        trv_schedule_destroy(s);
        return rc;
    }
    *out = s;
    return TRV_OK;
}
