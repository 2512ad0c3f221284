/*
 * The network and the packet size with which the planner simulates, and bounds from the messages of some ranks.
 */
#include "planner/timing.h"

#include <math.h>
#include <stddef.h>

#include "schedule/collective.h"
#include "simulate/net.h"
#include "simulate/simulator.h"
#include "torus/rows.h"

#define UNIFORM_HOPS_MAX         5e5
#define NONUNIFORM_HOPS_MIN      6e5
#define NONUNIFORM_HOPS_PER_RANK 400
#define NONUNIFORM_HOPS_MAX      1.6e6

trv_simulate_options_t trv_timing_network(const trv_simulate_options_t *network)
{
    trv_simulate_options_t plain = *network;
    plain.model = TRV_FIFO;
    plain.buffer_bytes = 0;
    plain.balance_ties = false;
    plain.jitter = 0;
    plain.full = plain.link_loads = false;
    plain.slow_ranks = 0;
    plain.slow_rank = NULL;
    plain.observer = NULL;
    plain.progress = NULL;
    return plain;
}

bool trv_timing_is_nonuniform(const trv_torus_t *torus, const trv_simulate_options_t *network)
{
    const trv_network_t links = trv_simulate_network(torus, network);
    return !trv_network_is_uniform(&links);
}

bool trv_timing_ranks_differ(const trv_torus_t *torus, const trv_simulate_options_t *network,
                             trv_collective_t collective)
{
    return trv_timing_is_nonuniform(torus, network) || network->no_forwarding || trv_collective_has_root(collective);
}

double trv_timing_hops_max(const trv_torus_t *torus, const trv_simulate_options_t *network)
{
    if (!trv_timing_is_nonuniform(torus, network))
        return UNIFORM_HOPS_MAX;
    return fmin(fmax(NONUNIFORM_HOPS_MIN, NONUNIFORM_HOPS_PER_RANK * torus->ranks), NONUNIFORM_HOPS_MAX);
}

/* The bytes of the flits that a packet occupies. */
static double whole_flits(double packet_bytes) { return ceil(packet_bytes / TRV_FLIT_BYTES) * TRV_FLIT_BYTES; }

double trv_timing_payload_bps(const trv_simulate_options_t *network, double message_bytes)
{
    const double packet = network->packet_bytes, full = floor(message_bytes / packet);
    const double used = message_bytes > 0
                            ? message_bytes / (full * whole_flits(packet) + whole_flits(message_bytes - full * packet))
                            : packet / whole_flits(packet);
    double bps = fmin(network->bandwidth_bps, network->nic_bandwidth_bps);
    if (network->injection_bps > 0)
        bps = fmin(bps, network->injection_bps);
    return bps * used;
}

static void add_to_step(trv_timing_step_t *step, const trv_route_t *route, double bytes)
{
    for (int d = 0; d < route->torus->dims; d++)
        step->load[trv_port(d, route->sign[d])] += bytes * route->hops[d];
    const int hops = trv_route_length(route);
    step->hops_max = hops > step->hops_max ? hops : step->hops_max;
}

/* The time of an empty message over this many links, without alpha. */
static double path_ns(const trv_simulate_options_t *network, int hops)
{
    const double router_ns = network->router_in_ns + network->router_out_ns; /* a path of h hops passes h + 1 routers */
    return 2 * network->host_latency_ns + router_ns + hops * (network->link_latency_ns + router_ns);
}

/* A lower bound on the time at which a rank completes a stream. Goes back from the last step. A step in which the rank
 * receives ends no earlier than alpha and the path of one such message after the sender's previous step; another step
 * with messages ends no earlier than alpha after the rank's own previous step. */
static int find_latency(const trv_schedule_t *schedule, int rank, int stream, const trv_simulate_options_t *network,
                        trv_step_t *step, double *latency_ns)
{
    *latency_ns = 0;
    for (int k = trv_schedule_steps(schedule) - 1; k >= 0; k--) {
        int rc = trv_schedule_step(schedule, rank, stream, k, step);
        if (rc)
            return rc;
        *latency_ns += step->sends + step->receives > 0 ? network->alpha_ns : 0;
        if (step->receives == 0)
            continue;
        trv_route_t route;
        trv_route_begin(&route, trv_schedule_torus(schedule), step->receive->peer, rank, step->receive->port,
                        trv_schedule_mirrored(schedule, stream));
        *latency_ns += path_ns(network, trv_route_length(&route));
        rank = step->receive->peer;
    }
    return TRV_OK;
}

int trv_timing_add_traffic(const trv_schedule_t *schedule, int rank, const trv_simulate_options_t *network,
                           uint64_t vector_bytes, trv_timing_traffic_t *traffic)
{
    double by_port[TRV_PORTS_MAX] = {0}; /* bytes that this rank sends by each port */
    trv_step_t step = TRV_STEP_INIT;
    int rc = TRV_OK;
    for (int stream = 0; stream < trv_schedule_streams(schedule) && !rc; stream++) {
        double latency_ns;
        for (int k = 0; k < trv_schedule_steps(schedule) && !rc; k++) {
            rc = trv_schedule_step(schedule, rank, stream, k, &step);
            const int simultaneous = step.sends > step.receives ? step.sends : step.receives;
            if (!rc && simultaneous > traffic->simultaneous)
                traffic->simultaneous = simultaneous;
            for (int i = 0; i < step.sends && !rc; i++) {
                const double bytes = (double)trv_message_bytes(schedule, stream, &step.send[i], vector_bytes);
                trv_route_t route;
                trv_route_begin(&route, trv_schedule_torus(schedule), rank, step.send[i].peer, step.send[i].port,
                                trv_schedule_mirrored(schedule, stream));
                const int hops = trv_route_length(&route);
                traffic->message_hops += hops;
                traffic->packet_hops += ceil(bytes / network->packet_bytes) * hops;
                by_port[step.send[i].port] += bytes;
                if (traffic->step)
                    add_to_step(&traffic->step[k], &route, bytes);
                traffic->port_bytes = fmax(traffic->port_bytes, by_port[step.send[i].port]);
                traffic->messages++;
            }
        }
        if (!rc)
            rc = find_latency(schedule, rank, stream, network, &step, &latency_ns);
        if (!rc)
            traffic->latency_ns = fmax(traffic->latency_ns, latency_ns);
    }
    trv_step_clear(&step);
    return rc;
}

double trv_timing_bound_ns(const trv_simulate_options_t *network, const trv_timing_traffic_t *traffic)
{
    /* When the head of the last packet has arrived, the packet may still occupy its first link: it is not counted. */
    const double bytes = traffic->port_bytes - network->packet_bytes;
    return fmax(traffic->latency_ns, 8e9 / network->bandwidth_bps * bytes);
}

int trv_timing_find(const trv_schedule_t *schedule, const trv_simulate_options_t *network, uint64_t vector_bytes,
                    double *time_ns, bool *approximate)
{
    trv_simulate_options_t plain = trv_timing_network(network);
    trv_simulator_t *simulator;
    trv_simulation_t result;
    *time_ns = NAN;
    int rc = trv_simulator_create(&simulator, schedule);
    if (rc)
        return rc;
    const trv_span_t all = {network->progress, network->progress_context, 0, 1};
    rc = trv_simulator_drop_links(simulator, &plain);
    if (!rc)
        rc = trv_simulate_until(simulator, &plain, vector_bytes, TRV_SIMULATE_HOPS_MAX, all, INFINITY, &result);
    trv_simulator_destroy(simulator);
    if (rc)
        return rc;
    *time_ns = result.time_ns;
    *approximate = result.packet_bytes > network->packet_bytes;
    return TRV_OK;
}
