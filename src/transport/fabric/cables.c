/*
 * Hosts that do not forward: they are wired port to port, each cable with a subnet of its own. A message reaches
 * neighbours only, and leaves by the interface of the cable to its receiver. Every rank computes the same result from
 * the records of all ranks.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bootstrap/carrier.h"
#include "bootstrap/one_network.h"
#include "torus/torus.h"
#include "transport/fabric/inside.h"

/* ---- Routes ------------------------------------------------------------------------------------------------------ */

static int route_last_port(const trv_torus_t *torus, int from, int to)
{
    int port = TRV_NO_PORT;
    for (int at = from; at != to; at = trv_torus_neighbour(torus, at, port))
        port = trv_torus_route_port(torus, at, to);
    return port;
}

static void find_routes(trv_fabric_t *fabric)
{
    const trv_torus_t *torus = &fabric->torus;
    const int rank = fabric->options.oob.rank;
    for (int p = 0; p < TRV_PORTS_MAX; p++)
        fabric->neighbour[p] = p < trv_port_count(torus) ? trv_torus_neighbour(torus, rank, p) : -1;
    for (int r = 0; r < fabric->options.oob.ranks; r++)
        if (r != rank) {
            fabric->peer[r].first_port = (uint8_t)trv_torus_route_port(torus, rank, r);
            fabric->peer[r].last_port = (uint8_t)route_last_port(torus, r, rank);
        }
}

bool trv_fabric_relays(const trv_fabric_t *fabric) { return fabric->relays; }

const char *trv_fabric_no_route(const trv_fabric_t *fabric) { return fabric->no_route; }

const char *trv_fabric_cable_order(const trv_fabric_t *fabric) { return fabric->cable_order; }

int trv_fabric_neighbour(const trv_fabric_t *fabric, int port) { return fabric->neighbour[port]; }

int trv_fabric_next_rank(const trv_fabric_t *fabric, int peer)
{
    return peer == fabric->options.oob.rank ? peer : fabric->neighbour[fabric->peer[peer].first_port];
}

bool trv_fabric_became_line(const trv_fabric_t *fabric) { return fabric->became_line; }

const trv_torus_t *trv_fabric_torus(const trv_fabric_t *fabric) { return &fabric->torus; }

/* ---- Detection --------------------------------------------------------------------------------------------------- */

/* True if the port leads from the host of the last rank to that of rank 0, or back (+0 and -0 of a ring). */
static bool closes_ring(const trv_topology_records_t *records, int rank, int port)
{
    return records->record[rank].host == records->record[port == 0 ? records->ranks - 1 : 0].host;
}

/* The first missing cable: sets *rank and *port and returns true, unless there is none. as_line: the cable that closes
 * the ring may be missing. */
static bool find_missing(const trv_topology_records_t *records, const trv_map_t *map, bool as_line, int *rank,
                         int *port)
{
    for (int r = 0; r < records->ranks; r++)
        for (int p = 0; p < trv_port_count(&records->torus); p++) {
            if (trv_topology_records_cabled(records, map, r, p) || (as_line && closes_ring(records, r, p)))
                continue;
            *rank = r;
            *port = p;
            return true;
        }
    return false;
}

/* Describes the missing cable in fabric->no_route. Returns whether that states the reason. */
static bool missing_describe(trv_fabric_t *fabric, const trv_topology_records_t *records, int rank, int port)
{
    char text[TRV_PORT_TEXT_MAX], torus[TRV_TORUS_TEXT_MAX];
    const int there = trv_topology_records_neighbour(records, rank, port);
    const size_t size = sizeof fabric->no_route;
    const bool own = records->record[rank].unconnected >> port & 1,
               other = records->record[there].unconnected >> trv_port_opposite(port) & 1;
    const size_t used = (size_t)
        snprintf(fabric->no_route, size,
                 "no cable joins rank %d (host %s) and rank %d (host %s), its neighbour at port %s of the torus %s",
                 rank, fabric->host[rank], there, fabric->host[there], trv_port_format(port, text),
                 trv_torus_format(&records->torus, torus, sizeof torus));
    if ((own || other) && used < size)
        snprintf(fabric->no_route + used, size - used, " (host %s " TRV_ONE_NETWORK ")",
                 fabric->host[own ? rank : there]);
    return own || other;
}

/* Uses the cables in spite of the missing one, if it only closes a ring; otherwise a network that joins all hosts, if
 * there is one. A torus that the user has set needs all of its cables. */
static int do_without_cable(trv_fabric_t *fabric, trv_topology_records_t *records, trv_map_t *map, int rank, int port)
{
    if (fabric->relays && !fabric->options.torus_is_set && records->torus.dims == 1 && !records->torus.lines &&
        !find_missing(records, map, true, &rank, &port)) {
        fabric->became_line = true;
        fabric->torus.lines = records->torus.lines = 1;
        trv_topology_records_assign(records, map);
        return TRV_OK;
    }
    const bool explained = missing_describe(fabric, records, rank, port);
    records->ignores_cables = true;
    trv_topology_records_assign(records, map);
    fabric->relays = false;
    if (!fabric->options.torus_is_set && trv_topology_records_joined(records, map) &&
        trv_topology_records_forward(records, map, &rank, &port))
        return TRV_OK;
    if (explained)
        return trv_fail(TRV_ERR_ARGUMENT, "%s", fabric->no_route);
    if (*fabric->cable_order)
        return trv_fail(
            TRV_ERR_ARGUMENT,
            "%s, and the hosts do not forward: number the ranks, with consecutive ranks on each host, in the "
            "order of the hosts along the cables: %s",
            fabric->no_route, fabric->cable_order);
    return trv_fail(TRV_ERR_ARGUMENT,
                    "%s, and the hosts do not forward: plug it in, check its addresses, number the ranks along the "
                    "cables, or set TRIVANCE_TORUS to the torus or mesh that the cables form (3x4m, or 5m for a chain "
                    "of 5 hosts)",
                    fabric->no_route);
}

int trv_fabric_find_cables(trv_fabric_t *fabric, trv_topology_records_t *records, trv_map_t *map)
{
    int rank, port, last;
    if (trv_topology_records_forward(records, map, &rank, &port))
        return trv_topology_records_connected(records, &rank, &port)
                   ? TRV_OK
                   : do_without_cable(fabric, records, map, rank, port);
    const int through = trv_topology_records_neighbour(records, rank, port),
              there = trv_topology_records_beyond(records, rank, port, &last);
    fabric->relays = true;
    snprintf(fabric->no_route, sizeof fabric->no_route,
             "rank %d (host %s) has no route through rank %d (host %s) to rank %d (host %s)", rank, fabric->host[rank],
             through, fabric->host[through], there, fabric->host[there]);
    if (fabric->directed_receives)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "%s, and libfabric's provider %s has tags too short to relay messages; select another one, for "
                        "example TRIVANCE_PROVIDER=tcp",
                        fabric->no_route, trv_fabric_provider(fabric));
    const int rc = find_missing(records, map, false, &rank, &port) ? do_without_cable(fabric, records, map, rank, port)
                                                                   : TRV_OK;
    if (rc == TRV_OK && fabric->relays)
        find_routes(fabric);
    return rc;
}

/* ---- Pulled cables ----------------------------------------------------------------------------------------------- */

bool trv_fabric_is_unplugged(const trv_fabric_t *fabric, int port, char *sentence, size_t size)
{
    const int rank = fabric->options.oob.rank, there = fabric->neighbour[port];
    const char *device = fabric->interface[fabric->map.leave[port]].device_name;
    if (there < 0 || !*device || strcmp(fabric->host[rank], fabric->host[there]) == 0 || trv_interface_has_link(device))
        return false;
    snprintf(sentence, size,
             "rank %d (host %s) has lost the cable of its interface %s to rank %d (host %s): it is unplugged or broken",
             rank, fabric->host[rank], device, there, fabric->host[there]);
    return true;
}
