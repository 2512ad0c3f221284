/*
 * Schedules on a set of nodes: the steps of another schedule, whose ranks are some nodes of a machine.
 */
#include <stdlib.h>
#include <string.h>

#include <trivance/network.h>

#include "common/error.h"
#include "schedule/schedule.h"
#include "torus/torus.h"

typedef struct placed {
    trv_schedule_t *schedule;
    int *node; /* of its ranks */
    int *rank; /* of the machine's nodes; -1 where there is none */
} placed_t;

/* By the first dimension in which the two differ, the way that a route takes in any dimension but the first. */
static int port_between(const trv_torus_t *torus, int from, int to, bool mirrored)
{
    int d = 0;
    while (trv_torus_coordinate(torus, from, d) == trv_torus_coordinate(torus, to, d))
        d++;
    const int size = torus->size[d];
    const int forward = (trv_torus_coordinate(torus, to, d) - trv_torus_coordinate(torus, from, d) + size) % size;
    if (trv_torus_is_line(torus, d))
        return trv_port(d, trv_torus_coordinate(torus, from, d) + forward < size ? 1 : -1);
    return trv_port(d, 2 * forward < size || (2 * forward == size && !mirrored) ? 1 : -1);
}

static int placed_step(const trv_schedule_t *schedule, int node, int stream, int step, trv_step_t *out)
{
    const placed_t *placed = schedule->tables;
    const trv_torus_t *torus = &schedule->torus;
    const bool mirrored = trv_schedule_mirrored(schedule, stream);
    if (placed->rank[node] < 0)
        return TRV_OK;
    int rc = placed->schedule->step(placed->schedule, placed->rank[node], stream, step, out);
    for (int i = 0; i < out->sends && !rc; i++) {
        trv_message_t *message = (trv_message_t *)&out->send[i];
        message->peer = placed->node[message->peer];
        message->port = port_between(torus, node, message->peer, mirrored);
        message->nic = -1;
    }
    for (int i = 0; i < out->receives && !rc; i++) {
        trv_message_t *message = (trv_message_t *)&out->receive[i];
        message->peer = placed->node[message->peer];
        message->port = port_between(torus, message->peer, node, mirrored);
        message->nic = -1;
    }
    out->dimension = -1;
    return rc;
}

static void destroy(void *tables)
{
    placed_t *placed = tables;
    trv_schedule_destroy(placed->schedule);
    free(placed->node);
    free(placed->rank);
    free(placed);
}

static int check_nodes(const trv_torus_t *torus, int nodes, const int *node, int *rank)
{
    for (int n = 0; n < torus->ranks; n++)
        rank[n] = -1;
    for (int i = 0; i < nodes; i++) {
        if (node[i] < 0 || node[i] >= torus->ranks || rank[node[i]] >= 0)
            return trv_fail(TRV_ERR_ARGUMENT, "rank %d cannot be node %d, which %s", i, node[i],
                            node[i] < 0 || node[i] >= torus->ranks ? "does not exist" : "another rank is");
        rank[node[i]] = i;
    }
    return TRV_OK;
}

int trv_schedule_place(trv_schedule_t **out, trv_schedule_t *schedule, const trv_torus_t *torus, const int *node)
{
    const int nodes = schedule->torus.ranks;
    trv_schedule_t *s = trv_schedule_allocate(torus, schedule->name, schedule->collective);
    placed_t *placed = calloc(1, sizeof *placed);
    *out = NULL;
    if (!s || !placed) {
        free(placed);
        trv_schedule_destroy(s);
        trv_schedule_destroy(schedule);
        return trv_fail_memory();
    }
    *placed = (placed_t){schedule, malloc((size_t)nodes * sizeof(int)), malloc((size_t)torus->ranks * sizeof(int))};
    s->tables = placed;
    s->destroy = destroy;
    int rc = placed->node && placed->rank ? check_nodes(torus, nodes, node, placed->rank) : trv_fail_memory();
    if (rc) {
        trv_schedule_destroy(s);
        return rc;
    }
    memcpy(placed->node, node, (size_t)nodes * sizeof *node);
    s->step = placed_step;
    s->streams = schedule->streams;
    s->steps = schedule->steps;
    s->registers = schedule->registers;
    s->space = schedule->space;
    s->halves = schedule->halves;
    s->mirrored_from = schedule->mirrored_from;
    s->exactness = schedule->exactness;
    s->consistent = schedule->consistent;
    s->messages_per_port = 2 * schedule->messages_per_port; /* those of both its ports may leave by one */
    s->symmetry = TRV_SYMMETRY_NONE;
    rc = schedule->weight ? trv_schedule_weigh(s, schedule->weight) : TRV_OK;
    if (rc)
        trv_schedule_destroy(s);
    else
        *out = s;
    return rc;
}
