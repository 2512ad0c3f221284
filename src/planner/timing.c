/*
 * Networks and packets for the planner's simulations.
 */
#include "planner/timing.h"

#include <math.h>
#include <stddef.h>

#include "simulate/simulator.h"

#define PACKET_BYTES_MAX (1u << 20)
#define HOPS_MAX         3e7
#define UNEVEN_LEAST     6e5
#define UNEVEN_PER_RANK  400
#define UNEVEN_MOST      4e6

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
    return plain;
}

bool trv_timing_is_uneven(const trv_torus_t *torus, const trv_simulate_options_t *network)
{
    return torus->lines != 0 || network->slow_links > 0;
}

double trv_timing_hops_max(const trv_torus_t *torus, const trv_simulate_options_t *network)
{
    if (!trv_timing_is_uneven(torus, network))
        return HOPS_MAX;
    return fmin(fmax(UNEVEN_LEAST, UNEVEN_PER_RANK * torus->ranks), UNEVEN_MOST);
}

trv_simulate_options_t trv_timing_packets(const trv_simulator_t *simulator, const trv_simulate_options_t *network,
                                          uint64_t vector_bytes, double hops_max)
{
    trv_simulate_options_t larger = *network;
    while (larger.packet_bytes <= PACKET_BYTES_MAX / 2 &&
           trv_simulate_hops(simulator, &larger, vector_bytes) > hops_max)
        larger.packet_bytes *= 2;
    return larger;
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
    rc = trv_simulate(simulator, &options, vector_bytes, &result);
    trv_simulator_destroy(simulator);
    if (!rc)
        *time_ns = result.time_ns;
    return rc;
}
