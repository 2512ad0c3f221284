/*
 * Proof of the routes by connections. If two interfaces of a host have addresses in one network, its system sends to
 * all addresses of that network by one of them, so its routes do not state to which host a cable leads. Then each rank
 * connects every pair of interfaces that the routes allow, from the address of the own one to that of the other, as the
 * transport does. A pair that cannot be connected is removed from the rank's topology record. It does not
 * matter at which interface a connection arrives: on a switch, a host answers for all its addresses by any interface.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "transport/fabric/inside.h"

enum { BACKLOG = 4096, CONNECTIONS_MAX = 128, TIMEOUT_S = 2 };

/* ---- Shared networks --------------------------------------------------------------------------------------------- */

/* Bit mask of the published interfaces whose network has the address of another one. */
static unsigned find_shared(trv_reader_t reader)
{
    uint8_t address[TRV_INTERFACES_MAX][16];
    int family[TRV_INTERFACES_MAX], bits[TRV_INTERFACES_MAX];
    unsigned shared = 0;
    const int interfaces = (int)trv_read_number(&reader);
    for (int i = 0; i < interfaces; i++) {
        char text[TRV_IP_ADDRESS_MAX];
        bits[i] = trv_fabric_read_interface(&reader, text);
        family[i] = strchr(text, ':') ? AF_INET6 : AF_INET;
        if (bits[i] <= 0 || inet_pton(family[i], text, address[i]) != 1)
            family[i] = AF_UNSPEC;
        for (int k = 0; k < i; k++)
            if (family[i] != AF_UNSPEC && family[i] == family[k] &&
                trv_ports_same_network(address[i], address[k], bits[i] < bits[k] ? bits[i] : bits[k]))
                shared |= 1u << i | 1u << k;
    }
    return shared;
}

bool trv_fabric_shares_network(const trv_fabric_t *fabric)
{
    bool shares = false, several = false;
    for (int r = 0; r < fabric->options.oob.ranks; r++) {
        shares = shares || find_shared(fabric->published[r]);
        several = several || fabric->record[r].host != fabric->record[0].host;
    }
    return shares && several;
}

/* ---- Connections ------------------------------------------------------------------------------------------------- */

/* A connection is pending for the bit of a mask, which is cleared if it fails. */
typedef struct probe {
    int listening[TRV_INTERFACES_MAX], connections, pending;
    struct pollfd connection[CONNECTIONS_MAX];
    uint16_t *mask[CONNECTIONS_MAX], bit[CONNECTIONS_MAX];
} probe_t;

typedef struct ports {
    uint16_t port[TRV_INTERFACES_MAX]; /* by interface; 0: it has no address */
} ports_t;

/* Parses a numeric address. Returns its length; 0 if the text is not an address. */
static socklen_t address_parse(const char *text, uint16_t port, struct sockaddr_storage *address)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    if (getaddrinfo(text, service, &hints, &found) != 0)
        return 0;
    const socklen_t length = found->ai_addrlen;
    memcpy(address, found->ai_addr, length);
    freeaddrinfo(found);
    return length;
}

/* Opens a socket that is bound to the address of an interface. */
static int socket_open(const trv_interface_t *interface, int *opened)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    const socklen_t length = address_parse(interface->ip_address, 0, &address);
    *opened = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*opened < 0 || bind(*opened, (const struct sockaddr *)&address, length) != 0)
        return trv_fail(TRV_ERR_TRANSPORT, "a socket cannot be bound to %s on %s: %s", interface->ip_address,
                        interface->name, strerror(errno));
    return TRV_OK;
}

static int listen_all(const trv_fabric_t *fabric, probe_t *probe, ports_t *own)
{
    int rc = TRV_OK;
    for (int i = 0; rc == TRV_OK && i < fabric->interfaces; i++) {
        struct sockaddr_storage address; /* the port is at the same place in addresses of both families */
        socklen_t length = sizeof address;
        if (!*fabric->interface[i].ip_address)
            continue;
        rc = socket_open(&fabric->interface[i], &probe->listening[i]);
        if (rc == TRV_OK && (listen(probe->listening[i], BACKLOG) != 0 ||
                             getsockname(probe->listening[i], (struct sockaddr *)&address, &length) != 0))
            rc = trv_fail(TRV_ERR_TRANSPORT, "cannot listen on %s: %s", fabric->interface[i].name, strerror(errno));
        own->port[i] = rc == TRV_OK ? ntohs(((const struct sockaddr_in *)(const void *)&address)->sin_port) : 0;
    }
    return rc;
}

static void connection_end(probe_t *probe, int index, bool connected)
{
    if (!connected)
        *probe->mask[index] &= (uint16_t)~probe->bit[index];
    if (probe->connection[index].fd >= 0)
        close(probe->connection[index].fd);
    probe->connection[index].fd = -1; /* poll ignores it */
    probe->pending--;
}

/* Waits until all connections have been established or have failed. */
static void connections_wait(probe_t *probe)
{
    const double end_s = trv_now_s() + TIMEOUT_S;
    while (probe->pending > 0) {
        const double left_s = end_s - trv_now_s();
        const bool late = left_s <= 0;
        poll(probe->connection, (nfds_t)probe->connections, late ? 0 : 1 + (int)(1e3 * left_s));
        for (int c = 0; c < probe->connections; c++) {
            int code = ETIMEDOUT;
            socklen_t length = sizeof code;
            const bool ended = probe->connection[c].fd >= 0 && probe->connection[c].revents;
            if (ended)
                getsockopt(probe->connection[c].fd, SOL_SOCKET, SO_ERROR, &code, &length);
            if (ended || (late && probe->connection[c].fd >= 0))
                connection_end(probe, c, code == 0);
        }
    }
    probe->connections = 0;
}

/* Begins a connection from the own interface `own` for its bit of the mask. */
static int connection_begin(const trv_fabric_t *fabric, probe_t *probe, int own, const char *text, uint16_t port,
                            uint16_t *mask)
{
    struct sockaddr_storage address;
    if (probe->connections == CONNECTIONS_MAX)
        connections_wait(probe);
    const int index = probe->connections++;
    probe->pending++;
    probe->connection[index] = (struct pollfd){.fd = -1, .events = POLLOUT};
    probe->mask[index] = mask;
    probe->bit[index] = (uint16_t)(1u << own);
    const int rc = socket_open(&fabric->interface[own], &probe->connection[index].fd);
    const socklen_t length = rc == TRV_OK ? address_parse(text, port, &address) : 0;
    if (length == 0 ||
        (connect(probe->connection[index].fd, (const struct sockaddr *)&address, length) != 0 && errno != EINPROGRESS))
        connection_end(probe, index, false);
    return rc;
}

/* Connects the pairs of interfaces in `mask` to those of a peer. */
static int connect_peer(const trv_fabric_t *fabric, probe_t *probe, int peer, const ports_t *ports,
                        uint16_t mask[TRV_INTERFACES_MAX])
{
    int rc = TRV_OK;
    trv_reader_t reader = fabric->published[peer];
    const int interfaces = (int)trv_read_number(&reader);
    for (int j = 0; j < interfaces; j++) {
        char address[TRV_IP_ADDRESS_MAX];
        trv_fabric_read_interface(&reader, address);
        for (int i = 0; rc == TRV_OK && ports[peer].port[j] && i < fabric->interfaces; i++)
            if ((mask[j] >> i & 1) && *fabric->interface[i].ip_address)
                rc = connection_begin(fabric, probe, i, address, ports[peer].port[j], &mask[j]);
    }
    return rc;
}

/* Bit mask of the ports at which interfaces in the set are regarded as reaching the neighbour. */
static uint32_t ports_reached(const trv_topology_record_t *record, unsigned interfaces)
{
    uint32_t ports = 0;
    for (int p = 0; p < TRV_PORTS_MAX; p++)
        for (int j = 0; j < TRV_INTERFACES_MAX; j++)
            ports |= (uint32_t)((record->reachable[p][j] & interfaces) != 0) << p;
    return ports;
}

/* Replaces a route that a connection has not confirmed by one that it has, if there is any. */
static void route_correct(uint8_t *routed, unsigned reachable)
{
    if (*routed != TRV_NO_INTERFACE && !(reachable >> *routed & 1))
        *routed = reachable ? (uint8_t)__builtin_ctz(reachable) : TRV_NO_INTERFACE;
}

static int connect_all(trv_fabric_t *fabric, probe_t *probe, const trv_topology_records_t *records,
                       const ports_t *ports)
{
    const int rank = fabric->options.oob.rank;
    trv_topology_record_t *record = &fabric->record[rank];
    const unsigned shared = find_shared(fabric->published[rank]);
    const uint32_t routed = ports_reached(record, shared);
    int rc = TRV_OK, last;
    for (int p = 0; rc == TRV_OK && p < trv_port_count(&records->torus); p++) {
        const int neighbour = trv_topology_records_neighbour(records, rank, p),
                  beyond = trv_topology_records_beyond(records, rank, p, &last);
        if (neighbour >= 0)
            rc = connect_peer(fabric, probe, neighbour, ports, record->reachable[p]);
        if (rc == TRV_OK && beyond >= 0)
            rc = connect_peer(fabric, probe, beyond, ports, record->beyond[p]);
    }
    connections_wait(probe);
    record->unconnected = routed & ~ports_reached(record, shared);
    for (int p = 0; p < TRV_PORTS_MAX; p++)
        for (int j = 0; j < TRV_INTERFACES_MAX; j++)
            route_correct(&record->routed[p][j], record->reachable[p][j]);
    return rc;
}

int trv_fabric_probe(trv_fabric_t *fabric)
{
    const trv_oob_t *oob = &fabric->options.oob;
    trv_topology_records_t records;
    ports_t own = {{0}}, *ports = calloc((size_t)oob->ranks, sizeof *ports);
    probe_t *probe = calloc(1, sizeof *probe);
    for (int i = 0; probe && i < TRV_INTERFACES_MAX; i++)
        probe->listening[i] = -1;
    int rc = trv_topology_records_init(&records, &fabric->torus, fabric->record, oob->ranks);
    if (rc == TRV_OK)
        rc = ports && probe ? listen_all(fabric, probe, &own) : trv_fail_memory();
    rc = trv_oob_agree(oob, rc);
    if (rc == TRV_OK)
        rc = oob->allgather(oob->context, &own, ports, sizeof own);
    if (rc == TRV_OK)
        rc = trv_oob_agree(oob, connect_all(fabric, probe, &records, ports)); /* until then, other ranks connect */
    for (int i = 0; probe && i < TRV_INTERFACES_MAX; i++)
        if (probe->listening[i] >= 0)
            close(probe->listening[i]);
    trv_topology_records_clear(&records);
    free(probe);
    free(ports);
    return rc;
}
