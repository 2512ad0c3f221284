/*
 * The executor's transport over the fabric, for MPI programs. A refusal is an empty message on every interface that the
 * peer may wait at. Nobody's memory is freed while the provider may still use it: of a send that its receiver never takes
 * the operation stays for good.
 */
#include "mpi/transport/over_fabric.h"

#include <stdlib.h>

#include "common/error.h"
#include "mpi/transport/inside.h"

#ifdef TRIVANCE_LIBFABRIC

#include "net/fabric/fabric.h"

static trv_fabric_t *(*_Atomic find_fabric)(MPI_Comm comm);

typedef struct refusal {
    trv_fabric_op_t op;
    struct refusal *next;
} refusal_t;

struct trv_mpi_over {
    trv_fabric_t *fabric;
    trv_fabric_op_t *op;
    struct over_slot {
        unsigned vain; /* polls */
        bool misses;   /* has seen that the peer has parted */
        bool drops;    /* it takes whatever comes */
        bool never;    /* nothing was posted for it */
        int outcome;   /* how it has ended, where that is known: TRV_REFUSED or an error */
    } * slot;
    int way, last; /* the port of the next message; the slot that was tested last */
    refusal_t *refusal;
    char nothing[8];
};

static uint64_t tag_of(const trv_mpi_channel_t *channel, int lane)
{
    return (uint64_t)channel->first_tag + (uint64_t)lane;
}

static int rank_of(trv_mpi_channel_t *channel, int peer)
{
    peer = channel->member ? channel->member[peer] : peer;
    channel->knows[peer / 8] |= (unsigned char)(1u << (peer % 8));
    return peer;
}

static bool is_pending(const trv_fabric_op_t *op) { return atomic_load(&op->state) == TRV_OP_PENDING; }

static void over_close(void *context, int base)
{
    trv_mpi_channel_t *channel = context;
    struct trv_mpi_over *over = channel->over;
    bool pending = false;
    (void)base;
    for (int i = 0; over->op && i < channel->slots; i++)
        pending = pending || is_pending(&over->op[i]);
    for (int i = 0; over->op && !pending && i < channel->slots; i++)
        trv_fabric_op_clear(&over->op[i]);
    if (!pending)
        free(over->op);
    while (over->refusal) {
        refusal_t *next = over->refusal->next;
        if (!is_pending(&over->refusal->op))
            free(over->refusal);
        over->refusal = next;
    }
    free(over->slot);
    free(channel->knows);
    over->op = NULL;
    over->slot = NULL;
    channel->knows = NULL;
    channel->open = false;
}

static int over_open(void *context, int requests, int tags, int *base)
{
    trv_mpi_channel_t *channel = context;
    struct trv_mpi_over *over = channel->over;
    if (!over)
        return trv_fail_memory();
    if (tags > TRV_MPI_LANE_TAGS)
        return trv_fail(TRV_ERR_UNSUPPORTED, "the plan needs %d message tags; there are %d for it", tags,
                        TRV_MPI_LANE_TAGS);
    PMPI_Comm_size(channel->comm, &channel->ranks);
    channel->slots = requests;
    channel->open = true;
    over->op = calloc((size_t)requests + 1, sizeof *over->op);
    over->slot = calloc((size_t)requests + 1, sizeof *over->slot);
    channel->knows = calloc((size_t)channel->ranks / 8 + 1, 1);
    *base = 0;
    if (over->op && over->slot && channel->knows)
        return TRV_OK;
    over_close(channel, 0);
    return trv_fail_memory();
}

static void over_port(void *context, int base, int port)
{
    trv_mpi_channel_t *channel = context;
    (void)base;
    channel->over->way = port;
}

static int post(trv_mpi_channel_t *channel, int at, bool sends, int peer, int lane, void *data, size_t bytes)
{
    struct trv_mpi_over *over = channel->over;
    trv_fabric_op_t *op = &over->op[at];
    over->slot[at] = (struct over_slot){.drops = !sends && bytes == 0, .never = bytes == 0 && (sends || channel->deaf)};
    op->sends = sends;
    op->way = over->way;
    op->peer = rank_of(channel, peer);
    op->tag = tag_of(channel, lane);
    op->data = bytes > 0 ? data : over->nothing;
    op->bytes = bytes;
    op->fragment = channel->piece_bytes;
    return over->slot[at].never ? TRV_OK : trv_fabric_post(over->fabric, op);
}

static int over_send(void *context, int base, int slot, int peer, int tag, const void *data, size_t bytes)
{
    (void)base;
    return post(context, slot, true, peer, tag, (void *)data, bytes);
}

static int over_receive(void *context, int base, int slot, int peer, int tag, void *data, size_t bytes)
{
    (void)base;
    return post(context, slot, false, peer, tag, data, bytes);
}

/* ---- Testing ----------------------------------------------------------------------------------------------------- */

static int over_cancel(void *context, int base, int at)
{
    trv_mpi_channel_t *channel = context;
    struct trv_mpi_over *over = channel->over;
    trv_fabric_op_t *op = &over->op[at];
    (void)base;
    if (over->slot[at].never)
        return TRV_OK;
    if (!op->sends)
        trv_fabric_cancel(over->fabric, op);
    for (int polls = 0; polls < SEND_POLLS_MAX && is_pending(op); polls++)
        trv_fabric_poll(over->fabric);
    return TRV_OK;
}

/* For a slot that waits in vain. A message may have come since the peer parted: a receive looks twice. */
static void look_around(trv_mpi_channel_t *channel, int at)
{
    struct over_slot *slot = &channel->over->slot[at];
    const trv_fabric_op_t *op = &channel->over->op[at];
    int parted = 0;
    PMPI_Iprobe(op->peer, channel->first_tag + PARTING, channel->comm, &parted, MPI_STATUS_IGNORE);
    if (!parted)
        return;
    if (op->sends) {
        slot->outcome = trv_fail(TRV_ERR_TRANSPORT,
                                 "rank %d has failed and ended this run; its own error has the reason", op->peer);
    } else if (slot->misses) {
        over_cancel(channel, 0, at);
        slot->outcome = TRV_REFUSED;
    }
    slot->misses = true;
}

static int over_test(void *context, int base, int at)
{
    trv_mpi_channel_t *channel = context;
    struct trv_mpi_over *over = channel->over;
    struct over_slot *slot = &over->slot[at];
    trv_fabric_op_t *op = &over->op[at];
    (void)base;
    if (slot->never)
        return op->sends ? 1 : TRV_REFUSED;
    int rc = trv_fabric_test(over->fabric, op);
    if (rc == 0 && at <= over->last) { /* one poll for a pass over all slots */
        trv_fabric_poll(over->fabric);
        rc = trv_fabric_test(over->fabric, op);
    }
    over->last = at;
    if (rc == 1 && slot->drops)
        return TRV_REFUSED;
    if (rc < 0 && !op->sends && atomic_load(&op->state) == TRV_OP_WRONG && op->got == 0 && !op->longer)
        return TRV_REFUSED;
    if (rc != 0)
        return rc;
    if (++slot->vain % PATIENCE == 0)
        look_around(channel, at);
    return slot->outcome;
}

/* ---- Refusing ---------------------------------------------------------------------------------------------------- */

static int refuse_at(trv_mpi_channel_t *channel, int peer, int lane, int way)
{
    struct trv_mpi_over *over = channel->over;
    refusal_t *refusal = calloc(1, sizeof *refusal);
    if (!refusal)
        return trv_fail_memory();
    refusal->next = over->refusal;
    over->refusal = refusal;
    refusal->op = (trv_fabric_op_t){.sends = true,
                                    .way = way,
                                    .peer = peer,
                                    .tag = tag_of(channel, lane),
                                    .data = over->nothing};
    return trv_fabric_post(over->fabric, &refusal->op);
}

static int over_refuse(void *context, int base, int peer, int lane)
{
    trv_mpi_channel_t *channel = context;
    const struct trv_mpi_over *over = channel->over;
    unsigned told = 0;
    int rc = TRV_OK;
    (void)base;
    peer = rank_of(channel, peer);
    for (int way = 0; rc == TRV_OK && way < TRV_WAYS; way++) {
        const unsigned there = 1u << trv_fabric_arrival(over->fabric, peer, way);
        if (!(told & there))
            rc = refuse_at(channel, peer, lane, way);
        told |= there;
    }
    return rc;
}

void trv_mpi_channel_over(trv_mpi_channel_t *channel)
{
    trv_fabric_t *(*find)(MPI_Comm) = atomic_load(&find_fabric);
    trv_fabric_t *fabric = find ? find(channel->comm) : NULL;
    if (!fabric)
        return;
    channel->over = calloc(1, sizeof *channel->over); /* NULL is told when it is opened */
    if (channel->over)
        channel->over->fabric = fabric;
    channel->transport = (trv_transport_t){TRV_TRANSPORT,       .context = channel,    .open = over_open,
                                           .close = over_close, .send = over_send,     .receive = over_receive,
                                           .test = over_test,   .cancel = over_cancel, .refuse = over_refuse,
                                           .port = over_port};
}

void trv_mpi_find_fabric(struct trv_fabric *(*find)(MPI_Comm comm)) { atomic_store(&find_fabric, find); }

#else

void trv_mpi_channel_over(trv_mpi_channel_t *channel) { (void)channel; }

void trv_mpi_find_fabric(struct trv_fabric *(*find)(MPI_Comm comm)) { (void)find; }

#endif
