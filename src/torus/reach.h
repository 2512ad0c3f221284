/*
 * Whether cut links divide a network.
 */
#ifndef TRIVANCE_TORUS_REACH_H
#define TRIVANCE_TORUS_REACH_H

#include <stdbool.h>

#include <trivance/network.h>

/* Finds a node of the set that no route joins with its first node in one of the two directions: returns 1 and sets *other
 * to it, or 0 if there is none, or TRV_ERR_MEMORY. The links of the network exist. */
int trv_network_divided(const trv_network_t *network, int nodes, const int *node, int *other);

/* Whether an entry of the network's links cuts its link: it is the link's last entry, which alone counts. */
bool trv_link_is_cut(const trv_network_t *network, int entry);

#endif
