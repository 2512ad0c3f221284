/*
 * Which interface leads which way: decided from what all ranks say, by the same arithmetic on every rank, so that none
 * decides alone.
 *
 * What a rank says is its *seat*: where it is on the torus, and how its host's interfaces reach those of its neighbours
 * (the next ranks each way that are on other hosts), by the system's routes. From those:
 *
 * - Where routes tell the two ways of a dimension apart, as cables between neighbours do, a way leaves by the interface
 *   that its neighbour is routed by, and arrives by the one that the neighbour routes back by.
 * - Where they do not (all hosts are in one network, or in several), the ways take turns at the fast interfaces, so that
 *   the two of a dimension have different ones, of different PCI bridges if there are such; and arrive by an interface
 *   that is in the same network.
 * - A pair of interfaces is taken only if what is bound to the one leaves by it on its way to the other.
 *
 * Nothing here asks the system: system_routes.h and device.h do.
 */
#ifndef TRIVANCE_TOPOLOGY_PORTS_MAP_H
#define TRIVANCE_TOPOLOGY_PORTS_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/torus.h>

#include "bootstrap/wire.h"

enum { TRV_WAYS = 2 * TRV_DIMS_MAX, TRV_INTERFACES_MAX = 16, TRV_NO_INTERFACE = 255 };

typedef struct trv_seat {
    uint64_t host, list; /* equal for ranks of the same host, and of the same interfaces on it */
    int place;           /* on the torus */
    bool told;           /* its user says which interface leads which way: `leave` */
    uint8_t leave[TRV_WAYS];
    int interfaces;
    struct {
        uint32_t speed_mbps, bridge; /* 0: not known; equal for those of the same PCI bridge */
        bool near;                   /* to the cores of this process */
    } interface[TRV_INTERFACES_MAX];
    /* By way, and interface of the neighbour: which own one the routes take, and (bits) what is bound to which leaves by
     * it. */
    uint8_t usual[TRV_WAYS][TRV_INTERFACES_MAX];
    uint16_t able[TRV_WAYS][TRV_INTERFACES_MAX];
} trv_seat_t;

void trv_seat_write(const trv_seat_t *seat, trv_writer_t *writer);
/* All but the place and the two hashes; false: it came damaged. */
bool trv_seat_read(trv_seat_t *seat, trv_reader_t *reader);

/* Bits of the interfaces that may serve at all. */
unsigned trv_seat_open(const trv_seat_t *seat);

/* Of a rank: the interfaces by which messages leave and arrive. A message's way is the sender's. */
typedef struct trv_map {
    uint8_t leave[TRV_WAYS], arrive[TRV_WAYS];
} trv_map_t;

/* Who sits where; `seat` stays the caller's. TRV_ERR_MEMORY. */
typedef struct trv_seats {
    trv_torus_t torus;
    int ranks;
    const trv_seat_t *seat;
    int *rank_at; /* the first rank at every place; -1: there is none */
} trv_seats_t;
int trv_seats_init(trv_seats_t *seats, const trv_torus_t *torus, const trv_seat_t *seat, int ranks);
void trv_seats_clear(trv_seats_t *seats);

/* The next rank that way which is on another host; -1: there is none. */
int trv_seats_next(const trv_seats_t *seats, int rank, int way);
/* Fills in the map of every rank. */
void trv_seats_map(const trv_seats_t *seats, trv_map_t *map);

/* Bits of the dimensions whose two ways take one interface, leaving or arriving, on any rank with neighbours on other
 * hosts both ways (in dimensions that the torus does not have: any way), or that was told; *one: several of one rank take
 * the same. */
unsigned trv_seats_narrow(const trv_seats_t *seats, const trv_map_t *map, bool *one);

#endif
