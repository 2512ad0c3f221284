/*
 * What users say of their network, for the planner.
 */
#include "settings/model.h"

#include <math.h>

trv_simulate_options_t trv_model_network(double alpha_ns, double bandwidth_bps, double hop_ns, double overhead_ns)
{
    const trv_simulate_options_t standard = TRV_SIMULATE_DEFAULTS;
    trv_simulate_options_t network = standard;
    network.model = TRV_FIFO;
    network.delivery = TRV_DELIVERY_TAIL; /* a message is there when all of it is */
    network.alpha_ns = alpha_ns;
    network.message_overhead_ns = overhead_ns;
    network.bandwidth_bps = bandwidth_bps;
    network.nic_bandwidth_bps *= bandwidth_bps / standard.bandwidth_bps;
    /* A way of one hop passes two routers, so what a hop takes beyond the standard is the link's alone. */
    double routers_ns = fmin(standard.router_out_ns + standard.router_in_ns, hop_ns / 2);
    network.router_out_ns = network.router_in_ns = routers_ns / 2;
    network.link_latency_ns = hop_ns - routers_ns;
    return network;
}
