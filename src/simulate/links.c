/*
 * Moves packets over links: the main loop of the simulator. docs/simulator.md states the rules.
 *
 * At every point in time all arrivals are handled first, then outputs admit packets, then ports choose packets to send.
 * Therefore the order in which simultaneous events are taken does not matter. A port with nothing to send sleeps, and
 * takes the time of one flit to wake.
 *
 * Functions with a `tracked` argument are compiled twice, with and without the bookkeeping of single packets.
 */
#include <math.h>

#include "simulate/router.h"

#define REPORT_HOPS 100000 /* packet-hops between two progress reports: about 10 ms */

/* ---- Arrivals ---------------------------------------------------------------------------------------------------- */

static int credit_return_later(trv_packets_t *net, const packet_t *packet, const message_t *m, uint32_t flits)
{
    uint64_t buffer = packet->from == TRV_NONE ? (uint64_t)1 << 39 | m->nic : packet->from;
    return trv_due_push(&net->heap, net->now + net->credit_delay, due_key(DUE_CREDIT, (uint64_t)flits << 40 | buffer));
}

static int credit_return(trv_packets_t *net, uint64_t id)
{
    uint32_t flits = (uint32_t)(id >> 40), buffer = (uint32_t)id;
    if (id >> 39 & 1)
        return trv_packets_nic_credit(net, buffer, flits);
    net->free_bytes[buffer] += (int64_t)flits * TRV_FLIT_BYTES;
    link_t *link = &net->link[buffer / 2];
    if (link->blocked) {
        link->blocked = 0;
        port_choose_now(net, buffer / 2);
    }
    return TRV_OK;
}

/* A packet of a message whose packets may overtake one another has reached its destination. */
static int packet_complete(trv_packets_t *net, uint32_t message, uint32_t flits)
{
    message_t *m = &net->message[message];
    const int64_t time = net->now + net->exit_delay + m->tail / m->last_flits * flits;
    m->complete = time > m->complete ? time : m->complete;
    return ++m->arrived < m->packets ? TRV_OK : trv_due_push(&net->heap, m->complete, due_key(DUE_ARRIVED, message));
}

/* The packet's head has reached the router of its destination. */
static int packet_leave(trv_packets_t *net, const flight_t *flight, const bool tracked)
{
    const message_t *m = &net->message[flight->message];
    bool last = flight->info & INFO_LAST;
    net->input[flight->link].last = net->now;
    if (tracked) {
        packet_t *packet = &net->packet[flight->packet];
        int rc = net->finite ? credit_return_later(net, packet, m, last ? m->last_flits : net->packet_flits) : TRV_OK;
        packet->number = net->packet_free;
        net->packet_free = flight->packet;
        if (rc)
            return rc;
    }
    if (tracked && net->options.balance_ties)
        return packet_complete(net, flight->message, last ? m->last_flits : net->packet_flits);
    if (!last) /* packets of a message do not overtake one another */
        return TRV_OK;
    if (m->tail == 0)
        return tick_push(&net->leaving, net->now + net->exit_delay, flight->message);
    return trv_due_push(&net->heap, net->now + net->exit_delay + m->tail, due_key(DUE_ARRIVED, flight->message));
}

static int packet_turn(trv_packets_t *net, const flight_t *flight, const bool tracked)
{
    const message_t *m = &net->message[flight->message];
    uint32_t leg = (flight->info >> INFO_LEG & 7) + 1;
    if (leg == m->legs)
        return packet_leave(net, flight, tracked);
    uint32_t node = flight->link >> net->shift << net->shift;
    uint32_t info = m->leg[leg].hops | leg << INFO_LEG | (flight->info & INFO_LAST), link = node | m->leg[leg].port;
    const uint32_t back = tracked ? output_balance(net, link, m->leg[leg].hops) : 0;
    return input_arrive(net, flight->link, link ^ back, flight->message, tracked ? flight->packet : 1,
                        info | back << INFO_BACK);
}

INLINE int packet_arrive(trv_packets_t *net, const flight_t *flight, const bool tracked)
{
    if (flight->info & INFO_HOPS_MASK)
        return input_arrive(net, flight->link, flight->link, flight->message, tracked ? flight->packet : 1,
                            flight->info);
    return packet_turn(net, flight, tracked);
}

/* Handles the arrival of a packet from an interface at its router. With trains it is called once per message, for the
 * first packet, which represents the whole train. */
static int packet_enter(trv_packets_t *net, const flight_t *flight, const bool tracked)
{
    message_t *m = &net->message[flight->message];
    uint32_t input = net->links + m->nic, packets = 1, info = m->info, link = flight->link;
    if (net->trains)
        return input_arrive(net, input, flight->link, flight->message, m->packets, info);
    if (tracked && (packets = trv_packets_record(net, TRV_NONE, flight->packet)) == TRV_NONE)
        return TRV_ERR_MEMORY;
    if (flight->packet + 1 == m->packets)
        info |= INFO_LAST;
    const uint32_t back = tracked ? output_balance(net, link, m->leg[0].hops) : 0;
    int rc = input_arrive(net, input, link ^ back, flight->message, packets, info | back << INFO_BACK);
    if (rc || net->finite || info & INFO_LAST)
        return rc;
    flight_t next = *flight;
    next.time = net->now + net->spacing;
    next.packet++;
    return flight_push(&net->injecting, &next);
}

/* ---- Ports ------------------------------------------------------------------------------------------------------- */

INLINE bool port_is_waiting(const trv_packets_t *net, const link_t *link, uint32_t channel)
{
    return link->queue[channel].head != TRV_NONE ||
           (channel == 0 && has_lone_train(link) && lone_time(net, link) <= net->now);
}

/* Whether the buffer of the next router can hold the first packet of a channel's queue. */
static bool port_has_space(const trv_packets_t *net, uint32_t l, int channel)
{
    if (!net->finite)
        return true;
    const entry_t *e = &net->entry[net->link[l].queue[channel].head];
    uint32_t flits = e->info & INFO_LAST ? net->message[e->message].last_flits : net->packet_flits;
    return net->free_bytes[2 * l + (uint32_t)channel] >= (int64_t)flits * TRV_FLIT_BYTES;
}

INLINE int port_free_later(trv_packets_t *net, uint32_t l, uint32_t flits, int64_t time)
{
    uint8_t lane = net->lane_of[flits];
    if (lane == LANE_UNKNOWN)
        lane = net->lane_of[flits] = net->lanes < TRV_FREE_LANES ? (uint8_t)net->lanes++ : (uint8_t)LANE_HEAP;
    if (lane == LANE_HEAP)
        return trv_due_push(&net->heap, time, due_key(DUE_CHOOSE, l));
    return tick_push(&net->freeing[lane], time, l);
}

/* Accounts for a single packet: loads, the observer's callback, and credits. */
static int packet_track(trv_packets_t *net, uint32_t l, const entry_t *e, uint32_t channel, uint32_t flits,
                        int64_t busy)
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
    net->free_bytes[2 * l + channel] -= (int64_t)flits * TRV_FLIT_BYTES;
    int rc = credit_return_later(net, packet, m, flits);
    packet->from = 2 * l + channel;
    return rc;
}

/* Starts to send the first packet of the port's next channel or, if it has none, of the other channel. If neither has a
 * packet that can be sent, the port sleeps. */
INLINE int port_choose(trv_packets_t *net, uint32_t l, const bool tracked)
{
    link_t *link = &net->link[l];
    uint32_t channel = link->next_channel;
    if (!port_is_waiting(net, link, channel) || (tracked && !port_has_space(net, l, (int)channel))) {
        channel ^= 1;
        if (!port_is_waiting(net, link, channel) || (tracked && !port_has_space(net, l, (int)channel))) {
            link->blocked = tracked && (port_is_waiting(net, link, 0) || port_is_waiting(net, link, 1));
            link->awake = link->blocked;
            return TRV_OK;
        }
    }
    queue_t *queue = &link->queue[channel];
    if (queue->head == TRV_NONE) {
        int rc = admit_lone_train(net, l, net->now + 1);
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
            __builtin_prefetch(&net->entry[queue->head]); /* needed in the next start, after some thousand events */
        entry_drop(net, head);
    } else {
        packet.info &= ~(uint32_t)INFO_LAST;
    }
    link->next_channel = (uint8_t)(channel ^ 1);

    uint32_t flits = packet.info & INFO_LAST ? net->message[packet.message].last_flits : net->packet_flits;
    int64_t flit = tracked && net->slow ? net->link_flit[l] : net->flit;
    int64_t busy = flits * flit;
    uint32_t hops = (packet.info & INFO_HOPS_MASK) - 1, straight = link->next;
    flight_t flight = {net->now + net->hop, straight & ~LINK_AT_ZERO, packet.message, 0, packet.packets};
    if (net->dateline)
        channel |= straight >> 31;
    flight.info = hops | (packet.info & (7u << INFO_LEG | INFO_LAST | 1u << INFO_BACK)) | channel << INFO_CHANNEL;
    int rc = tracked ? packet_track(net, l, &packet, link->next_channel ^ 1u, flits, busy) : TRV_OK;
    if (!rc && flit != net->flit)
        rc = trv_due_push(&net->heap, net->now + busy, due_key(DUE_CHOOSE, l));
    else if (!rc)
        rc = port_free_later(net, l, flits, net->now + busy);
    return rc ? rc : flight_push(&net->flying, &flight);
}

/* ---- The loop ---------------------------------------------------------------------------------------------------- */

static int message_arrived(trv_packets_t *net, uint32_t message)
{
    message_t *m = &net->message[message];
    uint32_t id = m->id;
    m->next = net->message_free;
    net->message_free = message;
    net->delivered++;
    return net->driver.arrived(net->driver.context, id);
}

static int handle_due(trv_packets_t *net, uint64_t key, const bool tracked)
{
    uint64_t id = key & (((uint64_t)1 << 56) - 1);
    uint32_t number = (uint32_t)id;
    flight_t flight;
    switch (key >> 56) {
    case DUE_ENTER: flight = trv_packets_resume(net, number); return packet_enter(net, &flight, tracked);
    case DUE_ADMIT: net->admit_list[net->admit_count++] = number; return TRV_OK;
    case DUE_CHOOSE: port_choose_now(net, number); return TRV_OK;
    case DUE_NIC: return trv_packets_inject(net, number);
    case DUE_CREDIT: return credit_return(net, id);
    case DUE_ARRIVED: return message_arrived(net, number);
    case DUE_SENT: return net->driver.sent ? net->driver.sent(net->driver.context, number) : TRV_OK;
    default: return net->driver.timer(net->driver.context, number);
    }
}

INLINE int64_t next_time(const trv_packets_t *net)
{
    int64_t time = flight_next(&net->flying), other;
    for (int i = 0; i < net->lanes; i++)
        time = (other = tick_next(&net->freeing[i])) < time ? other : time;
    time = (other = tick_next(&net->waking)) < time ? other : time;
    time = (other = tick_next(&net->admitting)) < time ? other : time;
    time = (other = flight_next(&net->entering)) < time ? other : time;
    time = (other = flight_next(&net->injecting)) < time ? other : time;
    time = (other = tick_next(&net->leaving)) < time ? other : time;
    return (other = due_next(&net->heap)) < time ? other : time;
}

INLINE int handle_instant(trv_packets_t *net, const bool tracked)
{
    int64_t now = net->now;
    int rc = TRV_OK;
    while (!rc && flight_next(&net->flying) == now) {
        flight_t flight = flight_pop(&net->flying);
        net->hops_done++;
        rc = packet_arrive(net, &flight, tracked);
    }
    while (!rc && flight_next(&net->entering) == now) {
        flight_t flight = flight_pop(&net->entering);
        rc = packet_enter(net, &flight, tracked);
    }
    while (!rc && flight_next(&net->injecting) == now) {
        flight_t flight = flight_pop(&net->injecting);
        rc = packet_enter(net, &flight, tracked);
    }
    for (int i = 0; i < net->lanes; i++)
        while (tick_next(&net->freeing[i]) == now)
            port_choose_now(net, tick_pop(&net->freeing[i]).id);
    while (tick_next(&net->admitting) == now)
        net->admit_list[net->admit_count++] = tick_pop(&net->admitting).id;
    while (tick_next(&net->waking) == now)
        port_choose_now(net, tick_pop(&net->waking).id);
    while (!rc && tick_next(&net->leaving) == now)
        rc = message_arrived(net, tick_pop(&net->leaving).id);
    while (!rc && due_next(&net->heap) == now)
        rc = handle_due(net, trv_due_pop(&net->heap).key, tracked);
    if (!rc)
        rc = admit_all(net, tracked);
    for (uint32_t i = 0; i < net->choose_count && !rc; i++)
        rc = port_choose(net, net->choose_list[i], tracked);
    net->choose_count = 0;
    return rc;
}

static int report_progress(trv_packets_t *net)
{
    net->report_at = net->hops_done + REPORT_HOPS;
    return trv_span_report(net->watch.progress, (double)net->hops_done / net->watch.hops);
}

void trv_packets_watch(trv_packets_t *net, const trv_watch_t *watch)
{
    net->watch = *watch;
    net->report_at = REPORT_HOPS;
    if (watch->cutoff_ns > 0 && watch->cutoff_ns < TRV_HORIZON_FS / 1e6)
        net->cutoff = (int64_t)ceil(watch->cutoff_ns * 1e6);
}

bool trv_packets_stopped(const trv_packets_t *net) { return net->stopped; }

INLINE int loop(trv_packets_t *net, const bool tracked)
{
    for (int64_t time; (time = next_time(net)) != TRV_NEVER;) {
        if (time > net->cutoff) {
            net->stopped = true;
            return TRV_OK;
        }
        if (time > TRV_HORIZON_FS)
            return trv_packets_fail_horizon();
        net->now = time;
        int rc = handle_instant(net, tracked);
        if (!rc && net->hops_done >= net->report_at)
            rc = report_progress(net);
        if (rc)
            return rc;
    }
    return TRV_OK;
}

static int loop_plain(trv_packets_t *net) { return loop(net, false); }
static int loop_tracked(trv_packets_t *net) { return loop(net, true); }

int trv_packets_run(trv_packets_t *net)
{
    int rc = net->tracked ? loop_tracked(net) : loop_plain(net);
    if (!rc && !net->stopped && net->delivered < net->sent)
        return trv_fail(
            TRV_ERR_INVALID,
            "after %.3f us packets of %llu messages deadlock, because they wait for each other's buffers: routes "
            "that turn into a lower dimension are not safe with buffers of %llu bytes; leave the buffers unlimited",
            (double)net->now / 1e9, (unsigned long long)(net->sent - net->delivered),
            (unsigned long long)net->options.buffer_bytes);
    return rc;
}
