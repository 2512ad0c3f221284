/*
 * Packets in flight, in a binary heap ordered by the time of their next event, and a pool of free packets. Once the
 * pool is as large as the job needs, no memory is allocated.
 */
#include "testbed/emulator/torusnet.h"

#include <stdlib.h>

#define POOL_STEP 16 /* locking memory takes time, so it is allocated in small portions */

void tn_packet_reserve(tn_net_t *net, int count)
{
    tn_packet_t *more = malloc((size_t)count * sizeof *more);
    for (int i = 0; more && i < count; i++)
        tn_packet_put(net, &more[i]);
}

tn_packet_t *tn_packet_get(tn_net_t *net)
{
    if (!net->pool)
        tn_packet_reserve(net, POOL_STEP);
    tn_packet_t *packet = net->pool;
    if (packet)
        net->pool = packet->next;
    return packet;
}

void tn_packet_put(tn_net_t *net, tn_packet_t *packet)
{
    packet->next = net->pool;
    net->pool = packet;
}

static bool before(const tn_packet_t *a, const tn_packet_t *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

bool tn_timer_add(tn_net_t *net, tn_packet_t *packet)
{
    if (net->heap_size == net->heap_capacity) {
        size_t capacity = net->heap_capacity ? 2 * net->heap_capacity : 4096;
        tn_packet_t **heap = realloc(net->heap, capacity * sizeof(tn_packet_t *));
        if (!heap)
            return false;
        net->heap = heap;
        net->heap_capacity = capacity;
    }
    size_t at = net->heap_size++;
    for (; at > 0 && before(packet, net->heap[(at - 1) / 2]); at = (at - 1) / 2)
        net->heap[at] = net->heap[(at - 1) / 2];
    net->heap[at] = packet;
    return true;
}

tn_packet_t *tn_timer_first(const tn_net_t *net) { return net->heap_size ? net->heap[0] : NULL; }

tn_packet_t *tn_timer_take(tn_net_t *net)
{
    tn_packet_t *first = tn_timer_first(net);
    if (!first)
        return NULL;
    tn_packet_t *last = net->heap[--net->heap_size];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < net->heap_size) {
        if (child + 1 < net->heap_size && before(net->heap[child + 1], net->heap[child]))
            child++;
        if (!before(net->heap[child], last))
            break;
        net->heap[at] = net->heap[child];
        at = child;
    }
    net->heap[at] = last;
    return first;
}
