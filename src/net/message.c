/*
 * Messages between two ranks, blocking and non-blocking: each is a request with one operation under flow control.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "net/inside.h"

typedef struct message {
    struct trv_net_request request; /* the first member, so that pointers to both can be converted */
    trv_flow_op_t op;
} message_t;

static int message_advance(trv_request_t *request)
{
    message_t *message = (message_t *)(void *)request;
    trv_net_t *net = message->request.comm->net;
    const int rc = trv_flow_test(net, &message->op);
    return rc < 0 ? trv_net_break(net) : rc;
}

static void message_describe(const void *request, char *text, size_t size)
{
    const message_t *message = request;
    snprintf(text, size, "its peer is rank %d", message->op.peer);
}

/* A receive may be posted long before its message is sent. */
static const trv_request_kind_t message_kind = {.advance = message_advance,
                                                .end = trv_net_request_end,
                                                .describe = message_describe,
                                                .only_awaited = true};

static void message_clear(struct trv_net_request *request)
{
    trv_fabric_op_clear(&((message_t *)request)->op.op);
    trv_net_request_clear(request);
}

static void message_free(struct trv_net_request *request)
{
    message_clear(request);
    free(request);
}

static int message_check(const trv_net_comm_t *comm, const void *data, size_t bytes, int peer, int tag)
{
    int rc = trv_comm_check(comm);
    if (rc < 0)
        return rc;
    if (peer < 0 || peer >= comm->size)
        return trv_fail(TRV_ERR_ARGUMENT, "the communicator has no rank %d; its ranks are 0 … %d", peer,
                        comm->size - 1);
    if (tag < 0 || tag > TRV_NET_TAG_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "a message cannot have the tag %d; tags are 0 … %d", tag, TRV_NET_TAG_MAX);
    if (bytes > 0 && !data)
        return trv_fail(TRV_ERR_ARGUMENT, "the buffer of %zu bytes is NULL", bytes);
    return TRV_OK;
}

/* Posts a message, whose arguments are valid. If that fails, `done` is called. */
static int message_begin(message_t *message, trv_net_comm_t *comm, bool sends, void *data, size_t bytes, int peer,
                         int tag, void (*done)(struct trv_net_request *))
{
    trv_net_request_init(&message->request, comm, sends ? "a send" : "a receive", &message_kind, done);
    message->op.op = (trv_fabric_op_t){.sends = sends,
                                       .port = TRV_NO_PORT,
                                       .peer = trv_member(comm, peer),
                                       .tag = trv_peer_tag(comm, peer, sends, (uint64_t)tag),
                                       .data = data,
                                       .limited = true,
                                       .bytes = bytes};
    int rc = trv_flow_post(comm->net, &message->op);
    if (rc == TRV_OK) {
        trv_net_request_begin(&message->request);
        return TRV_OK;
    }
    rc = trv_net_break(comm->net);
    done(&message->request);
    return rc;
}

static int message_run(trv_net_comm_t *comm, bool sends, void *data, size_t bytes, int peer, int tag)
{
    message_t message = {.op = {.number = 0}};
    int rc = message_check(comm, data, bytes, peer, tag);
    if (rc == TRV_OK)
        rc = message_begin(&message, comm, sends, data, bytes, peer, tag, message_clear);
    return rc < 0 ? rc : trv_net_request_run(&message.request);
}

static int message_start(trv_net_comm_t *comm, bool sends, void *data, size_t bytes, int peer, int tag,
                         trv_net_request_t *request)
{
    int rc = trv_net_request_reset(request);
    if (rc == TRV_OK)
        rc = message_check(comm, data, bytes, peer, tag);
    if (rc < 0)
        return rc;
    message_t *message = calloc(1, sizeof *message);
    rc = message ? message_begin(message, comm, sends, data, bytes, peer, tag, message_free) : trv_fail_memory();
    if (rc == TRV_OK)
        *request = &message->request;
    return rc;
}

int trv_net_send(trv_net_comm_t *comm, const void *data, size_t bytes, int peer, int tag)
{
    return message_run(comm, true, (void *)data, bytes, peer, tag);
}

int trv_net_receive(trv_net_comm_t *comm, void *data, size_t bytes, int peer, int tag)
{
    return message_run(comm, false, data, bytes, peer, tag);
}

int trv_net_send_start(trv_net_comm_t *comm, const void *data, size_t bytes, int peer, int tag,
                       trv_net_request_t *request)
{
    return message_start(comm, true, (void *)data, bytes, peer, tag, request);
}

int trv_net_receive_start(trv_net_comm_t *comm, void *data, size_t bytes, int peer, int tag, trv_net_request_t *request)
{
    return message_start(comm, false, data, bytes, peer, tag, request);
}
