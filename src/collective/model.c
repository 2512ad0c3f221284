/*
 * Conversion of network settings and shared paths to options of the simulator.
 */
#include "collective/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "torus/torus.h"

trv_simulate_options_t trv_model_network(double alpha_ns, double bandwidth_bps, double hop_ns, double overhead_ns)
{
    const trv_simulate_options_t standard = TRV_SIMULATE_DEFAULTS;
    trv_simulate_options_t network = standard;
    network.delivery = TRV_DELIVERY_TAIL; /* a message arrives with its last byte */
    network.alpha_ns = alpha_ns;
    network.message_overhead_ns = overhead_ns;
    network.bandwidth_bps = bandwidth_bps;
    network.nic_bandwidth_bps *= bandwidth_bps / standard.bandwidth_bps;
    /* A path of one hop traverses two routers. Their share is at most half of hop_ns; the rest is the link's. */
    double routers_ns = fmin(standard.router_out_ns + standard.router_in_ns, hop_ns / 2);
    network.router_out_ns = network.router_in_ns = routers_ns / 2;
    network.link_latency_ns = hop_ns - routers_ns;
    return network;
}

static bool is_measured(const trv_torus_t *torus, const trv_rules_t *rules)
{
    return rules->paths.dims > 0 && trv_torus_equal(&rules->paths, torus);
}

void trv_model_shared_paths(trv_simulate_options_t *network, const trv_torus_t *torus, const trv_rules_t *rules,
                            const trv_model_paths_t *paths)
{
    const bool measured = is_measured(torus, rules);
    const unsigned found = measured ? rules->shared_paths : paths->found;
    network->shared_paths = (paths->declared | found) & ((1u << torus->dims) - 1);
    network->one_path = measured ? rules->one_path : paths->found_one_path && paths->found;
}

char *trv_model_shared_paths_text(const trv_simulate_options_t *network, const trv_torus_t *torus,
                                  const trv_rules_t *rules, char text[TRV_MODEL_SHARED_PATHS_MAX])
{
    const int many = __builtin_popcount(network->shared_paths);
    char measured[TRV_TORUS_TEXT_MAX];
    size_t used = (size_t)snprintf(text, TRV_MODEL_SHARED_PATHS_MAX, "%s",
                                   many == 0   ? ""
                                   : many == 1 ? "dimension"
                                               : "dimensions");
    for (int d = 0, written = 0; d < torus->dims; d++)
        if (network->shared_paths >> d & 1) {
            used += (size_t)snprintf(text + used, TRV_MODEL_SHARED_PATHS_MAX - used, "%s%d",
                                     written == 0         ? " "
                                     : written + 1 < many ? ", "
                                                          : " and ",
                                     d);
            written++;
        }
    if (many > 0)
        used += (size_t)snprintf(text + used, TRV_MODEL_SHARED_PATHS_MAX - used, " %s%s",
                                 many == 1           ? "has a shared path"
                                 : network->one_path ? "share one path"
                                                     : "have shared paths",
                                 is_measured(torus, rules) ? " (measured)" : "");
    if (rules->paths.dims > 0 && !is_measured(torus, rules))
        snprintf(text + used, TRV_MODEL_SHARED_PATHS_MAX - used, "%sthe measured paths are those of the torus %s",
                 used ? "; " : "", trv_torus_format(&rules->paths, measured, sizeof measured));
    return text;
}
