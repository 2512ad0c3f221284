/*
 * Assignment of interfaces to ports: this rank publishes its interfaces and routes, collects those of the other ranks,
 * and applies the assignment that topology/ports/map.h computes from them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "transport/fabric/inside.h"
#include "topology/ports/system_routes.h"

/* ---- The first exchange: interfaces ------------------------------------------------------------------------------ */

void trv_fabric_offer(const trv_fabric_t *fabric, trv_writer_t *writer)
{
    trv_write_number(writer, (uint32_t)fabric->ports);
    for (int p = 0; p < fabric->ports; p++)
        trv_write_text(writer, fabric->port[p].number);
}

int trv_fabric_hear(trv_fabric_t *fabric, int rank, const char *host, int place, trv_reader_t *reader)
{
    trv_seat_t *seat = &fabric->seat[rank];
    char number[TRV_NUMBER_MAX];
    fabric->offer[rank] = *reader;
    const uint32_t interfaces = trv_read_number(reader);
    *seat = (trv_seat_t){.host = trv_hash(TRV_HASH_SEED, host, strlen(host)), .list = TRV_HASH_SEED, .place = place};
    for (uint32_t i = 0; i < interfaces && i < TRV_INTERFACES_MAX; i++) {
        trv_read_text(reader, number, sizeof number);
        seat->list = trv_hash(seat->list, number, strlen(number) + 1);
    }
    return reader->bad || interfaces < 1 || interfaces > TRV_INTERFACES_MAX
               ? trv_fail(TRV_ERR_INVALID, "the interfaces of rank %d arrived corrupted", rank)
               : TRV_OK;
}

/* ---- Routes to the neighbours ------------------------------------------------------------------------------------ */

static void ask_routes(const trv_fabric_t *fabric, int routes, const char *to, uint8_t *usual, uint16_t *able)
{
    const int device = *to ? trv_route_device(routes, to, NULL) : 0;
    *usual = TRV_NO_INTERFACE;
    *able = 0;
    for (int i = 0; i < fabric->ports; i++) {
        const trv_port_end_t *port = &fabric->port[i];
        const bool numbered = *to && *port->number;
        if (numbered && *usual == TRV_NO_INTERFACE && port->device_index == device && device)
            *usual = (uint8_t)i;
        if (!numbered || (port->device_index && trv_route_device(routes, to, port->number) == port->device_index))
            *able |= (uint16_t)(1u << i);
    }
}

static void ask_way(const trv_fabric_t *fabric, int routes, int peer, int way, trv_seat_t *seat)
{
    trv_reader_t reader = fabric->offer[peer];
    char number[TRV_NUMBER_MAX];
    const int interfaces = (int)trv_read_number(&reader);
    for (int j = 0; j < interfaces; j++) {
        trv_read_text(&reader, number, sizeof number);
        ask_routes(fabric, routes, number, &seat->usual[way][j], &seat->able[way][j]);
    }
}

static void find_devices(trv_fabric_t *fabric, trv_seat_t *seat)
{
    trv_device_t device[TRV_INTERFACES_MAX];
    for (int p = 0; p < fabric->ports; p++)
        device[p] = (trv_device_t){.name = fabric->port[p].device_name};
    trv_devices_find(device, fabric->ports);
    for (int p = 0; p < fabric->ports; p++) {
        const struct fid_nic *nic = fabric->port[p].info->nic;
        if (device[p].speed_mbps == 0 && nic && nic->link_attr)
            device[p].speed_mbps = (uint32_t)(nic->link_attr->speed / 1000000);
        fabric->port[p].device = device[p];
        fabric->port[p].device.name = fabric->port[p].device_name;
        seat->interface[p].speed_mbps = device[p].speed_mbps;
        seat->interface[p].bridge = device[p].bridge;
        seat->interface[p].near = device[p].near;
    }
}

int trv_fabric_survey(trv_fabric_t *fabric)
{
    const trv_torus_t *torus = &fabric->torus;
    trv_seat_t *seat = &fabric->seat[fabric->options.oob.rank];
    trv_seats_t seats;
    seat->told = fabric->told;
    seat->interfaces = fabric->ports;
    memcpy(seat->leave, fabric->map.leave, sizeof seat->leave);
    memset(seat->usual, TRV_NO_INTERFACE, sizeof seat->usual);
    int rc = trv_seats_init(&seats, torus, fabric->seat, fabric->options.oob.ranks);
    const int routes = rc == TRV_OK && !fabric->told ? trv_routes_open() : -1;
    for (int w = 0; rc == TRV_OK && !fabric->told && w < 2 * torus->dims; w++) {
        const int peer = trv_seats_next(&seats, fabric->options.oob.rank, w);
        if (peer >= 0)
            ask_way(fabric, routes, peer, w, seat);
    }
    trv_routes_close(routes);
    trv_seats_clear(&seats);
    if (rc == TRV_OK)
        find_devices(fabric, seat);
    return rc < 0 ? rc : trv_fabric_open_ports(fabric, trv_seat_open(seat));
}

/* ---- The second exchange: addresses ------------------------------------------------------------------------------ */

void trv_fabric_describe(const trv_fabric_t *fabric, trv_writer_t *writer)
{
    trv_seat_write(&fabric->seat[fabric->options.oob.rank], writer);
    trv_write_text(writer, trv_fabric_parameters(NULL));
    for (int p = 0; p < fabric->ports; p++) {
        const trv_port_end_t *port = &fabric->port[p];
        trv_write_text(writer, port->info->fabric_attr->prov_name);
        trv_write_number(writer, port->info->addr_format);
        trv_write_block(writer, port->address, port->address_bytes); /* empty if the interface is not open */
    }
}

static const char *format_name(uint32_t format)
{
    switch (format) {
    case FI_SOCKADDR_IN: return "IPv4";
    case FI_SOCKADDR_IN6: return "IPv6";
    case FI_ADDR_STR: return "names";
    default: return "a kind of its own";
    }
}

/* Checks that the addresses of a rank have the same provider and format as those of rank 0, because a rank cannot send
 * to any others. Every rank compares all ranks with rank 0, so that all return the same error. */
static int read_kind(trv_fabric_t *fabric, int rank, trv_reader_t *reader, trv_peer_kind_t *kind)
{
    const trv_peer_kind_t *first = &fabric->kind;
    trv_read_text(reader, kind->provider, sizeof kind->provider);
    kind->format = trv_read_number(reader);
    if (reader->bad || !*first->provider)
        return TRV_OK;
    if (strcmp(kind->provider, first->provider) != 0)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "rank %d has libfabric's provider %s, and rank 0 %s; name one that both have, as in "
                        "TRIVANCE_PROVIDER=tcp",
                        rank, kind->provider, first->provider);
    if (kind->format != first->format)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "rank %d has an interface with addresses of another kind than rank 0 (%s; rank 0: %s): name "
                        "interfaces that reach each other in TRIVANCE_PORTS, as in +0=10.0.0.1,-0=10.0.1.1",
                        rank, format_name(kind->format), format_name(first->format));
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
    return trv_fail(TRV_ERR_UNSUPPORTED,
                    "libfabric has %s on rank %d, and %s on rank 0; set the same in the environment of all ranks",
                    *parameters ? parameters : "limits of its own", rank,
                    *fabric->parameters ? fabric->parameters : "limits of its own");
}

static int allocate_peer(trv_peer_t *peer)
{
    const size_t ports = (size_t)peer->ports;
    peer->address = calloc(ports, sizeof *peer->address);
    peer->address_bytes = calloc(ports, sizeof *peer->address_bytes);
    return peer->address && peer->address_bytes ? TRV_OK : trv_fail_memory();
}

int trv_fabric_learn(trv_fabric_t *fabric, int rank, trv_reader_t *reader)
{
    trv_peer_t *peer = &fabric->peer[rank];
    trv_seat_t *seat = &fabric->seat[rank];
    if (!trv_seat_read(seat, reader))
        return trv_fail(TRV_ERR_INVALID, "the interfaces of rank %d arrived corrupted", rank);
    peer->ports = seat->interfaces;
    int rc = read_parameters(fabric, rank, reader);
    rc = rc == TRV_OK ? allocate_peer(peer) : rc;
    for (int p = 0; rc == TRV_OK && p < peer->ports; p++) {
        trv_peer_kind_t kind;
        rc = read_kind(fabric, rank, reader, &kind);
        peer->address[p] = trv_read_block(reader, TRV_ADDRESS_BYTES_MAX, &peer->address_bytes[p]);
        kind.bytes = peer->address_bytes[p];
        if (rc < 0)
            break;
        if (reader->bad || (kind.bytes > 0 && *fabric->kind.provider && kind.bytes != fabric->kind.bytes))
            return trv_fail(TRV_ERR_INVALID, "the addresses of rank %d arrived corrupted", rank);
        if (rank == 0 && kind.bytes > 0 && !*fabric->kind.provider)
            fabric->kind = kind;
    }
    return rc;
}

/* ---- Assignment -------------------------------------------------------------------------------------------------- */

/* Removes the interfaces that no port uses, and renumbers the others: interface from[i] becomes interface i. Returns
 * their number. */
static int number_anew(const trv_seat_t *seat, trv_map_t *map, int from[TRV_INTERFACES_MAX])
{
    unsigned used = seat->told ? (1u << seat->interfaces) - 1 : 0;
    uint8_t number[TRV_INTERFACES_MAX] = {0};
    int numbers = 0;
    for (int w = 0; w < TRV_WAYS; w++)
        used |= 1u << map->leave[w] | 1u << map->arrive[w];
    for (int i = 0; i < seat->interfaces; i++)
        if (used >> i & 1) {
            number[i] = (uint8_t)numbers;
            from[numbers++] = i;
        }
    for (int w = 0; w < TRV_WAYS; w++) {
        map->leave[w] = number[map->leave[w]];
        map->arrive[w] = number[map->arrive[w]];
    }
    return numbers;
}

static int settle_peer(trv_fabric_t *fabric, int rank)
{
    trv_peer_t *peer = &fabric->peer[rank];
    int from[TRV_INTERFACES_MAX];
    peer->ports = number_anew(&fabric->seat[rank], &peer->map, from);
    for (int i = 0; i < peer->ports; i++) {
        peer->address[i] = peer->address[from[i]];
        peer->address_bytes[i] = peer->address_bytes[from[i]];
        if (peer->address_bytes[i] == 0)
            return trv_fail(TRV_ERR_INVALID, "rank %d has an interface without an address", rank);
    }
    return TRV_OK;
}

static void settle_own(trv_fabric_t *fabric)
{
    const trv_seat_t *seat = &fabric->seat[fabric->options.oob.rank];
    int from[TRV_INTERFACES_MAX], ports;
    ports = number_anew(seat, &fabric->map, from);
    unsigned kept = 0;
    for (int i = 0; i < ports; i++)
        kept |= 1u << from[i];
    for (int p = 0; p < fabric->ports; p++)
        if (!(kept >> p & 1)) {
            trv_port_shut(&fabric->port[p]);
            trv_port_close(&fabric->port[p]);
            fi_freeinfo(fabric->port[p].info);
        }
    for (int i = 0; i < ports; i++) {
        trv_port_end_t *port = &fabric->port[i];
        if (from[i] != i)
            *port = fabric->port[from[i]];
        port->device.name = port->device_name;
        port->ways = port->arrivals = 0;
        for (int kind = 0; kind < TRV_LATE_KINDS; kind++)
            port->end[kind] = &port->first[kind];
        for (int w = 0; w < 2 * fabric->torus.dims; w++) {
            port->ways |= (unsigned)(fabric->map.leave[w] == i) << w;
            port->arrivals |= (unsigned)(fabric->map.arrive[w] == i) << w;
        }
    }
    for (int p = ports; p < fabric->ports; p++)
        fabric->port[p] = (trv_port_end_t){.wait_fd = -1};
    fabric->ports = ports;
}

static int settle_all(trv_fabric_t *fabric, const trv_map_t *map)
{
    int rc = TRV_OK;
    for (int r = 0; rc == TRV_OK && r < fabric->options.oob.ranks; r++) {
        fabric->peer[r].map = map[r];
        rc = settle_peer(fabric, r);
    }
    if (rc < 0)
        return rc;
    fabric->map = map[fabric->options.oob.rank];
    settle_own(fabric);
    for (int r = 0; r < fabric->options.oob.ranks; r++) {
        trv_peer_t *peer = &fabric->peer[r];
        const size_t pairs = (size_t)peer->ports * (size_t)fabric->ports;
        peer->known = malloc(pairs * sizeof *peer->known);
        if (!peer->known)
            return trv_fail_memory();
        for (size_t i = 0; i < pairs; i++)
            peer->known[i] = FI_ADDR_UNSPEC;
    }
    return TRV_OK;
}

int trv_fabric_settle(trv_fabric_t *fabric)
{
    trv_seats_t seats;
    trv_map_t *map = calloc((size_t)fabric->options.oob.ranks, sizeof *map);
    int rc = trv_seats_init(&seats, &fabric->torus, fabric->seat, fabric->options.oob.ranks);
    rc = rc == TRV_OK && !map ? trv_fail_memory() : rc;
    if (rc == TRV_OK) {
        trv_seats_map(&seats, map);
        fabric->shared_paths = trv_seats_shared_paths(&seats, map, &fabric->one_path);
        rc = settle_all(fabric, map);
    }
    trv_seats_clear(&seats);
    free(map);
    free(fabric->seat);
    free(fabric->offer);
    fabric->seat = NULL;
    fabric->offer = NULL;
    return rc;
}

unsigned trv_fabric_shared_paths(const trv_fabric_t *fabric, bool *one)
{
    *one = fabric->one_path;
    return fabric->shared_paths;
}

void trv_fabric_tell(const trv_fabric_t *fabric, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int w = 0; w < 2 * fabric->torus.dims && used < size; w++) {
        char way[TRV_PORT_TEXT_MAX];
        if (fabric->torus.size[trv_port_dimension(w)] > 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s by %s", used ? ", " : "", trv_port_format(w, way),
                                     fabric->port[fabric->map.leave[w]].interface);
    }
}
