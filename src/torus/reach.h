/*
 * Whether cut links divide a network, and whether a network can carry a message.
 */
#ifndef TRIVANCE_TORUS_REACH_H
#define TRIVANCE_TORUS_REACH_H

#include <stdbool.h>

#include <trivance/network.h>

/* Checks that routes join the nodes of a set (NULL: all nodes) in both directions. TRV_ERR_UNSUPPORTED with two nodes
 * between which no route is left; TRV_ERR_MEMORY. The links of the network exist. */
int trv_network_check_routes(const trv_network_t *network, int nodes, const int *node);

/* TRV_ERR_UNSUPPORTED, with a sentence, for a message over several links on a network that does not forward. */
int trv_check_hops(bool no_forwarding, int from, int to, int hops);

/* Whether an entry of the network's links cuts its link: it is the link's last entry, which alone counts. */
bool trv_link_is_cut(const trv_network_t *network, int entry);

#endif
