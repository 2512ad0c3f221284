/*
 * Broadcasts along a binomial tree. With ranks relative to the root, the parent of a rank is the rank with the lowest
 * set bit cleared. An inner rank forwards the data when they have arrived completely.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "net/inside.h"

static int bcast_post(trv_bcast_t *bcast, trv_flow_op_t *op, bool sends, int peer)
{
    trv_net_comm_t *comm = bcast->comm;
    op->op = (trv_fabric_op_t){.sends = sends,
                               .port = TRV_NO_PORT,
                               .peer = trv_member(comm, peer),
                               .tag = trv_peer_tag(comm, peer, sends, bcast->inner),
                               .data = bcast->data,
                               .bytes = bcast->bytes};
    return trv_flow_post(comm->net, op);
}

int trv_bcast_begin(trv_bcast_t *bcast, trv_net_comm_t *comm, void *data, size_t bytes, int root, unsigned number)
{
    const int relative_rank = (comm->rank - root + comm->size) % comm->size;
    *bcast = (trv_bcast_t){.comm = comm,
                           .data = data,
                           .bytes = bytes,
                           .inner = trv_collective_tag(false, number),
                           .relative_rank = relative_rank,
                           .arrived = relative_rank == 0};
    /* Children in ascending order of distance; sends go in descending order, because the farthest has the largest
     * subtree. */
    for (int bit = 1; bit < comm->size && !(relative_rank & bit); bit *= 2)
        if (relative_rank + bit < comm->size)
            bcast->child[bcast->children++] = (relative_rank + bit + root) % comm->size;
    return relative_rank == 0
               ? TRV_OK
               : bcast_post(bcast, &bcast->up, false, ((relative_rank & (relative_rank - 1)) + root) % comm->size);
}

int trv_bcast_advance(trv_bcast_t *bcast)
{
    trv_net_t *net = bcast->comm->net;
    int rc = 1;
    if (!bcast->arrived) {
        bcast->awaited_rank = bcast->up.op.peer;
        rc = trv_flow_test(net, &bcast->up);
        if (rc <= 0)
            return rc;
        bcast->arrived = true;
    }
    while (bcast->posted < bcast->children) {
        const int i = bcast->posted++;
        rc = bcast_post(bcast, &bcast->down[i], true, bcast->child[bcast->children - 1 - i]);
        if (rc < 0)
            return rc;
    }
    rc = 1;
    for (int i = 0; rc > 0 && i < bcast->children; i++) {
        bcast->awaited_rank = bcast->down[i].op.peer;
        rc = trv_flow_test(net, &bcast->down[i]);
    }
    return rc;
}

void trv_bcast_describe(const trv_bcast_t *bcast, char *text, size_t size)
{
    snprintf(text, size, "it waits for rank %d", bcast->awaited_rank);
}

typedef struct broadcast {
    struct trv_net_request request;
    trv_bcast_t bcast;
} broadcast_t;

static int broadcast_advance(struct trv_net_request *request)
{
    const int rc = trv_bcast_advance(&((broadcast_t *)request)->bcast);
    return rc < 0 ? trv_net_break(request->comm->net, rc) : rc;
}

static void broadcast_describe(const struct trv_net_request *request, char *text, size_t size)
{
    trv_bcast_describe(&((const broadcast_t *)request)->bcast, text, size);
}

static void broadcast_free(struct trv_net_request *request)
{
    trv_request_clear(request);
    free(request);
}

int trv_net_broadcast_start(trv_net_comm_t *comm, void *buffer, size_t bytes, int root, trv_net_request_t *request)
{
    if (!request)
        return trv_fail(TRV_ERR_ARGUMENT, "the argument `request` is NULL; pass the address of a trv_net_request_t");
    *request = TRV_NET_REQUEST_NULL;
    int rc = trv_comm_check(comm);
    if (rc < 0)
        return rc;
    if (root < 0 || root >= comm->size)
        return trv_fail(TRV_ERR_ARGUMENT, "the communicator has no rank %d; its ranks are 0 … %d", root,
                        comm->size - 1);
    if (bytes > 0 && !buffer)
        return trv_fail(TRV_ERR_ARGUMENT, "the buffer of %zu bytes is NULL", bytes);
    broadcast_t *broadcast = calloc(1, sizeof *broadcast);
    if (!broadcast)
        return trv_fail_memory();
    trv_request_init(&broadcast->request, comm, "a broadcast", broadcast_advance, broadcast_free);
    broadcast->request.describe = broadcast_describe;
    rc = trv_bcast_begin(&broadcast->bcast, comm, buffer, bytes, root, atomic_fetch_add(&comm->calls, 1));
    if (rc < 0) {
        broadcast_free(&broadcast->request);
        return trv_net_break(comm->net, rc);
    }
    trv_request_begin(&broadcast->request);
    *request = &broadcast->request;
    return TRV_OK;
}

int trv_net_broadcast(trv_net_comm_t *comm, void *buffer, size_t bytes, int root)
{
    trv_net_request_t request;
    int rc = trv_net_broadcast_start(comm, buffer, bytes, root, &request);
    return rc < 0 ? rc : trv_net_wait(&request);
}
