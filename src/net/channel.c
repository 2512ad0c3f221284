/*
 * The executor's transport over libfabric (transport/fabric). A run that fails on one rank breaks the net on all ranks.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "net/inside.h"

enum { ALIGNMENT = 64 };

static int channel_open(void *context, int requests, int tags, int *base)
{
    trv_channel_t *channel = context;
    (void)tags;
    *base = 0;
    channel->op = calloc((size_t)requests + 1, sizeof *channel->op);
    channel->ops = requests;
    return channel->op ? TRV_OK : trv_fail_memory();
}

static void channel_close(void *context, int base)
{
    trv_channel_t *channel = context;
    (void)base;
    for (int i = 0; channel->op && i < channel->ops; i++)
        trv_fabric_op_clear(&channel->op[i]);
    free(channel->op);
    channel->op = NULL;
}

static void channel_port(void *context, int base, int port)
{
    trv_channel_t *channel = context;
    (void)base;
    channel->port = port;
}

static const trv_region_t *channel_region(const trv_channel_t *channel, const char *data)
{
    for (int i = 0; i < 3; i++)
        if (channel->start[i] && data >= channel->start[i] && data < channel->start[i] + channel->bytes[i])
            return &channel->region[i];
    return NULL;
}

static int channel_post(trv_channel_t *channel, int slot, bool sends, int peer, int lane, void *data, size_t bytes)
{
    trv_net_comm_t *comm = channel->comm;
    trv_fabric_op_t *op = &channel->op[slot];
    const size_t weighed = channel->run_bytes ? channel->run_bytes : bytes;
    const int rc = channel->run
                       ? trv_flow_post_run(comm->net, &channel->run[peer], weighed, sends, trv_member(comm, peer))
                       : TRV_OK;
    if (rc < 0)
        return rc;
    const uint64_t inner = channel->inner | (uint64_t)channel->port << TRV_LANE_BITS | (uint64_t)lane;
    op->sends = sends;
    op->port = channel->port;
    op->peer = trv_member(comm, peer);
    op->tag = trv_peer_tag(comm, peer, sends, inner);
    op->data = data;
    op->bytes = bytes;
    op->fragment_bytes = comm->net->fragment;
    op->region = channel_region(channel, data);
    return trv_net_post(comm->net, op);
}

static int channel_send(void *context, int base, int slot, int peer, int tag, const void *data, size_t bytes)
{
    (void)base;
    return channel_post(context, slot, true, peer, tag, (void *)data, bytes);
}

static int channel_receive(void *context, int base, int slot, int peer, int tag, void *data, size_t bytes)
{
    (void)base;
    return channel_post(context, slot, false, peer, tag, data, bytes);
}

static int channel_test(void *context, int base, int slot)
{
    trv_channel_t *channel = context;
    (void)base;
    return trv_fabric_test(channel->comm->net->fabric, &channel->op[slot]);
}

static int channel_cancel(void *context, int base, int slot)
{
    trv_channel_t *channel = context;
    (void)base;
    trv_net_break(channel->comm->net); /* the last error is the reason */
    trv_fabric_cancel(channel->comm->net->fabric, &channel->op[slot]);
    return TRV_OK;
}

void trv_channel_init(trv_channel_t *channel, trv_net_comm_t *comm)
{
    *channel = (trv_channel_t){.comm = comm};
    channel->transport = (trv_transport_t){TRV_TRANSPORT,          .context = channel,       .open = channel_open,
                                           .close = channel_close, .send = channel_send,     .receive = channel_receive,
                                           .test = channel_test,   .cancel = channel_cancel, .port = channel_port};
}

int trv_channel_limit(trv_channel_t *channel)
{
    channel->run = calloc((size_t)channel->comm->size, sizeof *channel->run);
    return channel->run ? TRV_OK : trv_fail_memory();
}

int trv_channel_complete(trv_channel_t *channel, int code)
{
    const trv_net_comm_t *comm = channel->comm;
    int rc = code;
    trv_channel_unregister(channel, 0);
    trv_channel_unregister(channel, 1);
    for (int r = 0; channel->run && rc > 0 && r < comm->size; r++) {
        channel->awaited_rank = r;
        rc = trv_flow_test_run(comm->net, &channel->run[r], trv_member(comm, r));
    }
    return rc;
}

void trv_channel_describe(const trv_channel_t *channel, char *text, size_t size)
{
    snprintf(text, size, "rank %d has not received earlier calls", trv_member(channel->comm, channel->awaited_rank));
}

void trv_channel_clear(trv_channel_t *channel)
{
    for (int i = 0; i < 3; i++)
        trv_channel_unregister(channel, i);
    free(channel->run);
    free(channel->scratch);
    channel->run = NULL;
    channel->scratch = NULL;
}

void *trv_channel_scratch(void *context, size_t bytes)
{
    trv_channel_t *channel = context;
    if (bytes > channel->scratch_bytes) {
        trv_channel_unregister(channel, 2);
        free(channel->scratch);
        channel->scratch = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
        channel->scratch_bytes = channel->scratch ? bytes : 0;
        if (channel->scratch && trv_channel_register(channel, 2, channel->scratch, bytes) < 0)
            return NULL;
    }
    return channel->scratch;
}

int trv_channel_register(trv_channel_t *channel, int which, const void *data, size_t bytes)
{
    trv_fabric_t *fabric = channel->comm->net->fabric;
    if (!trv_fabric_registers(fabric) || bytes == 0)
        return TRV_OK;
    trv_channel_unregister(channel, which);
    int rc = trv_fabric_register(fabric, data, bytes, &channel->region[which]);
    channel->start[which] = rc == TRV_OK ? data : NULL;
    channel->bytes[which] = bytes;
    return rc;
}

void trv_channel_unregister(trv_channel_t *channel, int which)
{
    if (!channel->start[which])
        return;
    trv_fabric_unregister(channel->comm->net->fabric, &channel->region[which]);
    channel->start[which] = NULL;
}
