/*
 * The network of TRIVANCE_ALPHA & co., or one that was measured, as the simulator takes it: one queue per link, delivery
 * of the tail, a hop costs hop_ns, a message overhead_ns of its sender's processor, all else as in
 * TRV_SIMULATE_DEFAULTS.
 */
#ifndef TRIVANCE_SETTINGS_MODEL_H
#define TRIVANCE_SETTINGS_MODEL_H

#include <trivance/simulate.h>

trv_simulate_options_t trv_model_network(double alpha_ns, double bandwidth_bps, double hop_ns, double overhead_ns);

#endif
