/*
 * The simulation that determines the times of choices, and what follows from the messages of some ranks: work, and a
 * lower bound. The links, which may be slow or cut, have one queue each; nothing else makes ranks differ.
 */
#ifndef TRIVANCE_PLANNER_TIMING_H
#define TRIVANCE_PLANNER_TIMING_H

#include <trivance/planner.h>

/* The network without slow ranks, jitter, finite buffers and callbacks, and with one queue per link. */
trv_simulate_options_t trv_timing_network(const trv_simulate_options_t *network);

/* Maximum packet-hops in one simulation. If a symmetry lets a few ranks represent all, they take about a second;
 * otherwise fewer are allowed, so that several simulations take about a second together. */
double trv_timing_hops_max(const trv_torus_t *torus, const trv_simulate_options_t *network);

/* The payload rate of a link: at most that of the router's crossbar, less the unused part of the last flit of each
 * packet, in messages of this many bytes (0: of full packets). */
double trv_timing_payload_bps(const trv_simulate_options_t *network, double message_bytes);

/* Whether the network has lines, slow or cut links, which make ranks differ. */
bool trv_timing_is_nonuniform(const trv_torus_t *torus, const trv_simulate_options_t *network);

/* The messages of ranks in a step: for each port of the torus the bytes times the links of that direction that they
 * pass, and the hops of the farthest message. */
typedef struct trv_timing_step {
    double load[TRV_PORTS_MAX];
    int hops_max;
} trv_timing_step_t;

/* Whether a rank's schedule may differ from that of every other rank, so that all of them are simulated: on such a
 * network, on one that does not forward, and where the collective has a root. */
bool trv_timing_ranks_differ(const trv_torus_t *torus, const trv_simulate_options_t *network,
                             trv_collective_t collective);

/* The messages of ranks: their number, the links that they and their packets pass, the bytes of the busiest port of one
 * rank, alpha and hops of the longest chain of steps that follow one another, and the maximum number of messages that
 * one rank sends or receives in a step of a stream. The messages of some ranks give an estimate of the work of a
 * simulation. */
typedef struct trv_timing_traffic {
    double messages, message_hops, packet_hops, port_bytes, latency_ns;
    int simultaneous;
    trv_timing_step_t *step; /* or NULL */
} trv_timing_traffic_t;

/* Adds the messages of one rank. */
int trv_timing_add_traffic(const trv_schedule_t *schedule, int rank, const trv_simulate_options_t *network,
                           uint64_t vector_bytes, trv_timing_traffic_t *traffic);

/* A lower bound on the time of a schedule, from the messages of some of its ranks. The network must not balance ties,
 * and messages must leave by the ports that they name. */
double trv_timing_bound_ns(const trv_simulate_options_t *network, const trv_timing_traffic_t *traffic);

/* The time of any schedule; for the schedule of a choice it equals trv_planner_choice_t.time_ns. Calls
 * network->progress. */
int trv_timing_find(const trv_schedule_t *schedule, const trv_simulate_options_t *network, uint64_t vector_bytes,
                    double *time_ns, bool *approximate);

#endif
