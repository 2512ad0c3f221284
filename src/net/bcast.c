/*
 * Broadcasts of decisions from rank 0 along a binomial tree: the parent of a rank is the rank with the lowest set bit
 * cleared. An inner rank forwards the data when they have arrived completely. They cannot use a schedule, because a
 * schedule needs a decision.
 */
#include <stdio.h>

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

int trv_bcast_begin(trv_bcast_t *bcast, trv_net_comm_t *comm, void *data, size_t bytes, unsigned number)
{
    const int rank = comm->rank;
    *bcast = (trv_bcast_t){.comm = comm,
                           .data = data,
                           .bytes = bytes,
                           .inner = trv_collective_tag(false, number),
                           .arrived = rank == 0};
    /* Children in ascending order of distance; sends go in descending order, because the farthest has the largest
     * subtree. */
    for (int bit = 1; bit < comm->size && !(rank & bit); bit *= 2)
        if (rank + bit < comm->size)
            bcast->child[bcast->children++] = rank + bit;
    return rank == 0 ? TRV_OK : bcast_post(bcast, &bcast->up, false, rank & (rank - 1));
}

int trv_bcast_advance(trv_bcast_t *bcast)
{
    trv_net_t *net = bcast->comm->net;
    int rc = 1;
    if (!bcast->arrived) {
        bcast->awaited_rank = bcast->up.peer;
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
        bcast->awaited_rank = bcast->down[i].peer;
        rc = trv_flow_test(net, &bcast->down[i]);
    }
    return rc;
}

void trv_bcast_describe(const trv_bcast_t *bcast, char *text, size_t size)
{
    snprintf(text, size, "it waits for rank %d", bcast->awaited_rank);
}
