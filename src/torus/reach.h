/*
 * Whether cut links divide a network.
 */
#ifndef TRIVANCE_TORUS_REACH_H
#define TRIVANCE_TORUS_REACH_H

#include <stdbool.h>

#include <trivance/network.h>

/* Finds a node to which no path leads from `from`, or from which none leads to `from`. Returns 1 and sets *node, or
 * returns 0 if there is no such node, or TRV_ERR_MEMORY. Every entry of network->slow_link names an existing link. */
int trv_network_divided(const trv_network_t *network, int from, int *node);

/* Whether an entry of the network's links cuts its link: it is the link's last entry, which alone counts. */
bool trv_link_is_cut(const trv_network_t *network, int entry);

#endif
