/*
 * A torus or mesh as it is (trivance/network.h), and which coordinate of it each rank, or each host, has.
 */
#ifndef TRIVANCE_TOPOLOGY_TOPOLOGY_H
#define TRIVANCE_TOPOLOGY_TOPOLOGY_H

#include <trivance/network.h>

/* Places are coordinates as one number: trv_torus_rank of them. */
typedef struct trv_topology {
    trv_torus_t torus;
    int slow_links; /* those of the network */
    trv_slow_link_t *slow_link;
    unsigned shared_port; /* bit d: both directions of dimension d share one port */
    int count;            /* entries of the two lists */
    int *place;
    char **host; /* host[i] is at place[i]; NULL: rank i is */
} trv_topology_t;

#endif
