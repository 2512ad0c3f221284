/*
 * Collectives whose sizes only some ranks know, as direct exchanges (trv_direct_t): all-to-all, gather and scatter with
 * a size per rank. They need no decision. The messages of a start are posted at once, in the calling thread. A
 * communicator keeps the exchanges that no request uses.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "net/inside.h"
#include "schedule/collective.h"

/* Arguments of a call. Blocks are only those of the root, except in an all-to-all. */
typedef struct call {
    trv_collective_t collective;
    int root;
    trv_type_t type;
    const void *input;
    void *output;
    trv_direct_blocks_t send, receive;
    size_t count;
} call_t;

/* ---- Instances --------------------------------------------------------------------------------------------------- */

void trv_exchanges_clear(trv_net_comm_t *comm)
{
    trv_pooled_t *pooled;
    while ((pooled = trv_pool_take(&comm->exchanges)) != NULL)
        trv_instance_destroy(pooled);
    trv_pool_clear(&comm->exchanges);
}

/* The caller holds comm->lock, which protects the torus. */
static int exchange_take(trv_net_comm_t *comm, trv_instance_t **taken)
{
    trv_instance_t *exchange;
    while ((*taken = exchange = (trv_instance_t *)(void *)trv_pool_take(&comm->exchanges)) != NULL) {
        if (exchange->torus_version == comm->torus_version)
            return TRV_OK;
        trv_instance_destroy(&exchange->pooled);
    }
    exchange = calloc(1, sizeof *exchange);
    if (!exchange)
        return trv_fail_memory();
    trv_instance_init(exchange, comm, "");
    exchange->torus_version = comm->torus_version;
    const trv_plan_options_t options = {TRV_PLAN_OPTIONS, .scratch_allocate = trv_channel_scratch,
                                        .scratch_context = &exchange->channel};
    int rc = trv_channel_limit(&exchange->channel);
    if (rc == TRV_OK)
        rc = trv_direct_create(&exchange->direct, &comm->torus, comm->rank, &exchange->channel.transport, &options);
    if (rc < 0)
        trv_instance_destroy(&exchange->pooled);
    else
        *taken = exchange;
    return rc;
}

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

/* The bytes of a buffer of blocks or, without these, of `count` elements; 0 if they exceed the address space, which
 * direct_start reports. */
static size_t buffer_bytes(const trv_direct_blocks_t *blocks, size_t count, int ranks, size_t size)
{
    trv_range_t place = {0, 0};
    size_t extent = 0;
    if (!blocks->count)
        return count <= SIZE_MAX / 4 / size ? count * size : 0;
    for (int r = 0; r < ranks; r++) {
        if (trv_block_place(blocks->count, blocks->displacement, r, size, &place) < 0)
            return 0;
        extent = blocks->count[r] > 0 && place.end > extent ? place.end : extent;
    }
    return extent * size;
}

/* Registers the buffers. In place there is only one, and the sizes of the other one are not read. */
static int register_buffers(trv_instance_t *exchange, const call_t *call)
{
    const int ranks = exchange->channel.comm->size;
    const size_t size = trv_type_size(call->type);
    const bool in_place = call->input == call->output, scatters = call->collective == TRV_SCATTER;
    int rc = TRV_OK;
    if (ranks == 1)
        return rc;
    if (call->input && (!in_place || scatters))
        rc = trv_channel_register(&exchange->channel, 0, call->input,
                                  buffer_bytes(&call->send, call->count, ranks, size));
    if (rc == TRV_OK && call->output && (!in_place || !scatters))
        rc = trv_channel_register(&exchange->channel, 1, call->output,
                                  buffer_bytes(&call->receive, call->count, ranks, size));
    return rc;
}

static int direct_start(const trv_instance_t *exchange, const call_t *call)
{
    const size_t size = trv_type_size(call->type);
    switch (call->collective) {
    case TRV_GATHER:
        return trv_direct_start_gather(exchange->direct, call->root, size, call->input, call->count, call->output,
                                       &call->receive);
    case TRV_SCATTER:
        return trv_direct_start_scatter(exchange->direct, call->root, size, call->input, &call->send, call->output,
                                        call->count);
    default:
        return trv_direct_start_alltoall(exchange->direct, size, call->input, &call->send, call->output,
                                         &call->receive);
    }
}

/* Starts the exchange with the number of the next call, which is only used if it starts: a call with invalid arguments
 * sends nothing and may be repeated. The caller holds comm->lock. */
static int exchange_begin(trv_instance_t *exchange, const call_t *call)
{
    trv_net_comm_t *comm = exchange->channel.comm;
    exchange->request.what = trv_collective_shape(call->collective)->title;
    exchange->started = true;
    exchange->sent = false;
    int rc = trv_comm_await_sequence(comm);
    const unsigned number = atomic_load(&comm->calls);
    exchange->channel.inner = trv_collective_tag(false, number);
    if (rc == TRV_OK)
        rc = register_buffers(exchange, call);
    if (rc == TRV_OK)
        rc = direct_start(exchange, call);
    if (rc == TRV_OK) {
        atomic_fetch_add(&comm->calls, 1);
        trv_net_request_hold(&exchange->request, number);
        return rc;
    }
    trv_channel_unregister(&exchange->channel, 0);
    trv_channel_unregister(&exchange->channel, 1);
    return rc;
}

static int exchange_start(trv_net_comm_t *comm, const call_t *call, trv_instance_t **started)
{
    int rc = trv_comm_check(comm);
    if (rc == TRV_OK)
        rc = trv_collective_check(call->collective, call->root, comm->size);
    if (rc == TRV_OK && trv_type_size(call->type) == 0)
        rc = trv_fail(TRV_ERR_ARGUMENT, "element type %d does not exist", (int)call->type);
    if (rc < 0)
        return rc;
    trv_instance_t *exchange;
    pthread_mutex_lock(&comm->lock);
    rc = exchange_take(comm, &exchange);
    const bool taken = rc == TRV_OK;
    if (taken)
        rc = exchange_begin(exchange, call);
    pthread_mutex_unlock(&comm->lock);
    *started = exchange;
    if (rc == TRV_OK)
        trv_net_request_begin(&exchange->request);
    else if (taken && rc == TRV_ERR_ARGUMENT)
        trv_instance_give(exchange);
    else if (taken)
        trv_instance_destroy(&exchange->pooled);
    return rc < 0 && rc != TRV_ERR_ARGUMENT ? trv_net_break(comm->net, rc) : rc;
}

static int exchange_run(trv_net_comm_t *comm, const call_t call)
{
    trv_instance_t *exchange;
    int rc = exchange_start(comm, &call, &exchange);
    return rc < 0 ? rc : trv_net_request_run(&exchange->request);
}

static int exchange_run_later(trv_net_comm_t *comm, const call_t call, trv_net_request_t *request)
{
    trv_instance_t *exchange;
    int rc = trv_net_request_reset(request);
    if (rc == TRV_OK)
        rc = exchange_start(comm, &call, &exchange);
    if (rc == TRV_OK)
        *request = &exchange->request;
    return rc;
}

/* ---- Public functions -------------------------------------------------------------------------------------------- */

static call_t alltoallv_call(const void *input, const size_t *send_counts, const size_t *send_displacements,
                             void *output, const size_t *receive_counts, const size_t *receive_displacements,
                             trv_type_t type)
{
    return (call_t){.collective = TRV_ALLTOALL,
                    .type = type,
                    .input = input,
                    .output = output,
                    .send = {send_counts, send_displacements},
                    .receive = {receive_counts, receive_displacements}};
}

int trv_net_alltoallv(trv_net_comm_t *comm, const void *input, const size_t *send_counts,
                      const size_t *send_displacements, void *output, const size_t *receive_counts,
                      const size_t *receive_displacements, trv_type_t type)
{
    return exchange_run(comm, alltoallv_call(input, send_counts, send_displacements, output, receive_counts,
                                             receive_displacements, type));
}

int trv_net_alltoallv_start(trv_net_comm_t *comm, const void *input, const size_t *send_counts,
                            const size_t *send_displacements, void *output, const size_t *receive_counts,
                            const size_t *receive_displacements, trv_type_t type, trv_net_request_t *request)
{
    return exchange_run_later(comm,
                              alltoallv_call(input, send_counts, send_displacements, output, receive_counts,
                                             receive_displacements, type),
                              request);
}

static call_t gatherv_call(const trv_net_comm_t *comm, const void *input, size_t count, void *output,
                           const size_t *counts, const size_t *displacements, trv_type_t type, int root)
{
    const bool is_root = comm && comm->rank == root;
    return (call_t){.collective = TRV_GATHER,
                    .root = root,
                    .type = type,
                    .input = input,
                    .output = is_root ? output : NULL,
                    .receive = {is_root ? counts : NULL, displacements},
                    .count = count};
}

int trv_net_gatherv(trv_net_comm_t *comm, const void *input, size_t count, void *output, const size_t *counts,
                    const size_t *displacements, trv_type_t type, int root)
{
    return exchange_run(comm, gatherv_call(comm, input, count, output, counts, displacements, type, root));
}

int trv_net_gatherv_start(trv_net_comm_t *comm, const void *input, size_t count, void *output, const size_t *counts,
                          const size_t *displacements, trv_type_t type, int root, trv_net_request_t *request)
{
    return exchange_run_later(comm, gatherv_call(comm, input, count, output, counts, displacements, type, root),
                              request);
}

static call_t scatterv_call(const trv_net_comm_t *comm, const void *input, const size_t *counts,
                            const size_t *displacements, void *output, size_t count, trv_type_t type, int root)
{
    const bool is_root = comm && comm->rank == root;
    return (call_t){.collective = TRV_SCATTER,
                    .root = root,
                    .type = type,
                    .input = is_root ? input : NULL,
                    .output = output,
                    .send = {is_root ? counts : NULL, displacements},
                    .count = count};
}

int trv_net_scatterv(trv_net_comm_t *comm, const void *input, const size_t *counts, const size_t *displacements,
                     void *output, size_t count, trv_type_t type, int root)
{
    return exchange_run(comm, scatterv_call(comm, input, counts, displacements, output, count, type, root));
}

int trv_net_scatterv_start(trv_net_comm_t *comm, const void *input, const size_t *counts, const size_t *displacements,
                           void *output, size_t count, trv_type_t type, int root, trv_net_request_t *request)
{
    return exchange_run_later(comm, scatterv_call(comm, input, counts, displacements, output, count, type, root),
                              request);
}
