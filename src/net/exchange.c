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
static int register_buffers(trv_instance_t *exchange, const trv_net_call_t *call)
{
    const int ranks = exchange->channel.comm->size;
    const size_t size = trv_elements_size(&call->elements);
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

static int direct_start(const trv_instance_t *exchange, const trv_net_call_t *call)
{
    const size_t size = trv_elements_size(&call->elements);
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
static int exchange_begin(trv_instance_t *exchange, const trv_net_call_t *call)
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

int trv_net_exchange_start(trv_net_comm_t *comm, const trv_net_call_t *call, trv_instance_t **started)
{
    trv_instance_t *exchange;
    if (trv_type_size(call->elements.type) == 0)
        return trv_fail(TRV_ERR_ARGUMENT, "element type %d does not exist", (int)call->elements.type);
    pthread_mutex_lock(&comm->lock);
    int rc = exchange_take(comm, &exchange);
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
    return rc < 0 && rc != TRV_ERR_ARGUMENT ? trv_net_break(comm->net) : rc;
}
