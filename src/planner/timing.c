/*
 * The network and the packet size with which the planner simulates.
 */
#include "planner/timing.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#include "base/error.h"
#include "simulate/net.h"
#include "simulate/simulator.h"
#include "torus/rows.h"

#define PACKET_BYTES_MAX         (1u << 20)
#define HOPS_MAX                 3e7
#define HOPS_LIMIT               (10 * HOPS_MAX) /* of a vector whose packets cannot be enlarged any more */
#define NONUNIFORM_HOPS_MIN      6e5
#define NONUNIFORM_HOPS_PER_RANK 400
#define NONUNIFORM_HOPS_MAX      1.6e6

trv_simulate_options_t trv_timing_network(const trv_simulate_options_t *network)
{
    trv_simulate_options_t plain = *network;
    plain.model = TRV_FIFO;
    plain.buffer_bytes = 0;
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

double trv_timing_hops_max(const trv_torus_t *torus, const trv_simulate_options_t *network)
{
    if (!trv_timing_is_nonuniform(torus, network))
        return HOPS_MAX;
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

/* Larger packets may waste a smaller part of their last flit. To keep the payload rate, packets are made to fill their
 * flits, and links are slowed down by the part that was wasted. */
static void fill_flits(trv_simulate_options_t *network)
{
    const double filled = whole_flits(network->packet_bytes), used = network->packet_bytes / filled;
    network->bandwidth_bps *= used;
    network->nic_bandwidth_bps *= used;
    network->injection_bps *= used;
    network->packet_bytes = (uint32_t)filled;
}

trv_simulate_options_t trv_timing_packets(const trv_simulator_t *simulator, const trv_simulate_options_t *network,
                                          uint64_t vector_bytes, double hops_max)
{
    trv_simulate_options_t larger = *network;
    (void)trv_simulator_drop_links(simulator, &larger); /* if memory is short, unused links are kept */
    if (trv_simulate_hops(simulator, &larger, vector_bytes) > hops_max)
        fill_flits(&larger);
    while (larger.packet_bytes <= PACKET_BYTES_MAX / 2 &&
           trv_simulate_hops(simulator, &larger, vector_bytes) > hops_max)
        larger.packet_bytes *= 2;
    return larger;
}

int trv_timing_check_length(const trv_simulator_t *simulator, const trv_simulate_options_t *network,
                            uint64_t vector_bytes)
{
    const double hops = trv_simulate_hops(simulator, network, vector_bytes);
    if (hops <= HOPS_LIMIT || hops <= 2 * trv_simulate_hops(simulator, network, 1)) /* many ranks, not long messages */
        return TRV_OK;
    return trv_fail(TRV_ERR_UNSUPPORTED,
                    "a vector of %" PRIu64 " bytes is too long for the planner: its packets of %" PRIu32
                    " bytes cross more than %.0f million links; choose a shorter vector",
                    vector_bytes, network->packet_bytes, HOPS_LIMIT / 1e6);
}

static void add_to_step(trv_timing_step_t *step, const trv_route_t *route, double bytes)
{
    for (int d = 0; d < route->torus->dims; d++)
        step->load[trv_port(d, route->sign[d])] += bytes * route->hops[d];
    const int hops = trv_route_length(route);
    step->hops_max = hops > step->hops_max ? hops : step->hops_max;
}

int trv_timing_add_traffic(const trv_schedule_t *schedule, int rank, const trv_simulate_options_t *network,
                           uint64_t vector_bytes, trv_timing_traffic_t *traffic)
{
    double by_port[TRV_PORTS_MAX] = {0}; /* bytes that this rank sends by each port */
    const double packet_bytes[2] = {network->packet_bytes, PACKET_BYTES_MAX};
    trv_step_t step = TRV_STEP_INIT;
    int rc = TRV_OK;
    for (int stream = 0; stream < trv_schedule_streams(schedule) && !rc; stream++)
        for (int k = 0; k < trv_schedule_steps(schedule) && !rc; k++) {
            rc = trv_schedule_step(schedule, rank, stream, k, &step);
            for (int i = 0; i < step.sends && !rc; i++) {
                const double bytes = (double)trv_message_bytes(schedule, stream, &step.send[i], vector_bytes);
                trv_route_t route;
                trv_route_begin(&route, trv_schedule_torus(schedule), rank, step.send[i].peer, step.send[i].port,
                                trv_schedule_mirrored(schedule, stream));
                for (int size = 0; size < 2; size++)
                    traffic->hops[size] += ceil(bytes / packet_bytes[size]) * trv_route_length(&route);
                by_port[step.send[i].port] += bytes;
                if (traffic->step)
                    add_to_step(&traffic->step[k], &route, bytes);
                traffic->port_bytes = fmax(traffic->port_bytes, by_port[step.send[i].port]);
                traffic->messages++;
            }
        }
    trv_step_clear(&step);
    return rc;
}

int trv_timing_find(const trv_schedule_t *schedule, const trv_simulate_options_t *network, uint64_t vector_bytes,
                    double *time_ns)
{
    const trv_simulate_options_t plain = trv_timing_network(network);
    trv_simulator_t *simulator;
    trv_simulation_t result;
    *time_ns = NAN;
    int rc = trv_simulator_create(&simulator, schedule);
    if (rc)
        return rc;
    const trv_simulate_options_t options = trv_timing_packets(simulator, &plain, vector_bytes,
                                                              trv_timing_hops_max(trv_schedule_torus(schedule),
                                                                                  &plain));
    const trv_span_t all = {network->progress, network->progress_context, 0, 1};
    rc = trv_timing_check_length(simulator, &options, vector_bytes);
    if (!rc)
        rc = trv_simulate_until(simulator, &options, vector_bytes, all, INFINITY, &result);
    trv_simulator_destroy(simulator);
    if (!rc)
        *time_ns = result.time_ns;
    return rc;
}
