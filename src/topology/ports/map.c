/*
 * Computation of the assignment of interfaces to ports; map.h describes the rules.
 */
#include "topology/ports/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* ---- Encoding ---------------------------------------------------------------------------------------------------- */

enum { ROUTE_BYTES = 5 }; /* routed, reachable, beyond */

static void write_routes(const trv_topology_record_t *record, trv_writer_t *writer)
{
    for (int p = 0; p < TRV_PORTS_MAX; p++) {
        uint8_t route[ROUTE_BYTES * TRV_INTERFACES_MAX];
        int there = TRV_INTERFACES_MAX;
        while (there > 0 && record->reachable[p][there - 1] == 0 && record->beyond[p][there - 1] == 0)
            there--;
        for (int j = 0; j < there; j++) {
            uint8_t *at = &route[ROUTE_BYTES * j];
            at[0] = record->routed[p][j];
            at[1] = (uint8_t)record->reachable[p][j];
            at[2] = (uint8_t)(record->reachable[p][j] >> 8);
            at[3] = (uint8_t)record->beyond[p][j];
            at[4] = (uint8_t)(record->beyond[p][j] >> 8);
        }
        trv_write_block(writer, route, ROUTE_BYTES * (size_t)there);
    }
}

void trv_topology_record_write(const trv_topology_record_t *record, trv_writer_t *writer)
{
    trv_write_number(writer, record->assigned);
    trv_write_block(writer, record->leave, record->assigned ? sizeof record->leave : 0);
    trv_write_number(writer, (uint32_t)record->interfaces);
    for (int i = 0; i < record->interfaces; i++) {
        trv_write_number(writer, record->interface[i].speed_mbps);
        trv_write_number(writer, record->interface[i].bridge);
        trv_write_number(writer, record->interface[i].near);
    }
    write_routes(record, writer);
    trv_write_number(writer, record->unconnected);
}

static bool read_routes(trv_topology_record_t *record, trv_reader_t *reader)
{
    bool right = true;
    memset(record->routed, TRV_NO_INTERFACE, sizeof record->routed);
    memset(record->reachable, 0, sizeof record->reachable);
    memset(record->beyond, 0, sizeof record->beyond);
    for (int p = 0; p < TRV_PORTS_MAX; p++) {
        size_t bytes;
        const uint8_t *route = trv_read_block(reader, ROUTE_BYTES * TRV_INTERFACES_MAX, &bytes);
        for (size_t j = 0; route && j < bytes / ROUTE_BYTES; j++) {
            const uint8_t *at = &route[ROUTE_BYTES * j];
            record->routed[p][j] = at[0];
            record->reachable[p][j] = (uint16_t)(at[1] | at[2] << 8);
            record->beyond[p][j] = (uint16_t)(at[3] | at[4] << 8);
            right = right && (record->routed[p][j] == TRV_NO_INTERFACE || record->routed[p][j] < record->interfaces) &&
                    (record->reachable[p][j] | record->beyond[p][j]) >> record->interfaces == 0;
        }
    }
    return right;
}

bool trv_topology_record_read(trv_topology_record_t *record, trv_reader_t *reader)
{
    size_t bytes;
    record->assigned = trv_read_number(reader) != 0;
    const uint8_t *leave = trv_read_block(reader, sizeof record->leave, &bytes);
    const uint32_t interfaces = trv_read_number(reader);
    if (reader->bad || interfaces < 1 || interfaces > TRV_INTERFACES_MAX ||
        bytes != record->assigned * sizeof record->leave)
        return false;
    record->interfaces = (int)interfaces;
    for (size_t p = 0; p < bytes; p++) {
        record->leave[p] = leave[p];
        if (leave[p] >= interfaces)
            return false;
    }
    for (int i = 0; i < record->interfaces; i++) {
        record->interface[i].speed_mbps = trv_read_number(reader);
        record->interface[i].bridge = trv_read_number(reader);
        record->interface[i].near = trv_read_number(reader) != 0;
    }
    const bool right = read_routes(record, reader);
    record->unconnected = trv_read_number(reader);
    return right && !reader->bad;
}

unsigned trv_topology_record_usable(const trv_topology_record_t *record)
{
    unsigned bits = record->assigned ? (1u << record->interfaces) - 1 : 0;
    for (int p = 0; p < TRV_PORTS_MAX; p++)
        for (int j = 0; j < TRV_INTERFACES_MAX; j++)
            bits |= record->reachable[p][j];
    return bits ? bits : 1;
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

int trv_topology_records_init(trv_topology_records_t *records, const trv_torus_t *torus,
                              const trv_topology_record_t *record, int ranks)
{
    *records = (trv_topology_records_t){.torus = *torus,
                                        .ranks = ranks,
                                        .record = record,
                                        .rank_at = malloc((size_t)torus->ranks * sizeof(int))};
    if (!records->rank_at)
        return trv_fail_memory();
    for (int p = 0; p < torus->ranks; p++)
        records->rank_at[p] = -1;
    for (int r = ranks - 1; r >= 0; r--)
        if (record[r].coordinate >= 0 && record[r].coordinate < torus->ranks)
            records->rank_at[record[r].coordinate] = r;
    return TRV_OK;
}

void trv_topology_records_clear(trv_topology_records_t *records)
{
    free(records->rank_at);
    records->rank_at = NULL;
}

int trv_topology_records_neighbour(const trv_topology_records_t *records, int rank, int port)
{
    const trv_torus_t *torus = &records->torus;
    const int d = trv_port_dimension(port), sign = trv_port_sign(port);
    int coordinate = records->record[rank].coordinate, at[TRV_DIMS_MAX];
    if (d >= torus->dims || coordinate < 0 || coordinate >= torus->ranks)
        return -1;
    trv_torus_coordinates(torus, coordinate, at);
    for (int steps = 1; steps < torus->size[d]; steps++) {
        const int end = sign > 0 ? torus->size[d] - 1 : 0;
        if ((torus->lines >> d & 1) && at[d] == end)
            return -1;
        at[d] = (at[d] + sign + torus->size[d]) % torus->size[d];
        const int there = records->rank_at[trv_torus_rank(torus, at)];
        if (there >= 0 && records->record[there].host != records->record[rank].host)
            return there;
    }
    return -1;
}

int trv_topology_records_beyond(const trv_topology_records_t *records, int rank, int port, int *last)
{
    const int neighbour = trv_topology_records_neighbour(records, rank, port);
    *last = port;
    while (neighbour >= 0 && *last < trv_port_count(&records->torus)) {
        const int there = trv_topology_records_neighbour(records, neighbour, *last);
        if (there >= 0 && records->record[there].host != records->record[rank].host)
            return there;
        *last = trv_port_dimension(*last) == trv_port_dimension(port) ? trv_port(trv_port_dimension(port) + 1, 1)
                                                                      : *last + 1;
    }
    return -1;
}

/* ---- A rank and its neighbour ------------------------------------------------------------------------------------ */

typedef struct pair {
    uint8_t own, there;
} pair_t;

/* Bit mask of the interfaces by which bound sockets reach the neighbour. */
static unsigned reachable_by_port(const trv_topology_record_t *record, int port)
{
    unsigned bits = 0;
    for (int j = 0; j < TRV_INTERFACES_MAX; j++)
        bits |= record->reachable[port][j];
    return bits;
}

static bool is_routed(const trv_topology_record_t *record, int port, int own, int there)
{
    return record->routed[port][there] == own && record->reachable[port][there] >> own & 1;
}

/* Bit mask of those of these interfaces that the routes use. */
static unsigned routed_by_port(const trv_topology_record_t *record, int port)
{
    unsigned bits = 0;
    for (int i = 0; i < record->interfaces; i++)
        for (int j = 0; j < TRV_INTERFACES_MAX; j++)
            bits |= (unsigned)is_routed(record, port, i, j) << i;
    return bits;
}

/* Bit mask of the interfaces that reach the neighbour but not the rank behind it, as those with a cable to it do if
 * hosts do not forward. A network of all hosts reaches both. */
static unsigned cables_by_port(const trv_topology_records_t *records, int rank, int port)
{
    int last;
    const trv_topology_record_t *record = &records->record[rank];
    unsigned bits = reachable_by_port(record, port);
    if (records->forwards || trv_topology_records_beyond(records, rank, port, &last) < 0)
        return 0;
    for (int j = 0; j < TRV_INTERFACES_MAX; j++)
        bits &= ~(unsigned)record->beyond[port][j];
    return bits;
}

/* Bit mask of the interfaces that are more than half as fast as the fastest one that reaches any neighbour. An
 * interface of unknown speed counts as fast. */
static unsigned fast_interfaces(const trv_topology_record_t *record)
{
    unsigned reachable = 0, fast = 0;
    uint32_t fastest_mbps = 0;
    for (int p = 0; p < TRV_PORTS_MAX; p++)
        reachable |= reachable_by_port(record, p);
    for (int i = 0; i < record->interfaces; i++)
        if (reachable >> i & 1 && record->interface[i].speed_mbps > fastest_mbps)
            fastest_mbps = record->interface[i].speed_mbps;
    for (int i = 0; i < record->interfaces; i++) {
        const uint32_t speed = record->interface[i].speed_mbps;
        fast |= (unsigned)(speed == 0 || 2 * (uint64_t)speed > fastest_mbps) << i;
    }
    return fast;
}

/* Number of interfaces with a lower index at the same bridge. Interfaces with a smaller such number are preferred, so
 * that consecutive ones in the order of preference are at different bridges. */
static int order_at_bridge(const trv_topology_record_t *record, int interface)
{
    int before = 0;
    for (int i = 0; i < interface; i++)
        before += record->interface[i].bridge && record->interface[i].bridge == record->interface[interface].bridge;
    return before;
}

static bool is_preferred(const trv_topology_record_t *record, int a, int b)
{
    const uint32_t fast = record->interface[a].speed_mbps, other = record->interface[b].speed_mbps;
    const int turn = order_at_bridge(record, a), other_turn = order_at_bridge(record, b);
    if (fast != other)
        return fast > other;
    if (record->interface[a].near != record->interface[b].near)
        return record->interface[a].near;
    return turn != other_turn ? turn < other_turn : a < b;
}

/* The interface at position `number` of the set in the order of preference. */
static int nth_preferred(const trv_topology_record_t *record, unsigned set, int number)
{
    for (int i = 0; i < record->interfaces; i++) {
        int before = 0;
        for (int k = 0; k < record->interfaces; k++)
            before += (set >> k & 1) && k != i && is_preferred(record, k, i);
        if ((set >> i & 1) && before == number)
            return i;
    }
    return 0;
}

/* Bit mask of the interfaces of the peer that `own` can reach, reduced to the best class that is not empty: routes in
 * both directions, a route to the peer, or reachable by a bound socket. */
static unsigned reachable_peer_interfaces(const trv_topology_records_t *records, int rank, int peer, int port, int own)
{
    const trv_topology_record_t *record = &records->record[rank], *there = &records->record[peer];
    const int back = trv_topology_records_neighbour(records, peer, trv_port_opposite(port));
    const bool routes_back = back >= 0 && records->record[back].interfaces_hash == record->interfaces_hash &&
                             records->record[back].host == record->host;
    const unsigned open = trv_topology_record_usable(there);
    unsigned both = 0, routed = 0, possible = 0;
    for (int j = 0; j < there->interfaces; j++) {
        if (!(record->reachable[port][j] >> own & 1) || !(open >> j & 1) ||
            (there->assigned && there->leave[trv_port_opposite(port)] != j))
            continue;
        possible |= 1u << j;
        routed |= (unsigned)is_routed(record, port, own, j) << j;
        both |= (unsigned)(is_routed(record, port, own, j) && routes_back &&
                           is_routed(there, trv_port_opposite(port), j, own))
                << j;
    }
    return both ? both : routed ? routed : possible;
}

static pair_t choose_pair(const trv_topology_records_t *records, int rank, int port)
{
    const trv_topology_record_t *record = &records->record[rank];
    const int peer = trv_topology_records_neighbour(records, rank, port);
    pair_t none = {TRV_NO_INTERFACE, TRV_NO_INTERFACE};
    if (peer < 0)
        return none;
    const unsigned found = cables_by_port(records, rank, port), cables = records->ignores_cables ? 0 : found;
    const unsigned suitable = records->ignores_cables ? ~found : fast_interfaces(record);
    const unsigned routed = routed_by_port(record, port) & suitable,
                   other = routed_by_port(record, trv_port_opposite(port)) & suitable,
                   reachable = reachable_by_port(record, port) & suitable;
    const bool alone = trv_topology_records_neighbour(records, rank, trv_port_opposite(port)) < 0;
    const bool apart = cables || ((routed & ~other) && (alone || (other & ~routed)));
    const unsigned set = cables ? cables : apart ? routed & ~other : reachable;
    if (!set)
        return none;
    const int own = nth_preferred(record, set, apart ? 0 : port % __builtin_popcount(set));
    unsigned there = reachable_peer_interfaces(records, rank, peer, port, own);
    for (int left = there ? port % __builtin_popcount(there) : 0; left > 0; left--)
        there &= there - 1;
    return (pair_t){(uint8_t)own, there ? (uint8_t)__builtin_ctz(there) : TRV_NO_INTERFACE};
}

/* ---- Assignment -------------------------------------------------------------------------------------------------- */

static void assign_departures(const trv_topology_records_t *records, int rank, trv_map_t *map)
{
    const trv_topology_record_t *record = &records->record[rank];
    uint8_t fallback = 0;
    for (int p = TRV_PORTS_MAX - 1; p >= 0; p--) {
        map->leave[p] = record->assigned ? record->leave[p] : choose_pair(records, rank, p).own;
        fallback = map->leave[p] != TRV_NO_INTERFACE ? map->leave[p] : fallback;
    }
    for (int p = 0; p < TRV_PORTS_MAX; p++)
        if (map->leave[p] == TRV_NO_INTERFACE)
            map->leave[p] = map->leave[p ^ 1] != TRV_NO_INTERFACE ? map->leave[p ^ 1] : fallback;
}

/* The interface at which messages through that port of the neighbour arrive: the one that the neighbour selects,
 * otherwise the one by which this rank sends to that neighbour. */
static uint8_t assigned_arrival(const trv_topology_records_t *records, int rank, int port, const trv_map_t *map)
{
    const trv_topology_record_t *record = &records->record[rank];
    const int from = trv_topology_records_neighbour(records, rank, trv_port_opposite(port));
    if (record->assigned || from < 0 || records->record[from].assigned)
        return map->leave[trv_port_opposite(port)];
    const uint8_t selected = choose_pair(records, from, port).there;
    return selected < record->interfaces ? selected : map->leave[trv_port_opposite(port)];
}

void trv_topology_records_assign(const trv_topology_records_t *records, trv_map_t *map)
{
    for (int r = 0; r < records->ranks; r++) {
        assign_departures(records, r, &map[r]);
        for (int p = 0; p < TRV_PORTS_MAX; p++)
            map[r].arrive[p] = assigned_arrival(records, r, p, &map[r]);
    }
}

/* ---- Forwarding -------------------------------------------------------------------------------------------------- */

/* False if the neighbour at the port is not reached from the interface of the port, as far as is known. */
static bool is_joined(const trv_topology_records_t *records, const trv_map_t *map, int rank, int port)
{
    const int there = trv_topology_records_neighbour(records, rank, port);
    const trv_topology_record_t *record = &records->record[rank];
    return there < 0 || record->assigned ||
           record->reachable[port][map[there].arrive[port]] >> map[rank].leave[port] & 1;
}

bool trv_topology_records_joined(const trv_topology_records_t *records, const trv_map_t *map)
{
    bool joined = true;
    for (int r = 0; r < records->ranks; r++)
        for (int p = 0; p < trv_port_count(&records->torus); p++)
            joined = joined && is_joined(records, map, r, p);
    return joined;
}

bool trv_topology_records_cabled(const trv_topology_records_t *records, const trv_map_t *map, int rank, int port)
{
    int last;
    return is_joined(records, map, rank, port) &&
           (records->record[rank].assigned || trv_topology_records_beyond(records, rank, port, &last) < 0 ||
            cables_by_port(records, rank, port) >> map[rank].leave[port] & 1);
}

bool trv_topology_records_connected(const trv_topology_records_t *records, int *rank, int *port)
{
    for (int r = 0; r < records->ranks; r++)
        if (records->record[r].unconnected) {
            *rank = r;
            *port = __builtin_ctz(records->record[r].unconnected);
            return false;
        }
    return true;
}

bool trv_topology_records_forward(const trv_topology_records_t *records, const trv_map_t *map, int *rank, int *port)
{
    for (int r = 0; !records->forwards && r < records->ranks; r++)
        for (int p = 0; p < trv_port_count(&records->torus); p++) {
            int last;
            const int there = trv_topology_records_beyond(records, r, p, &last);
            if (there < 0 || !is_joined(records, map, r, p) ||
                records->record[r].beyond[p][map[there].arrive[last]] >> map[r].leave[p] & 1)
                continue;
            *rank = r;
            *port = p;
            return false;
        }
    return true;
}

/* ---- Shared paths ------------------------------------------------------------------------------------------------ */

/* True if messages of the rank use both ports of the dimension; otherwise it does not matter whether these share an
 * interface. */
static bool uses_both_ports(const trv_topology_records_t *records, int rank, int dimension)
{
    bool any = false;
    if (records->record[rank].assigned)
        return true;
    if (dimension < records->torus.dims)
        return trv_topology_records_neighbour(records, rank, trv_port(dimension, 1)) >= 0 &&
               trv_topology_records_neighbour(records, rank, trv_port(dimension, -1)) >= 0;
    for (int p = 0; p < trv_port_count(&records->torus) && !any; p++)
        any = trv_topology_records_neighbour(records, rank, p) >= 0;
    return any;
}

unsigned trv_topology_records_shared_paths(const trv_topology_records_t *records, const trv_map_t *map, bool *one)
{
    unsigned all = 0;
    *one = false;
    for (int r = 0; r < records->ranks; r++) {
        unsigned interfaces[TRV_INTERFACES_MAX] = {0};
        for (int d = 0; d < TRV_DIMS_MAX; d++) {
            const int up = trv_port(d, 1), down = trv_port(d, -1);
            const uint8_t *leave = map[r].leave, *arrive = map[r].arrive;
            if ((leave[up] != leave[down] && arrive[up] != arrive[down]) || !uses_both_ports(records, r, d))
                continue;
            all |= 1u << d;
            if (leave[up] < TRV_INTERFACES_MAX)
                *one = interfaces[leave[up]]++ > 0 || *one;
        }
    }
    return all;
}
