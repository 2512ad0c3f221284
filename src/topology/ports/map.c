/*
 * Computation of the assignment of interfaces to ports; map.h describes the rules.
 */
#include "topology/ports/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* ---- Encoding ---------------------------------------------------------------------------------------------------- */

static void write_ways(const trv_seat_t *seat, trv_writer_t *writer)
{
    for (int w = 0; w < TRV_WAYS; w++) {
        uint8_t word[3 * TRV_INTERFACES_MAX];
        int there = TRV_INTERFACES_MAX;
        while (there > 0 && seat->able[w][there - 1] == 0)
            there--;
        for (int j = 0; j < there; j++) {
            word[3 * j] = seat->usual[w][j];
            word[3 * j + 1] = (uint8_t)seat->able[w][j];
            word[3 * j + 2] = (uint8_t)(seat->able[w][j] >> 8);
        }
        trv_write_block(writer, word, 3 * (size_t)there);
    }
}

void trv_seat_write(const trv_seat_t *seat, trv_writer_t *writer)
{
    trv_write_number(writer, seat->told);
    trv_write_block(writer, seat->leave, seat->told ? sizeof seat->leave : 0);
    trv_write_number(writer, (uint32_t)seat->interfaces);
    for (int i = 0; i < seat->interfaces; i++) {
        trv_write_number(writer, seat->interface[i].speed_mbps);
        trv_write_number(writer, seat->interface[i].bridge);
        trv_write_number(writer, seat->interface[i].near);
    }
    write_ways(seat, writer);
}

static bool read_ways(trv_seat_t *seat, trv_reader_t *reader)
{
    bool right = true;
    memset(seat->usual, TRV_NO_INTERFACE, sizeof seat->usual);
    memset(seat->able, 0, sizeof seat->able);
    for (int w = 0; w < TRV_WAYS; w++) {
        size_t bytes;
        const uint8_t *word = trv_read_block(reader, 3 * TRV_INTERFACES_MAX, &bytes);
        for (size_t j = 0; word && j < bytes / 3; j++) {
            seat->usual[w][j] = word[3 * j];
            seat->able[w][j] = (uint16_t)(word[3 * j + 1] | word[3 * j + 2] << 8);
            right = right && (seat->usual[w][j] == TRV_NO_INTERFACE || seat->usual[w][j] < seat->interfaces) &&
                    seat->able[w][j] >> seat->interfaces == 0;
        }
    }
    return right;
}

bool trv_seat_read(trv_seat_t *seat, trv_reader_t *reader)
{
    size_t bytes;
    seat->told = trv_read_number(reader) != 0;
    const uint8_t *leave = trv_read_block(reader, sizeof seat->leave, &bytes);
    const uint32_t interfaces = trv_read_number(reader);
    if (reader->bad || interfaces < 1 || interfaces > TRV_INTERFACES_MAX || bytes != seat->told * sizeof seat->leave)
        return false;
    seat->interfaces = (int)interfaces;
    for (size_t w = 0; w < bytes; w++) {
        seat->leave[w] = leave[w];
        if (leave[w] >= interfaces)
            return false;
    }
    for (int i = 0; i < seat->interfaces; i++) {
        seat->interface[i].speed_mbps = trv_read_number(reader);
        seat->interface[i].bridge = trv_read_number(reader);
        seat->interface[i].near = trv_read_number(reader) != 0;
    }
    return read_ways(seat, reader) && !reader->bad;
}

unsigned trv_seat_open(const trv_seat_t *seat)
{
    unsigned bits = seat->told ? (1u << seat->interfaces) - 1 : 0;
    for (int w = 0; w < TRV_WAYS; w++)
        for (int j = 0; j < TRV_INTERFACES_MAX; j++)
            bits |= seat->able[w][j];
    return bits ? bits : 1;
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

int trv_seats_init(trv_seats_t *seats, const trv_torus_t *torus, const trv_seat_t *seat, int ranks)
{
    *seats = (trv_seats_t){*torus, ranks, seat, malloc((size_t)torus->ranks * sizeof(int))};
    if (!seats->rank_at)
        return trv_fail_memory();
    for (int p = 0; p < torus->ranks; p++)
        seats->rank_at[p] = -1;
    for (int r = ranks - 1; r >= 0; r--)
        if (seat[r].place >= 0 && seat[r].place < torus->ranks)
            seats->rank_at[seat[r].place] = r;
    return TRV_OK;
}

void trv_seats_clear(trv_seats_t *seats)
{
    free(seats->rank_at);
    seats->rank_at = NULL;
}

int trv_seats_next(const trv_seats_t *seats, int rank, int way)
{
    const trv_torus_t *torus = &seats->torus;
    const int d = trv_port_dimension(way), sign = trv_port_sign(way);
    int place = seats->seat[rank].place, at[TRV_DIMS_MAX];
    if (d >= torus->dims || place < 0 || place >= torus->ranks)
        return -1;
    trv_torus_coordinates(torus, place, at);
    for (int steps = 1; steps < torus->size[d]; steps++) {
        const int end = sign > 0 ? torus->size[d] - 1 : 0;
        if ((torus->lines >> d & 1) && at[d] == end)
            return -1;
        at[d] = (at[d] + sign + torus->size[d]) % torus->size[d];
        const int there = seats->rank_at[trv_torus_rank(torus, at)];
        if (there >= 0 && seats->seat[there].host != seats->seat[rank].host)
            return there;
    }
    return -1;
}

/* ---- A rank and its neighbour ------------------------------------------------------------------------------------ */

typedef struct pair {
    uint8_t own, there;
} pair_t;

/* Bit mask of the interfaces by which bound sockets reach the neighbour. */
static unsigned able_that_way(const trv_seat_t *seat, int way)
{
    unsigned bits = 0;
    for (int j = 0; j < TRV_INTERFACES_MAX; j++)
        bits |= seat->able[way][j];
    return bits;
}

static bool is_usual(const trv_seat_t *seat, int way, int own, int there)
{
    return seat->usual[way][there] == own && seat->able[way][there] >> own & 1;
}

/* Bit mask of the interfaces among them that the routes use. */
static unsigned usual_that_way(const trv_seat_t *seat, int way)
{
    unsigned bits = 0;
    for (int i = 0; i < seat->interfaces; i++)
        for (int j = 0; j < TRV_INTERFACES_MAX; j++)
            bits |= (unsigned)is_usual(seat, way, i, j) << i;
    return bits;
}

/* Bit mask of the interfaces that are more than half as fast as the fastest one that reaches any neighbour. An
 * interface of unknown speed counts as fast. */
static unsigned fast_ones(const trv_seat_t *seat)
{
    unsigned able = 0, fast = 0;
    uint32_t most = 0;
    for (int w = 0; w < TRV_WAYS; w++)
        able |= able_that_way(seat, w);
    for (int i = 0; i < seat->interfaces; i++)
        if (able >> i & 1 && seat->interface[i].speed_mbps > most)
            most = seat->interface[i].speed_mbps;
    for (int i = 0; i < seat->interfaces; i++) {
        const uint32_t speed = seat->interface[i].speed_mbps;
        fast |= (unsigned)(speed == 0 || 2 * (uint64_t)speed > most) << i;
    }
    return fast;
}

/* Number of interfaces with a lower index at the same bridge. Interfaces with a lower number are ordered first, so that
 * consecutive ones are at different bridges. */
static int turn_at_bridge(const trv_seat_t *seat, int interface)
{
    int before = 0;
    for (int i = 0; i < interface; i++)
        before += seat->interface[i].bridge && seat->interface[i].bridge == seat->interface[interface].bridge;
    return before;
}

static bool comes_before(const trv_seat_t *seat, int a, int b)
{
    const uint32_t fast = seat->interface[a].speed_mbps, other = seat->interface[b].speed_mbps;
    const int turn = turn_at_bridge(seat, a), other_turn = turn_at_bridge(seat, b);
    if (fast != other)
        return fast > other;
    if (seat->interface[a].near != seat->interface[b].near)
        return seat->interface[a].near;
    return turn != other_turn ? turn < other_turn : a < b;
}

/* The interface at position `number` of the set in this order. */
static int in_order(const trv_seat_t *seat, unsigned set, int number)
{
    for (int i = 0; i < seat->interfaces; i++) {
        int before = 0;
        for (int k = 0; k < seat->interfaces; k++)
            before += (set >> k & 1) && k != i && comes_before(seat, k, i);
        if ((set >> i & 1) && before == number)
            return i;
    }
    return 0;
}

/* Bit mask of the interfaces of the peer that `own` can reach, reduced to the best class that is not empty: routes in
 * both directions, a route to the peer, or reachable by a bound socket. */
static unsigned reached_by(const trv_seats_t *seats, int rank, int peer, int way, int own)
{
    const trv_seat_t *seat = &seats->seat[rank], *there = &seats->seat[peer];
    const int back = trv_seats_next(seats, peer, way ^ 1);
    const bool knows_us = back >= 0 && seats->seat[back].list == seat->list && seats->seat[back].host == seat->host;
    const unsigned open = trv_seat_open(there);
    unsigned both = 0, usual = 0, possible = 0;
    for (int j = 0; j < there->interfaces; j++) {
        if (!(seat->able[way][j] >> own & 1) || !(open >> j & 1) || (there->told && there->leave[way ^ 1] != j))
            continue;
        possible |= 1u << j;
        usual |= (unsigned)is_usual(seat, way, own, j) << j;
        both |= (unsigned)(is_usual(seat, way, own, j) && knows_us && is_usual(there, way ^ 1, j, own)) << j;
    }
    return both ? both : usual ? usual : possible;
}

static pair_t choose(const trv_seats_t *seats, int rank, int way)
{
    const trv_seat_t *seat = &seats->seat[rank];
    const int peer = trv_seats_next(seats, rank, way);
    pair_t none = {TRV_NO_INTERFACE, TRV_NO_INTERFACE};
    if (peer < 0)
        return none;
    const unsigned fast = fast_ones(seat), usual = usual_that_way(seat, way) & fast;
    const unsigned other = usual_that_way(seat, way ^ 1) & fast, able = able_that_way(seat, way) & fast;
    const bool alone = trv_seats_next(seats, rank, way ^ 1) < 0;
    const bool apart = (usual & ~other) && (alone || (other & ~usual));
    const unsigned set = apart ? usual & ~other : able;
    if (!set)
        return none;
    const int own = in_order(seat, set, apart ? 0 : way % __builtin_popcount(set));
    unsigned there = reached_by(seats, rank, peer, way, own);
    for (int left = there ? way % __builtin_popcount(there) : 0; left > 0; left--)
        there &= there - 1;
    return (pair_t){(uint8_t)own, there ? (uint8_t)__builtin_ctz(there) : TRV_NO_INTERFACE};
}

/* ---- Assignment -------------------------------------------------------------------------------------------------- */

static void leave(const trv_seats_t *seats, int rank, trv_map_t *map)
{
    const trv_seat_t *seat = &seats->seat[rank];
    uint8_t spare = 0;
    for (int w = TRV_WAYS - 1; w >= 0; w--) {
        map->leave[w] = seat->told ? seat->leave[w] : choose(seats, rank, w).own;
        spare = map->leave[w] != TRV_NO_INTERFACE ? map->leave[w] : spare;
    }
    for (int w = 0; w < TRV_WAYS; w++)
        if (map->leave[w] == TRV_NO_INTERFACE)
            map->leave[w] = map->leave[w ^ 1] != TRV_NO_INTERFACE ? map->leave[w ^ 1] : spare;
}

/* The interface at which messages through that port of the neighbour arrive: the one that the neighbour selects,
 * otherwise the one by which this rank sends to that neighbour. */
static uint8_t arrive(const trv_seats_t *seats, int rank, int way, const trv_map_t *map)
{
    const trv_seat_t *seat = &seats->seat[rank];
    const int from = trv_seats_next(seats, rank, way ^ 1);
    if (seat->told || from < 0 || seats->seat[from].told)
        return map->leave[way ^ 1];
    const uint8_t aim = choose(seats, from, way).there;
    return aim < seat->interfaces ? aim : map->leave[way ^ 1];
}

void trv_seats_map(const trv_seats_t *seats, trv_map_t *map)
{
    for (int r = 0; r < seats->ranks; r++) {
        leave(seats, r, &map[r]);
        for (int w = 0; w < TRV_WAYS; w++)
            map[r].arrive[w] = arrive(seats, r, w, &map[r]);
    }
}

/* ---- Paths that are shared --------------------------------------------------------------------------------------- */

/* True if messages of the rank use both ports of the dimension; otherwise it does not matter whether these share an
 * interface. */
static bool goes_both_ways(const trv_seats_t *seats, int rank, int dimension)
{
    bool any = false;
    if (seats->seat[rank].told)
        return true;
    if (dimension < seats->torus.dims)
        return trv_seats_next(seats, rank, 2 * dimension) >= 0 && trv_seats_next(seats, rank, 2 * dimension + 1) >= 0;
    for (int w = 0; w < 2 * seats->torus.dims && !any; w++)
        any = trv_seats_next(seats, rank, w) >= 0;
    return any;
}

unsigned trv_seats_shared_paths(const trv_seats_t *seats, const trv_map_t *map, bool *one)
{
    unsigned all = 0;
    *one = false;
    for (int r = 0; r < seats->ranks; r++) {
        unsigned interfaces[TRV_INTERFACES_MAX] = {0};
        for (int d = 0; d < TRV_DIMS_MAX; d++) {
            const uint8_t *leave = &map[r].leave[2 * d], *arrive = &map[r].arrive[2 * d];
            if ((leave[0] != leave[1] && arrive[0] != arrive[1]) || !goes_both_ways(seats, r, d))
                continue;
            all |= 1u << d;
            if (leave[0] < TRV_INTERFACES_MAX)
                *one = interfaces[leave[0]]++ > 0 || *one;
        }
    }
    return all;
}
