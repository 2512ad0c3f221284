/*
 * Relays: messages over several links as messages over one link each (trv_schedule_relay, trivance/network.h).
 */
#ifndef TRIVANCE_SCHEDULE_RELAY_H
#define TRIVANCE_SCHEDULE_RELAY_H

#include <trivance/network.h>

/* Whether a message of the schedule crosses several links: 1, 0, or an error. Only ranks that differ by symmetry are
 * examined. */
int trv_schedule_is_multi_hop(const trv_schedule_t *schedule);

#endif
