/*
 * The executor's transport over libfabric, for MPI programs. If the receiver never accepts a send, its operation is
 * kept until the process ends, and `cancel` returns 1, because the provider may still read the send's buffer.
 */
#include "transport/mpi/fabric_channel.h"

#include <stdlib.h>

#include "base/abandon.h"
#include "base/error.h"
#include "transport/mpi/inside.h"

#ifdef TRIVANCE_LIBFABRIC

#include "transport/fabric/fabric.h"

static trv_fabric_t *(*_Atomic fabric_lookup)(MPI_Comm comm);

struct trv_mpi_fabric_channel {
    trv_fabric_t *fabric;
    trv_fabric_op_t *op;
    int port, last_tested; /* the port of the next message; the slot that was tested last */
    unsigned failed_tests; /* number of unsuccessful tests */
};

static bool is_pending(const trv_fabric_op_t *op) { return atomic_load(&op->state) == TRV_OP_PENDING; }

static void fabric_channel_close(void *context, int base)
{
    trv_mpi_channel_t *channel = context;
    struct trv_mpi_fabric_channel *by_fabric = channel->fabric_channel;
    bool pending = false;
    (void)base;
    for (int i = 0; by_fabric->op && i < channel->slots; i++)
        pending = pending || is_pending(&by_fabric->op[i]);
    for (int i = 0; by_fabric->op && !pending && i < channel->slots; i++)
        trv_fabric_op_clear(&by_fabric->op[i]);
    pending ? trv_abandon(by_fabric->op) : free(by_fabric->op);
    by_fabric->op = NULL;
}

static int fabric_channel_open(void *context, int requests, int tags, int *base)
{
    trv_mpi_channel_t *channel = context;
    struct trv_mpi_fabric_channel *by_fabric = channel->fabric_channel;
    if (!by_fabric)
        return trv_fail_memory();
    *base = 0;
    int rc = trv_mpi_channel_check_tags(tags);
    if (rc < 0)
        return rc;
    channel->slots = requests;
    by_fabric->op = calloc((size_t)requests + 1, sizeof *by_fabric->op);
    return by_fabric->op ? TRV_OK : trv_fail_memory();
}

static void fabric_channel_port(void *context, int base, int port)
{
    trv_mpi_channel_t *channel = context;
    (void)base;
    channel->fabric_channel->port = port;
}

static int fabric_channel_post(trv_mpi_channel_t *channel, int at, bool sends, int peer, int lane, void *data,
                               size_t bytes)
{
    struct trv_mpi_fabric_channel *by_fabric = channel->fabric_channel;
    trv_fabric_op_t *op = &by_fabric->op[at];
    op->sends = sends;
    op->way = by_fabric->port;
    op->peer = channel->member ? channel->member[peer] : peer;
    op->tag = (uint64_t)channel->first_tag + (uint64_t)lane;
    op->data = data;
    op->bytes = bytes;
    op->fragment = channel->fragment_bytes;
    channel->cancel_polls = 0;
    return trv_fabric_post(by_fabric->fabric, op);
}

static int fabric_channel_send(void *context, int base, int slot, int peer, int tag, const void *data, size_t bytes)
{
    (void)base;
    return fabric_channel_post(context, slot, true, peer, tag, (void *)data, bytes);
}

static int fabric_channel_receive(void *context, int base, int slot, int peer, int tag, void *data, size_t bytes)
{
    (void)base;
    return fabric_channel_post(context, slot, false, peer, tag, data, bytes);
}

/* ---- Testing ----------------------------------------------------------------------------------------------------- */

static int fabric_channel_cancel(void *context, int base, int at)
{
    trv_mpi_channel_t *channel = context;
    struct trv_mpi_fabric_channel *by_fabric = channel->fabric_channel;
    trv_fabric_op_t *op = &by_fabric->op[at];
    (void)base;
    if (!op->sends) {
        trv_fabric_cancel(by_fabric->fabric, op);
        return 0;
    }
    trv_fabric_abandon(by_fabric->fabric, op);
    for (; channel->cancel_polls < SEND_POLLS_MAX && is_pending(op); channel->cancel_polls++)
        trv_fabric_poll(by_fabric->fabric);
    return is_pending(op) ? 1 : 0;
}

static int fabric_channel_test(void *context, int base, int at)
{
    trv_mpi_channel_t *channel = context;
    struct trv_mpi_fabric_channel *by_fabric = channel->fabric_channel;
    trv_fabric_op_t *op = &by_fabric->op[at];
    (void)base;
    int rc = trv_fabric_test(by_fabric->fabric, op);
    if (rc == 0 && at <= by_fabric->last_tested) { /* a pass over all slots polls once */
        trv_fabric_poll(by_fabric->fabric);
        rc = trv_fabric_test(by_fabric->fabric, op);
    }
    by_fabric->last_tested = at;
    if (rc == 0 &&
        ++by_fabric->failed_tests % PROBE_INTERVAL == 0) { /* for MPI's progress on messages of the program */
        int pending;
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, channel->comm, &pending, MPI_STATUS_IGNORE);
    }
    return rc;
}

void trv_mpi_channel_use_fabric(trv_mpi_channel_t *channel)
{
    trv_fabric_t *(*find)(MPI_Comm) = atomic_load(&fabric_lookup);
    trv_fabric_t *fabric = find ? find(channel->comm) : NULL;
    if (!fabric)
        return;
    channel->fabric_channel = calloc(1, sizeof *channel->fabric_channel); /* NULL: fabric_channel_open reports it */
    if (channel->fabric_channel)
        channel->fabric_channel->fabric = fabric;
    channel->transport = (trv_transport_t){TRV_TRANSPORT,
                                           .context = channel,
                                           .open = fabric_channel_open,
                                           .close = fabric_channel_close,
                                           .send = fabric_channel_send,
                                           .receive = fabric_channel_receive,
                                           .test = fabric_channel_test,
                                           .cancel = fabric_channel_cancel,
                                           .port = fabric_channel_port};
}

void trv_mpi_channel_set_fabric_lookup(struct trv_fabric *(*find)(MPI_Comm comm))
{
    atomic_store(&fabric_lookup, find);
}

#else

void trv_mpi_channel_use_fabric(trv_mpi_channel_t *channel) { (void)channel; }

void trv_mpi_channel_set_fabric_lookup(struct trv_fabric *(*find)(MPI_Comm comm)) { (void)find; }

#endif
