/*
 * State of an operation signature and root on a communicator: the decision on its algorithm, and a pool of prepared
 * plans. Rank 0 makes the decision and sends it in a separate broadcast, which is part of the first request with this
 * signature. Later requests use the decision, and a plan from the pool.
 */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "net/inside.h"
#include "base/text/parse.h"
#include "schedule/collective.h"

enum { CALL_TEXT_MAX = 128 };

static trv_instance_t *instance_of(const struct trv_net_request *request)
{
    return (trv_instance_t *)(void *)((char *)(void *)request - offsetof(trv_instance_t, request));
}

/* ---- Decisions --------------------------------------------------------------------------------------------------- */

static void entry_destroy(trv_cached_t *cached);

int trv_net_entry_create(trv_net_entry_t **created, trv_net_comm_t *comm, trv_collective_t collective, int root,
                         bool unequal, const trv_elements_t *elements, uint64_t bytes, const char *requested)
{
    trv_net_entry_t *entry = calloc(1, sizeof *entry);
    if (!entry)
        return trv_fail_memory();
    entry->comm = comm;
    entry->collective = collective;
    entry->root = root;
    entry->unequal = unequal;
    entry->elements = *elements;
    entry->bytes = bytes;
    snprintf(entry->requested, sizeof entry->requested, "%s", requested);
    pthread_mutex_init(&entry->lock, NULL);
    trv_pool_init(&entry->pool, INT_MAX);
    trv_cached_init(&entry->cached, entry_destroy);
    *created = entry;
    return TRV_OK;
}

/* Fills in the arguments that must be equal on all ranks. User-defined elements and reductions are not compared. */
static void call_fill(const trv_net_entry_t *entry, trv_decision_message_t *call)
{
    const bool reduces = trv_collective_shape(entry->collective)->reduces && !entry->elements.reduce;
    call->collective = (int32_t)entry->collective;
    call->type = entry->elements.reduce ? -1 : (int32_t)entry->elements.type;
    call->op = reduces ? (int32_t)entry->elements.op : -1;
    call->root = trv_collective_has_root(entry->collective) ? entry->root : -1;
    call->unequal = entry->unequal;
}

/* Such as "Reduce of float with sum and root 3". */
static void call_describe(const trv_decision_message_t *call, char text[CALL_TEXT_MAX])
{
    const bool named = call->type >= 0, reduces = call->op >= 0;
    const int length = snprintf(text, CALL_TEXT_MAX, "%s%s%s%s%s%s",
                                trv_collective_shape((trv_collective_t)call->collective)->title,
                                call->unequal ? " (a size per rank)" : "", named ? " of " : "",
                                named ? trv_type_name((trv_type_t)call->type) : "", reduces ? " with " : "",
                                reduces ? trv_op_name((trv_op_t)call->op) : "");
    if (call->root >= 0)
        snprintf(text + length, CALL_TEXT_MAX - (size_t)length, "%s root %d", reduces ? " and" : " with", call->root);
}

/* Compares the call of this rank with that of rank 0. Calls with different arguments may send messages of equal
 * lengths, so that no other check would detect the difference. */
static int call_compare(const trv_net_entry_t *entry)
{
    trv_decision_message_t own = {.collective = 0};
    const trv_decision_message_t *first = &entry->broadcast;
    call_fill(entry, &own);
    if (own.collective == first->collective && own.type == first->type && own.op == first->op &&
        own.root == first->root && own.unequal == first->unequal)
        return TRV_OK;
    char here[CALL_TEXT_MAX], there[CALL_TEXT_MAX];
    call_describe(&own, here);
    call_describe(first, there);
    return trv_fail(TRV_ERR_INVALID, "rank %d calls %s where rank %d calls %s",
                    trv_member(entry->comm, entry->comm->rank), here, trv_member(entry->comm, 0), there);
}

/* Logs the decision in the format of the MPI layer, which has further fields. */
static void decision_log(const trv_net_entry_t *entry)
{
    const trv_net_t *net = entry->comm->net;
    const trv_decision_t *decision = &entry->broadcast.decision;
    char line[TRV_ALGORITHM_NAME_MAX + TRV_CHOICE_REASON_MAX + 300], call[CALL_TEXT_MAX], torus[TRV_TORUS_TEXT_MAX],
        bytes[TRV_BYTES_TEXT_MAX];
    if (!net->settings.info || !net->log || decision->code < 0)
        return;
    call_describe(&entry->broadcast, call);
    snprintf(line, sizeof line, "%d ranks, %s: %s, about %s: %s (%s)", entry->comm->size,
             trv_torus_format(&entry->comm->torus, torus, sizeof torus), call, trv_format_bytes(entry->bytes, bytes),
             decision->algorithm, decision->reason);
    net->log(net->log_context, line);
}

int trv_net_entry_decide(trv_net_entry_t *entry)
{
    trv_net_comm_t *comm = entry->comm;
    if (entry->schedule || comm->size == 1) {
        entry->decided = true;
        return TRV_OK;
    }
    if (comm->rank == 0) {
        trv_net_choose(entry, &entry->broadcast.decision);
        call_fill(entry, &entry->broadcast);
        decision_log(entry);
    }
    return trv_bcast_begin(&entry->bcast, comm, &entry->broadcast, sizeof entry->broadcast,
                           atomic_fetch_add(&comm->calls, 1));
}

static int decision_apply(trv_net_entry_t *entry)
{
    trv_decision_t *decision = &entry->broadcast.decision;
    entry->decided = true;
    decision->reason[sizeof decision->reason - 1] = decision->full_name[sizeof decision->full_name - 1] = '\0';
    decision->algorithm[sizeof decision->algorithm - 1] = '\0';
    int rc = call_compare(entry);
    if (rc < 0)
        return trv_net_break(entry->comm->net, rc);
    if (decision->code < 0)
        return TRV_OK;
    const trv_network_t network = trv_comm_network(entry->comm);
    rc = trv_schedule_create_on(&entry->owned_schedule, &network, decision->full_name, entry->collective, entry->root);
    entry->schedule = entry->owned_schedule;
    return rc < 0 ? trv_net_break(entry->comm->net, rc) : TRV_OK;
}

/* Returns 1 when the decision is available, 0 before, and a negative code if there is no algorithm or the decision
 * failed. */
static int entry_advance(trv_net_entry_t *entry)
{
    pthread_mutex_lock(&entry->lock);
    int rc = entry->decided ? 1 : trv_bcast_advance(&entry->bcast);
    if (rc > 0 && !entry->decided) {
        rc = decision_apply(entry);
        rc = rc < 0 ? rc : 1;
    }
    const trv_decision_t *decision = &entry->broadcast.decision;
    if (rc > 0 && decision->code < 0)
        rc = trv_fail(decision->code, "%s", decision->reason);
    pthread_mutex_unlock(&entry->lock);
    return rc;
}

static void instance_destroy(trv_instance_t *instance)
{
    trv_plan_destroy(instance->plan); /* may cancel messages into the channel's scratch */
    trv_channel_clear(&instance->channel);
    trv_request_clear(&instance->request);
    free(instance->counts);
    free(instance);
}

static void entry_destroy(trv_cached_t *cached)
{
    trv_net_entry_t *entry = (trv_net_entry_t *)(void *)cached;
    trv_pooled_t *pooled;
    while ((pooled = trv_pool_take(&entry->pool)) != NULL)
        instance_destroy((trv_instance_t *)(void *)pooled);
    trv_pool_clear(&entry->pool);
    trv_schedule_destroy(entry->owned_schedule);
    pthread_mutex_destroy(&entry->lock);
    free(entry);
}

void trv_net_entry_release(trv_net_entry_t *entry) { trv_cached_release(&entry->cached); }

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

static int instance_create_plan(trv_instance_t *instance)
{
    const trv_net_entry_t *entry = instance->entry;
    const int rc = (trv_collective_has_root(entry->collective) || entry->unequal) && !instance->channel.run
                       ? trv_channel_limit(&instance->channel)
                       : TRV_OK;
    if (rc < 0)
        return rc;
    const trv_plan_options_t options = {TRV_PLAN_OPTIONS, .scratch_allocate = trv_channel_scratch,
                                        .scratch_context = &instance->channel};
    return trv_plan_create(&instance->plan, entry->schedule, entry->comm->rank, instance->count, &entry->elements,
                           &instance->channel.transport, &options);
}

/* On a communicator of one rank every collective copies its input to its output. With blocks of different sizes, the
 * one block may be at a displacement, in the input of a Reduce-Scatter or in the output of an AllGather. */
static int instance_copy(const trv_instance_t *instance)
{
    const trv_collective_shape_t *shape = trv_collective_shape(instance->entry->collective);
    const size_t size = trv_elements_size(&instance->entry->elements);
    const size_t bytes = (instance->counts ? instance->counts[0] : instance->count) * size;
    const size_t offset = instance->counts && instance->displacements ? instance->displacements[0] * size : 0;
    const bool in_place = instance->output == instance->input;
    if (bytes == 0 || (in_place && shape->before == TRV_OWNER))
        return 1;
    const char *from = (const char *)instance->input + (shape->before == TRV_OWNER ? 0 : offset);
    memmove((char *)instance->output + (shape->after == TRV_OWNER ? 0 : offset), from, bytes);
    return 1;
}

/* The bytes of a buffer of the run, in which blocks have these holders. */
static size_t instance_bytes(const trv_instance_t *instance, trv_holders_t holders)
{
    const trv_net_entry_t *entry = instance->entry;
    const trv_net_comm_t *comm = entry->comm;
    const size_t size = trv_elements_size(&entry->elements);
    if (entry->unequal)
        return (holders == TRV_OWNER ? instance->counts[comm->rank] : instance->totals.extent) * size;
    return instance->count * size * trv_blocks_held(entry->collective, holders, comm->size, comm->rank == entry->root);
}

static int instance_start(trv_instance_t *instance)
{
    const trv_net_entry_t *entry = instance->entry;
    const trv_collective_shape_t *shape = trv_collective_shape(entry->collective);
    int rc = instance->plan ? TRV_OK : instance_create_plan(instance);
    if (rc < 0 || instance->only_create)
        return rc;
    instance->started = true;
    instance->channel.run_bytes = entry->unequal ? instance->totals.all * trv_elements_size(&entry->elements)
                                                 : trv_net_vector_bytes(entry->comm, entry->collective,
                                                                        &entry->elements, instance->count);
    rc = trv_channel_register(&instance->channel, 0, instance->input, instance_bytes(instance, shape->before));
    if (rc == TRV_OK)
        rc = trv_channel_register(&instance->channel, 1, instance->output, instance_bytes(instance, shape->after));
    if (rc < 0)
        return rc;
    if (entry->unequal)
        return trv_plan_start_blocks(instance->plan, instance->counts, instance->displacements, instance->input,
                                     instance->output);
    return trv_plan_start_count(instance->plan, instance->count, instance->input, instance->output);
}

static int instance_advance(struct trv_net_request *request)
{
    trv_instance_t *instance = instance_of(request);
    trv_net_t *net = request->comm->net;
    int rc;
    if (!instance->started) {
        rc = entry_advance(instance->entry);
        if (rc <= 0)
            return rc;
        if (request->comm->size == 1)
            return instance->only_create ? 1 : instance_copy(instance);
        rc = instance_start(instance);
        if (rc < 0)
            return trv_net_break(net, rc);
        if (instance->only_create)
            return 1;
    }
    rc = trv_plan_test(instance->plan);
    if (rc == 0)
        return 0;
    rc = trv_channel_complete(&instance->channel, rc);
    instance->sent = true;
    return rc < 0 ? trv_net_break(net, rc) : rc;
}

static void instance_describe(const struct trv_net_request *request, char *text, size_t size)
{
    const trv_instance_t *instance = instance_of(request);
    trv_net_entry_t *entry = instance->entry;
    if (instance->sent) {
        trv_channel_describe(&instance->channel, text, size);
        return;
    }
    if (instance->started && instance->plan) {
        trv_plan_describe_as(instance->plan, request->comm->member, text, size);
        return;
    }
    pthread_mutex_lock(&entry->lock);
    if (!entry->decided)
        trv_bcast_describe(&entry->bcast, text, size);
    pthread_mutex_unlock(&entry->lock);
}

static void instance_done(struct trv_net_request *request) { trv_instance_give(instance_of(request)); }

int trv_instance_take(trv_net_entry_t *entry, trv_instance_t **taken)
{
    trv_instance_t *instance = (trv_instance_t *)(void *)trv_pool_take(&entry->pool);
    if (!instance && !(instance = calloc(1, sizeof *instance)))
        return trv_fail_memory();
    trv_cached_hold(&entry->cached);
    if (!instance->entry) {
        instance->entry = entry;
        trv_channel_init(&instance->channel, entry->comm);
        trv_request_init(&instance->request, entry->comm, trv_collective_shape(entry->collective)->title,
                         instance_advance, instance_done);
        instance->request.describe = instance_describe;
    }
    *taken = instance;
    return TRV_OK;
}

void trv_instance_give(trv_instance_t *instance)
{
    trv_net_entry_t *entry = instance->entry;
    if (!trv_pool_give(&entry->pool, &instance->pooled))
        instance_destroy(instance);
    trv_net_entry_release(entry);
}

int trv_instance_set_blocks(trv_instance_t *instance, const size_t *counts, const size_t *displacements,
                            const trv_block_totals_t *totals)
{
    const size_t n = (size_t)instance->entry->comm->size;
    if (!instance->counts && !(instance->counts = malloc(2 * n * sizeof *counts)))
        return trv_fail_memory();
    memcpy(instance->counts, counts, n * sizeof *counts);
    instance->displacements = displacements ? instance->counts + n : NULL;
    if (displacements)
        memcpy(instance->displacements, displacements, n * sizeof *displacements);
    instance->totals = *totals;
    return TRV_OK;
}

/* The members are set before trv_request_begin, because from then on any thread may advance the request. */
void trv_instance_begin_creation(trv_instance_t *instance, size_t count)
{
    instance->started = instance->sent = false;
    instance->only_create = true;
    instance->count = count;
    trv_request_begin(&instance->request);
}

void trv_instance_begin(trv_instance_t *instance, uint64_t inner, const void *input, void *output, size_t count)
{
    instance->channel.inner = inner;
    instance->started = instance->only_create = instance->sent = false;
    instance->input = input;
    instance->output = output;
    instance->count = count;
    trv_request_begin(&instance->request);
}
