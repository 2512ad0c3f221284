/*
 * A topology: a torus or mesh with its slow and missing links (trivance/network.h), and the coordinate of each rank or
 * host.
 */
#ifndef TRIVANCE_TOPOLOGY_TOPOLOGY_H
#define TRIVANCE_TOPOLOGY_TOPOLOGY_H

#include <trivance/network.h>

/* A coordinate is one number here, computed by trv_torus_rank. */
typedef struct trv_topology {
    trv_torus_t torus;
    int slow_links; /* as in trv_network_t */
    trv_slow_link_t *slow_link;
    unsigned shared_port; /* bit d: both directions of dimension d share one port */
    bool no_forwarding;   /* as in trv_network_t */
    int count;            /* entries of the two lists */
    int *coordinate;
    char **host; /* coordinate[i] is that of host[i]; NULL: coordinate[i] is that of rank i */
} trv_topology_t;

#endif
