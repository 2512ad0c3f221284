/*
 * Links, see links.h.
 */
#include "algorithms/builders/links.h"

#include <stdlib.h>

#include "base/error.h"
#include "torus/torus.h"

int trv_links_create(trv_links_t *links, const trv_network_t *network)
{
    *links = (trv_links_t){.ranks = network->torus.ranks, .ports = trv_port_count(&network->torus)};
    const size_t count = (size_t)links->ranks * (size_t)links->ports;
    links->neighbour = malloc(count * sizeof *links->neighbour);
    links->slowness = malloc(count * sizeof *links->slowness);
    if (!links->neighbour || !links->slowness)
        return trv_fail_memory();
    for (int rank = 0; rank < links->ranks; rank++)
        for (int port = 0; port < links->ports; port++) {
            links->neighbour[trv_link_of(links, rank, port)] = trv_torus_neighbour(&network->torus, rank, port);
            links->slowness[trv_link_of(links, rank, port)] = 1;
        }
    for (int i = 0; i < network->slow_links; i++) {
        const trv_slow_link_t *slow = &network->slow_link[i];
        links->slowness[trv_link_of(links, slow->rank, slow->port)] = slow->factor;
    }
    return TRV_OK;
}

void trv_links_clear(trv_links_t *links)
{
    free(links->neighbour);
    free(links->slowness);
}
