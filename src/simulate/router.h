/*
 * The router: a packet waits at its input until its output admits it into a queue. Included by links.c.
 *
 * An output admits one packet at a time, each for as long as the router's crossbar takes for it. An input *requests*
 * the output by which its first packet leaves. Of the requests, the least recently served input has priority; on a tie,
 * links come before interfaces, each in order of their port.
 */
#ifndef TRIVANCE_SIMULATE_ROUTER_H
#define TRIVANCE_SIMULATE_ROUTER_H

#include "base/array.h"
#include "simulate/net.h"
#include "torus/torus.h"

#define INLINE static inline __attribute__((always_inline))

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

INLINE uint32_t entry_new(trv_packets_t *net, uint32_t message, uint32_t packets, uint32_t info)
{
    uint32_t e = net->entry_free;
    if (e != TRV_NONE)
        net->entry_free = net->entry[e].next;
    else if (net->entries == net->entry_capacity &&
             trv_array_reserve(&net->entry, &net->entry_capacity, net->entries, 1, sizeof *net->entry))
        return TRV_NONE;
    else
        e = net->entries++;
    net->entry[e] = (entry_t){TRV_NONE, message, packets, info};
    return e;
}

INLINE void entry_drop(trv_packets_t *net, uint32_t e)
{
    net->entry[e].next = net->entry_free;
    net->entry_free = e;
}

/* ---- Waking ------------------------------------------------------------------------------------------------------ */

INLINE void port_choose_now(trv_packets_t *net, uint32_t l) { net->choose_list[net->choose_count++] = l; }

INLINE int port_wake(trv_packets_t *net, uint32_t l, const bool tracked)
{
    link_t *link = &net->link[l];
    if (tracked && link->blocked) { /* the new packet may fit into the next buffer */
        link->blocked = 0;
        port_choose_now(net, l);
    }
    if (link->awake)
        return TRV_OK;
    link->awake = 1;
    if (tracked && net->slow && net->link_flit[l] != net->flit)
        return trv_due_push(&net->heap, net->now + net->link_flit[l], due_key(DUE_CHOOSE, l));
    return tick_push(&net->waking, net->now + net->flit, l);
}

/* ---- Admission --------------------------------------------------------------------------------------------------- */

INLINE void queue_append(trv_packets_t *net, queue_t *queue, uint32_t e)
{
    net->entry[e].next = TRV_NONE;
    if (queue->tail == TRV_NONE)
        queue->head = e;
    else
        net->entry[queue->tail].next = e;
    queue->tail = e;
}

/* The time at which the first remaining packet of an input's train reaches the router. */
INLINE int64_t train_time(const trv_packets_t *net, uint32_t input)
{
    const message_t *m = &net->message[net->entry[net->input[input].head].message];
    return m->first + m->injected * net->gap;
}

/* Whether the output has a train that is admitted in arrears. */
INLINE bool has_lone_train(const link_t *link) { return link->requests != TRV_NONE && !link->admitting; }

/* The time at which that train's next packet is admitted. */
INLINE int64_t lone_time(const trv_packets_t *net, const link_t *link)
{
    int64_t time = train_time(net, link->requests);
    return time > link->admits_at ? time : link->admits_at;
}

/* Makes the output examine its requests as soon as it can admit a packet. */
INLINE int output_schedule_admission(trv_packets_t *net, uint32_t l)
{
    link_t *link = &net->link[l];
    if (link->admitting)
        return TRV_OK;
    link->admitting = 1;
    if (link->admits_at > net->now)
        return trv_due_push(&net->heap, link->admits_at, due_key(DUE_ADMIT, l));
    net->admit_list[net->admit_count++] = l;
    return TRV_OK;
}

/* Admits those packets of a lone train that are due before `time`, as one entry. */
static int admit_lone_train(trv_packets_t *net, uint32_t l, int64_t time)
{
    link_t *link = &net->link[l];
    input_t *input = &net->input[link->requests];
    int64_t next = lone_time(net, link);
    if (next >= time)
        return TRV_OK;
    uint32_t e = input->head;
    message_t *m = &net->message[net->entry[e].message];
    uint32_t remaining = m->packets - m->injected;
    int64_t admitted = (time - next - 1) / net->gap + 1;
    admitted = admitted < remaining ? admitted : remaining;
    m->injected += (uint32_t)admitted;
    input->last = next + (admitted - 1) * net->gap;
    link->admits_at = input->last + net->gap;
    if (admitted == remaining) { /* reuse the train's entry */
        link->admits_at = input->last + m->last_flits * net->nic_flit;
        input->head = input->tail = TRV_NONE;
        link->requests = TRV_NONE;
        net->entry[e].info |= INFO_LAST;
    } else if ((e = entry_new(net, net->entry[e].message, 0, m->info)) == TRV_NONE) {
        return TRV_ERR_MEMORY;
    }
    net->entry[e].packets = (uint32_t)admitted;
    queue_append(net, &link->queue[0], e);
    return TRV_OK;
}

/* Adds an input to the requests of the output by which its first packet leaves. */
INLINE int input_request(trv_packets_t *net, uint32_t i, uint32_t l)
{
    link_t *link = &net->link[l];
    if (has_lone_train(link)) {
        int rc = admit_lone_train(net, l, net->now);
        if (rc)
            return rc;
    }
    net->input[i].next = link->requests;
    link->requests = i;
    return output_schedule_admission(net, l);
}

/* The output by which the first entry of an input leaves. */
static uint32_t output_of(const trv_packets_t *net, uint32_t i)
{
    const entry_t *e = &net->entry[net->input[i].head];
    uint32_t node = (i >= net->links ? i - net->links : i) >> net->shift << net->shift;
    return node | (net->message[e->message].leg[e->info >> INFO_LEG & 7].port ^ (e->info >> INFO_BACK & 1));
}

/* 1 if a packet that begins a leg of `hops` at output `l` goes half way round a ring, and fewer packets wait at the
 * output of the other direction. */
INLINE uint32_t output_balance(const trv_packets_t *net, uint32_t l, uint32_t hops)
{
    const int d = trv_port_dimension((int)(l & ((1u << net->shift) - 1)));
    return net->options.balance_ties && 2 * hops == (uint32_t)net->torus.size[d] &&
           !trv_torus_is_line(&net->torus, d) && net->waiting[l ^ 1] < net->waiting[l];
}

/* A packet, or a train, arrives at input `i` and leaves by output `l`. */
INLINE int input_arrive(trv_packets_t *net, uint32_t i, uint32_t l, uint32_t message, uint32_t packets, uint32_t info)
{
    input_t *input = &net->input[i];
    uint32_t e = entry_new(net, message, packets, info);
    if (e == TRV_NONE)
        return TRV_ERR_MEMORY;
    if (input->head == TRV_NONE) {
        input->head = input->tail = e;
        return input_request(net, i, l);
    }
    /* If the entry before it is a train that is admitted in arrears, its output must be examined from now on: otherwise
     * the admission of the train's last packet would not be noticed, and the new entry would never be the first. */
    uint32_t first = output_of(net, i);
    if (has_lone_train(&net->link[first])) {
        int rc = admit_lone_train(net, first, net->now);
        if (!rc && input->head != TRV_NONE)
            rc = output_schedule_admission(net, first);
        if (rc)
            return rc;
    }
    if (input->head == TRV_NONE) {
        input->head = input->tail = e;
        return input_request(net, i, l);
    }
    net->entry[input->tail].next = e;
    input->tail = e;
    return TRV_OK;
}

/* The input that is served next; TRV_NONE if only trains wait, and *later is then the time of their next packet. */
static uint32_t output_arbitrate(const trv_packets_t *net, uint32_t requests, int64_t *later)
{
    uint32_t best = TRV_NONE;
    *later = TRV_NEVER;
    for (uint32_t i = requests; i != TRV_NONE; i = net->input[i].next) {
        int64_t time = is_train(net, i) ? train_time(net, i) : net->now;
        if (time > net->now)
            *later = time < *later ? time : *later;
        else if (best == TRV_NONE || net->input[i].last < net->input[best].last ||
                 (net->input[i].last == net->input[best].last && i < best))
            best = i;
    }
    return best;
}

/* Removes the first entry of an input, and its request. The next entry requests its own output only when all outputs
 * have been examined, so that the order of the outputs does not matter. */
static void input_advance(trv_packets_t *net, link_t *link, uint32_t i)
{
    input_t *input = &net->input[i];
    uint32_t *link_to = &link->requests;
    while (*link_to != i)
        link_to = &net->input[*link_to].next;
    *link_to = input->next;
    input->head = net->entry[input->head].next;
    if (input->head != TRV_NONE)
        net->follow_list[net->follow_count++] = i;
    else
        input->tail = TRV_NONE;
}

/* Moves the first packet of an input into the queue of output `l`. */
INLINE int admit_packet(trv_packets_t *net, uint32_t l, uint32_t i, const bool tracked)
{
    link_t *link = &net->link[l];
    input_t *input = &net->input[i];
    uint32_t e = input->head, admitted = e;
    message_t *m = &net->message[net->entry[e].message];
    uint32_t info = net->entry[e].info, flits = net->packet_flits;
    input->last = net->now;
    if (is_train(net, i) && ++m->injected == m->packets)
        info |= INFO_LAST;
    if (info & INFO_LAST)
        flits = m->last_flits;
    link->admits_at = net->now + flits * net->nic_flit;
    if (is_train(net, i) && !(info & INFO_LAST)) {
        if ((admitted = entry_new(net, net->entry[e].message, 1, info)) == TRV_NONE)
            return TRV_ERR_MEMORY;
    } else {
        input_advance(net, link, i);
        net->entry[admitted].info = info;
        if (is_train(net, i))
            net->entry[admitted].packets = 1;
    }
    queue_append(net, &link->queue[info >> INFO_CHANNEL & 1], admitted);
    if (tracked && ++net->waiting[l] > net->load[l].queue_max)
        net->load[l].queue_max = net->waiting[l];
    return port_wake(net, l, tracked);
}

/* Admits at most one requested packet at an output, and schedules the next admission if one is needed. */
INLINE int output_admit(trv_packets_t *net, uint32_t l, const bool tracked)
{
    link_t *link = &net->link[l];
    int64_t later;
    link->admitting = 0;
    if (link->requests != TRV_NONE && link->admits_at <= net->now) {
        uint32_t i = output_arbitrate(net, link->requests, &later);
        if (i == TRV_NONE) {
            link->admitting = 1;
            return trv_due_push(&net->heap, later, due_key(DUE_ADMIT, l));
        }
        int rc = admit_packet(net, l, i, tracked);
        if (rc)
            return rc;
    }
    uint32_t i = link->requests;
    bool lone = i == TRV_NONE ||
                (is_train(net, i) && net->input[i].next == TRV_NONE && net->entry[net->input[i].head].next == TRV_NONE);
    if (lone)
        return TRV_OK;
    link->admitting = 1;
    if (link->admits_at == net->now + net->gap)
        return tick_push(&net->admitting, link->admits_at, l);
    return trv_due_push(&net->heap, link->admits_at, due_key(DUE_ADMIT, l));
}

/* Admits packets at all outputs that can admit now. */
INLINE int admit_all(trv_packets_t *net, const bool tracked)
{
    int rc = TRV_OK;
    for (uint32_t done = 0; done < net->admit_count && !rc;) {
        for (uint32_t round = net->admit_count; done < round && !rc; done++)
            rc = output_admit(net, net->admit_list[done], tracked);
        for (uint32_t i = 0; i < net->follow_count && !rc; i++)
            rc = input_request(net, net->follow_list[i], output_of(net, net->follow_list[i]));
        net->follow_count = 0;
    }
    net->admit_count = 0;
    return rc;
}

#endif
