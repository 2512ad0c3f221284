/*
 * Estimates, before a schedule is simulated, how much work the simulation is and what time is likely.
 */
#ifndef TRIVANCE_PLANNER_SAMPLE_H
#define TRIVANCE_PLANNER_SAMPLE_H

#include "planner/ranking.h"

/* An estimate, as if all ranks sent what the sampled ranks send. */
typedef struct trv_sample {
    double reading, simulating; /* work, in units of a simulated packet-hop */
    double hops, messages;      /* packet-hops to simulate, and messages to read */
    double bound_ns, likely_ns; /* lower bound on the time, and likely time */
    int per_port;               /* messages per port of the sampled ranks, and so at least those of the schedule */
} trv_sample_t;

#define TRV_SAMPLE_MESSAGE_WORK 5 /* minimum work of a message, reading and simulating it, in packet-hops */

int trv_sample_schedule(const trv_planner_t *planner, const char *name, uint64_t vector_bytes, trv_sample_t *sample);

/* Whether the network has slow links that the schedule of this name may use. */
bool trv_sample_uses_slow(const trv_network_t *network, const char *name);

#endif
