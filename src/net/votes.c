/*
 * The messages of an exchange between the ranks of a communicator (collective/group.h), over libfabric. They need no
 * flow control: an exchange completes on no rank before all ranks have begun it, so that a rank has at most one
 * incomplete exchange per active request.
 */
#include <stdlib.h>

#include "base/error.h"
#include "net/inside.h"

static int votes_post(void *context, int slot, bool sends, int peer, int lane, void *data, size_t bytes)
{
    trv_net_votes_t *votes = context;
    const trv_net_comm_t *comm = votes->comm;
    trv_fabric_op_t *op = &votes->op[slot];
    op->sends = sends;
    op->port = TRV_NO_PORT;
    op->peer = trv_member(comm, peer);
    op->tag = trv_peer_tag(comm, peer, sends, votes->inner | (uint64_t)lane);
    op->data = data;
    op->bytes = bytes;
    return trv_net_post(comm->net, op);
}

static int votes_test(void *context, int slot)
{
    trv_net_votes_t *votes = context;
    return trv_fabric_test(votes->comm->net->fabric, &votes->op[slot]);
}

void trv_net_votes_init(trv_net_votes_t *votes, trv_net_comm_t *comm, unsigned number)
{
    *votes = (trv_net_votes_t){.comm = comm, .inner = trv_collective_tag(false, number)};
    votes->group = (trv_group_t){comm->rank, comm->size, votes_post, votes_test, votes};
}

void trv_net_votes_clear(trv_net_votes_t *votes)
{
    for (int i = 0; i < TRV_EXCHANGE_SLOTS; i++)
        trv_fabric_op_clear(&votes->op[i]);
}
