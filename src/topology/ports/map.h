/*
 * Assignment of network interfaces to the ports of the torus, where a port is a dimension and a direction. Every rank
 * computes the assignment of all ranks from the same records, so that all obtain the same result.
 *
 * The topology record of a rank has its coordinate on the torus, and states how the interfaces of its host reach those
 * of its neighbours (in each direction the next rank on another host) according to the routes of the system. Rules:
 *
 * - If the routes distinguish the two ports of a dimension, as with cables between neighbours, messages of a port leave
 *   by the interface of the route to its neighbour, and arrive at the interface of the neighbour's route back.
 * - If they do not (all hosts are in one network, or in several), the ports are distributed over the fast interfaces,
 *   so that the two ports of a dimension have different interfaces, if possible at different PCI bridges. Messages
 *   arrive at an interface in the same network.
 * - A pair of interfaces is used only if packets from a socket bound to the one leave by it towards the other.
 * - Interfaces that reach the neighbour but not the rank behind it (cables between hosts that do not forward) are
 *   preferred to all others, such as those of a management network.
 *
 * Hosts that are wired port to port do not forward packets. They are recognized by a missing route: from the interface
 * of a port to the rank two hops away through that port.
 *
 * The functions here do not query the system; system_routes.h and device.h do.
 */
#ifndef TRIVANCE_TOPOLOGY_PORTS_MAP_H
#define TRIVANCE_TOPOLOGY_PORTS_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/torus.h>

#include "bootstrap/wire.h"

enum { TRV_INTERFACES_MAX = 16, TRV_NO_INTERFACE = 255 };

typedef struct trv_topology_record {
    uint64_t host;            /* a hash, equal for ranks of the same host */
    uint64_t interfaces_hash; /* equal for ranks with the same interfaces */
    int coordinate;           /* on the torus, as one number (trv_torus_rank) */
    bool assigned;            /* the user has assigned interfaces to ports: `leave` */
    uint8_t leave[TRV_PORTS_MAX];
    int interfaces;
    struct {
        uint32_t speed_mbps, bridge; /* 0: unknown; bridge: equal for interfaces at the same PCI bridge */
        bool near;                   /* to the cores of this process */
    } interface[TRV_INTERFACES_MAX];
    /* By port and interface of the neighbour. routed: the own interface of the system's route to it. reachable: bit
     * mask of the own interfaces by which packets to it leave if their socket is bound to that interface. */
    uint8_t routed[TRV_PORTS_MAX][TRV_INTERFACES_MAX];
    uint16_t reachable[TRV_PORTS_MAX][TRV_INTERFACES_MAX];
    /* The same towards interface j of the rank two hops away (trv_topology_records_beyond). */
    uint16_t beyond[TRV_PORTS_MAX][TRV_INTERFACES_MAX];
    /* Bit mask of the ports at which the routes lead from interfaces that share a network with others of this host to
     * the neighbour, but no connection between them is possible. */
    uint32_t unconnected;
} trv_topology_record_t;

void trv_topology_record_write(const trv_topology_record_t *record, trv_writer_t *writer);
/* Reads all members except the coordinate and the two hashes; false if the record is damaged. */
bool trv_topology_record_read(trv_topology_record_t *record, trv_reader_t *reader);

/* Bit mask of the interfaces that some port may use; at least one. */
unsigned trv_topology_record_usable(const trv_topology_record_t *record);

/* Assignment of a rank: the interfaces by which messages leave and arrive, by port of the sender. */
typedef struct trv_map {
    uint8_t leave[TRV_PORTS_MAX], arrive[TRV_PORTS_MAX];
} trv_map_t;

/* The records of all ranks, which the caller owns, with an index by coordinate. trv_topology_records_init returns
 * TRV_OK or TRV_ERR_MEMORY. */
typedef struct trv_topology_records {
    trv_torus_t torus;
    int ranks;
    const trv_topology_record_t *record;
    int *rank_at;        /* the lowest rank at each coordinate; -1: there is none */
    bool forwards;       /* hosts forward by assumption, so that no cables are searched; the records lack `beyond` */
    bool ignores_cables; /* use no cables between hosts that do not forward */
} trv_topology_records_t;
int trv_topology_records_init(trv_topology_records_t *records, const trv_torus_t *torus,
                              const trv_topology_record_t *record, int ranks);
void trv_topology_records_clear(trv_topology_records_t *records);

/* The next rank in the direction of the port that is on another host; -1 if there is none. */
int trv_topology_records_neighbour(const trv_topology_records_t *records, int rank, int port);
/* The rank two hops away through the port: the neighbour's neighbour at the same port, or at that of a later dimension
 * if there is none; -1 if there is none on another host. Sets *last to the port of the second hop. */
int trv_topology_records_beyond(const trv_topology_records_t *records, int rank, int port, int *last);
/* Fills in the map of every rank. */
void trv_topology_records_assign(const trv_topology_records_t *records, trv_map_t *map);
/* False if hosts do not forward: some rank has no route from the interface of a port to that at which its messages to
 * the rank two hops away would arrive. Then *rank and *port are an example. */
bool trv_topology_records_forward(const trv_topology_records_t *records, const trv_map_t *map, int *rank, int *port);
/* False if some rank has no route from the interface of a port to its neighbour. */
bool trv_topology_records_joined(const trv_topology_records_t *records, const trv_map_t *map);
/* False if some rank has routes to a neighbour, but cannot connect to it (`unconnected`). Then *rank and *port are an
 * example. */
bool trv_topology_records_connected(const trv_topology_records_t *records, int *rank, int *port);
/* Where hosts do not forward: false if the rank has a neighbour at the port but no cable to it. */
bool trv_topology_records_cabled(const trv_topology_records_t *records, const trv_map_t *map, int rank, int port);

/* Bit mask of the dimensions whose two ports share one interface, leaving or arriving, on any rank that has neighbours
 * on other hosts in both directions (in dimensions that the torus does not have: in any direction) or an assignment by
 * the user. *one: several dimensions of a rank share the same interface. */
unsigned trv_topology_records_shared_paths(const trv_topology_records_t *records, const trv_map_t *map, bool *one);

#endif
