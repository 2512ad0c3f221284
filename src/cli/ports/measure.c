/*
 * Times of messages to the two neighbours in a dimension: through one port, and through both concurrently.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "net/inside.h"
#include "cli/ports/probe.h"
#include "cli/ports/verdict.h"

enum { UP = 1, DOWN = 2, BOTH = UP | DOWN, ROUNDS_MAX = 11 };
#define SPENT_MAX_NS 20e9 /* no round begins after this time */

typedef struct flow {
    trv_net_t *net;
    int dimension;
    size_t bytes;
    char *out[2], *in[2]; /* by sign */
    trv_fabric_op_t op[4];
    const bool *remote;
} flow_t;

int trv_probe_neighbour(const trv_net_t *net, int way)
{
    const trv_torus_t *torus = &net->world->torus;
    const int d = trv_port_dimension(way), sign = trv_port_sign(way);
    int at[TRV_DIMS_MAX];
    trv_torus_coordinates(torus, net->rank, at);
    if ((torus->lines >> d & 1) && at[d] == (sign > 0 ? torus->size[d] - 1 : 0))
        return -1;
    at[d] = (at[d] + sign + torus->size[d]) % torus->size[d];
    return trv_torus_rank(torus, at);
}

static int post(flow_t *flow, trv_fabric_op_t *op, bool sends, int way, int peer)
{
    const uint64_t inner = trv_collective_tag(true, TRV_NUMBERS - 1) | (uint64_t)way << TRV_LANE_BITS;
    *op = (trv_fabric_op_t){.sends = sends,
                            .way = way,
                            .peer = peer,
                            .tag = trv_peer_tag(flow->net->world, peer, sends, inner),
                            .data = sends ? flow->out[way % 2] : flow->in[way % 2],
                            .bytes = flow->bytes};
    return trv_fabric_post(flow->net->fabric, op);
}

static int wait_for(flow_t *flow, int ops)
{
    trv_fabric_t *fabric = flow->net->fabric;
    int done = 0, rc = TRV_OK;
    for (unsigned polls = 1; rc >= 0 && done < ops; polls++) {
        const uint64_t seen = trv_fabric_poll(fabric);
        const int before = done;
        while (done < ops && (rc = trv_fabric_test(fabric, &flow->op[done])) == 1)
            done++;
        polls = done > before ? 0 : polls;
        if (rc == 0)
            trv_fabric_pause(fabric, seen, polls);
    }
    return rc < 0 ? rc : TRV_OK;
}

/* Exchanges messages with the neighbours through the ports in `signs`. A message sent to the + neighbour is received
 * there from the - neighbour. */
static int exchange(flow_t *flow, int signs)
{
    int ops = 0, rc = TRV_OK;
    for (int sends = 0; sends < 2; sends++)
        for (int down = 0; down < 2; down++) {
            const int way = 2 * flow->dimension + down, peer = trv_probe_neighbour(flow->net, sends ? way : way ^ 1);
            if (rc == TRV_OK && signs >> down & 1 && peer >= 0)
                rc = post(flow, &flow->op[ops++], sends, way, peer);
        }
    return rc < 0 ? rc : wait_for(flow, ops);
}

/* Returns the bytes that the interface has sent according to the system's counter; 0: it has no counter. */
static double sent_by(const flow_t *flow, int way)
{
    trv_fabric_port_info_t port;
    char path[160];
    double bytes = 0;
    trv_fabric_port_info(flow->net->fabric, trv_fabric_departure(flow->net->fabric, way), &port);
    snprintf(path, sizeof path, "/sys/class/net/%.64s/statistics/tx_bytes", port.device.name);
    FILE *file = *port.device.name ? fopen(path, "re") : NULL;
    if (file && fscanf(file, "%lf", &bytes) != 1)
        bytes = 0;
    if (file)
        fclose(file);
    return bytes;
}

/* Measures an exchange of all ranks at the same time. The result is the time of the slowest rank, on all ranks. */
static int measure(flow_t *flow, int signs, double *most_ns)
{
    trv_net_comm_t *world = flow->net->world;
    int rc = trv_net_barrier(world);
    const double start_ns = trv_now_ns();
    if (rc == TRV_OK)
        rc = exchange(flow, signs);
    const double time_ns = trv_now_ns() - start_ns;
    return rc == TRV_OK ? trv_net_allreduce(world, &time_ns, most_ns, 1, TRV_DOUBLE, TRV_MAX) : rc;
}

/* ---- Rounds ------------------------------------------------------------------------------------------------------ */

/* Rounds. Each measures +, - and both, so that other activity of the machine affects all three; consecutive rounds
 * begin with a different one. The values are the same on all ranks, so that all make the same decisions. */
typedef struct rounds {
    int done;
    double time_ns[3][ROUNDS_MAX], gain[ROUNDS_MAX], spent_ns;
} rounds_t;

static int add_round(flow_t *flow, rounds_t *rounds)
{
    static const int signs[] = {UP, DOWN, BOTH};
    double time_ns[3];
    int rc = TRV_OK;
    for (int i = 0; i < 3 && rc == TRV_OK; i++) {
        const int kind = (rounds->done + i) % 3;
        rc = measure(flow, signs[kind], &time_ns[kind]);
        rounds->spent_ns += rc == TRV_OK ? time_ns[kind] : 0;
    }
    if (rc < 0)
        return rc;
    for (int kind = 0; kind < 3; kind++)
        rounds->time_ns[kind][rounds->done] = time_ns[kind];
    rounds->gain[rounds->done++] = (time_ns[0] + time_ns[1]) / time_ns[2];
    return rc;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_clear(rounds_t *rounds)
{
    qsort(rounds->gain, (size_t)rounds->done, sizeof *rounds->gain, compare);
    return trv_verdict_is_clear(rounds->gain, rounds->done);
}

/* Runs the rounds; the first round, which connects, is not measured. Sorts the times and gains. */
static int run_rounds(flow_t *flow, rounds_t *rounds)
{
    bool clear = false;
    int rc = add_round(flow, rounds);
    *rounds = (rounds_t){.done = 0};
    for (int i = 1; rc == TRV_OK && !clear && i <= ROUNDS_MAX && rounds->spent_ns < SPENT_MAX_NS; i++) {
        rc = add_round(flow, rounds);
        clear = rc == TRV_OK && i % 4 == 3 && is_clear(rounds);
    }
    qsort(rounds->gain, (size_t)rounds->done, sizeof *rounds->gain, compare);
    for (int kind = 0; kind < 3; kind++)
        qsort(rounds->time_ns[kind], (size_t)rounds->done, sizeof(double), compare);
    return rc;
}

/* Whether less than half of the bytes sent through the port left through its interface. */
static bool strays(const flow_t *flow, int way, double before, int rounds)
{
    const double after = sent_by(flow, way), sent = 2 * (double)flow->bytes * (rounds + 1);
    return flow->remote[way % 2] && before > 0 && after - before < sent / 2;
}

/* Whether this rank sends through one interface in both directions, or receives so. A rank at the end of a line has
 * one direction only. */
static bool is_one_interface(const trv_net_t *net, int up, int down)
{
    return trv_probe_neighbour(net, up) >= 0 && trv_probe_neighbour(net, down) >= 0 &&
           (trv_fabric_departure(net->fabric, up) == trv_fabric_departure(net->fabric, down) ||
            trv_fabric_arrival(net->fabric, net->rank, up) == trv_fabric_arrival(net->fabric, net->rank, down));
}

static int run(flow_t *flow, trv_probe_t *probe)
{
    const int up = 2 * flow->dimension, down = up + 1;
    const double before[] = {sent_by(flow, up), sent_by(flow, down)};
    int32_t found[2] = {0}, any[2] = {0}; /* here and on any rank: traffic strays; both ports use one interface */
    rounds_t rounds = {.done = 0};
    int rc = run_rounds(flow, &rounds);
    found[0] = strays(flow, up, before[0], rounds.done) || strays(flow, down, before[1], rounds.done);
    found[1] = is_one_interface(flow->net, up, down);
    if (rc == TRV_OK)
        rc = trv_net_allreduce(flow->net->world, found, any, 2, TRV_INT32, TRV_MAX);
    if (rc < 0)
        return rc;
    const int middle = rounds.done / 2;
    *probe = (trv_probe_t){.alone_ns = {rounds.time_ns[0][middle], rounds.time_ns[1][middle]},
                           .both_ns = rounds.time_ns[2][middle],
                           .gain = rounds.gain[middle],
                           .one_interface = any[1] != 0,
                           .strays = any[0] != 0};
    probe->paths = trv_verdict_paths(rounds.gain, rounds.done, probe->one_interface);
    return rc;
}

int trv_probe_dimension(trv_net_t *net, int dimension, size_t bytes, const bool remote[2], trv_probe_t *probe)
{
    flow_t flow = {.net = net, .dimension = dimension, .bytes = bytes, .remote = remote};
    char *buffer = calloc(4, bytes);
    if (!buffer)
        return trv_net_break(net, trv_fail_memory());
    for (int i = 0; i < 2; i++) {
        flow.out[i] = buffer + (size_t)i * bytes;
        flow.in[i] = buffer + (size_t)(2 + i) * bytes;
    }
    int rc = run(&flow, probe);
    free(buffer);
    return rc < 0 ? trv_net_break(net, rc) : rc;
}
