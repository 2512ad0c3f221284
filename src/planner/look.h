/*
 * A look at a schedule before it is simulated: how much work that would be, and what time is likely.
 */
#ifndef TRIVANCE_PLANNER_LOOK_H
#define TRIVANCE_PLANNER_LOOK_H

#include "planner/ranking.h"

/* As if all ranks sent as those that are looked at. */
typedef struct trv_look {
    double reading, simulating; /* the work, in packet-hops, which take about as long */
    double hops, messages;      /* to simulate, and to read */
    double least_ns, likely_ns; /* what it takes at least, and about */
} trv_look_t;

#define TRV_LOOK_MESSAGE 5 /* packet-hops: the work of a message at least, for reading it and simulating it */

int trv_look_at(const trv_planner_t *planner, const char *name, uint64_t vector_bytes, trv_look_t *look);

/* Whether there are slow links that the schedule of this name may not leave alone. */
bool trv_look_uses_slow(const trv_network_t *network, const char *name);

#endif
