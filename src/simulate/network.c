/*
 * Packets over links: the loop of the simulator. The rules are stated in docs/simulator.md.
 *
 * At every moment first everything that arrives joins its queue, then every port whose turn it is chooses a packet. A
 * port with nothing to do sleeps, and takes one flit's time to wake. So the order in which events of a moment are taken does not matter; only the order inside a queue does,
 * and there simultaneous arrivals are ordered by the inputs that they come from.
 *
 * Functions with a `tracked` argument are compiled twice: without, and with the bookkeeping of single packets.
 */
#include "simulate/net.h"

#define INLINE static inline __attribute__((always_inline))

/* ---- Queues ------------------------------------------------------------------------------------------------------ */

static int grow_entries(trv_net_t *net)
{
    uint32_t room = net->entry_room ? 2 * net->entry_room : 1024;
    entry_t *entry = room < net->entry_room ? NULL : realloc(net->entry, room * sizeof *entry);
    if (!entry)
        return trv_fail_memory();
    net->entry = entry;
    net->entry_room = room;
    return TRV_OK;
}

INLINE uint32_t entry_new(trv_net_t *net)
{
    uint32_t e = net->entry_free;
    if (e != TRV_NONE) {
        net->entry_free = net->entry[e].next;
        return e;
    }
    if (net->entries == net->entry_room && grow_entries(net))
        return TRV_NONE;
    return net->entries++;
}

INLINE void insert_behind(trv_net_t *net, queue_t *queue, uint32_t place, uint32_t e)
{
    if (place == TRV_NONE) {
        net->entry[e].next = queue->head;
        queue->head = e;
    } else {
        net->entry[e].next = net->entry[place].next;
        net->entry[place].next = e;
    }
    if (queue->tail == place)
        queue->tail = e;
}

static int append(trv_net_t *net, queue_t *queue, uint32_t message, uint32_t packets, uint32_t info)
{
    uint32_t e = entry_new(net);
    if (e == TRV_NONE)
        return TRV_ERR_MEMORY;
    net->entry[e] = (entry_t){TRV_NONE, message, packets, info};
    insert_behind(net, queue, queue->tail, e);
    return TRV_OK;
}

/* Moves the packets that have arrived before `time` from the slot to the end of the queue. */
static int drain_slot(trv_net_t *net, queue_t *queue, int64_t time)
{
    message_t *m = &net->message[queue->slot];
    int64_t arrived = time <= m->first ? 0 : (time - m->first - 1) / net->gap + 1;
    if (arrived > m->packets)
        arrived = m->packets;
    uint32_t fresh = (uint32_t)arrived - m->injected, slot = queue->slot;
    if (fresh == 0)
        return TRV_OK;
    m->injected = (uint32_t)arrived;
    bool complete = m->injected == m->packets;
    if (complete)
        queue->slot = TRV_NONE;
    return append(net, queue, slot, fresh, m->info | (complete ? INFO_LAST : 0));
}

/* When the packet before one that arrives now passed the same input. */
static int64_t passed_before(const trv_net_t *net, uint32_t node, uint32_t message, uint32_t info)
{
    uint32_t key = info >> INFO_KEY;
    if (key < INFO_FROM_NIC)
        return net->pass[node | key].before;
    if (net->trains && net->message[message].first != net->now)
        return net->now - net->gap;
    return net->pass[net->links + (node | (key - INFO_FROM_NIC))].before;
}

/* Among those that join at this moment: the input that has waited longest is served first, then links in order of
 * their port, then interfaces. */
static int insert_by_input(trv_net_t *net, uint32_t l, queue_t *queue, uint32_t message, uint32_t packets,
                           uint32_t info)
{
    uint32_t e = entry_new(net), place = queue->mark, node = l >> net->shift << net->shift;
    if (e == TRV_NONE)
        return TRV_ERR_MEMORY;
    int64_t before = passed_before(net, node, message, info);
    for (uint32_t next = place == TRV_NONE ? queue->head : net->entry[place].next; next != TRV_NONE;
         next = net->entry[next].next) {
        const entry_t *other = &net->entry[next];
        int64_t other_before = passed_before(net, node, other->message, other->info);
        if (other_before > before || (other_before == before && other->info >> INFO_KEY > info >> INFO_KEY))
            break;
        place = next;
    }
    net->entry[e] = (entry_t){TRV_NONE, message, packets, info};
    insert_behind(net, queue, place, e);
    return TRV_OK;
}

/* The first to join at a moment: settles what stands before it. */
static int open_moment(trv_net_t *net, queue_t *queue)
{
    int rc = queue->slot != TRV_NONE ? drain_slot(net, queue, net->now) : TRV_OK;
    queue->stamp = net->now;
    queue->mark = queue->tail;
    if (rc || queue->slot == TRV_NONE)
        return rc;
    message_t *m = &net->message[queue->slot];
    if (m->first + m->injected * net->gap != net->now)
        return TRV_OK;
    uint32_t slot = queue->slot; /* its next packet arrives now: one of those that are ordered by input */
    if (++m->injected == m->packets)
        queue->slot = TRV_NONE;
    return append(net, queue, slot, 1, m->info | (queue->slot == TRV_NONE ? INFO_LAST : 0));
}

INLINE void choose_now(trv_net_t *net, uint32_t l)
{
    net->choosing[net->choosing_count++] = l;
}

INLINE int wake(trv_net_t *net, uint32_t l, const bool tracked)
{
    link_t *link = &net->link[l];
    if (tracked && link->blocked) { /* perhaps there is room for this one */
        link->blocked = 0;
        choose_now(net, l);
    }
    if (link->awake)
        return TRV_OK;
    link->awake = 1;
    if (tracked && net->slow && net->link_flit[l] != net->flit)
        return trv_due_push(&net->heap, net->now + net->link_flit[l], due_key(DUE_CHOOSE, l));
    return tick_push(&net->waking, net->now + net->flit, l);
}

INLINE int join(trv_net_t *net, uint32_t l, uint32_t message, uint32_t packets, uint32_t info, const bool tracked)
{
    link_t *link = &net->link[l];
    queue_t *queue = &link->queue[info >> INFO_CHANNEL & 1];
    int rc = wake(net, l, tracked);
    if (tracked && ++net->waiting[l] > net->load[l].queue_max)
        net->load[l].queue_max = net->waiting[l];
    if (rc)
        return rc;
    if (queue->stamp == net->now)
        return insert_by_input(net, l, queue, message, packets, info);
    if (queue->slot == TRV_NONE) {
        queue->stamp = net->now;
        queue->mark = queue->tail;
        return append(net, queue, message, packets, info);
    }
    rc = open_moment(net, queue);
    return rc ? rc : insert_by_input(net, l, queue, message, packets, info);
}

/* ---- Arrivals ---------------------------------------------------------------------------------------------------- */

static int credit_later(trv_net_t *net, const packet_t *packet, const message_t *m, uint32_t flits)
{
    uint64_t buffer = packet->from == TRV_NONE ? (uint64_t)1 << 39 | m->nic : packet->from;
    return trv_due_push(&net->heap, net->now + net->credit_delay,
                        due_key(DUE_CREDIT, (uint64_t)flits << 40 | buffer));
}

static int return_credit(trv_net_t *net, uint64_t id)
{
    uint32_t flits = (uint32_t)(id >> 40), buffer = (uint32_t)id;
    if (id >> 39 & 1)
        return trv_net_nic_credit(net, buffer, flits);
    net->room[buffer] += (int64_t)flits * TRV_FLIT_BYTES;
    link_t *link = &net->link[buffer / 2];
    if (link->blocked) {
        link->blocked = 0;
        choose_now(net, buffer / 2);
    }
    return TRV_OK;
}

/* The packet's head is in the router of its destination. */
static int leave(trv_net_t *net, const flight_t *flight, const bool tracked)
{
    const message_t *m = &net->message[flight->message];
    bool last = flight->info & INFO_LAST;
    if (tracked) {
        packet_t *packet = &net->packet[flight->packet];
        int rc = net->finite ? credit_later(net, packet, m, last ? m->last_flits : net->packet_flits) : TRV_OK;
        packet->number = net->packet_free;
        net->packet_free = flight->packet;
        if (rc)
            return rc;
    }
    if (!last) /* packets of a message do not overtake one another */
        return TRV_OK;
    if (m->tail == 0)
        return tick_push(&net->leaving, net->now + net->exit_delay, flight->message);
    return trv_due_push(&net->heap, net->now + net->exit_delay + m->tail, due_key(DUE_ARRIVED, flight->message));
}

static int turn(trv_net_t *net, const flight_t *flight, const bool tracked)
{
    const message_t *m = &net->message[flight->message];
    uint32_t leg = (flight->info >> INFO_LEG & 7) + 1;
    if (leg == m->legs)
        return leave(net, flight, tracked);
    uint32_t node = flight->link >> net->shift << net->shift;
    uint32_t info = m->leg[leg].hops | leg << INFO_LEG | (flight->info & (INFO_LAST | ~0u << INFO_KEY));
    return join(net, node | m->leg[leg].port, flight->message, tracked ? flight->packet : 1, info, tracked);
}

INLINE void passes(trv_net_t *net, uint32_t input)
{
    net->pass[input] = (pass_t){net->now, net->pass[input].last};
}

INLINE int arrive(trv_net_t *net, const flight_t *flight, const bool tracked)
{
    passes(net, flight->link);
    if (flight->info & INFO_HOPS_MASK)
        return join(net, flight->link, flight->message, tracked ? flight->packet : 1, flight->info, tracked);
    return turn(net, flight, tracked);
}

/* The first packet of a message is at its router. */
static int enter(trv_net_t *net, const flight_t *flight, const bool tracked)
{
    message_t *m = &net->message[flight->message];
    passes(net, net->links + m->nic);
    if (tracked || m->packets == 1) {
        uint32_t info = m->info | (m->packets == flight->packet + 1 ? INFO_LAST : 0), record = 1;
        if (tracked && (record = trv_net_packet(net, TRV_NONE, flight->packet)) == TRV_NONE)
            return TRV_ERR_MEMORY;
        int rc = join(net, flight->link, flight->message, record, info, tracked);
        if (!rc && tracked && !net->finite && ++m->injected < m->packets)
            rc = flight_push(&net->injecting, &(flight_t){net->now + net->gap, flight->link, flight->message, m->info,
                                                          flight->packet + 1});
        return rc;
    }
    if (net->trains) /* its last packet is the one that passes before the next message's first */
        net->pass[net->links + m->nic].last = net->now + (m->packets - 1) * net->gap;
    queue_t *queue = &net->link[flight->link].queue[0];
    int rc = wake(net, flight->link, false);
    if (!rc && queue->slot != TRV_NONE && queue->stamp != net->now)
        rc = open_moment(net, queue);
    if (rc)
        return rc;
    if (net->trains && queue->slot == TRV_NONE) {
        if (queue->stamp != net->now) {
            queue->stamp = net->now;
            queue->mark = queue->tail;
        }
        queue->slot = flight->message;
        m->injected = 1;
        return insert_by_input(net, flight->link, queue, flight->message, 1, m->info);
    }
    flight_t next = *flight; /* the slot is taken: packet by packet */
    next.time = net->now + net->gap;
    m->injected = 1;
    rc = flight_push(&net->injecting, &next);
    return rc ? rc : join(net, flight->link, flight->message, 1, m->info, false);
}

/* A further packet of a message that is injected packet by packet. */
static int inject_next(trv_net_t *net, const flight_t *flight, const bool tracked)
{
    if (tracked)
        return enter(net, flight, true);
    message_t *m = &net->message[flight->message];
    bool last = ++m->injected == m->packets;
    if (!net->trains)
        passes(net, net->links + m->nic);
    flight_t next = *flight;
    next.time = net->now + net->gap;
    int rc = last ? TRV_OK : flight_push(&net->injecting, &next);
    return rc ? rc : join(net, flight->link, flight->message, 1, m->info | (last ? INFO_LAST : 0), false);
}

/* ---- Ports ------------------------------------------------------------------------------------------------------- */

INLINE bool is_waiting(const queue_t *queue)
{
    return queue->head != TRV_NONE || queue->slot != TRV_NONE;
}

/* Whether the head of a channel may start as far as the next router's buffer is concerned. */
static bool has_room(const trv_net_t *net, uint32_t l, int channel)
{
    if (!net->finite)
        return true;
    const entry_t *e = &net->entry[net->link[l].queue[channel].head];
    uint32_t flits = e->info & INFO_LAST ? net->message[e->message].last_flits : net->packet_flits;
    return net->room[2 * l + (uint32_t)channel] >= (int64_t)flits * TRV_FLIT_BYTES;
}

INLINE int free_later(trv_net_t *net, uint32_t l, uint32_t flits, int64_t time)
{
    uint8_t lane = net->lane_of[flits];
    if (lane == LANE_UNKNOWN)
        lane = net->lane_of[flits] = net->lanes < TRV_FREE_LANES ? (uint8_t)net->lanes++ : (uint8_t)LANE_HEAP;
    if (lane == LANE_HEAP)
        return trv_due_push(&net->heap, time, due_key(DUE_CHOOSE, l));
    return tick_push(&net->freeing[lane], time, l);
}

/* Everything about a packet that only single bookkeeping wants to know. */
static int track(trv_net_t *net, uint32_t l, const entry_t *e, uint32_t channel, uint32_t flits, int64_t busy)
{
    packet_t *packet = &net->packet[e->packets];
    const message_t *m = &net->message[e->message];
    trv_link_load_t *load = &net->load[l];
    net->waiting[l]--;
    load->packets++;
    load->bytes += e->info & INFO_LAST ? m->last_bytes : net->options.packet_bytes;
    load->busy_ns += (double)busy / 1e6;
    const trv_simulate_observer_t *observer = net->options.observer;
    if (observer && observer->packet)
        observer->packet(observer->context, (int)(l >> net->shift), (int)(l & ((1u << net->shift) - 1)), m->serial,
                         packet->number, (double)net->now / 1e6, (double)(net->now + busy) / 1e6);
    if (!net->finite)
        return TRV_OK;
    net->room[2 * l + channel] -= (int64_t)flits * TRV_FLIT_BYTES;
    int rc = credit_later(net, packet, m, flits);
    packet->from = 2 * l + channel;
    return rc;
}

/* A port starts the packet whose turn it is, or goes to sleep. */
INLINE int choose(trv_net_t *net, uint32_t l, const bool tracked)
{
    link_t *link = &net->link[l];
    uint32_t channel = link->turn;
    if (!is_waiting(&link->queue[channel]) || (tracked && !has_room(net, l, (int)channel))) {
        channel ^= 1;
        if (!is_waiting(&link->queue[channel]) || (tracked && !has_room(net, l, (int)channel))) {
            link->blocked = tracked && (is_waiting(&link->queue[0]) || is_waiting(&link->queue[1]));
            link->awake = link->blocked;
            return TRV_OK;
        }
    }
    queue_t *queue = &link->queue[channel];
    if (queue->head == TRV_NONE) {
        int rc = drain_slot(net, queue, net->now + 1);
        if (rc)
            return rc;
    }
    uint32_t head = queue->head;
    entry_t *e = &net->entry[head], packet = *e;
    if (tracked || --e->packets == 0) {
        queue->head = e->next;
        if (queue->head == TRV_NONE)
            queue->tail = TRV_NONE;
        else
            __builtin_prefetch(&net->entry[queue->head]); /* for the next start, some thousand events from now */
        e->next = net->entry_free;
        net->entry_free = head;
    } else {
        packet.info &= ~(uint32_t)INFO_LAST;
    }
    link->turn = (uint8_t)(channel ^ 1);

    uint32_t flits = packet.info & INFO_LAST ? net->message[packet.message].last_flits : net->packet_flits;
    int64_t flit = tracked && net->slow ? net->link_flit[l] : net->flit;
    int64_t busy = flits * flit;
    uint32_t hops = (packet.info & INFO_HOPS_MASK) - 1, straight = link->next;
    flight_t flight = {net->now + net->hop, straight & ~LINK_AT_ZERO, packet.message, 0, packet.packets};
    if (net->dateline)
        channel |= straight >> 31;
    flight.info = hops | (packet.info & (7u << INFO_LEG | INFO_LAST)) | channel << INFO_CHANNEL |
                  (uint32_t)link->key << INFO_KEY;
    int rc = TRV_OK;
    if (tracked) {
        rc = track(net, l, &packet, link->turn ^ 1u, flits, busy);
        if (!rc && net->slow && flit != net->flit) {
            rc = trv_due_push(&net->heap, net->now + busy, due_key(DUE_CHOOSE, l));
            return rc ? rc : flight_push(&net->flying, &flight);
        }
    }
    if (!rc)
        rc = free_later(net, l, flits, net->now + busy);
    return rc ? rc : flight_push(&net->flying, &flight);
}

/* ---- The loop ---------------------------------------------------------------------------------------------------- */

static int arrived(trv_net_t *net, uint32_t message)
{
    message_t *m = &net->message[message];
    uint32_t id = m->id;
    m->next = net->message_free;
    net->message_free = message;
    net->delivered++;
    return net->driver.arrived(net->driver.context, id);
}

static int happen(trv_net_t *net, uint64_t key, const bool tracked)
{
    uint64_t id = key & (((uint64_t)1 << 56) - 1);
    uint32_t number = (uint32_t)id;
    flight_t flight;
    switch (key >> 56) {
    case DUE_FLIGHT: flight = trv_net_unpark(net, number); return arrive(net, &flight, tracked);
    case DUE_ENTER: flight = trv_net_unpark(net, number); return enter(net, &flight, tracked);
    case DUE_CHOOSE: choose_now(net, number); return TRV_OK;
    case DUE_NIC: return trv_net_inject(net, number);
    case DUE_CREDIT: return return_credit(net, id);
    case DUE_ARRIVED: return arrived(net, number);
    case DUE_SENT: return net->driver.sent ? net->driver.sent(net->driver.context, number) : TRV_OK;
    default: return net->driver.timer(net->driver.context, number);
    }
}

INLINE int64_t next_time(const trv_net_t *net)
{
    int64_t time = flight_next(&net->flying), other;
    for (int i = 0; i < net->lanes; i++)
        time = (other = tick_next(&net->freeing[i])) < time ? other : time;
    time = (other = tick_next(&net->waking)) < time ? other : time;
    time = (other = flight_next(&net->entering)) < time ? other : time;
    time = (other = flight_next(&net->injecting)) < time ? other : time;
    time = (other = tick_next(&net->leaving)) < time ? other : time;
    return (other = due_next(&net->heap)) < time ? other : time;
}

INLINE int moment(trv_net_t *net, const bool tracked)
{
    int64_t now = net->now;
    int rc = TRV_OK;
    while (!rc && flight_next(&net->flying) == now) {
        flight_t flight = flight_pop(&net->flying);
        rc = arrive(net, &flight, tracked);
    }
    while (!rc && flight_next(&net->entering) == now) {
        flight_t flight = flight_pop(&net->entering);
        rc = enter(net, &flight, tracked);
    }
    while (!rc && flight_next(&net->injecting) == now) {
        flight_t flight = flight_pop(&net->injecting);
        rc = inject_next(net, &flight, tracked);
    }
    for (int i = 0; i < net->lanes; i++)
        while (tick_next(&net->freeing[i]) == now)
            choose_now(net, tick_pop(&net->freeing[i]).id);
    while (tick_next(&net->waking) == now)
        choose_now(net, tick_pop(&net->waking).id);
    while (!rc && tick_next(&net->leaving) == now)
        rc = arrived(net, tick_pop(&net->leaving).id);
    while (!rc && due_next(&net->heap) == now)
        rc = happen(net, trv_due_pop(&net->heap).key, tracked);
    for (uint32_t i = 0; i < net->choosing_count && !rc; i++)
        rc = choose(net, net->choosing[i], tracked);
    net->choosing_count = 0;
    return rc;
}

INLINE int loop(trv_net_t *net, const bool tracked)
{
    for (int64_t time; (time = next_time(net)) != TRV_NEVER;) {
        net->now = time;
        int rc = moment(net, tracked);
        if (rc)
            return rc;
    }
    return TRV_OK;
}

static int loop_plain(trv_net_t *net) { return loop(net, false); }
static int loop_tracked(trv_net_t *net) { return loop(net, true); }

int trv_net_run(trv_net_t *net)
{
    int rc = net->tracked ? loop_tracked(net) : loop_plain(net);
    if (!rc && net->delivered < net->sent)
        return trv_fail(TRV_ERR_INVALID,
                        "after %.3f us packets of %llu messages wait for one another's buffers for ever: routes that "
                        "turn into a lower dimension are not safe with buffers of %llu bytes; leave --buffer away",
                        (double)net->now / 1e9, (unsigned long long)(net->sent - net->delivered),
                        (unsigned long long)net->options.buffer_bytes);
    return rc;
}
