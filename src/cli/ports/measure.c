/*
 * Times of messages to the two neighbours in a dimension: through one port, and through both concurrently.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"
#include "base/clock.h"
#include "base/error.h"
#include "net/inside.h"
#include "cli/ports/probe.h"
#include "cli/ports/verdict.h"
#include "torus/torus.h"

enum { UP = 1, DOWN = 2, BOTH = UP | DOWN, ROUNDS_MAX = 11 };
#define ROUNDS_TIME_MAX_NS 20e9 /* no round begins after this time */

typedef struct measurement {
    trv_net_t *net;
    int dimension;
    size_t bytes;
    char *out[2], *in[2]; /* by sign */
    trv_fabric_op_t op[4];
    const bool *remote; /* whether the + and - neighbours are on other hosts */
} measurement_t;

static int measurement_post(measurement_t *measurement, trv_fabric_op_t *op, bool sends, int port, int peer)
{
    const uint64_t inner = trv_collective_tag(true, TRV_SEQUENCES - 1) | (uint64_t)port << TRV_LANE_BITS;
    *op = (trv_fabric_op_t){.sends = sends,
                            .port = port,
                            .peer = peer,
                            .tag = trv_peer_tag(measurement->net->world, peer, sends, inner),
                            .data = (sends ? measurement->out : measurement->in)[trv_port_sign(port) < 0],
                            .bytes = measurement->bytes};
    return trv_fabric_post(measurement->net->fabric, op);
}

static int measurement_wait(measurement_t *measurement, int ops)
{
    trv_fabric_t *fabric = measurement->net->fabric;
    int done = 0, rc = TRV_OK;
    for (unsigned polls = 1; rc >= 0 && done < ops; polls++) {
        const uint64_t seen = trv_fabric_poll(fabric);
        const int before = done;
        while (done < ops && (rc = trv_fabric_test(fabric, &measurement->op[done])) == 1)
            done++;
        polls = done > before ? 0 : polls;
        if (rc == 0)
            trv_fabric_pause(fabric, seen, polls);
    }
    return rc < 0 ? rc : TRV_OK;
}

/* Exchanges messages with the neighbours through the ports in `signs`. A message sent to the + neighbour is received
 * there from the - neighbour. */
static int measurement_exchange(measurement_t *measurement, int signs)
{
    int ops = 0, rc = TRV_OK;
    for (int sends = 0; sends < 2; sends++)
        for (int down = 0; down < 2; down++) {
            const int port = 2 * measurement->dimension + down,
                      peer = trv_torus_neighbour(&measurement->net->world->torus, measurement->net->rank,
                                                 sends ? port : trv_port_opposite(port));
            if (rc == TRV_OK && signs >> down & 1 && peer >= 0)
                rc = measurement_post(measurement, &measurement->op[ops++], sends, port, peer);
        }
    if (rc == TRV_OK)
        rc = measurement_wait(measurement, ops);
    for (int i = 0; rc == TRV_OK && i < ops; i++) /* after an error, operations may be pending */
        trv_fabric_op_clear(&measurement->op[i]);
    return rc;
}

/* Returns the bytes that the interface has sent according to the system's counter; 0: it has no counter. */
static double interface_bytes_sent(const measurement_t *measurement, int port)
{
    trv_fabric_interface_info_t info;
    char path[160];
    unsigned long long bytes = 0;
    trv_fabric_interface_info(measurement->net->fabric, trv_fabric_departure(measurement->net->fabric, port), &info);
    snprintf(path, sizeof path, "/sys/class/net/%.64s/statistics/tx_bytes", info.device.name);
    FILE *file = *info.device.name ? fopen(path, "re") : NULL;
    if (file && fscanf(file, "%llu", &bytes) != 1)
        bytes = 0;
    if (file)
        fclose(file);
    return (double)bytes;
}

/* Measures an exchange of all ranks at the same time. The result is the time of the slowest rank, on all ranks. */
static int measurement_run(measurement_t *measurement, int signs, double *max_ns)
{
    trv_net_comm_t *world = measurement->net->world;
    int rc = trv_net_barrier(world);
    const double start_ns = trv_now_ns();
    if (rc == TRV_OK)
        rc = measurement_exchange(measurement, signs);
    const double time_ns = trv_now_ns() - start_ns;
    return rc == TRV_OK ? trv_net_allreduce(world, &time_ns, max_ns, 1, TRV_DOUBLE, TRV_MAX) : rc;
}

/* ---- Rounds ------------------------------------------------------------------------------------------------------ */

/* Rounds. Each measures +, - and both, so that other activity of the machine affects all three; consecutive rounds
 * begin with a different one. The values are the same on all ranks, so that all make the same decisions. */
typedef struct rounds {
    int done;
    double time_ns[3][ROUNDS_MAX], gain[ROUNDS_MAX], spent_ns;
} rounds_t;

static int rounds_add(measurement_t *measurement, rounds_t *rounds)
{
    static const int signs[] = {UP, DOWN, BOTH};
    double time_ns[3];
    int rc = TRV_OK;
    for (int i = 0; i < 3 && rc == TRV_OK; i++) {
        const int kind = (rounds->done + i) % 3;
        rc = measurement_run(measurement, signs[kind], &time_ns[kind]);
        rounds->spent_ns += rc == TRV_OK ? time_ns[kind] : 0;
    }
    if (rc < 0)
        return rc;
    for (int kind = 0; kind < 3; kind++)
        rounds->time_ns[kind][rounds->done] = time_ns[kind];
    rounds->gain[rounds->done++] = (time_ns[0] + time_ns[1]) / time_ns[2];
    return rc;
}

static bool rounds_are_clear(rounds_t *rounds)
{
    qsort(rounds->gain, (size_t)rounds->done, sizeof *rounds->gain, trv_compare_double);
    return trv_verdict_is_clear(rounds->gain, rounds->done);
}

/* Runs the rounds; the first round, which connects, is not measured. Sorts the times and gains. */
static int rounds_run(measurement_t *measurement, rounds_t *rounds)
{
    bool clear = false;
    int rc = rounds_add(measurement, rounds);
    *rounds = (rounds_t){.done = 0};
    for (int i = 1; rc == TRV_OK && !clear && i <= ROUNDS_MAX && rounds->spent_ns < ROUNDS_TIME_MAX_NS; i++) {
        rc = rounds_add(measurement, rounds);
        clear = rc == TRV_OK && i % 4 == 3 && rounds_are_clear(rounds);
    }
    qsort(rounds->gain, (size_t)rounds->done, sizeof *rounds->gain, trv_compare_double);
    for (int kind = 0; kind < 3; kind++)
        qsort(rounds->time_ns[kind], (size_t)rounds->done, sizeof(double), trv_compare_double);
    return rc;
}

/* Whether less than half of the bytes sent through the port left through its interface. */
static bool port_strays(const measurement_t *measurement, int port, double before, int rounds)
{
    const double after = interface_bytes_sent(measurement, port), sent = 2 * (double)measurement->bytes * (rounds + 1);
    return measurement->remote[trv_port_sign(port) < 0] && before > 0 && after - before < sent / 2;
}

/* Whether this rank sends through one interface in both directions, or receives so. A rank at the end of a line has
 * one direction only. */
static bool is_one_interface(const trv_net_t *net, int up, int down)
{
    const trv_torus_t *torus = &net->world->torus;
    return trv_torus_neighbour(torus, net->rank, up) >= 0 && trv_torus_neighbour(torus, net->rank, down) >= 0 &&
           (trv_fabric_departure(net->fabric, up) == trv_fabric_departure(net->fabric, down) ||
            trv_fabric_arrival(net->fabric, net->rank, up) == trv_fabric_arrival(net->fabric, net->rank, down));
}

static int dimension_run(measurement_t *measurement, trv_probe_t *probe)
{
    const int up = 2 * measurement->dimension, down = up + 1;
    const double before[] = {interface_bytes_sent(measurement, up), interface_bytes_sent(measurement, down)};
    int32_t found[2] = {0}, any[2] = {0}; /* here and on any rank: traffic strays; both ports use one interface */
    rounds_t rounds = {.done = 0};
    int rc = rounds_run(measurement, &rounds);
    found[0] = port_strays(measurement, up, before[0], rounds.done) ||
               port_strays(measurement, down, before[1], rounds.done);
    found[1] = is_one_interface(measurement->net, up, down);
    if (rc == TRV_OK)
        rc = trv_net_allreduce(measurement->net->world, found, any, 2, TRV_INT32, TRV_MAX);
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
    measurement_t measurement = {.net = net, .dimension = dimension, .bytes = bytes, .remote = remote};
    char *buffer = calloc(4, bytes);
    if (!buffer)
        return trv_fail_memory(), trv_net_break(net);
    for (int i = 0; i < 2; i++) {
        measurement.out[i] = buffer + (size_t)i * bytes;
        measurement.in[i] = buffer + (size_t)(2 + i) * bytes;
    }
    int rc = dimension_run(&measurement, probe);
    free(buffer);
    return rc < 0 ? trv_net_break(net) : rc;
}
