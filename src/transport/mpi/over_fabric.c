/*
 * The executor's transport over libfabric, for MPI programs. If the receiver never accepts a send, its operation is
 * kept until the process ends, and `cancel` returns 1, because the provider may still read the send's buffer.
 */
#include "transport/mpi/over_fabric.h"

#include <stdlib.h>

#include "base/abandon.h"
#include "base/error.h"
#include "transport/mpi/inside.h"

#ifdef TRIVANCE_LIBFABRIC

#include "transport/fabric/fabric.h"

static trv_fabric_t *(*_Atomic find_fabric)(MPI_Comm comm);

struct trv_mpi_over {
    trv_fabric_t *fabric;
    trv_fabric_op_t *op;
    int port, last; /* the port of the next message; the slot that was tested last */
    unsigned vain;  /* number of unsuccessful tests */
};

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
    pending ? trv_abandon(over->op) : free(over->op);
    over->op = NULL;
}

static int over_open(void *context, int requests, int tags, int *base)
{
    trv_mpi_channel_t *channel = context;
    struct trv_mpi_over *over = channel->over;
    if (!over)
        return trv_fail_memory();
    *base = 0;
    int rc = trv_mpi_channel_check_tags(tags);
    if (rc < 0)
        return rc;
    channel->slots = requests;
    over->op = calloc((size_t)requests + 1, sizeof *over->op);
    return over->op ? TRV_OK : trv_fail_memory();
}

static void over_port(void *context, int base, int port)
{
    trv_mpi_channel_t *channel = context;
    (void)base;
    channel->over->port = port;
}

static int post(trv_mpi_channel_t *channel, int at, bool sends, int peer, int lane, void *data, size_t bytes)
{
    struct trv_mpi_over *over = channel->over;
    trv_fabric_op_t *op = &over->op[at];
    op->sends = sends;
    op->port = over->port;
    op->peer = channel->member ? channel->member[peer] : peer;
    op->tag = (uint64_t)channel->first_tag + (uint64_t)lane;
    op->data = data;
    op->bytes = bytes;
    op->fragment_bytes = channel->piece_bytes;
    channel->cancel_polls = 0;
    return trv_fabric_post(over->fabric, op);
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
    if (!op->sends) {
        trv_fabric_cancel(over->fabric, op);
        return 0;
    }
    trv_fabric_abandon(over->fabric, op);
    for (; channel->cancel_polls < SEND_POLLS_MAX && is_pending(op); channel->cancel_polls++)
        trv_fabric_poll(over->fabric);
    return is_pending(op) ? 1 : 0;
}

static int over_test(void *context, int base, int at)
{
    trv_mpi_channel_t *channel = context;
    struct trv_mpi_over *over = channel->over;
    trv_fabric_op_t *op = &over->op[at];
    (void)base;
    int rc = trv_fabric_test(over->fabric, op);
    if (rc == 0 && at <= over->last) { /* a pass over all slots polls once */
        trv_fabric_poll(over->fabric);
        rc = trv_fabric_test(over->fabric, op);
    }
    over->last = at;
    if (rc == 0 && ++over->vain % PATIENCE == 0) { /* for MPI's progress on messages of the program */
        int pending;
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, channel->comm, &pending, MPI_STATUS_IGNORE);
    }
    return rc;
}

void trv_mpi_channel_over(trv_mpi_channel_t *channel)
{
    trv_fabric_t *(*find)(MPI_Comm) = atomic_load(&find_fabric);
    trv_fabric_t *fabric = find ? find(channel->comm) : NULL;
    if (!fabric)
        return;
    channel->over = calloc(1, sizeof *channel->over); /* NULL: over_open reports it */
    if (channel->over)
        channel->over->fabric = fabric;
    channel->transport = (trv_transport_t){TRV_TRANSPORT,       .context = channel,    .open = over_open,
                                           .close = over_close, .send = over_send,     .receive = over_receive,
                                           .test = over_test,   .cancel = over_cancel, .port = over_port};
}

void trv_mpi_find_fabric(struct trv_fabric *(*find)(MPI_Comm comm)) { atomic_store(&find_fabric, find); }

#else

void trv_mpi_channel_over(trv_mpi_channel_t *channel) { (void)channel; }

void trv_mpi_find_fabric(struct trv_fabric *(*find)(MPI_Comm comm)) { (void)find; }

#endif
