/*
 * Finds the nodes that are reachable over links that are not cut: a breadth-first search along the links, and one
 * against them.
 */
#include "torus/reach.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "torus/torus.h"

typedef struct search {
    const trv_network_t *network;
    bool against; /* along the links that lead to a node instead of those that leave it */
    bool *cut;    /* ranks * ports */
    bool *reached;
    int *queue, queued;
} search_t;

/* The node behind a port of `node`; -1 if no link is there, or if it is cut in the direction of the search. */
static int search_neighbour(const search_t *search, int node, int port)
{
    const trv_torus_t *torus = &search->network->torus;
    const int ports = trv_port_count(torus), other = trv_torus_neighbour(torus, node, port);
    if (other < 0)
        return -1;
    const bool cut = search->against ? search->cut[(size_t)other * ports + trv_port_opposite(port)]
                                     : search->cut[(size_t)node * ports + port];
    return cut ? -1 : other;
}

static void search_run(search_t *search, int from)
{
    const trv_torus_t *torus = &search->network->torus;
    for (int n = 0; n < torus->ranks; n++)
        search->reached[n] = n == from;
    search->queue[0] = from;
    search->queued = 1;
    for (int i = 0; i < search->queued; i++)
        for (int port = 0; port < trv_port_count(torus); port++) {
            const int other = search_neighbour(search, search->queue[i], port);
            if (other >= 0 && !search->reached[other]) {
                search->reached[other] = true;
                search->queue[search->queued++] = other;
            }
        }
}

/* Finds a node that no route joins with the first one; *other is set to it. Returns 1, 0 if there is none, or an
 * error. */
static int find_divided(const trv_network_t *network, int nodes, const int *node, int *other)
{
    const size_t ranks = (size_t)network->torus.ranks, ports = (size_t)trv_port_count(&network->torus);
    search_t search = {.network = network,
                       .cut = calloc(ranks * ports, sizeof(bool)),
                       .reached = malloc(ranks * sizeof(bool)),
                       .queue = malloc(ranks * sizeof(int))};
    int found = search.cut && search.reached && search.queue ? 0 : trv_fail_memory();
    for (int l = 0; l < network->slow_links && !found; l++)
        search.cut[(size_t)network->slow_link[l].rank * ports + (size_t)network->slow_link[l].port] = isinf(
            network->slow_link[l].factor);
    for (int against = 0; against < 2 && !found; against++) {
        search.against = against;
        search_run(&search, node ? node[0] : 0);
        for (int i = 1; i < nodes && !found; i++)
            if (!search.reached[node ? node[i] : i]) {
                *other = node ? node[i] : i;
                found = 1;
            }
    }
    free(search.cut);
    free(search.reached);
    free(search.queue);
    return found;
}

int trv_network_check_routes(const trv_network_t *network, int nodes, const int *node)
{
    char text[TRV_TORUS_TEXT_MAX];
    int other = 0;
    const int divided = find_divided(network, nodes, node, &other);
    if (divided <= 0)
        return divided;
    return trv_fail(TRV_ERR_UNSUPPORTED, "the cut links of %s leave no route between the nodes %d and %d",
                    trv_torus_format(&network->torus, text, sizeof text), node ? node[0] : 0, other);
}

int trv_network_check_connected(const trv_network_t *network)
{
    const int rc = trv_network_check(network);
    return rc == TRV_ERR_UNSUPPORTED ? trv_network_check_routes(network, network->torus.ranks, NULL) : rc;
}

int trv_check_hops(bool no_forwarding, int from, int to, int hops)
{
    if (!no_forwarding || hops <= 1)
        return TRV_OK;
    return trv_fail(TRV_ERR_UNSUPPORTED,
                    "rank %d sends to rank %d over %d links, but the network does not forward: a message may cross one "
                    "link, to a neighbour; relayed:NAME passes on the messages of the algorithm NAME",
                    from, to, hops);
}

bool trv_link_is_cut(const trv_network_t *network, int entry)
{
    const trv_slow_link_t *link = &network->slow_link[entry];
    bool last = isinf(link->factor);
    for (int i = entry + 1; last && i < network->slow_links; i++)
        last = network->slow_link[i].rank != link->rank || network->slow_link[i].port != link->port;
    return last;
}
