/*
 * Flow control of messages and of collectives with a root: a send completes only when it is at most WINDOW messages
 * ahead of those that its receiver has received. Therefore a slow receiver buffers at most WINDOW unexpected messages
 * of completed sends per sender. Flow control delays the completion of a send only, not the message: the message is
 * sent at once, because the receiver may receive it before earlier ones.
 *
 * A receiver returns a credit, which is an empty message, after every HALF = WINDOW / 2 messages that it has received:
 *
 *     sender      sends 1 … 65    1 … 64 complete                           65 completes
 *     receiver                                    receives 1 … 32, sends credit
 *
 * The runs of collectives with a root, or with blocks of different sizes, are counted separately, because they may not
 * be delayed by messages that are not received before them. A run counts once for each rank to which it sends, whatever
 * the number of its messages, but HALF times if its vector (in a direct exchange: its message) is long, because the
 * receiver buffers unexpected messages; it completes when all its messages are sent and it is within the window. Other
 * collectives need no flow control: no rank can be more than one call ahead of another, because the result of a call
 * depends on all ranks.
 */
#include <stdlib.h>

#include "base/error.h"
#include "net/inside.h"

enum { WINDOW = 64, HALF = WINDOW / 2, LONG_BYTES = 1 << 20 };

struct trv_flow {
    uint64_t tag;           /* of credits */
    uint64_t sent, credits; /* messages or runs sent to the peer; credits received from it, one per HALF of them */
    uint64_t received;      /* messages or runs received from the peer */
    bool awaits_credit;     /* the receive `arrival` of the next credit is posted */
    trv_fabric_op_t arrival;
    trv_sent_t *credit; /* credits sent that may be in flight */
    char nothing[8];    /* buffer of the empty messages */
};

void trv_sent_free(trv_sent_t **list, bool all)
{
    while (*list) {
        trv_sent_t *sent = *list;
        if (!all && atomic_load(&sent->op.state) == TRV_OP_PENDING) {
            list = &sent->next;
            continue;
        }
        *list = sent->next;
        free(sent);
    }
}

static trv_fabric_op_t credit_op(trv_flow_t *flow, int peer, bool sends)
{
    return (
        trv_fabric_op_t){.sends = sends, .port = TRV_NO_PORT, .peer = peer, .tag = flow->tag, .data = flow->nothing};
}

/* The kinds of communication that are counted separately. */
typedef enum kind { MESSAGES, RUNS, KINDS } kind_t;

/* Returns the state of one kind of communication with the peer; NULL if memory is exhausted. */
static trv_flow_t *flow_find(trv_net_t *net, int peer, kind_t kind)
{
    const size_t at = KINDS * (size_t)peer + kind;
    if (!net->flow)
        net->flow = calloc(KINDS * (size_t)net->ranks, sizeof(trv_flow_t *));
    if (net->flow && !net->flow[at] && (net->flow[at] = calloc(1, sizeof *net->flow[at])))
        net->flow[at]->tag = TRV_TAG_CREDIT + kind;
    return net->flow ? net->flow[at] : NULL;
}

/* Counts a message or run received from the peer, with its weight of at most HALF, and sends a credit after every
 * HALF. */
static int flow_count_received(trv_net_t *net, trv_flow_t *flow, int peer, unsigned weight)
{
    const uint64_t before = flow->received / HALF;
    flow->received += weight;
    if (flow->received / HALF == before)
        return TRV_OK;
    trv_sent_free(&flow->credit, false);
    trv_sent_t *credit = calloc(1, sizeof *credit);
    if (!credit)
        return trv_fail_memory();
    credit->op = credit_op(flow, peer, true);
    credit->next = flow->credit;
    flow->credit = credit;
    return trv_net_post(net, &credit->op);
}

/* Receives the credits that have arrived. Returns 1 if the send or run with this number is within the window and may
 * complete, 0 if it is not, or an error. */
static int flow_is_in_window(trv_net_t *net, trv_flow_t *flow, int peer, uint64_t number)
{
    int rc = 1;
    while (rc > 0 && flow->credits < flow->sent / HALF) {
        if (!flow->awaits_credit) {
            flow->arrival = credit_op(flow, peer, false);
            rc = trv_net_post(net, &flow->arrival);
            flow->awaits_credit = rc == TRV_OK;
        }
        if (flow->awaits_credit)
            rc = trv_fabric_test(net->fabric, &flow->arrival);
        if (rc > 0) {
            flow->credits++;
            flow->awaits_credit = false;
        }
    }
    return rc < 0 ? rc : number <= flow->credits * HALF + WINDOW;
}

/* Counts a message or run sent to the peer. Returns its number; 0 if memory is exhausted. */
static uint64_t flow_count_sent(trv_net_t *net, int peer, kind_t kind, unsigned weight)
{
    pthread_mutex_lock(&net->flow_lock);
    trv_flow_t *flow = flow_find(net, peer, kind);
    const uint64_t number = flow ? flow->sent += weight : 0;
    pthread_mutex_unlock(&net->flow_lock);
    return number;
}

int trv_flow_post(trv_net_t *net, trv_flow_op_t *op)
{
    op->peer = op->op.peer;
    op->number = op->op.sends ? flow_count_sent(net, op->peer, MESSAGES, 1) : 0;
    return op->op.sends && op->number == 0 ? trv_fail_memory() : trv_net_post(net, &op->op);
}

int trv_flow_test(trv_net_t *net, trv_flow_op_t *op)
{
    const int peer = op->peer;
    int rc = trv_fabric_test(net->fabric, &op->op);
    if (rc <= 0 || (!op->op.sends && op->number > 0))
        return rc;
    pthread_mutex_lock(&net->flow_lock);
    trv_flow_t *flow = flow_find(net, peer, MESSAGES);
    if (!flow)
        rc = trv_fail_memory();
    else if (op->op.sends)
        rc = flow_is_in_window(net, flow, peer, op->number);
    else
        rc = flow_count_received(net, flow, peer, 1);
    pthread_mutex_unlock(&net->flow_lock);
    if (op->op.sends || rc < 0)
        return rc;
    op->number = 1; /* counted, so that a further test does not count it again */
    return 1;
}

int trv_flow_post_run(trv_net_t *net, trv_flow_run_t *run, size_t bytes, bool sends, int peer)
{
    const unsigned weight = bytes > LONG_BYTES ? HALF : 1;
    if (!sends) {
        run->receives = true;
        run->weight = weight;
    } else if (run->number == 0) {
        run->number = flow_count_sent(net, peer, RUNS, weight);
    }
    return sends && run->number == 0 ? trv_fail_memory() : TRV_OK;
}

int trv_flow_test_run(trv_net_t *net, trv_flow_run_t *run, int peer)
{
    if (!run->receives && run->number == 0)
        return 1;
    pthread_mutex_lock(&net->flow_lock);
    trv_flow_t *flow = flow_find(net, peer, RUNS);
    int rc = flow ? TRV_OK : trv_fail_memory();
    if (rc == TRV_OK && run->receives)
        rc = flow_count_received(net, flow, peer, run->weight);
    run->receives = false;
    if (rc == TRV_OK)
        rc = run->number > 0 ? flow_is_in_window(net, flow, peer, run->number) : 1;
    pthread_mutex_unlock(&net->flow_lock);
    if (rc > 0)
        run->number = 0;
    return rc;
}

void trv_flow_free(trv_net_t *net)
{
    for (int i = 0; net->flow && i < KINDS * net->ranks; i++)
        if (net->flow[i]) {
            trv_sent_free(&net->flow[i]->credit, true);
            free(net->flow[i]);
        }
    free(net->flow);
    net->flow = NULL;
}
