/*
 * Checks one step without values: every message leaves through a port that leads to its peer, and has another side in
 * the same step with the same units; nothing that is received overwrites other data that is sent or received; no port
 * has more messages than declared. The claimed symmetry is checked for the properties on which timing readers rely:
 * peers, ports and sizes of messages (not registers, not combines).
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "schedule/per_port.h"
#include "torus/torus.h"
#include "verify/verifier.h"

/* The location of the check in the schedule, with which the message of every fault begins. */
typedef struct location {
    trv_verifier_t *v;
    int stream, step, rank;
} location_t;

__attribute__((format(printf, 3, 4))) static bool fault(const location_t *at, int64_t unit, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    trv_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    trv_verifier_fault(at->v, at->step, at->stream, at->rank, unit, "step %d of stream %d: rank %d %s", at->step,
                       at->stream, at->rank, text);
    return false;
}

/* ---- Sets and registers ---------------------------------------------------------------------------------------- */

/* The largest offset in a valid set of slots. */
static int64_t last_slot(const trv_verifier_t *v, const trv_blocks_t *blocks)
{
    int64_t count = trv_blocks_count(blocks), last = 0;
    if (count > v->registers) /* more than v->list can hold, and in any case too many */
        return count - 1;
    size_t listed = trv_units_list(blocks, 0, blocks->space->ranks, v->list);
    for (size_t i = 0; i < listed; i++)
        last = v->list[i] > last ? v->list[i] : last;
    return last;
}

static bool check_set(const location_t *at, const trv_blocks_t *blocks, int reg, bool slots, const char *what)
{
    const trv_torus_t *space = trv_schedule_space(at->v->schedule);
    int64_t last = reg + (slots && trv_units_valid(blocks) ? last_slot(at->v, blocks) : 0);
    if (reg < 0 || last >= at->v->registers) {
        return fault(at, -1, "%s register %lld, but has registers 0 to %d only", what, (long long)last,
                     at->v->registers - 1);
    }
    if (!slots && (blocks->space->ranks != space->ranks || blocks->space->dims != space->dims ||
                   blocks->halves != trv_schedule_halves(at->v->schedule))) {
        return fault(at, -1, "%s units that are not the schedule's own", what);
    }
    if (!trv_units_valid(blocks) || trv_blocks_count(blocks) > (slots ? at->v->registers : at->v->units)) {
        return fault(at, -1, "%s units out of range or out of order", what);
    }
    return true;
}

static bool check_combines(const location_t *at)
{
    const trv_step_t *step = &at->v->step[at->rank];
    for (int c = 0; c < step->combines; c++) {
        const trv_combine_t *combine = &step->combine[c];
        if (combine->sources < 1)
            return fault(at, -1, "combines zero sources; expected at least one");
        if (!check_set(at, &combine->blocks, combine->dst, false, "combines into"))
            return false;
        for (int i = 0; i < combine->sources; i++)
            if (!check_set(at, &combine->blocks, trv_combine_source(combine, i), false, "combines from"))
                return false;
    }
    return true;
}

/* ---- One side of a message ------------------------------------------------------------------------------------- */

/* Whether the port leads away from the peer along a line, where messages cannot go round. */
static bool leads_away(const location_t *at, const trv_message_t *message, bool send)
{
    const trv_torus_t *torus = at->v->torus;
    const int d = trv_port_dimension(message->port), sign = trv_port_sign(message->port);
    const int mine = at->v->coordinate[at->rank * torus->dims + d];
    const int its = at->v->coordinate[message->peer * torus->dims + d];
    return torus->lines >> d & 1 && sign * (send ? its - mine : mine - its) < 0;
}

/* In both sides of a message `port` is the sender's. */
static bool check_port(const location_t *at, const trv_message_t *message, bool send)
{
    char port[TRV_PORT_TEXT_MAX];
    const trv_torus_t *torus = at->v->torus;
    const char *verb = send ? "sends to" : "receives from";
    int d = trv_port_dimension(message->port);
    if (message->peer < 0 || message->peer >= at->v->ranks)
        return fault(at, -1, "%s rank %d, which does not exist (ranks are 0 to %d)", verb, message->peer,
                     at->v->ranks - 1);
    if (message->peer == at->rank)
        return fault(at, -1, "%s itself", verb);
    if (message->port < 0 || d >= torus->dims)
        return fault(at, -1, "%s rank %d by port %d, which does not exist (ports are 0 to %d)", verb, message->peer,
                     message->port, trv_port_count(torus) - 1);
    if (at->v->coordinate[at->rank * torus->dims + d] == at->v->coordinate[message->peer * torus->dims + d])
        return fault(at, -1, "%s rank %d by port %s, in whose dimension the two do not differ", verb, message->peer,
                     trv_port_format(message->port, port));
    if (leads_away(at, message, send))
        return fault(at, -1, "%s rank %d by port %s, which leads away from it along a line", verb, message->peer,
                     trv_port_format(message->port, port));
    return true;
}

/* Checks that the message's route has no link that is cut and, if the network does not forward, a single link. Peer and
 * port of the message must be valid. */
static bool check_route(const location_t *at, const trv_message_t *message)
{
    const trv_torus_t *torus = at->v->torus;
    trv_route_t route;
    int port, node;
    trv_route_begin(&route, torus, at->rank, message->peer, message->port,
                    trv_schedule_mirrored(at->v->schedule, at->stream));
    const int hops = trv_route_length(&route);
    if (at->v->no_forwarding && hops > 1)
        return fault(
            at, -1,
            "sends to rank %d over %d links, but the network does not forward: a message may cross one link, to "
            "a neighbour",
            message->peer, hops);
    while (at->v->cut && (port = trv_route_next(&route, &node)) >= 0)
        if (at->v->cut[node * trv_port_count(torus) + port]) {
            char name[TRV_PORT_TEXT_MAX];
            return fault(at, -1, "sends to rank %d over the link %d:%s, which is cut", message->peer, node,
                         trv_port_format(port, name));
        }
    return true;
}

static bool check_side(const location_t *at, const trv_message_t *message, bool send)
{
    int64_t units = 0;
    if (!check_port(at, message, send))
        return false;
    for (int p = 0; p < message->parts; p++) {
        const trv_part_t *part = &message->part[p];
        if (!check_set(at, &part->blocks, part->reg, part->slots, send ? "sends from" : "receives into"))
            return false;
        units += trv_blocks_count(&part->blocks);
    }
    if (units == 0)
        return fault(at, -1, send ? "sends an empty message" : "receives an empty message");
    return true;
}

/* Compares the messages that every rank sends and receives with the schedule's number. */
static bool check_messages_per_port(location_t *at)
{
    const trv_verifier_t *v = at->v;
    for (at->rank = 0; at->rank < v->ranks; at->rank++) {
        const trv_step_t *step = &v->step[at->rank];
        for (int side = 0; side < 2; side++) {
            const int messages = side ? step->receives : step->sends;
            if (trv_messages_per_port(v->torus, messages) > v->per_port)
                return fault(at, -1, "%s %d messages, more than %d for each of its %d ports",
                             side ? "receives" : "sends", messages, v->per_port, trv_torus_ports(v->torus));
        }
    }
    return true;
}

/* ---- Both sides ------------------------------------------------------------------------------------------------ */

/* A unit that is in the set of one side only. */
static int64_t differing_unit(const trv_verifier_t *v, const trv_blocks_t *a, const trv_blocks_t *b)
{
    for (int64_t u = 0; u < v->units; u++)
        if (trv_blocks_contains(a, u) != trv_blocks_contains(b, u))
            return u;
    return -1;
}

/* Compares the units of both sides. `at` is the position of the receiver. */
static bool check_same_units(const location_t *at, const trv_message_t *receive, const trv_message_t *send)
{
    char name[TRV_UNIT_NAME_MAX], port[2][TRV_PORT_TEXT_MAX];
    if (receive->port != send->port) {
        return fault(at, -1, "receives a message from rank %d by port %s, which sends it by port %s", receive->peer,
                     trv_port_format(receive->port, port[0]), trv_port_format(send->port, port[1]));
    }
    bool same = receive->parts == send->parts;
    for (int p = 0; p < receive->parts && same; p++) {
        const trv_part_t *r = &receive->part[p], *s = &send->part[p];
        if (r->slots != s->slots || (r->slots && trv_blocks_count(&r->blocks) != trv_blocks_count(&s->blocks))) {
            same = false;
        } else if (!r->slots && !trv_units_equal(at->v, &r->blocks, &s->blocks)) {
            int64_t unit = differing_unit(at->v, &r->blocks, &s->blocks);
            return fault(at, unit, "receives a message from rank %d with other units than are sent: %s is %s only",
                         receive->peer, trv_unit_name(at->v->schedule, unit, name),
                         trv_blocks_contains(&r->blocks, unit) ? "received" : "sent");
        }
    }
    if (!same) {
        return fault(at, -1, "receives a message from rank %d in other parts than it is sent", receive->peer);
    }
    return true;
}

/* Returns 1 if every side has its other side, 0 after a fault, negative when out of memory. */
static int check_both_sides(const location_t *at)
{
    const trv_step_t *step = &at->v->step[at->rank];
    for (int i = 0; i < step->sends + step->receives; i++) {
        bool send = i < step->sends;
        int index = send ? i : i - step->sends;
        const trv_message_t *message = send ? &step->send[index] : &step->receive[index];
        const trv_message_t *other = trv_other_side(at->v->step, at->v->ranks, at->rank, send, index);
        if (!other) {
            char text[400];
            int rc = trv_verifier_missing_side(at->v, at->stream, at->step, at->rank, message->peer, send, text,
                                               sizeof text);
            return rc ? rc : fault(at, -1, "%s", text);
        }
        if (!send && !check_same_units(at, message, other))
            return 0;
    }
    return 1;
}

/* ---- Registers during the step --------------------------------------------------------------------------------- */

/* Stamps the cells of a part or, with `read_only`, only compares their stamps. Returns the first cell that has the
 * stamp already, or -1. */
static int64_t stamp_part(trv_verifier_t *v, const trv_part_t *part, bool read_only)
{
    const size_t cells = trv_part_cells(v, part, 0, v->units, v->list);
    for (size_t i = 0; i < cells; i++) {
        if (v->stamp[v->list[i]] == v->stamp_now)
            return v->list[i];
        if (!read_only)
            v->stamp[v->list[i]] = v->stamp_now;
    }
    return -1;
}

/* Whether two receives, or a receive and a send, may access the same register. This check is fast and rarely true. */
static bool registers_overlap(const trv_step_t *step)
{
    uint64_t seen = 0;
    for (int i = 0; i < step->receives; i++)
        for (int p = 0; p < step->receive[i].parts; p++) {
            const trv_part_t *part = &step->receive[i].part[p];
            if (part->slots || part->reg > 63 || seen >> part->reg & 1)
                return true;
            seen |= (uint64_t)1 << part->reg;
        }
    for (int i = 0; i < step->sends; i++)
        for (int p = 0; p < step->send[i].parts; p++) {
            const trv_part_t *part = &step->send[i].part[p];
            if (part->slots || part->reg > 63 || seen >> part->reg & 1)
                return true;
        }
    return false;
}

/* All messages of a step are in flight at the same time: received data must not overwrite data that is received or sent
 * in the step. */
static bool check_overlaps(const location_t *at)
{
    trv_verifier_t *v = at->v;
    const trv_step_t *step = &v->step[at->rank];
    if (step->receives == 0 || !registers_overlap(step))
        return true;
    if (++v->stamp_now == 0) {
        memset(v->stamp, 0, (size_t)v->registers * (size_t)v->units * sizeof *v->stamp);
        v->stamp_now = 1;
    }
    for (int i = 0; i < step->receives + step->sends; i++) {
        bool read_only = i >= step->receives;
        const trv_message_t *message = read_only ? &step->send[i - step->receives] : &step->receive[i];
        for (int p = 0; p < message->parts; p++) {
            int64_t cell = stamp_part(v, &message->part[p], read_only);
            if (cell >= 0) {
                char name[TRV_UNIT_NAME_MAX];
                return fault(at, cell % v->units, "receives %s of register %lld %s",
                             trv_unit_name(v->schedule, cell % v->units, name), (long long)(cell / v->units),
                             read_only ? "while it sends it" : "twice");
            }
        }
    }
    return true;
}

/* ---- Symmetry -------------------------------------------------------------------------------------------------- */

static uint64_t message_signature(const location_t *at, const trv_message_t *message)
{
    const trv_torus_t *torus = at->v->torus;
    const int *from = at->v->coordinate + at->rank * torus->dims;
    const int *to = at->v->coordinate + message->peer * torus->dims;
    uint64_t moved = 0;
    for (int d = 0; d < torus->dims; d++)
        moved = moved * (uint64_t)torus->size[d] + (uint64_t)((to[d] - from[d] + torus->size[d]) % torus->size[d]);
    int64_t units = trv_message_units(at->v->schedule, message);
    return trv_mix(trv_mix(trv_mix(moved) + (uint64_t)message->port) + (uint64_t)units);
}

static bool check_symmetry(const location_t *at)
{
    trv_verifier_t *v = at->v;
    const trv_step_t *step = &v->step[at->rank];
    uint64_t signature = 0; /* a sum, so that the order of messages does not matter */
    int class = 0, representative = 0;
    if (memcmp(v->period, v->torus->size, (size_t)v->torus->dims * sizeof *v->period) == 0)
        return true;
    for (int i = 0; i < step->sends; i++)
        signature += message_signature(at, &step->send[i]);
    for (int d = 0; d < v->torus->dims; d++) {
        int coordinate = v->coordinate[at->rank * v->torus->dims + d] % v->period[d];
        class = class * v->period[d] + coordinate;
        representative = representative * v->torus->size[d] + coordinate;
    }
    if (representative == at->rank) { /* the first rank of its class */
        v->signature[class] = signature;
        return true;
    }
    if (v->signature[class] == signature)
        return true;
    return fault(at, -1,
                 "does not send the translated messages of rank %d: the schedule claims to be symmetric under %s",
                 representative,
                 trv_schedule_symmetry(v->schedule) == TRV_SYMMETRY_PARITY ? "translation by 2" : "every translation");
}

/* ---- The step -------------------------------------------------------------------------------------------------- */

static bool check_own_side(const location_t *at)
{
    const trv_step_t *step = &at->v->step[at->rank];
    for (int i = 0; i < step->sends; i++)
        if (!check_side(at, &step->send[i], true) || !check_route(at, &step->send[i]))
            return false;
    for (int i = 0; i < step->receives; i++)
        if (!check_side(at, &step->receive[i], false))
            return false;
    return check_combines(at);
}

int trv_verifier_structure(trv_verifier_t *v, int stream, int step)
{
    location_t at = {v, stream, step, 0};
    /* Each side is checked alone first. The checks of both sides may then assume valid ranks, ports and units. */
    for (at.rank = 0; at.rank < v->ranks; at.rank++)
        if (!check_own_side(&at))
            return 0;
    if (!check_messages_per_port(&at))
        return 0;
    for (at.rank = 0; at.rank < v->ranks; at.rank++) {
        int rc = check_both_sides(&at);
        if (rc <= 0)
            return rc;
        if (!check_overlaps(&at) || !check_symmetry(&at))
            return 0;
        v->messages += v->step[at.rank].sends;
    }
    return 1;
}
