/*
 * Hosts that do not forward: they are wired port to port, each cable with a subnet of its own. A message reaches
 * neighbours only, and leaves by the interface of the cable to its receiver. Every rank computes the same from the
 * records of all ranks.
 */
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "transport/fabric/inside.h"

/* ---- Routes ------------------------------------------------------------------------------------------------------ */

/* The neighbour at a port; -1 if there is none. */
static int neighbour_at(const trv_torus_t *torus, int rank, int port)
{
    const int d = trv_port_dimension(port), sign = trv_port_sign(port);
    int at[TRV_DIMS_MAX];
    if (d >= torus->dims || torus->size[d] == 1)
        return -1;
    trv_torus_coordinates(torus, rank, at);
    if ((torus->lines >> d & 1) && at[d] == (sign > 0 ? torus->size[d] - 1 : 0))
        return -1;
    at[d] = (at[d] + sign + torus->size[d]) % torus->size[d];
    return trv_torus_rank(torus, at);
}

/* The port of the first hop: in each dimension in ascending order the shorter way, + if both are equally long. */
static int route_port(const trv_torus_t *torus, int from, int to)
{
    int at[TRV_DIMS_MAX], target[TRV_DIMS_MAX];
    trv_torus_coordinates(torus, from, at);
    trv_torus_coordinates(torus, to, target);
    for (int d = 0; d < torus->dims; d++) {
        const int size = torus->size[d], up = (target[d] - at[d] + size) % size;
        if (up > 0)
            return trv_port(d, (torus->lines >> d & 1 ? target[d] > at[d] : 2 * up <= size) ? 1 : -1);
    }
    return TRV_NO_PORT;
}

static int route_last_port(const trv_torus_t *torus, int from, int to)
{
    int port = TRV_NO_PORT;
    for (int at = from; at != to; at = neighbour_at(torus, at, port))
        port = route_port(torus, at, to);
    return port;
}

static void find_routes(trv_fabric_t *fabric)
{
    const trv_torus_t *torus = &fabric->torus;
    const int rank = fabric->options.oob.rank;
    for (int p = 0; p < TRV_PORTS_MAX; p++)
        fabric->neighbour[p] = neighbour_at(torus, rank, p);
    for (int r = 0; r < fabric->options.oob.ranks; r++)
        if (r != rank) {
            fabric->peer[r].first_port = (uint8_t)route_port(torus, rank, r);
            fabric->peer[r].last_port = (uint8_t)route_last_port(torus, r, rank);
        }
}

bool trv_fabric_relays(const trv_fabric_t *fabric) { return fabric->relays; }

const char *trv_fabric_no_route(const trv_fabric_t *fabric) { return fabric->no_route; }

int trv_fabric_neighbour(const trv_fabric_t *fabric, int port) { return fabric->neighbour[port]; }

int trv_fabric_next_rank(const trv_fabric_t *fabric, int peer)
{
    return peer == fabric->options.oob.rank ? peer : fabric->neighbour[fabric->peer[peer].first_port];
}

bool trv_fabric_is_opened(const trv_fabric_t *fabric) { return fabric->is_opened; }

const trv_torus_t *trv_fabric_torus(const trv_fabric_t *fabric) { return &fabric->torus; }

/* ---- Detection --------------------------------------------------------------------------------------------------- */

/* True if the port leads out of the host of the last rank upwards, or out of that of rank 0 downwards. */
static bool closes_ring(const trv_topology_records_t *records, int rank, int port)
{
    return records->record[rank].host == records->record[port == 0 ? records->ranks - 1 : 0].host;
}

/* The first missing cable: sets *rank and *port and returns true, unless there is none. Leaves out the cable that closes
 * a ring if `open` is true. */
static bool find_missing(const trv_topology_records_t *records, const trv_map_t *map, bool open, int *rank, int *port)
{
    for (int r = 0; r < records->ranks; r++)
        for (int p = 0; p < 2 * records->torus.dims; p++) {
            if (trv_topology_records_cabled(records, map, r, p) || (open && closes_ring(records, r, p)))
                continue;
            *rank = r;
            *port = p;
            return true;
        }
    return false;
}

static int fail_missing(const trv_fabric_t *fabric, const trv_topology_records_t *records, int rank, int port)
{
    char text[TRV_PORT_TEXT_MAX], torus[TRV_TORUS_TEXT_MAX];
    const int there = trv_topology_records_neighbour(records, rank, port);
    return trv_fail(TRV_ERR_ARGUMENT,
                    "rank %d (host %s) has no route over a cable to rank %d (host %s), its neighbour at port %s of the "
                    "torus %s, and the hosts do not forward (%s); number the ranks along the cables, or set "
                    "TRIVANCE_TORUS to the torus or mesh that the cables form, for example TRIVANCE_TORUS=%dm for a "
                    "chain",
                    rank, fabric->host[rank], there, fabric->host[there], trv_port_format(port, text),
                    trv_torus_format(&records->torus, torus, sizeof torus), fabric->no_route, records->ranks);
}

int trv_fabric_find_cables(trv_fabric_t *fabric, trv_topology_records_t *records, trv_map_t *map)
{
    int rank, port, last;
    const trv_torus_t *torus = &records->torus;
    if (!fabric->options.may_relay || trv_topology_records_forward(records, map, &rank, &port))
        return TRV_OK;
    const int there = trv_topology_records_beyond(records, rank, port, &last);
    fabric->relays = true;
    snprintf(fabric->no_route, sizeof fabric->no_route,
             "rank %d (host %s) has no route over its cables to rank %d (%s)", rank, fabric->host[rank], there,
             fabric->host[there]);
    if (fabric->directed_receives)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "%s, and libfabric's provider %s has tags too short to relay messages; select another one, for "
                        "example TRIVANCE_PROVIDER=tcp",
                        fabric->no_route, trv_fabric_provider(fabric));
    if (find_missing(records, map, false, &rank, &port)) {
        if (fabric->options.torus_is_set || torus->dims > 1 || torus->lines ||
            find_missing(records, map, true, &rank, &port))
            return fail_missing(fabric, records, rank, port);
        fabric->is_opened = true;
        fabric->torus.lines = records->torus.lines = 1;
        trv_topology_records_assign(records, map);
    }
    find_routes(fabric);
    return TRV_OK;
}

/* ---- Pulled cables ----------------------------------------------------------------------------------------------- */

static bool has_carrier(const char *device)
{
    struct ifreq request = {.ifr_flags = 0};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%.*s", IFNAMSIZ - 1, device);
    const bool known = fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &request) == 0;
    if (fd >= 0)
        close(fd);
    return !known || (request.ifr_flags & IFF_RUNNING);
}

bool trv_fabric_is_unplugged(const trv_fabric_t *fabric, int port, char *sentence, size_t size)
{
    const int rank = fabric->options.oob.rank, there = fabric->neighbour[port];
    const char *device = fabric->interface[fabric->map.leave[port]].device_name;
    if (there < 0 || !*device || strcmp(fabric->host[rank], fabric->host[there]) == 0 || has_carrier(device))
        return false;
    snprintf(sentence, size,
             "rank %d (host %s) has lost the cable of its interface %s to rank %d (host %s): it is unplugged or broken",
             rank, fabric->host[rank], device, there, fabric->host[there]);
    return true;
}
