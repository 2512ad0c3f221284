/*
 * Whether cut links divide a network.
 */
#ifndef TRIVANCE_TORUS_REACH_H
#define TRIVANCE_TORUS_REACH_H

#include <trivance/network.h>

/* Finds a node that no route joins with `from` in one of the two directions: returns 1 and sets *node, or 0 if there is
 * none, or TRV_ERR_MEMORY. The links of the network exist. */
int trv_network_divided(const trv_network_t *network, int from, int *node);

#endif
