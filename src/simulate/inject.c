/*
 * Injects messages into the network: the interfaces, and the records of messages and packets.
 *
 * With unlimited buffers an interface injects one message after another without a pause, so all times are known when a
 * message is sent. With finite buffers it injects packet by packet, whenever the buffer of its router can hold the
 * next.
 */
#include <string.h>

#include "simulate/net.h"
#include "torus/torus.h"
#include "base/array.h"

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static uint32_t message_new(trv_packets_t *net)
{
    uint32_t index = net->message_free;
    if (index != TRV_NONE) {
        net->message_free = net->message[index].next;
        return index;
    }
    int rc = trv_array_reserve(&net->message, &net->message_capacity, net->messages, 1, sizeof *net->message);
    return rc ? TRV_NONE : net->messages++;
}

uint32_t trv_packets_record(trv_packets_t *net, uint32_t from, uint32_t number)
{
    uint32_t index = net->packet_free;
    if (index != TRV_NONE) {
        net->packet_free = net->packet[index].number;
    } else {
        if (trv_array_reserve(&net->packet, &net->packet_capacity, net->packets, 1, sizeof *net->packet))
            return TRV_NONE;
        index = net->packets++;
    }
    net->packet[index] = (packet_t){from, number};
    return index;
}

/* Defers a message whose interface is busy. The delay is not a constant, so the event is kept in the heap. */
static int defer(trv_packets_t *net, const flight_t *flight)
{
    uint32_t index = net->deferred_free;
    if (index != TRV_NONE) {
        net->deferred_free = net->deferred[index].link;
    } else {
        if (trv_array_reserve(&net->deferred, &net->deferred_capacity, net->deferred_count, 1, sizeof *net->deferred))
            return TRV_ERR_MEMORY;
        index = net->deferred_count++;
    }
    net->deferred[index] = *flight;
    return trv_due_push(&net->heap, flight->time, due_key(DUE_ENTER, index));
}

flight_t trv_packets_resume(trv_packets_t *net, uint32_t index)
{
    flight_t flight = net->deferred[index];
    net->deferred[index].link = net->deferred_free;
    net->deferred_free = index;
    return flight;
}

/* The time that a flit occupies the interface. On a shared path it reaches the router before that time is over. */
static int64_t pace_of(const trv_packets_t *net, uint32_t n) { return net->pace[n & ((1u << net->shift) - 1)]; }

/* ---- Interfaces with finite buffers ------------------------------------------------------------------------------ */

int trv_packets_inject(trv_packets_t *net, uint32_t n)
{
    nic_t *nic = &net->nic[n];
    nic->idle = nic->head == TRV_NONE;
    if (nic->idle)
        return TRV_OK;
    uint32_t index = nic->head;
    message_t *m = &net->message[index];
    bool last = m->injected + 1 == m->packets;
    uint32_t flits = last ? m->last_flits : net->packet_flits;
    if (nic->free_bytes < (int64_t)flits * TRV_FLIT_BYTES) {
        nic->idle = true; /* until a credit arrives */
        return TRV_OK;
    }
    nic->free_bytes -= (int64_t)flits * TRV_FLIT_BYTES;
    int64_t done = net->now + flits * pace_of(net, n);
    uint32_t link = n >> net->shift << net->shift | m->leg[0].port;
    flight_t flight = {net->now + net->entry_delay, link, index, m->info, m->injected++};
    int rc = flight_push(&net->entering, &flight);
    if (!rc && last) {
        nic->head = m->next;
        if (nic->head == TRV_NONE)
            nic->tail = TRV_NONE;
        rc = trv_due_push(&net->heap, done, due_key(DUE_SENT, m->id));
    }
    nic->free_at = done;
    return rc ? rc : trv_due_push(&net->heap, done, due_key(DUE_NIC, n));
}

int trv_packets_nic_credit(trv_packets_t *net, uint32_t n, uint32_t flits)
{
    nic_t *nic = &net->nic[n];
    nic->free_bytes += (int64_t)flits * TRV_FLIT_BYTES;
    if (!nic->idle || nic->head == TRV_NONE)
        return TRV_OK;
    nic->idle = false;
    return trv_packets_inject(net, n);
}

static int enqueue(trv_packets_t *net, uint32_t n, uint32_t index)
{
    nic_t *nic = &net->nic[n];
    net->message[index].next = TRV_NONE;
    net->message[index].injected = 0;
    bool first = nic->head == TRV_NONE;
    if (first)
        nic->head = index;
    else
        net->message[nic->tail].next = index;
    nic->tail = index;
    if (!first || !nic->idle)
        return TRV_OK;
    nic->idle = false;
    return trv_due_push(&net->heap, net->now, due_key(DUE_NIC, n));
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

/* The port's own interface or, if that is busy and the other one of its dimension is free sooner, the other one. With
 * finite buffers it is not known when an interface will be free, so the port uses its own. */
static uint32_t message_choose_nic(const trv_packets_t *net, int node, int nic, uint32_t port)
{
    uint32_t base = (uint32_t)node << net->shift;
    if (nic >= 0)
        return base | net->path[nic];
    uint32_t own = base | net->path[port], other = base | net->path[trv_port_opposite(port)];
    if (net->finite)
        return own;
    int64_t own_free = net->nic[own].free_at, other_free = net->nic[other].free_at;
    return own_free <= net->now || (other_free > net->now && own_free <= other_free) ? own : other;
}

static int check_route(const trv_packets_t *net, int node, const trv_legs_t *legs, int64_t *slowest)
{
    int at = node;
    *slowest = net->flit;
    for (int l = 0; l < legs->count; l++) {
        uint32_t port = legs->leg[l].port;
        if (legs->leg[l].hops > INFO_HOPS_MASK)
            return trv_fail(TRV_ERR_UNSUPPORTED,
                            "a message of rank %d takes %u hops along one dimension; the simulator supports at most %u",
                            node, legs->leg[l].hops, INFO_HOPS_MASK);
        for (uint32_t h = 0; net->slow && h < legs->leg[l].hops; h++) {
            int64_t flit = net->link_flit[(uint32_t)at << net->shift | port];
            char name[TRV_PORT_TEXT_MAX];
            if (flit == TRV_NEVER)
                return trv_fail(TRV_ERR_UNSUPPORTED, "a message of rank %d needs the link %d:%s, which is cut", node,
                                at, trv_port_format((int)port, name));
            *slowest = flit > *slowest ? flit : *slowest;
            at = trv_torus_shift(&net->torus, at, trv_port_dimension((int)port), trv_port_sign((int)port));
        }
    }
    return TRV_OK;
}

/* The time from the arrival of the head of a message's last packet to that of the message. With head delivery a message
 * in enlarged packets arrives when all of it has but the last packet that it would have in the network's own. */
static int64_t tail_time(const trv_packets_t *net, const message_t *m, uint64_t bytes, int64_t slowest)
{
    if (net->options.delivery == TRV_DELIVERY_TAIL)
        return m->last_flits * slowest;
    const uint64_t own = ((bytes - 1) % net->own_packet_bytes + TRV_FLIT_BYTES) / TRV_FLIT_BYTES;
    const int64_t pace = pace_of(net, m->nic);
    if (net->options.packet_bytes == net->own_packet_bytes || m->last_flits <= own)
        return 0;
    return (int64_t)(m->last_flits - own) * (slowest > pace ? slowest : pace);
}

static void message_fill(const trv_packets_t *net, message_t *m, const trv_legs_t *legs, uint64_t bytes,
                         int64_t slowest)
{
    uint64_t packet = net->options.packet_bytes;
    m->packets = (uint32_t)((bytes + packet - 1) / packet);
    m->last_bytes = (uint32_t)(bytes - (m->packets - 1) * packet);
    m->last_flits = (m->last_bytes + TRV_FLIT_BYTES - 1) / TRV_FLIT_BYTES;
    m->tail = tail_time(net, m, bytes, slowest);
    m->arrived = 0;
    m->complete = 0;
    m->legs = (uint32_t)legs->count;
    memcpy(m->leg, legs->leg, (size_t)legs->count * sizeof legs->leg[0]);
    m->info = legs->leg[0].hops;
}

static int message_inject(trv_packets_t *net, uint32_t index, uint32_t link)
{
    message_t *m = &net->message[index];
    nic_t *nic = &net->nic[m->nic];
    bool free = nic->free_at <= net->now;
    int64_t begin = free ? net->now : nic->free_at;
    if (begin > TRV_HORIZON_FS || (double)message_flits(net, m) * (double)pace_of(net, m->nic) > TRV_HORIZON_FS / 4)
        return trv_packets_fail_horizon();
    nic->free_at = begin + message_flits(net, m) * pace_of(net, m->nic);
    m->first = begin + net->entry_delay;
    m->injected = 0;
    flight_t flight = {m->first, link, index, m->info, 0};
    int rc = free ? flight_push(&net->entering, &flight) : defer(net, &flight);
    return rc || !net->driver.sent ? rc : trv_due_push(&net->heap, nic->free_at, due_key(DUE_SENT, m->id));
}

int trv_packets_send(trv_packets_t *net, int node, int nic, const trv_legs_t *legs, uint64_t bytes, uint32_t id)
{
    int64_t slowest;
    int rc = check_route(net, node, legs, &slowest);
    if (rc)
        return rc;
    if (bytes / net->options.packet_bytes >= TRV_PACKETS_MAX && net->options.packet_bytes != net->own_packet_bytes)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "a message of %llu bytes is too long to be simulated; choose a shorter vector",
                        (unsigned long long)bytes);
    if (bytes / net->options.packet_bytes >= TRV_PACKETS_MAX)
        return trv_fail(
            TRV_ERR_UNSUPPORTED,
            "a message of %llu bytes exceeds the maximum of %u packets of %u bytes; choose a shorter vector",
            (unsigned long long)bytes, TRV_PACKETS_MAX, net->options.packet_bytes);
    uint32_t index = message_new(net);
    if (index == TRV_NONE)
        return TRV_ERR_MEMORY;
    message_t *m = &net->message[index];
    m->id = id;
    m->serial = net->sent++;
    if (legs->count == 0) {
        rc = trv_due_push(&net->heap, net->now, due_key(DUE_ARRIVED, index));
        return rc || !net->driver.sent ? rc : trv_due_push(&net->heap, net->now, due_key(DUE_SENT, id));
    }
    m->nic = message_choose_nic(net, node, nic, legs->leg[0].port);
    message_fill(net, m, legs, bytes, slowest);
    net->sent_packets += m->packets;
    for (int l = 0; l < legs->count; l++)
        net->hops += (uint64_t)m->packets * legs->leg[l].hops;
    if (net->finite)
        return enqueue(net, m->nic, index);
    return message_inject(net, index, (uint32_t)node << net->shift | legs->leg[0].port);
}
