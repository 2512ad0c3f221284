/*
 * Chunks that leave in opposite order. A lane of the executor is a chunk of a stream, and its number is the tag of its
 * messages: chunk * streams + stream.
 */
#include "order.h"

#include <stdlib.h>

/* The operation in a request slot. */
typedef struct slot {
    bool held, receives;
    int peer, tag, number; /* number: of the messages of its lane that leave in direction - */
    const void *data;
    size_t bytes;
} slot_t;

struct order {
    const trv_transport_t *under;
    trv_transport_t transport;
    int streams, lanes, port;
    bool opposite;
    slot_t *slot;
    int slots;
    bool started[TRV_PLAN_TAGS_MAX]; /* whether a lane has sent its first message, which follows its first receives */
    int posted[TRV_PLAN_TAGS_MAX], left[TRV_PLAN_TAGS_MAX]; /* messages of each lane in direction - */
    size_t first_step, arrived;                             /* bytes */
};

static int order_open(void *context, int requests, int tags, int *base)
{
    order_t *order = context;
    order->slot = calloc((size_t)requests, sizeof *order->slot);
    order->slots = requests;
    return order->slot ? order->under->open(order->under->context, requests, tags, base) : TRV_ERR_MEMORY;
}

static void order_close(void *context, int base)
{
    order_t *order = context;
    free(order->slot);
    order->slot = NULL;
    order->under->close(order->under->context, base);
}

static void order_port(void *context, int base, int port)
{
    order_t *order = context;
    (void)base;
    order->port = port;
}

/* Whether all later chunks of the stream have sent their message of the same step. */
static bool may_leave(const order_t *order, const slot_t *slot)
{
    for (int lane = slot->tag + order->streams; lane < order->lanes; lane += order->streams)
        if (order->left[lane] <= slot->number)
            return false;
    return order->left[slot->tag] == slot->number;
}

static int order_send(void *context, int base, int number, int peer, int tag, const void *data, size_t bytes)
{
    order_t *order = context;
    const trv_transport_t *under = order->under;
    order->started[tag] = true;
    if (!order->opposite || trv_port_sign(order->port) > 0)
        return under->send(under->context, base, number, peer, tag, data, bytes);
    order->slot[number] = (slot_t){true, false, peer, tag, order->posted[tag]++, data, bytes};
    int code = 0;
    for (int i = 0; i < order->slots && code == 0; i++) {
        slot_t *slot = &order->slot[i];
        if (!slot->held || !may_leave(order, slot))
            continue;
        slot->held = false;
        order->left[slot->tag]++;
        code = under->send(under->context, base, i, slot->peer, slot->tag, slot->data, slot->bytes);
        i = -1; /* others may leave after it */
    }
    return code;
}

static int order_receive(void *context, int base, int number, int peer, int tag, void *data, size_t bytes)
{
    order_t *order = context;
    order->slot[number] = (slot_t){.receives = true, .bytes = bytes};
    order->first_step += order->started[tag] ? 0 : bytes;
    return order->under->receive(order->under->context, base, number, peer, tag, data, bytes);
}

static int order_test(void *context, int base, int number)
{
    order_t *order = context;
    slot_t *slot = &order->slot[number];
    int code = slot->held ? 0 : order->under->test(order->under->context, base, number);
    if (code == 1 && slot->receives) {
        order->arrived += slot->bytes;
        slot->receives = false;
    }
    return code;
}

static int order_cancel(void *context, int base, int number)
{
    order_t *order = context;
    return order->slot[number].held ? 0 : order->under->cancel(order->under->context, base, number);
}

order_t *order_create(const trv_transport_t *under, int streams, int chunks, bool opposite)
{
    order_t *order = calloc(1, sizeof *order);
    if (!order)
        return NULL;
    order->under = under;
    order->streams = streams;
    order->lanes = streams * chunks;
    order->opposite = opposite;
    order->transport = (trv_transport_t){TRV_TRANSPORT, order,      order_open,   order_close, order_send,
                                         order_receive, order_test, order_cancel, order_port};
    return order;
}

void order_destroy(order_t *order) { free(order); }

const trv_transport_t *order_transport(order_t *order) { return &order->transport; }

double order_arrived(const order_t *order) { return (double)order->arrived / (double)order->first_step; }
