/*
 * Blocking and non-blocking collectives. The communicator caches the state of the operation signatures used so far
 * (entry.c), in the order of their latest use.
 */
#include <stdint.h>

#include "base/error.h"
#include "base/size_class.h"
#include "net/inside.h"
#include "schedule/collective.h"

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

int trv_net_check_buffers(const trv_net_comm_t *comm, trv_collective_t collective, int root, size_t element_size,
                          size_t count, const void *input, const void *output)
{
    int rc = trv_count_check(collective, element_size, count, comm->size);
    return rc < 0 ? rc
                  : trv_buffers_check(collective, count * element_size, comm->size, comm->rank == root, input, output);
}

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

enum { ENTRIES_MAX = 256 }; /* in the cache of a communicator */

/* Finds or creates the state of a signature, and makes it the most recently used. *created is true if it was
 * created. */
static int entry_find(trv_net_comm_t *comm, const trv_net_call_t *call, uint64_t bytes, trv_net_entry_t **found,
                      bool *created)
{
    const bool reduces = trv_collective_shape(call->collective)->reduces;
    *created = false;
    for (trv_cache_entry_t **at = &comm->entries.first; *at; at = &(*at)->next) {
        trv_net_entry_t *entry = (trv_net_entry_t *)(void *)(*at)->object;
        if (entry->base.collective != call->collective || (entry->base.root != call->root && !entry->base.any_root) ||
            entry->unequal != call->unequal || entry->is_barrier != call->is_barrier || entry->bytes != bytes ||
            entry->elements.type != call->elements.type || (reduces && entry->elements.op != call->elements.op))
            continue;
        trv_cache_use(&comm->entries, at);
        *found = entry;
        return TRV_OK;
    }
    int rc = trv_net_entry_create(found, comm, call, bytes, comm->algorithm);
    if (rc < 0)
        return rc;
    trv_cache_add(&comm->entries, &(*found)->base.cached, ENTRIES_MAX);
    *created = true;
    return TRV_OK;
}

/* The size of a call: the bytes of the whole vector and, for blocks of different sizes, their totals. */
typedef struct call_size {
    uint64_t bytes;
    trv_block_totals_t totals;
} call_size_t;

/* Takes an instance of the signature; starts the decision if the signature is new. */
static int instance_take(trv_net_comm_t *comm, const trv_net_call_t *call, const call_size_t *size,
                         trv_instance_t **taken)
{
    trv_net_entry_t *entry;
    bool created;
    int rc = entry_find(comm, call, trv_size_class(size->bytes), &entry, &created);
    if (rc == TRV_OK)
        entry = trv_net_entry_at_root(entry, call->root);
    if (rc == TRV_OK)
        rc = entry ? trv_instance_take(entry, taken) : TRV_ERR_MEMORY;
    if (rc < 0)
        return rc;
    if (call->unequal)
        rc = trv_instance_set_blocks(*taken, call->counts, call->displacements, &size->totals);
    if (rc == TRV_OK && created)
        rc = trv_net_entry_decide(entry, call->unequal ? size->totals.all : call->count, call->counts);
    if (rc < 0)
        trv_instance_give(*taken);
    return rc;
}

/* Checks counts and buffers, and computes the size. */
static int call_check_size(const trv_net_comm_t *comm, const trv_net_call_t *call, call_size_t *size)
{
    const size_t element_size = trv_elements_size(&call->elements);
    if (!call->unequal) {
        size->bytes = trv_vector_bytes(call->collective, element_size, call->count, comm->size);
        return trv_net_check_buffers(comm, call->collective, call->root, element_size, call->count, call->input,
                                     call->output);
    }
    const trv_block_sizes_t blocks = {.collective = call->collective,
                                      .rank = comm->rank,
                                      .ranks = comm->size,
                                      .is_root = comm->rank == call->root,
                                      .element_size = element_size,
                                      .count = call->counts,
                                      .displacement = call->displacements};
    const int rc = trv_blocks_check(&blocks, NULL, &size->totals);
    size->bytes = (uint64_t)size->totals.all * element_size;
    return rc < 0 ? rc : trv_blocks_check_buffers(&blocks, size->totals.extent, call->input, call->output);
}

static int scheduled_start(trv_net_comm_t *comm, const trv_net_call_t *call, trv_instance_t **started)
{
    call_size_t size = {.bytes = 0};
    int rc = trv_elements_check(call->collective, &call->elements);
    if (rc == TRV_OK)
        rc = call_check_size(comm, call, &size);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&comm->lock);
    rc = trv_comm_await_sequence(comm);
    if (rc == TRV_OK)
        rc = instance_take(comm, call, &size, started);
    const unsigned number = atomic_fetch_add(&comm->calls, 1);
    if (rc == TRV_OK)
        trv_net_request_hold(&(*started)->request, number);
    pthread_mutex_unlock(&comm->lock);
    if (rc < 0)
        return trv_net_break(comm->net); /* the other ranks may already wait for this one */
    trv_instance_begin(*started, trv_collective_tag(false, number), call->input, call->output, call->count);
    return TRV_OK;
}

static int collective_start(trv_net_comm_t *comm, const trv_net_call_t *call, trv_instance_t **started)
{
    int rc = trv_comm_check(comm);
    if (rc == TRV_OK)
        rc = trv_collective_check(call->collective, call->root, comm->size);
    if (rc < 0)
        return rc;
    return call->is_direct ? trv_net_exchange_start(comm, call, started) : scheduled_start(comm, call, started);
}

static int collective_run(trv_net_comm_t *comm, const trv_net_call_t call)
{
    trv_instance_t *instance;
    int rc = collective_start(comm, &call, &instance);
    return rc < 0 ? rc : trv_net_request_run(&instance->request);
}

static int collective_run_later(trv_net_comm_t *comm, const trv_net_call_t call, trv_net_request_t *request)
{
    trv_instance_t *instance;
    int rc = trv_net_request_reset(request);
    if (rc == TRV_OK)
        rc = collective_start(comm, &call, &instance);
    if (rc == TRV_OK)
        *request = &instance->request;
    return rc;
}

/* ---- Public functions -------------------------------------------------------------------------------------------- */

static trv_net_call_t reduction(trv_collective_t collective, int root, const void *input, void *output, size_t count,
                                trv_type_t type, trv_op_t op)
{
    return (trv_net_call_t){collective, root, input, output, count, .elements = {.type = type, .op = op}};
}

static trv_net_call_t movement(trv_collective_t collective, int root, const void *input, void *output, size_t count,
                               trv_type_t type)
{
    return (trv_net_call_t){collective, root, input, output, count, .elements = {.type = type}};
}

int trv_net_allreduce(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type, trv_op_t op)
{
    return collective_run(comm, reduction(TRV_ALLREDUCE, 0, input, output, count, type, op));
}

int trv_net_allreduce_start(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type,
                            trv_op_t op, trv_net_request_t *request)
{
    return collective_run_later(comm, reduction(TRV_ALLREDUCE, 0, input, output, count, type, op), request);
}

int trv_net_reduce_scatter(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type,
                           trv_op_t op)
{
    return collective_run(comm, reduction(TRV_REDUCE_SCATTER, 0, input, output, count, type, op));
}

int trv_net_reduce_scatter_start(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type,
                                 trv_op_t op, trv_net_request_t *request)
{
    return collective_run_later(comm, reduction(TRV_REDUCE_SCATTER, 0, input, output, count, type, op), request);
}

int trv_net_allgather(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type)
{
    return collective_run(comm, movement(TRV_ALLGATHER, 0, input, output, count, type));
}

int trv_net_allgather_start(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type,
                            trv_net_request_t *request)
{
    return collective_run_later(comm, movement(TRV_ALLGATHER, 0, input, output, count, type), request);
}

static trv_net_call_t allgatherv_call(const void *input, void *output, const size_t *counts,
                                      const size_t *displacements, trv_type_t type)
{
    return (trv_net_call_t){.collective = TRV_ALLGATHER,
                            .input = input,
                            .output = output,
                            .elements = {.type = type},
                            .unequal = true,
                            .counts = counts,
                            .displacements = displacements};
}

int trv_net_allgatherv(trv_net_comm_t *comm, const void *input, void *output, const size_t *counts,
                       const size_t *displacements, trv_type_t type)
{
    return collective_run(comm, allgatherv_call(input, output, counts, displacements, type));
}

int trv_net_allgatherv_start(trv_net_comm_t *comm, const void *input, void *output, const size_t *counts,
                             const size_t *displacements, trv_type_t type, trv_net_request_t *request)
{
    return collective_run_later(comm, allgatherv_call(input, output, counts, displacements, type), request);
}

static trv_net_call_t reduce_scatterv_call(const void *input, void *output, const size_t *counts,
                                           const size_t *displacements, trv_type_t type, trv_op_t op)
{
    trv_net_call_t call = allgatherv_call(input, output, counts, displacements, type);
    call.collective = TRV_REDUCE_SCATTER;
    call.elements.op = op;
    return call;
}

int trv_net_reduce_scatterv(trv_net_comm_t *comm, const void *input, void *output, const size_t *counts,
                            const size_t *displacements, trv_type_t type, trv_op_t op)
{
    return collective_run(comm, reduce_scatterv_call(input, output, counts, displacements, type, op));
}

int trv_net_reduce_scatterv_start(trv_net_comm_t *comm, const void *input, void *output, const size_t *counts,
                                  const size_t *displacements, trv_type_t type, trv_op_t op, trv_net_request_t *request)
{
    return collective_run_later(comm, reduce_scatterv_call(input, output, counts, displacements, type, op), request);
}

int trv_net_reduce(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type, trv_op_t op,
                   int root)
{
    return collective_run(comm, reduction(TRV_REDUCE, root, input, output, count, type, op));
}

int trv_net_reduce_start(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type,
                         trv_op_t op, int root, trv_net_request_t *request)
{
    return collective_run_later(comm, reduction(TRV_REDUCE, root, input, output, count, type, op), request);
}

int trv_net_scatter(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type, int root)
{
    return collective_run(comm, movement(TRV_SCATTER, root, input, output, count, type));
}

int trv_net_scatter_start(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type,
                          int root, trv_net_request_t *request)
{
    return collective_run_later(comm, movement(TRV_SCATTER, root, input, output, count, type), request);
}

int trv_net_gather(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type, int root)
{
    return collective_run(comm, movement(TRV_GATHER, root, input, output, count, type));
}

int trv_net_gather_start(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type, int root,
                         trv_net_request_t *request)
{
    return collective_run_later(comm, movement(TRV_GATHER, root, input, output, count, type), request);
}

int trv_net_alltoall(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type)
{
    return collective_run(comm, movement(TRV_ALLTOALL, 0, input, output, count, type));
}

int trv_net_alltoall_start(trv_net_comm_t *comm, const void *input, void *output, size_t count, trv_type_t type,
                           trv_net_request_t *request)
{
    return collective_run_later(comm, movement(TRV_ALLTOALL, 0, input, output, count, type), request);
}

int trv_net_broadcast(trv_net_comm_t *comm, void *buffer, size_t bytes, int root)
{
    return collective_run(comm, movement(TRV_BROADCAST, root, buffer, buffer, bytes, TRV_UINT8));
}

int trv_net_broadcast_start(trv_net_comm_t *comm, void *buffer, size_t bytes, int root, trv_net_request_t *request)
{
    return collective_run_later(comm, movement(TRV_BROADCAST, root, buffer, buffer, bytes, TRV_UINT8), request);
}

/* A barrier is an AllReduce whose result is ignored. */
static trv_net_call_t barrier_call(void)
{
    static _Thread_local uint8_t byte;
    trv_net_call_t call = reduction(TRV_ALLREDUCE, 0, &byte, &byte, 1, TRV_UINT8, TRV_BOR);
    call.is_barrier = true;
    return call;
}

int trv_net_barrier(trv_net_comm_t *comm) { return collective_run(comm, barrier_call()); }

int trv_net_barrier_start(trv_net_comm_t *comm, trv_net_request_t *request)
{
    return collective_run_later(comm, barrier_call(), request);
}

/* ---- Public functions of direct exchanges ------------------------------------------------------------------------ */

static trv_net_call_t alltoallv_call(const void *input, const size_t *send_counts, const size_t *send_displacements,
                                     void *output, const size_t *receive_counts, const size_t *receive_displacements,
                                     trv_type_t type)
{
    return (trv_net_call_t){.is_direct = true,
                            .collective = TRV_ALLTOALL,
                            .elements = {.type = type},
                            .input = input,
                            .output = output,
                            .send = {send_counts, send_displacements},
                            .receive = {receive_counts, receive_displacements}};
}

int trv_net_alltoallv(trv_net_comm_t *comm, const void *input, const size_t *send_counts,
                      const size_t *send_displacements, void *output, const size_t *receive_counts,
                      const size_t *receive_displacements, trv_type_t type)
{
    return collective_run(comm, alltoallv_call(input, send_counts, send_displacements, output, receive_counts,
                                               receive_displacements, type));
}

int trv_net_alltoallv_start(trv_net_comm_t *comm, const void *input, const size_t *send_counts,
                            const size_t *send_displacements, void *output, const size_t *receive_counts,
                            const size_t *receive_displacements, trv_type_t type, trv_net_request_t *request)
{
    return collective_run_later(comm,
                                alltoallv_call(input, send_counts, send_displacements, output, receive_counts,
                                               receive_displacements, type),
                                request);
}

static trv_net_call_t gatherv_call(const trv_net_comm_t *comm, const void *input, size_t count, void *output,
                                   const size_t *counts, const size_t *displacements, trv_type_t type, int root)
{
    const bool is_root = comm && comm->rank == root;
    return (trv_net_call_t){.is_direct = true,
                            .collective = TRV_GATHER,
                            .root = root,
                            .elements = {.type = type},
                            .input = input,
                            .output = is_root ? output : NULL,
                            .receive = {is_root ? counts : NULL, displacements},
                            .count = count};
}

int trv_net_gatherv(trv_net_comm_t *comm, const void *input, size_t count, void *output, const size_t *counts,
                    const size_t *displacements, trv_type_t type, int root)
{
    return collective_run(comm, gatherv_call(comm, input, count, output, counts, displacements, type, root));
}

int trv_net_gatherv_start(trv_net_comm_t *comm, const void *input, size_t count, void *output, const size_t *counts,
                          const size_t *displacements, trv_type_t type, int root, trv_net_request_t *request)
{
    return collective_run_later(comm, gatherv_call(comm, input, count, output, counts, displacements, type, root),
                                request);
}

static trv_net_call_t scatterv_call(const trv_net_comm_t *comm, const void *input, const size_t *counts,
                                    const size_t *displacements, void *output, size_t count, trv_type_t type, int root)
{
    const bool is_root = comm && comm->rank == root;
    return (trv_net_call_t){.is_direct = true,
                            .collective = TRV_SCATTER,
                            .root = root,
                            .elements = {.type = type},
                            .input = is_root ? input : NULL,
                            .output = output,
                            .send = {is_root ? counts : NULL, displacements},
                            .count = count};
}

int trv_net_scatterv(trv_net_comm_t *comm, const void *input, const size_t *counts, const size_t *displacements,
                     void *output, size_t count, trv_type_t type, int root)
{
    return collective_run(comm, scatterv_call(comm, input, counts, displacements, output, count, type, root));
}

int trv_net_scatterv_start(trv_net_comm_t *comm, const void *input, const size_t *counts, const size_t *displacements,
                           void *output, size_t count, trv_type_t type, int root, trv_net_request_t *request)
{
    return collective_run_later(comm, scatterv_call(comm, input, counts, displacements, output, count, type, root),
                                request);
}
