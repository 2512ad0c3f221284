/*
 * Assignment of interfaces to ports: this rank publishes its interfaces and routes, collects those of the other ranks,
 * and applies the assignment that topology/ports/map.h computes from them.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "bootstrap/one_network.h"
#include "settings/ports_text.h"
#include "transport/fabric/inside.h"
#include "topology/ports/system_routes.h"

/* ---- The first exchange: interfaces ------------------------------------------------------------------------------ */

/* Equal for ranks with the same value of TRIVANCE_PORTS. */
static uint32_t ports_hash(const trv_fabric_t *fabric)
{
    const char *ports = fabric->options.ports ? fabric->options.ports : "";
    return (uint32_t)trv_hash(TRV_HASH_SEED, ports, strlen(ports));
}

void trv_fabric_publish_interfaces(const trv_fabric_t *fabric, trv_writer_t *writer)
{
    trv_write_number(writer, (uint32_t)fabric->interfaces);
    for (int i = 0; i < fabric->interfaces; i++) {
        trv_write_text(writer, fabric->interface[i].ip_address);
        trv_write_number(writer, (uint32_t)fabric->interface[i].network_bits);
    }
    trv_write_number(writer, ports_hash(fabric));
    trv_write_number(writer, fabric->selecting);
}

int trv_fabric_read_interface(trv_reader_t *reader, char address[TRV_IP_ADDRESS_MAX])
{
    trv_read_text(reader, address, TRV_IP_ADDRESS_MAX);
    return (int)trv_read_number(reader);
}

int trv_fabric_collect_interfaces(trv_fabric_t *fabric, int rank, const char *host, int coordinate,
                                  trv_reader_t *reader)
{
    trv_topology_record_t *record = &fabric->record[rank];
    char address[TRV_IP_ADDRESS_MAX];
    fabric->published[rank] = *reader;
    const uint32_t interfaces = trv_read_number(reader);
    *record = (trv_topology_record_t){.host = trv_hash(TRV_HASH_SEED, host, strlen(host)),
                                      .interfaces_hash = TRV_HASH_SEED,
                                      .coordinate = coordinate};
    for (uint32_t i = 0; i < interfaces && i < TRV_INTERFACES_MAX; i++) {
        trv_fabric_read_interface(reader, address);
        record->interfaces_hash = trv_hash(record->interfaces_hash, address, strlen(address) + 1);
    }
    const bool same_list = trv_read_number(reader) == ports_hash(fabric);
    const uint32_t selecting = trv_read_number(reader);
    fabric->selecting |= same_list ? selecting : 0;
    return reader->bad || interfaces < 1 || interfaces > TRV_INTERFACES_MAX
               ? trv_fail(TRV_ERR_INVALID, "the interface record of rank %d is corrupted", rank)
               : TRV_OK;
}

/* ---- Routes to the neighbours ------------------------------------------------------------------------------------ */

/* Queries the system's routes to the address `to` of a neighbour's interface. Without addresses in this format there is
 * no such information, and every interface is regarded as usable. */
static void query_routes(const trv_fabric_t *fabric, int routes, const char *to, uint8_t *routed, uint16_t *reachable)
{
    const int device = *to ? trv_route_device(routes, to, NULL) : 0;
    *routed = TRV_NO_INTERFACE;
    *reachable = 0;
    for (int i = 0; i < fabric->interfaces; i++) {
        const trv_interface_t *interface = &fabric->interface[i];
        const bool has_addresses = *to && *interface->ip_address;
        if (has_addresses && *routed == TRV_NO_INTERFACE && interface->device_index == device && device)
            *routed = (uint8_t)i;
        if (!has_addresses ||
            (interface->device_index && trv_route_device(routes, to, interface->ip_address) == interface->device_index))
            *reachable |= (uint16_t)(1u << i);
    }
}

static void query_peer(const trv_fabric_t *fabric, int routes, int peer, uint8_t routed[TRV_INTERFACES_MAX],
                       uint16_t reachable[TRV_INTERFACES_MAX])
{
    trv_reader_t reader = fabric->published[peer];
    char address[TRV_IP_ADDRESS_MAX];
    const int interfaces = (int)trv_read_number(&reader);
    for (int j = 0; j < interfaces; j++) {
        trv_fabric_read_interface(&reader, address);
        query_routes(fabric, routes, address, &routed[j], &reachable[j]);
    }
}

/* Bit mask of the interfaces whose network has the address. */
static unsigned find_on_link(const trv_fabric_t *fabric, const char *address)
{
    const int family = strchr(address, ':') ? AF_INET6 : AF_INET;
    uint8_t there[16], own[16];
    unsigned bits = 0;
    if (inet_pton(family, address, there) != 1)
        return 0;
    for (int i = 0; i < fabric->interfaces; i++) {
        const trv_interface_t *interface = &fabric->interface[i];
        if (interface->network_bits > 0 && inet_pton(family, interface->ip_address, own) == 1 &&
            trv_ports_same_network(own, there, interface->network_bits))
            bits |= 1u << i;
    }
    return bits;
}

/* If the user has assigned interfaces, those in the network of the neighbour's address reach it. If there are none,
 * every interface does if there is a route, because packets may leave by another one than that of their source. */
static void query_assigned(const trv_fabric_t *fabric, int routes, int peer, const uint8_t routed[TRV_INTERFACES_MAX],
                           uint16_t reachable[TRV_INTERFACES_MAX])
{
    trv_reader_t reader = fabric->published[peer];
    char address[TRV_IP_ADDRESS_MAX];
    const int interfaces = (int)trv_read_number(&reader);
    for (int j = 0; j < interfaces; j++) {
        trv_fabric_read_interface(&reader, address);
        const unsigned on_link = find_on_link(fabric, address);
        if (on_link)
            reachable[j] = (uint16_t)on_link;
        else if (routes < 0 || routed[j] != TRV_NO_INTERFACE)
            reachable[j] = (uint16_t)((1u << fabric->interfaces) - 1);
    }
}

/* The own interfaces that reach the rank two hops away. Where nothing is known, all do. */
static void query_beyond(const trv_fabric_t *fabric, int routes, int peer, uint16_t beyond[TRV_INTERFACES_MAX])
{
    uint8_t routed[TRV_INTERFACES_MAX];
    uint16_t unknown = 0;
    for (int i = 0; i < fabric->interfaces; i++)
        unknown |= (uint16_t)((fabric->interface[i].device_index == 0) << i);
    query_peer(fabric, routes, peer, routed, beyond);
    for (int j = 0; j < TRV_INTERFACES_MAX; j++)
        beyond[j] |= unknown;
}

static void query_port(const trv_fabric_t *fabric, int routes, const trv_topology_records_t *records, int port,
                       trv_topology_record_t *record)
{
    int last;
    const int rank = fabric->options.oob.rank, neighbour = trv_topology_records_neighbour(records, rank, port),
              beyond = trv_topology_records_beyond(records, rank, port, &last);
    if (neighbour >= 0)
        query_peer(fabric, routes, neighbour, record->routed[port], record->reachable[port]);
    if (neighbour >= 0 && fabric->assigned)
        query_assigned(fabric, routes, neighbour, record->routed[port], record->reachable[port]);
    if (beyond >= 0 && fabric->options.may_relay)
        query_beyond(fabric, routes, beyond, record->beyond[port]);
}

static void find_devices(trv_fabric_t *fabric, trv_topology_record_t *record)
{
    trv_device_t device[TRV_INTERFACES_MAX];
    for (int i = 0; i < fabric->interfaces; i++)
        device[i] = (trv_device_t){.name = fabric->interface[i].device_name};
    trv_devices_find(device, fabric->interfaces);
    for (int i = 0; i < fabric->interfaces; i++) {
        const struct fid_nic *nic = fabric->interface[i].info->nic;
        if (device[i].speed_mbps == 0 && nic && nic->link_attr)
            device[i].speed_mbps = (uint32_t)(nic->link_attr->speed / 1000000);
        fabric->interface[i].device = device[i];
        fabric->interface[i].device.name = fabric->interface[i].device_name;
        record->interface[i].speed_mbps = device[i].speed_mbps;
        record->interface[i].bridge = device[i].bridge;
        record->interface[i].near = device[i].near;
    }
}

int trv_fabric_query_routes(trv_fabric_t *fabric)
{
    const trv_torus_t *torus = &fabric->torus;
    trv_topology_record_t *record = &fabric->record[fabric->options.oob.rank];
    trv_topology_records_t records;
    record->assigned = fabric->assigned;
    record->interfaces = fabric->interfaces;
    memcpy(record->leave, fabric->map.leave, sizeof record->leave);
    memset(record->routed, TRV_NO_INTERFACE, sizeof record->routed);
    int rc = trv_topology_records_init(&records, torus, fabric->record, fabric->options.oob.ranks);
    const int routes = rc == TRV_OK ? trv_routes_open() : -1;
    for (int p = 0; rc == TRV_OK && p < trv_port_count(torus); p++)
        query_port(fabric, routes, &records, p, record);
    trv_routes_close(routes);
    trv_topology_records_clear(&records);
    if (rc == TRV_OK)
        find_devices(fabric, record);
    return rc;
}

/* ---- The second exchange: addresses ------------------------------------------------------------------------------ */

void trv_fabric_publish_addresses(const trv_fabric_t *fabric, trv_writer_t *writer)
{
    trv_topology_record_write(&fabric->record[fabric->options.oob.rank], writer);
    trv_write_text(writer, trv_fabric_parameters(NULL));
    for (int i = 0; i < fabric->interfaces; i++) {
        const trv_interface_t *interface = &fabric->interface[i];
        trv_write_text(writer, interface->info->fabric_attr->prov_name);
        trv_write_number(writer, interface->info->addr_format);
        trv_write_block(writer, interface->address, interface->address_bytes); /* empty if the interface is not open */
    }
}

static const char *format_name(uint32_t format)
{
    switch (format) {
    case FI_SOCKADDR_IN: return "IPv4";
    case FI_SOCKADDR_IN6: return "IPv6";
    case FI_ADDR_STR: return "string";
    default: return "provider-specific";
    }
}

/* Checks that the addresses of a rank have the same provider and format as those of rank 0, because a rank cannot send
 * to any others. Every rank compares all ranks with rank 0, so that all return the same error. */
static int read_address_format(trv_fabric_t *fabric, int rank, trv_reader_t *reader, trv_address_format_t *format)
{
    const trv_address_format_t *first = &fabric->address_format;
    trv_read_text(reader, format->provider, sizeof format->provider);
    format->format = trv_read_number(reader);
    if (reader->bad || !*first->provider)
        return TRV_OK;
    if (strcmp(format->provider, first->provider) != 0)
        return trv_fail(
            TRV_ERR_UNSUPPORTED,
            "rank %d uses libfabric's provider %s, and rank 0 uses %s; select one that both have, for example "
            "TRIVANCE_PROVIDER=tcp",
            rank, format->provider, first->provider);
    if (format->format != first->format)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "rank %d has an interface with %s addresses, and rank 0 has one with %s addresses; select "
                        "interfaces that reach each other, for example TRIVANCE_PORTS=+0=10.0.0.1,-0=10.0.1.1",
                        rank, format_name(format->format), format_name(first->format));
    return TRV_OK;
}

static int read_parameters(trv_fabric_t *fabric, int rank, trv_reader_t *reader)
{
    char parameters[TRV_PARAMETERS_MAX];
    trv_read_text(reader, parameters, sizeof parameters);
    if (rank == 0)
        memcpy(fabric->parameters, parameters, sizeof parameters);
    if (strcmp(parameters, fabric->parameters) == 0)
        return TRV_OK;
    return trv_fail(
        TRV_ERR_UNSUPPORTED,
        "libfabric uses %s on rank %d, and %s on rank 0; set the same values in the environment of all ranks",
        *parameters ? parameters : "its default limits", rank,
        *fabric->parameters ? fabric->parameters : "its default limits");
}

static int peer_allocate(trv_peer_t *peer)
{
    const size_t interfaces = (size_t)peer->interfaces;
    peer->address = calloc(interfaces, sizeof *peer->address);
    peer->address_bytes = calloc(interfaces, sizeof *peer->address_bytes);
    return peer->address && peer->address_bytes ? TRV_OK : trv_fail_memory();
}

int trv_fabric_collect_addresses(trv_fabric_t *fabric, int rank, trv_reader_t *reader)
{
    trv_peer_t *peer = &fabric->peer[rank];
    trv_topology_record_t *record = &fabric->record[rank];
    if (!trv_topology_record_read(record, reader))
        return trv_fail(TRV_ERR_INVALID, "the interface record of rank %d is corrupted", rank);
    peer->interfaces = record->interfaces;
    int rc = read_parameters(fabric, rank, reader);
    rc = rc == TRV_OK ? peer_allocate(peer) : rc;
    for (int i = 0; rc == TRV_OK && i < peer->interfaces; i++) {
        trv_address_format_t format;
        rc = read_address_format(fabric, rank, reader, &format);
        peer->address[i] = trv_read_block(reader, TRV_ADDRESS_BYTES_MAX, &peer->address_bytes[i]);
        format.bytes = peer->address_bytes[i];
        if (rc < 0)
            break;
        if (reader->bad ||
            (format.bytes > 0 && *fabric->address_format.provider && format.bytes != fabric->address_format.bytes))
            return trv_fail(TRV_ERR_INVALID, "the address record of rank %d is corrupted", rank);
        if (rank == 0 && format.bytes > 0 && !*fabric->address_format.provider)
            fabric->address_format = format;
    }
    return rc;
}

/* ---- Assignment -------------------------------------------------------------------------------------------------- */

/* Removes the interfaces that no port uses, and renumbers the others: interface from[i] becomes interface i. Returns
 * their number. */
static int renumber(const trv_topology_record_t *record, trv_map_t *map, int from[TRV_INTERFACES_MAX])
{
    unsigned used = record->assigned ? (1u << record->interfaces) - 1 : 0;
    uint8_t number[TRV_INTERFACES_MAX] = {0};
    int numbers = 0;
    for (int p = 0; p < TRV_PORTS_MAX; p++)
        used |= 1u << map->leave[p] | 1u << map->arrive[p];
    for (int i = 0; i < record->interfaces; i++)
        if (used >> i & 1) {
            number[i] = (uint8_t)numbers;
            from[numbers++] = i;
        }
    for (int p = 0; p < TRV_PORTS_MAX; p++) {
        map->leave[p] = number[map->leave[p]];
        map->arrive[p] = number[map->arrive[p]];
    }
    return numbers;
}

static int assign_peer(trv_fabric_t *fabric, int rank)
{
    trv_peer_t *peer = &fabric->peer[rank];
    int from[TRV_INTERFACES_MAX];
    peer->interfaces = renumber(&fabric->record[rank], &peer->map, from);
    for (int i = 0; i < peer->interfaces; i++) {
        peer->address[i] = peer->address[from[i]];
        peer->address_bytes[i] = peer->address_bytes[from[i]];
        if (peer->address_bytes[i] == 0)
            return trv_fail(TRV_ERR_INVALID, "rank %d has an interface without an address", rank);
    }
    return TRV_OK;
}

static void assign_own(trv_fabric_t *fabric)
{
    const trv_topology_record_t *record = &fabric->record[fabric->options.oob.rank];
    int from[TRV_INTERFACES_MAX], interfaces;
    interfaces = renumber(record, &fabric->map, from);
    unsigned kept = 0;
    for (int i = 0; i < interfaces; i++)
        kept |= 1u << from[i];
    for (int i = 0; i < fabric->interfaces; i++)
        if (!(kept >> i & 1)) {
            trv_interface_shut(&fabric->interface[i]);
            trv_interface_close(&fabric->interface[i]);
            fi_freeinfo(fabric->interface[i].info);
        }
    for (int i = 0; i < interfaces; i++) {
        trv_interface_t *interface = &fabric->interface[i];
        if (from[i] != i)
            *interface = fabric->interface[from[i]];
        interface->device.name = interface->device_name;
        interface->departures = interface->arrivals = 0;
        for (int list = 0; list < TRV_DEFERRED_LISTS; list++)
            interface->deferred_end[list] = &interface->deferred[list];
        for (int p = 0; p < trv_port_count(&fabric->torus); p++) {
            interface->departures |= (unsigned)(fabric->map.leave[p] == i) << p;
            interface->arrivals |= (unsigned)(fabric->map.arrive[p] == i) << p;
        }
    }
    for (int i = interfaces; i < fabric->interfaces; i++)
        fabric->interface[i] = (trv_interface_t){.wait_fd = -1};
    fabric->interfaces = interfaces;
}

static int assign_all(trv_fabric_t *fabric, const trv_map_t *map)
{
    int rc = TRV_OK;
    for (int r = 0; rc == TRV_OK && r < fabric->options.oob.ranks; r++) {
        fabric->peer[r].map = map[r];
        rc = assign_peer(fabric, r);
    }
    if (rc < 0)
        return rc;
    fabric->map = map[fabric->options.oob.rank];
    assign_own(fabric);
    for (int r = 0; r < fabric->options.oob.ranks; r++) {
        trv_peer_t *peer = &fabric->peer[r];
        const size_t pairs = (size_t)peer->interfaces * (size_t)fabric->interfaces;
        peer->av_address = malloc(pairs * sizeof *peer->av_address);
        if (!peer->av_address)
            return trv_fail_memory();
        for (size_t i = 0; i < pairs; i++)
            peer->av_address[i] = FI_ADDR_UNSPEC;
    }
    return TRV_OK;
}

/* Fails if the user has assigned an interface to a port that the torus does not have. Communicators may have tori with
 * more dimensions than the job, unless the user has set its torus. */
static int check_ports_exist(const trv_fabric_t *fabric)
{
    char text[TRV_PORT_TEXT_MAX], torus[TRV_TORUS_TEXT_MAX];
    for (int p = trv_port_count(&fabric->torus); fabric->options.torus_is_set && p < TRV_PORTS_MAX; p++)
        if (fabric->named_ports >> p & 1)
            return trv_fail(TRV_ERR_ARGUMENT,
                            "TRIVANCE_PORTS: the torus %s has no port %s; expected ports of its %d dimension%s, for "
                            "example +0=eth1,-0=eth2",
                            trv_torus_format(&fabric->torus, torus, sizeof torus), trv_port_format(p, text),
                            fabric->torus.dims, fabric->torus.dims == 1 ? "" : "s");
    return TRV_OK;
}

/* Returns the first rank with an assigned interface that does not reach the interface of the neighbour at its port,
 * which is *port; -1 if there is none. Where hosts forward, any route between them suffices. All ranks find the same
 * rank. */
static int find_wrong_map(const trv_topology_records_t *records, const trv_map_t *map, int *port)
{
    int rank, last;
    const bool forwards = trv_topology_records_forward(records, map, &rank, &last);
    for (rank = 0; rank < records->ranks; rank++) {
        const trv_topology_record_t *record = &records->record[rank];
        for (int p = 0; record->assigned && p < trv_port_count(&records->torus); p++) {
            const int there = trv_topology_records_neighbour(records, rank, p),
                      arrive = there < 0 ? 0 : map[there].arrive[p];
            *port = p;
            if (there >= 0 && !(record->reachable[p][arrive] >> map[rank].leave[p] & 1) &&
                (!forwards || record->routed[p][arrive] == TRV_NO_INTERFACE))
                return rank;
        }
    }
    return -1;
}

/* Fails because the interface of a port of this rank does not reach that of the neighbour. */
static int wrong_map_fail(const trv_fabric_t *fabric, const trv_topology_records_t *records, const trv_map_t *map,
                          int port)
{
    const int rank = fabric->options.oob.rank, there = trv_topology_records_neighbour(records, rank, port);
    const unsigned reachable = records->record[rank].reachable[port][map[there].arrive[port]];
    char text[TRV_PORT_TEXT_MAX], back[TRV_PORT_TEXT_MAX], example[TRV_INTERFACE_MAX + 40] = "";
    trv_port_format(port, text);
    if (reachable)
        snprintf(example, sizeof example, ", for example %s=%s", text,
                 fabric->interface[__builtin_ctz(reachable)].name);
    return trv_fail(TRV_ERR_ARGUMENT,
                    "rank %d (host %s): TRIVANCE_PORTS: port %s%s uses %s, which does not reach the interface for "
                    "port %s of rank %d (host %s); expected the interface whose cable or network reaches it%s; this "
                    "host has %s%s",
                    rank, fabric->host[rank], text, fabric->named_ports >> port & 1 ? "" : ", which it does not name,",
                    fabric->interface[map[rank].leave[port]].name, trv_port_format(trv_port_opposite(port), back),
                    there, fabric->host[there], example, fabric->available,
                    records->record[rank].unconnected >> port & 1 ? ", and " TRV_ONE_NETWORK : "");
}

/* Applies the assignment. If the map of a rank is wrong, only that rank fails, whose error all ranks return after the
 * vote. */
static int assign(trv_fabric_t *fabric, trv_topology_records_t *records, trv_map_t *map)
{
    int port;
    const int wrong = find_wrong_map(records, map, &port);
    if (wrong >= 0)
        return wrong == fabric->options.oob.rank ? wrong_map_fail(fabric, records, map, port) : TRV_OK;
    int rc = check_ports_exist(fabric);
    rc = rc == TRV_OK ? trv_fabric_find_cables(fabric, records, map) : rc;
    if (rc < 0)
        return rc;
    fabric->shared_paths = trv_topology_records_shared_paths(records, map, &fabric->one_path);
    return assign_all(fabric, map);
}

int trv_fabric_assign(trv_fabric_t *fabric)
{
    trv_topology_records_t records;
    trv_map_t *map = calloc((size_t)fabric->options.oob.ranks, sizeof *map);
    int rc = trv_topology_records_init(&records, &fabric->torus, fabric->record, fabric->options.oob.ranks);
    rc = rc == TRV_OK && !map ? trv_fail_memory() : rc;
    records.forwards = !fabric->options.may_relay;
    if (rc == TRV_OK) {
        trv_topology_records_assign(&records, map);
        rc = assign(fabric, &records, map);
    }
    trv_topology_records_clear(&records);
    free(map);
    free(fabric->record);
    free(fabric->published);
    fabric->record = NULL;
    fabric->published = NULL;
    return rc;
}

unsigned trv_fabric_shared_paths(const trv_fabric_t *fabric, bool *one)
{
    *one = fabric->one_path;
    return fabric->shared_paths;
}

void trv_fabric_describe(const trv_fabric_t *fabric, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int p = 0; p < trv_port_count(&fabric->torus) && used < size; p++) {
        char port[TRV_PORT_TEXT_MAX];
        if (fabric->torus.size[trv_port_dimension(p)] > 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s by %s", used ? ", " : "", trv_port_format(p, port),
                                     fabric->interface[fabric->map.leave[p]].name);
    }
}
