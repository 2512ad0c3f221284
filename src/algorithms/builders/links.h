/*
 * The links of a network. A link leads from a rank by a port to its neighbour, in one direction; its number is
 * rank * ports + port.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_LINKS_H
#define TRIVANCE_ALGORITHMS_BUILDERS_LINKS_H

#include <trivance/network.h>

typedef struct trv_links {
    int ranks, ports;
    int *neighbour;   /* per link: the rank to which it leads; -1: there is no link */
    double *slowness; /* per link: the factor of its time, 1 … INFINITY (cut); the last entry of the network counts */
} trv_links_t;

/* TRV_OK, or TRV_ERR_MEMORY. The links must be cleared in any case. */
int trv_links_create(trv_links_t *links, const trv_network_t *network);
void trv_links_clear(trv_links_t *links);

static inline int trv_link_of(const trv_links_t *links, int rank, int port) { return rank * links->ports + port; }

/* The opposite direction of a link. */
static inline int trv_link_reverse(const trv_links_t *links, int link)
{
    return trv_link_of(links, links->neighbour[link], link % links->ports ^ 1);
}

#endif
