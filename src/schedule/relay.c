/*
 * Relays. A step whose longest message crosses h links becomes h steps. In the j-th of them every message that crosses
 * more than j links moves over its j-th link; on the way it is in registers of the ranks on its route:
 *
 *   line 0 ── 1 ── 2 ── 3       step k:  0 -> 2, 1 -> 2     becomes     step k     0 -> 1, 1 -> 2
 *                                                                      step k + 1 1 -> 2 (what 0 sent)
 *
 * All data leave their first rank in the first of these steps, so nothing that is received later overwrites them. A
 * rank combines as soon as everything for itself has arrived.
 *
 * A message is in the registers of a rank in two consecutive steps: that in which it arrives and that in which it
 * leaves. Arrivals of even and of odd steps therefore use different registers, and a register is used again two steps
 * later.
 */
#include "schedule/relay.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "schedule/schedule.h"

/* Everything is stored: at most about 1.5 GiB. */
#define MESSAGES_MAX (1 << 22)
#define UNITS_MAX    ((int64_t)1 << 26)

/* The first pass counts steps, registers and messages; the second one, whose `to` exists, adds the messages. */
typedef struct relay {
    const trv_schedule_t *from;
    trv_schedule_t *to;
    trv_step_t *step;        /* of all ranks: the present step */
    int *hops;               /* per rank: the links of the farthest message that it receives in the present step */
    int steps;               /* of all streams */
    int bank[2];             /* registers for arrivals in even and in odd steps */
    int64_t messages, units; /* so far, of all messages over one link */
    int *stored;             /* of the present step: registers in use, hop * ranks + rank */
    int64_t stored_capacity;
    trv_explicit_part_t *part; /* of the present message */
    int64_t *unit;             /* of its parts: the sender's, then the receiver's */
    int64_t part_capacity, unit_capacity;
} relay_t;

/* ---- Units ------------------------------------------------------------------------------------------------------- */

static int list_units(relay_t *relay, const trv_blocks_t *blocks, int64_t at)
{
    const int64_t count = trv_blocks_count(blocks);
    if (trv_array_reserve(&relay->unit, &relay->unit_capacity, at, count, sizeof *relay->unit))
        return TRV_ERR_MEMORY;
    trv_blocks_list(blocks, relay->unit + at);
    return TRV_OK;
}

static int64_t count_units(const trv_message_t *message)
{
    int64_t units = 0;
    for (int p = 0; p < message->parts; p++)
        units += trv_blocks_count(&message->part[p].blocks);
    return units;
}

/* Lists the units of the sender, of the receiver and (for whole registers) 0, 1, 2 … of a rank on the route. */
static int list_message(relay_t *relay, const trv_message_t *send, const trv_message_t *receive)
{
    int64_t at = 0;
    int rc = TRV_OK;
    for (int side = 0; side < 2; side++) {
        const trv_message_t *message = side ? receive : send;
        for (int p = 0; p < message->parts && !rc; p++) {
            rc = list_units(relay, &message->part[p].blocks, at);
            at += trv_blocks_count(&message->part[p].blocks);
        }
    }
    const int64_t units = at / 2;
    if (!rc && trv_array_reserve(&relay->unit, &relay->unit_capacity, at, units, sizeof *relay->unit))
        rc = TRV_ERR_MEMORY;
    for (int64_t i = 0; i < units && !rc; i++)
        relay->unit[at + i] = i;
    return rc;
}

/* The registers that a message needs in a rank on its route: one for each part, or those of which a part consists. */
static int registers_of(const trv_message_t *message)
{
    int registers = 0;
    for (int p = 0; p < message->parts; p++)
        registers += message->part[p].slots ? (int)trv_blocks_count(&message->part[p].blocks) : 1;
    return registers;
}

/* ---- One message ------------------------------------------------------------------------------------------------- */

/* The receive that matches the index-th send of `rank`: messages between two ranks match in order. */
static const trv_message_t *find_receive(const relay_t *relay, int rank, int index)
{
    const trv_step_t *own = &relay->step[rank];
    const int peer = own->send[index].peer;
    int earlier = 0;
    for (int i = 0; i < index; i++)
        earlier += own->send[i].peer == peer;
    for (int i = 0; i < relay->step[peer].receives; i++)
        if (relay->step[peer].receive[i].peer == rank && earlier-- == 0)
            return &relay->step[peer].receive[i];
    return NULL;
}

static int check_message(const relay_t *relay, int rank, const trv_message_t *send, const trv_message_t *receive)
{
    const trv_torus_t *torus = &relay->from->torus;
    if (send->peer < 0 || send->peer >= torus->ranks || send->peer == rank || send->port < 0 ||
        send->port >= trv_port_count(torus) || !receive || receive->parts != send->parts ||
        count_units(receive) != count_units(send))
        return trv_fail(
            TRV_ERR_INVALID,
            "the message from rank %d to rank %d has no receive with the same parts (verify the schedule first)", rank,
            send->peer);
    return TRV_OK;
}

/* Writes one side of a message over one link. `reg`: the first register of a rank on the route, or -1 at the ends,
 * where registers and units are those of `message`; `at`: the index of its units. */
static int add_side(relay_t *relay, int stream, int step, int from, int to, int port, int sides,
                    const trv_message_t *message, int reg, int64_t at)
{
    if (trv_array_reserve(&relay->part, &relay->part_capacity, 0, message->parts, sizeof *relay->part))
        return TRV_ERR_MEMORY;
    for (int p = 0; p < message->parts; p++) {
        trv_explicit_part_t *part = &relay->part[p];
        const int64_t count = trv_blocks_count(&message->part[p].blocks);
        const int own = reg < 0 ? message->part[p].reg : reg;
        *part = (trv_explicit_part_t){.from_reg = own,
                                      .to_reg = own,
                                      .slots = message->part[p].slots,
                                      .count = count,
                                      .unit = relay->unit + at};
        at += count;
        if (reg >= 0 && part->slots)
            part->unit = relay->unit + 2 * count_units(message); /* 0, 1, 2, … */
        if (reg >= 0)
            reg += part->slots ? (int)count : 1;
    }
    return trv_explicit_message(relay->to, stream, step, from, to, port, -1, sides, message->parts, relay->part);
}

/* The counter of a rank's registers in the present step's hop. */
static int *stored_of(const relay_t *relay, int hop, int rank)
{
    return &relay->stored[(int64_t)hop * relay->from->torus.ranks + rank];
}

/* The first register of an arrival in this hop of a rank on the route, which is reserved. */
static int reserve_registers(relay_t *relay, int hop, int rank, int registers)
{
    int *stored = stored_of(relay, hop, rank), first = *stored;
    *stored += registers;
    if (*stored > relay->bank[hop % 2] && !relay->to)
        relay->bank[hop % 2] = *stored;
    return relay->from->registers + (hop % 2 ? relay->bank[0] : 0) + first;
}

static int fail_work(const relay_t *relay)
{
    return trv_fail(
        TRV_ERR_UNSUPPORTED,
        "passing on the messages of %.80s takes more than %d messages, or %lld blocks in all; use an algorithm "
        "with shorter distances, for example line-pipelined",
        relay->from->name, MESSAGES_MAX, (long long)UNITS_MAX);
}

/* Adds a message, from link to link. `first`: the step in which it leaves. */
static int add_message(relay_t *relay, int stream, int first, int rank, int index)
{
    const trv_message_t *send = &relay->step[rank].send[index], *receive = NULL;
    if (send->peer >= 0 && send->peer < relay->from->torus.ranks)
        receive = find_receive(relay, rank, index);
    int rc = check_message(relay, rank, send, receive);
    if (!rc && relay->to)
        rc = list_message(relay, send, receive);
    if (rc)
        return rc;
    const int64_t units = count_units(send);
    const int registers = registers_of(send);
    trv_route_t route;
    int port, node, reg = -1;
    trv_route_begin(&route, &relay->from->torus, rank, send->peer, send->port,
                    trv_schedule_mirrored(relay->from, stream));
    for (int hop = 0; (port = trv_route_next(&route, &node)) >= 0 && !rc; hop++) {
        const bool last = trv_route_length(&route) == 0;
        const int held = reg;
        reg = last ? -1 : reserve_registers(relay, hop, route.next, registers);
        if (!relay->to) {
            relay->units += units;
            if (++relay->messages > MESSAGES_MAX || relay->units > UNITS_MAX)
                return fail_work(relay);
            continue;
        }
        rc = add_side(relay, stream, first + hop, node, route.next, port, TRV_SEND, send, held, 0);
        if (!rc)
            rc = add_side(relay, stream, first + hop, node, route.next, port, TRV_RECEIVE, last ? receive : send, reg,
                          last ? units : 0);
    }
    return rc;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static int add_combine(relay_t *relay, int stream, int step, int rank, const trv_combine_t *combine)
{
    int *source = malloc(((size_t)combine->sources + 1) * sizeof *source);
    int rc = source ? list_units(relay, &combine->blocks, 0) : trv_fail_memory();
    for (int i = 0; i < combine->sources && !rc; i++)
        source[i] = combine->source ? combine->source[i] : combine->first + i;
    if (!rc)
        rc = trv_explicit_combine(relay->to, stream, step, rank, combine->dst, combine->sources, source,
                                  trv_blocks_count(&combine->blocks), relay->unit);
    free(source);
    return rc;
}

/* Fetches a step of all ranks, and finds the links that its messages cross. Returns the maximum, or an error. */
static int fetch_step(relay_t *relay, int stream, int step)
{
    const trv_torus_t *torus = &relay->from->torus;
    int farthest = 1;
    for (int rank = 0; rank < torus->ranks; rank++)
        relay->hops[rank] = 1;
    for (int rank = 0; rank < torus->ranks; rank++) {
        const int rc = trv_schedule_step(relay->from, rank, stream, step, &relay->step[rank]);
        if (rc)
            return rc;
        for (int i = 0; i < relay->step[rank].sends; i++) {
            const trv_message_t *send = &relay->step[rank].send[i];
            trv_route_t route;
            if (send->peer < 0 || send->peer >= torus->ranks || send->port < 0 || send->port >= trv_port_count(torus))
                continue; /* add_message reports it */
            trv_route_begin(&route, torus, rank, send->peer, send->port, trv_schedule_mirrored(relay->from, stream));
            const int hops = trv_route_length(&route);
            relay->hops[send->peer] = hops > relay->hops[send->peer] ? hops : relay->hops[send->peer];
            farthest = hops > farthest ? hops : farthest;
        }
    }
    return farthest;
}

/* Clears the counters of a step. */
static int clear_counters(relay_t *relay, int hops)
{
    const int64_t cells = (int64_t)hops * relay->from->torus.ranks;
    if (trv_array_reserve(&relay->stored, &relay->stored_capacity, 0, cells, sizeof *relay->stored))
        return TRV_ERR_MEMORY;
    for (int64_t i = 0; i < cells; i++)
        relay->stored[i] = 0;
    return TRV_OK;
}

static int relay_stream(relay_t *relay, int stream)
{
    int first = 0, rc = TRV_OK;
    for (int k = 0; k < relay->from->steps && !rc; k++) {
        const int hops = fetch_step(relay, stream, k);
        rc = hops < 0 ? hops : clear_counters(relay, hops);
        for (int rank = 0; rank < relay->from->torus.ranks && !rc; rank++) {
            const trv_step_t *step = &relay->step[rank];
            for (int i = 0; i < step->sends && !rc; i++)
                rc = add_message(relay, stream, first, rank, i);
            for (int c = 0; c < step->combines && relay->to && !rc; c++)
                rc = add_combine(relay, stream, first + relay->hops[rank] - 1, rank, &step->combine[c]);
        }
        first += hops;
    }
    relay->steps = first > relay->steps ? first : relay->steps;
    return rc;
}

static int relay_streams(relay_t *relay)
{
    int rc = TRV_OK;
    for (int stream = 0; stream < relay->from->streams && !rc; stream++)
        rc = relay_stream(relay, stream);
    return rc;
}

/* ---- The schedule ------------------------------------------------------------------------------------------------ */

static int create_empty(relay_t *relay)
{
    const trv_schedule_t *from = relay->from;
    const trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS, .steps = relay->steps,
                                            .registers = from->registers + relay->bank[0] + relay->bank[1],
                                            .symmetry = trv_explicit_symmetry(from)};
    return trv_explicit_create_like(&relay->to, from, &options);
}

int trv_schedule_relay(trv_schedule_t **relayed, const trv_schedule_t *schedule)
{
    const int ranks = schedule->torus.ranks;
    relay_t relay = {.from = schedule,
                     .step = calloc((size_t)ranks, sizeof *relay.step),
                     .hops = malloc((size_t)ranks * sizeof *relay.hops)};
    *relayed = NULL;
    for (int rank = 0; relay.step && rank < ranks; rank++)
        relay.step[rank] = (trv_step_t)TRV_STEP_INIT;
    int rc = relay.step && relay.hops ? relay_streams(&relay) : trv_fail_memory();
    if (!rc)
        rc = create_empty(&relay);
    if (!rc)
        rc = relay_streams(&relay);
    for (int rank = 0; relay.step && rank < ranks; rank++)
        trv_step_clear(&relay.step[rank]);
    free(relay.step);
    free(relay.hops);
    free(relay.stored);
    free(relay.part);
    free(relay.unit);
    if (rc)
        trv_schedule_destroy(relay.to);
    else
        *relayed = relay.to;
    return rc;
}

/* ---- Distances --------------------------------------------------------------------------------------------------- */

/* Whether the rank is the one with the lowest coordinates of those that are equal by symmetry. */
static bool is_representative(const trv_schedule_t *schedule, int rank)
{
    int coordinate[TRV_DIMS_MAX];
    trv_torus_coordinates(&schedule->torus, rank, coordinate);
    for (int d = 0; d < schedule->torus.dims; d++)
        if (coordinate[d] >= trv_schedule_period(schedule, d))
            return false;
    return true;
}

int trv_schedule_is_multi_hop(const trv_schedule_t *schedule)
{
    trv_step_t step = TRV_STEP_INIT;
    int found = 0;
    for (int rank = 0; rank < schedule->torus.ranks && !found; rank++) {
        if (!is_representative(schedule, rank))
            continue;
        for (int at = 0; at < schedule->streams * schedule->steps && !found; at++) {
            const int stream = at / schedule->steps;
            found = trv_schedule_step(schedule, rank, stream, at % schedule->steps, &step);
            for (int i = 0; i < step.sends && !found; i++) {
                trv_route_t route;
                trv_route_begin(&route, &schedule->torus, rank, step.send[i].peer, step.send[i].port,
                                trv_schedule_mirrored(schedule, stream));
                found = trv_route_length(&route) > 1;
            }
        }
    }
    trv_step_clear(&step);
    return found;
}
