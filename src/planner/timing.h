/*
 * The time of a schedule as plans are timed: by the packet simulator, one queue per link, on a network whose links may
 * be slow or cut, but without anything else that makes ranks differ, in packets that are larger where there would be too many.
 */
#ifndef TRIVANCE_PLANNER_TIMING_H
#define TRIVANCE_PLANNER_TIMING_H

#include <trivance/planner.h>

/* The network without slow ranks, jitter, finite buffers and a callback. */
trv_simulate_options_t trv_timing_network(const trv_simulate_options_t *network);

/* Of packets in one simulation: about a second's where a symmetry makes a few ranks stand for all, else so many that
 * some simulations take about as long. */
double trv_timing_hops_max(const trv_torus_t *torus, const trv_simulate_options_t *network);

/* What a link carries of payload: no more than the router's crossbar, and with the rest of a packet's last flit unused. */
double trv_timing_payload_bps(const trv_simulate_options_t *network);

/* Whether lines and links make ranks differ. */
bool trv_timing_is_uneven(const trv_torus_t *torus, const trv_simulate_options_t *network);

/* That network for a simulation of this size: where there are too many packets they
 * are larger and fewer. Messages have many of them then, so that it makes no difference to speak of. */
trv_simulate_options_t trv_timing_packets(const trv_simulator_t *simulator, const trv_simulate_options_t *network,
                                          uint64_t vector_bytes, double hops_max);

/* What they send in a step: by port of the torus each byte as often as it passes a link there, and the hops of the
 * farthest message. */
typedef struct trv_timing_step {
    double passing[TRV_PORTS_MAX];
    int farthest;
} trv_timing_step_t;

/* What ranks send: messages, packet-hops for packets of the network's size and of 1 MiB, and bytes by the busiest port of
 * one. With what some ranks send the work of a simulation is estimated before anything else is read. */
typedef struct trv_timing_sends {
    double messages, hops[2], port_bytes;
    trv_timing_step_t *step; /* or NULL */
} trv_timing_sends_t;
/* Adds what one rank sends. */
int trv_timing_sends(const trv_schedule_t *schedule, int rank, const trv_simulate_options_t *network,
                     uint64_t vector_bytes, trv_timing_sends_t *sends);

/* Any schedule's time, which for a plan is its trv_planned_t.time_ns. network->progress is called. */
int trv_timing_find(const trv_schedule_t *schedule, const trv_simulate_options_t *network, uint64_t vector_bytes,
                    double *time_ns);

#endif
