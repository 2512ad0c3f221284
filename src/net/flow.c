/*
 * Flow of messages and broadcasts: a send is complete once it is at most WINDOW messages ahead of what its receiver has
 * taken, so that a slow one never has to keep more than that of each sender whose sends are complete. Every message is on
 * its way at once, since its receiver may ask for it before those in front: only completion waits.
 *
 *     sender    1 … 32   33 … 64   65 is sent, and completes when …
 *     receiver  takes 1 … 32: a credit, which is an empty message … it has come
 *
 * Broadcasts are counted by themselves, since all ranks come to them in one order: messages that nobody asks for before a
 * broadcast must not keep it. Other collectives need none of it: nobody gets more than a call ahead of a rank that has not
 * come yet.
 */
#include <stdlib.h>

#include "base/error.h"
#include "net/inside.h"

enum { WINDOW = 64, HALF = WINDOW / 2 };

/* A credit that is on its way. */
typedef struct credit {
    trv_fabric_op_t op;
    struct credit *next;
} credit_t;

struct trv_flow {
    uint64_t tag;           /* of its credits */
    uint64_t sent, credits; /* to the peer: messages, and how often it has taken HALF of them */
    uint64_t taken;         /* of the peer's */
    bool awaits;            /* a credit, by this operation */
    trv_fabric_op_t arrival;
    credit_t *credit;
    char nothing[8];
};

static trv_fabric_op_t credit_op(trv_flow_t *flow, int peer, bool sends)
{
    return (trv_fabric_op_t){.sends = sends, .way = TRV_NO_WAY, .peer = peer, .tag = flow->tag, .data = flow->nothing};
}

/* That of messages, or of broadcasts, between us and the peer. */
static trv_flow_t *find(trv_net_t *net, const trv_fabric_op_t *op)
{
    const bool broadcasts = op->tag & TRV_TAG_COLLECTIVE;
    const size_t at = 2 * (size_t)op->peer + broadcasts;
    if (!net->flow)
        net->flow = calloc(2 * (size_t)net->ranks, sizeof(trv_flow_t *));
    if (net->flow && !net->flow[at] && (net->flow[at] = calloc(1, sizeof *net->flow[at])))
        net->flow[at]->tag = TRV_TAG_CREDIT + broadcasts;
    return net->flow ? net->flow[at] : NULL;
}

static void forget(trv_flow_t *flow, bool all)
{
    for (credit_t **at = &flow->credit; *at;) {
        credit_t *credit = *at;
        if (!all && atomic_load(&credit->op.state) == TRV_OP_PENDING) {
            at = &credit->next;
            continue;
        }
        *at = credit->next;
        free(credit);
    }
}

/* A message of the peer's has been taken. */
static int take(trv_net_t *net, trv_flow_t *flow, int peer)
{
    if (++flow->taken % HALF != 0)
        return TRV_OK;
    forget(flow, false);
    credit_t *credit = calloc(1, sizeof *credit);
    if (!credit)
        return trv_fail_memory();
    credit->op = credit_op(flow, peer, true);
    credit->next = flow->credit;
    flow->credit = credit;
    return trv_fabric_post(net->fabric, &credit->op);
}

/* Whether that one of our messages is near enough to what the peer has taken: 1, 0, or an error. */
static int is_near(trv_net_t *net, trv_flow_t *flow, int peer, uint64_t number)
{
    int rc = 1;
    while (rc > 0 && flow->credits < flow->sent / HALF) {
        if (!flow->awaits) {
            flow->arrival = credit_op(flow, peer, false);
            rc = trv_fabric_post(net->fabric, &flow->arrival);
            flow->awaits = rc == TRV_OK;
        }
        if (flow->awaits)
            rc = trv_fabric_test(net->fabric, &flow->arrival);
        if (rc > 0) {
            flow->credits++;
            flow->awaits = false;
        }
    }
    return rc < 0 ? rc : number <= flow->credits * HALF + WINDOW;
}

int trv_flow_post(trv_net_t *net, trv_flow_op_t *op)
{
    op->number = 0;
    if (op->op.sends) {
        pthread_mutex_lock(&net->flow_lock);
        trv_flow_t *flow = find(net, &op->op);
        op->number = flow ? ++flow->sent : 0;
        pthread_mutex_unlock(&net->flow_lock);
        if (!flow)
            return trv_fail_memory();
    }
    return trv_fabric_post(net->fabric, &op->op);
}

int trv_flow_test(trv_net_t *net, trv_flow_op_t *op)
{
    const int peer = op->op.peer;
    int rc = trv_fabric_test(net->fabric, &op->op);
    if (rc <= 0 || (!op->op.sends && op->number > 0))
        return rc;
    pthread_mutex_lock(&net->flow_lock);
    trv_flow_t *flow = find(net, &op->op);
    if (!flow)
        rc = trv_fail_memory();
    else if (op->op.sends)
        rc = is_near(net, flow, peer, op->number);
    else
        rc = take(net, flow, peer);
    pthread_mutex_unlock(&net->flow_lock);
    if (op->op.sends || rc < 0)
        return rc;
    op->number = 1; /* it is counted */
    return 1;
}

void trv_flow_free(trv_net_t *net)
{
    for (int i = 0; net->flow && i < 2 * net->ranks; i++)
        if (net->flow[i]) {
            forget(net->flow[i], true);
            free(net->flow[i]);
        }
    free(net->flow);
    net->flow = NULL;
}
