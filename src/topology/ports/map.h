/*
 * Assignment of network interfaces to the ports of the torus. Every rank computes the assignment of all ranks from the
 * same records, so that all obtain the same result. In this module a `way` is a port of the torus: a dimension and a
 * direction.
 *
 * The record of a rank is its *seat*: its position on the torus, and how the interfaces of its host reach those of its
 * neighbours (in each direction the next rank on another host) according to the routes of the system. The rules are:
 *
 * - If the routes distinguish the two ports of a dimension, as with cables between neighbours, messages of a port leave
 *   by the interface of the route to its neighbour, and arrive at the interface of the neighbour's route back.
 * - If they do not (all hosts are in one network, or in several), the ports are distributed over the fast interfaces,
 *   so that the two ports of a dimension have different interfaces, if possible at different PCI bridges. Messages
 *   arrive at an interface in the same network.
 * - A pair of interfaces is used only if packets from a socket bound to the one leave by it towards the other.
 *
 * The functions here do not query the system; system_routes.h and device.h do.
 */
#ifndef TRIVANCE_TOPOLOGY_PORTS_MAP_H
#define TRIVANCE_TOPOLOGY_PORTS_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/torus.h>

#include "bootstrap/wire.h"

enum { TRV_WAYS = 2 * TRV_DIMS_MAX, TRV_INTERFACES_MAX = 16, TRV_NO_INTERFACE = 255 };

typedef struct trv_seat {
    uint64_t host, list; /* hashes: equal for ranks of the same host, and for ranks with the same interfaces */
    int place;           /* position on the torus */
    bool told;           /* the user has assigned interfaces to ports: `leave` */
    uint8_t leave[TRV_WAYS];
    int interfaces;
    struct {
        uint32_t speed_mbps, bridge; /* 0: unknown; bridge: equal for interfaces at the same PCI bridge */
        bool near;                   /* to the cores of this process */
    } interface[TRV_INTERFACES_MAX];
    /* By port and interface of the neighbour. usual: the own interface of the route. able: bit mask of the own
     * interfaces by which packets leave if their socket is bound to that interface. */
    uint8_t usual[TRV_WAYS][TRV_INTERFACES_MAX];
    uint16_t able[TRV_WAYS][TRV_INTERFACES_MAX];
} trv_seat_t;

void trv_seat_write(const trv_seat_t *seat, trv_writer_t *writer);
/* Reads all members except the place and the two hashes; false if the record is damaged. */
bool trv_seat_read(trv_seat_t *seat, trv_reader_t *reader);

/* Bit mask of the interfaces that some port may use. */
unsigned trv_seat_open(const trv_seat_t *seat);

/* Assignment of a rank: the interfaces by which messages leave and arrive, by port of the sender. */
typedef struct trv_map {
    uint8_t leave[TRV_WAYS], arrive[TRV_WAYS];
} trv_map_t;

/* The records of all ranks, which the caller owns, with an index by position. trv_seats_init returns TRV_OK or
 * TRV_ERR_MEMORY. */
typedef struct trv_seats {
    trv_torus_t torus;
    int ranks;
    const trv_seat_t *seat;
    int *rank_at; /* the first rank at each position; -1: there is none */
} trv_seats_t;
int trv_seats_init(trv_seats_t *seats, const trv_torus_t *torus, const trv_seat_t *seat, int ranks);
void trv_seats_clear(trv_seats_t *seats);

/* The next rank in the direction of the port that is on another host; -1 if there is none. */
int trv_seats_next(const trv_seats_t *seats, int rank, int way);
/* Fills in the map of every rank. */
void trv_seats_map(const trv_seats_t *seats, trv_map_t *map);

/* Bit mask of the dimensions whose two ports share one interface, leaving or arriving, on any rank that has neighbours
 * on other hosts in both directions (in dimensions that the torus does not have: in any direction) or an assignment by
 * the user. *one: several dimensions of a rank share the same interface. */
unsigned trv_seats_shared_paths(const trv_seats_t *seats, const trv_map_t *map, bool *one);

#endif
