/*
 * State of an operation signature on a communicator: the decision on its algorithm, and a pool of prepared plans. All
 * ranks agree on the decision of rank 0 (collective/agreement.h) in exchanges that are part of the first request with
 * this signature. Later requests use the decision, and a plan from the pool.
 */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/size_class.h"
#include "net/inside.h"
#include "base/text/parse.h"
#include "schedule/collective.h"

enum { CALL_TEXT_MAX = 128 };

static trv_instance_t *instance_of(const trv_request_t *request)
{
    return (trv_instance_t *)(void *)((char *)(void *)request - offsetof(trv_instance_t, request));
}

/* ---- Decisions --------------------------------------------------------------------------------------------------- */

static void entry_destroy(trv_cached_t *cached);

int trv_net_entry_create(trv_net_entry_t **created, trv_net_comm_t *comm, const trv_net_call_t *call, uint64_t bytes,
                         const char *requested)
{
    trv_net_entry_t *entry = calloc(1, sizeof *entry);
    if (!entry)
        return trv_fail_memory();
    entry->network = trv_comm_network(comm);
    trv_prepared_init(&entry->base, call->collective, call->root, INT_MAX, entry_destroy);
    entry->base.any_root = trv_any_root(&entry->network, call->collective);
    entry->comm = comm;
    entry->unequal = call->unequal;
    entry->is_barrier = call->is_barrier;
    entry->elements = call->elements;
    entry->element_size = trv_elements_size(&call->elements);
    entry->bytes = bytes;
    snprintf(entry->requested, sizeof entry->requested, "%s", requested);
    pthread_mutex_init(&entry->lock, NULL);
    *created = entry;
    return TRV_OK;
}

static trv_prepared_t *entry_create_at_root(void *context, trv_prepared_t *prepared, int root)
{
    const trv_net_entry_t *origin = context;
    const trv_net_call_t call = {.collective = prepared->collective,
                                 .root = root,
                                 .elements = origin->elements,
                                 .unequal = origin->unequal,
                                 .is_barrier = origin->is_barrier};
    trv_net_entry_t *entry;
    if (trv_net_entry_create(&entry, origin->comm, &call, origin->bytes, origin->requested) < 0)
        return NULL;
    entry->count = origin->count;
    trv_prepared_set_origin(&entry->base, prepared);
    return &entry->base;
}

trv_net_entry_t *trv_net_entry_at_root(trv_net_entry_t *entry, int root)
{
    if (entry->base.root == root)
        return entry;
    return (trv_net_entry_t *)(void *)trv_prepared_at_root(&entry->base, &entry->comm->roots, root,
                                                           entry_create_at_root, entry);
}

static const char *entry_title(const trv_net_entry_t *entry)
{
    return entry->is_barrier ? "Barrier" : trv_collective_shape(entry->base.collective)->title;
}

/* Describes the arguments that must be equal on all ranks, such as "Reduce of float with sum and root 3". Different
 * arguments have different texts, except that user-defined elements and reductions are not described. */
static void call_describe(const trv_net_entry_t *entry, char text[CALL_TEXT_MAX])
{
    const trv_collective_shape_t *shape = trv_collective_shape(entry->base.collective);
    const bool named = !entry->elements.reduce && !entry->is_barrier, reduces = named && shape->reduces;
    const int length = snprintf(text, CALL_TEXT_MAX, "%s%s%s%s%s%s", entry_title(entry),
                                entry->unequal ? " (a size per rank)" : "", named ? " of " : "",
                                named ? trv_type_name(entry->elements.type) : "", reduces ? " with " : "",
                                reduces ? trv_op_name(entry->elements.op) : "");
    if (trv_collective_has_root(entry->base.collective))
        snprintf(text + length, CALL_TEXT_MAX - (size_t)length, "%s root %d", reduces ? " and" : " with",
                 entry->base.root);
}

typedef struct trv_net_deciding {
    trv_agreement_t agreement;
    trv_net_votes_t votes;
    struct {
        trv_decision_t decision;
        char call[CALL_TEXT_MAX]; /* of rank 0; the other ranks compare theirs */
    } broadcast;
    bool failed; /* this rank has broken the net */
} deciding_t;

/* Compares the call of this rank with that of rank 0. Calls with different arguments may send messages of equal
 * lengths, so that no other check would detect the difference. */
static int call_compare(const trv_net_entry_t *entry)
{
    char here[CALL_TEXT_MAX], *there = entry->deciding->broadcast.call;
    call_describe(entry, here);
    there[CALL_TEXT_MAX - 1] = '\0';
    return strcmp(here, there) == 0
               ? TRV_OK
               : trv_fail(TRV_ERR_INVALID, "rank %d calls %s where rank %d calls %s",
                          trv_member(entry->comm, entry->comm->rank), here, trv_member(entry->comm, 0), there);
}

/* Logs the decision in the format of the MPI layer, which has further fields. */
static void decision_log(const trv_net_entry_t *entry)
{
    const trv_net_t *net = entry->comm->net;
    const trv_decision_t *decision = &entry->deciding->broadcast.decision;
    char line[TRV_ALGORITHM_NAME_MAX + TRV_CHOICE_REASON_MAX + 300], torus[TRV_TORUS_TEXT_MAX],
        bytes[TRV_BYTES_TEXT_MAX];
    if (!net->settings.info || !net->log || decision->code < 0)
        return;
    snprintf(line, sizeof line, "%d ranks, %s: %s, about %s: %s (%s)", entry->comm->size,
             trv_torus_format(&entry->network.torus, torus, sizeof torus), entry->deciding->broadcast.call,
             trv_format_bytes(entry->bytes, bytes), decision->algorithm, decision->reason);
    net->log(net->log_context, line);
}

static void deciding_free(deciding_t *deciding)
{
    if (deciding)
        trv_net_votes_clear(&deciding->votes);
    free(deciding);
}

/* Creates the schedule of the decision, or takes the user's, and compiles it. */
static int entry_compile(trv_net_entry_t *entry)
{
    const trv_plan_options_t options = {TRV_PLAN_OPTIONS, .scratch_allocate = trv_channel_scratch};
    const int rc = entry->base.schedule ? TRV_OK
                                        : trv_prepared_create_schedule(&entry->base, &entry->network, entry->base.root);
    return rc < 0 ? rc
                  : trv_prepared_compile(&entry->base, entry->comm->rank, entry->count, &entry->elements, &options);
}

/* Between the broadcast and the vote. */
static bool entry_prepare(void *context, int64_t word[TRV_VOTE_WORDS])
{
    trv_net_entry_t *entry = context;
    const trv_decision_t *decision = &entry->deciding->broadcast.decision;
    (void)word;
    memcpy(entry->base.algorithm, decision->algorithm, sizeof entry->base.algorithm);
    memcpy(entry->base.full_name, decision->full_name, sizeof entry->base.full_name);
    int rc = call_compare(entry);
    if (rc == TRV_OK)
        rc = entry_compile(entry);
    entry->deciding->failed = rc < 0;
    if (rc < 0)
        trv_net_break(entry->comm->net);
    return rc == TRV_OK;
}

/* A hash of the arguments that determine the signature. */
static uint64_t signature_hash(const trv_net_entry_t *entry)
{
    const trv_elements_t *elements = &entry->elements;
    const bool reduces = trv_collective_shape(entry->base.collective)->reduces && !elements->reduce;
    const uint64_t property[] = {elements->reduce ? UINT64_MAX : (uint64_t)elements->type,
                                 reduces ? (uint64_t)elements->op : UINT64_MAX, entry->unequal, entry->is_barrier,
                                 entry->element_size};
    return trv_hash(TRV_HASH_SEED, property, sizeof property);
}

int trv_net_entry_decide(trv_net_entry_t *entry, size_t count, const size_t *counts)
{
    trv_net_comm_t *comm = entry->comm;
    const size_t blocks_bytes = counts ? (size_t)comm->size * sizeof *counts : 0;
    entry->count = counts ? 0 : count;
    if (entry->base.schedule || comm->size == 1) {
        entry->decided = true;
        return comm->size == 1 ? TRV_OK : entry_compile(entry);
    }
    deciding_t *deciding = entry->deciding = calloc(1, sizeof *deciding);
    if (!deciding)
        return trv_fail_memory();
    if (comm->rank == 0) {
        trv_net_choose(entry, &deciding->broadcast.decision);
        call_describe(entry, deciding->broadcast.call);
        decision_log(entry);
    }
    const trv_vote_call_t call = {.collective = entry->base.collective,
                                  .root = entry->base.root,
                                  .signature = signature_hash(entry),
                                  .count = count,
                                  .bytes = entry->bytes,
                                  .element_bytes = entry->element_size,
                                  .blocks = counts ? trv_hash(TRV_HASH_SEED, counts, blocks_bytes) & TRV_WORD_MAX : 0};
    trv_net_votes_init(&deciding->votes, comm, atomic_fetch_add(&comm->calls, 1));
    trv_agreement_begin(&deciding->agreement, &deciding->broadcast.decision, sizeof deciding->broadcast, &call,
                        entry_prepare, entry);
    deciding->agreement.exchange.group = &deciding->votes.group;
    return TRV_OK;
}

/* Ends a complete agreement. The net breaks unless all ranks have the decision, which may be an error of rank 0. */
static int entry_end_agreement(trv_net_entry_t *entry)
{
    const trv_decision_t *decision = &entry->deciding->broadcast.decision;
    const trv_vote_result_t result = trv_agreement_result(&entry->deciding->agreement, entry->comm->size);
    const bool breaks = result == TRV_DIFFER || (result == TRV_UNABLE && decision->code == TRV_OK);
    const int rc = breaks ? trv_net_break(entry->comm->net) : 1;
    entry->code = decision->code;
    memcpy(entry->base.reason, decision->reason, sizeof entry->base.reason);
    deciding_free(entry->deciding);
    entry->deciding = NULL;
    entry->decided = true;
    return rc;
}

/* Progress of an entry that is not decided. */
static int entry_advance_decision(trv_net_entry_t *entry)
{
    deciding_t *deciding = entry->deciding;
    if (entry->base.origin) {
        const int rc = entry_compile(entry);
        entry->decided = true;
        if (rc < 0) /* other requests of this entry fail, too */
            snprintf(entry->base.reason, sizeof entry->base.reason, "%s", trv_last_error());
        entry->code = rc < 0 ? rc : TRV_OK;
        return rc < 0 ? trv_net_break(entry->comm->net) : 1;
    }
    const int rc = trv_exchange_advance(&deciding->agreement.exchange);
    if (rc < 0 || deciding->failed)
        return trv_net_break(entry->comm->net);
    return rc > 0 ? entry_end_agreement(entry) : 0;
}

/* Returns 1 when the decision is available, 0 before, and a negative code if there is no algorithm or the decision
 * failed. */
static int entry_advance(trv_net_entry_t *entry)
{
    int rc = entry->base.origin ? entry_advance((trv_net_entry_t *)(void *)entry->base.origin) : 1;
    if (rc <= 0)
        return rc;
    pthread_mutex_lock(&entry->lock);
    if (!entry->decided)
        rc = entry_advance_decision(entry);
    if (rc > 0 && entry->code < 0)
        rc = trv_fail(entry->code, "%s", entry->base.reason);
    pthread_mutex_unlock(&entry->lock);
    return rc;
}

void trv_instance_destroy(trv_pooled_t *pooled)
{
    trv_instance_t *instance = (trv_instance_t *)(void *)pooled;
    trv_plan_destroy(instance->plan); /* may cancel messages into the channel's scratch */
    trv_direct_destroy(instance->direct);
    trv_channel_clear(&instance->channel);
    trv_net_request_clear(&instance->request);
    free(instance->counts);
    free(instance);
}

static void entry_destroy(trv_cached_t *cached)
{
    trv_net_entry_t *entry = (trv_net_entry_t *)(void *)cached;
    trv_prepared_clear(&entry->base, trv_instance_destroy);
    deciding_free(entry->deciding);
    pthread_mutex_destroy(&entry->lock);
    free(entry);
}

void trv_net_entry_release(trv_net_entry_t *entry) { trv_cached_release(&entry->base.cached); }

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

static int instance_create_plan(trv_instance_t *instance)
{
    const trv_net_entry_t *entry = instance->entry;
    const int rc = (trv_collective_has_root(entry->base.collective) || entry->unequal) && !instance->channel.run
                       ? trv_channel_limit(&instance->channel)
                       : TRV_OK;
    return rc < 0 ? rc
                  : trv_prepared_create_plan(&entry->base, &instance->plan, &entry->elements,
                                             &instance->channel.transport, &instance->channel);
}

/* On a communicator of one rank every collective copies its input to its output. With blocks of different sizes, the
 * one block may be at a displacement, in the input of a Reduce-Scatter or in the output of an AllGather. */
static int instance_copy(const trv_instance_t *instance)
{
    const trv_collective_shape_t *shape = trv_collective_shape(instance->entry->base.collective);
    const size_t size = instance->entry->element_size;
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
    if (entry->unequal)
        return (holders == TRV_OWNER ? instance->counts[comm->rank] : instance->totals.extent) * entry->element_size;
    return instance->count * entry->element_size *
           trv_blocks_held(entry->base.collective, holders, comm->size, comm->rank == entry->base.root);
}

/* The bytes of the whole vector of the run. */
static size_t run_bytes(const trv_instance_t *instance)
{
    const trv_net_entry_t *entry = instance->entry;
    return entry->unequal
               ? instance->totals.all * entry->element_size
               : trv_vector_bytes(entry->base.collective, entry->element_size, instance->count, entry->comm->size);
}

/* Records the call in the flight recorder. Its algorithm is recorded when it starts. */
static void instance_record(trv_instance_t *instance)
{
    const trv_net_entry_t *entry = instance->entry;
    instance->call = trv_record_begin(entry->comm->recorder,
                                      entry->is_barrier ? "barrier"
                                                        : trv_collective_shape(entry->base.collective)->name,
                                      run_bytes(instance), entry->comm->size == 1 ? "copy" : "not decided", false);
}

/* Registers the buffers of the run, if the provider requires that. */
static int instance_register(trv_instance_t *instance)
{
    trv_channel_t *channel = &instance->channel;
    const trv_collective_shape_t *shape = trv_collective_shape(instance->entry->base.collective);
    if (!trv_fabric_registers(channel->comm->net->fabric))
        return TRV_OK;
    const int rc = trv_channel_register(channel, 0, instance->input, instance_bytes(instance, shape->before));
    return rc < 0 ? rc : trv_channel_register(channel, 1, instance->output, instance_bytes(instance, shape->after));
}

static int instance_start(trv_instance_t *instance)
{
    const trv_net_entry_t *entry = instance->entry;
    int rc = instance->plan ? TRV_OK : instance_create_plan(instance);
    if (rc < 0 || instance->only_create)
        return rc;
    instance->started = true;
    if (instance->call)
        trv_record_set_algorithm(entry->comm->recorder, instance->call, trv_schedule_name(entry->base.schedule));
    instance->channel.run_bytes = run_bytes(instance);
    rc = instance_register(instance);
    if (rc < 0)
        return rc;
    if (entry->unequal)
        return trv_plan_start_blocks(instance->plan, instance->counts, instance->displacements, instance->input,
                                     instance->output);
    return trv_plan_start_count(instance->plan, instance->count, instance->input, instance->output);
}

/* Ends a run that returned `rc`, and breaks the net if it has failed. */
static int instance_end(const trv_instance_t *instance, int rc)
{
    const trv_net_comm_t *comm = instance->request.comm;
    if (rc < 0)
        rc = trv_net_break(comm->net);
    trv_record_end(comm->recorder, instance->call, rc < 0 ? rc : TRV_OK);
    return rc;
}

static int instance_advance(trv_request_t *request)
{
    trv_instance_t *instance = instance_of(request);
    const trv_net_comm_t *comm = instance->request.comm;
    int rc;
    if (!instance->started) {
        rc = entry_advance(instance->entry);
        if (rc < 0)
            trv_record_end(comm->recorder, instance->call, rc);
        if (rc <= 0)
            return rc;
        if (comm->size == 1)
            return instance->only_create ? 1 : instance_end(instance, instance_copy(instance));
        rc = instance_start(instance);
        if (rc < 0)
            return instance_end(instance, rc);
        if (instance->only_create)
            return 1;
    }
    rc = instance->sent ? 1 : instance->direct ? trv_direct_test(instance->direct) : trv_plan_test(instance->plan);
    if (rc == 0)
        return 0;
    rc = trv_channel_complete(&instance->channel, rc);
    instance->sent = true;
    return rc == 0 ? 0 : instance_end(instance, rc);
}

/* Describes which rank the decision waits for. */
static void entry_describe(trv_net_entry_t *entry, char *text, size_t size)
{
    entry = entry->base.origin ? (trv_net_entry_t *)(void *)entry->base.origin : entry; /* which is decided */
    pthread_mutex_lock(&entry->lock);
    const int awaited = entry->deciding ? trv_exchange_awaited_rank(&entry->deciding->agreement.exchange) : -1;
    if (awaited >= 0)
        snprintf(text, size, "it waits for rank %d", trv_member(entry->comm, awaited));
    pthread_mutex_unlock(&entry->lock);
}

static void instance_describe(const void *request, char *text, size_t size)
{
    const trv_instance_t *instance = instance_of(request);
    const trv_net_comm_t *comm = instance->request.comm;
    if (instance->sent)
        trv_channel_describe(&instance->channel, text, size);
    else if (instance->direct)
        trv_direct_describe_as(instance->direct, comm->member, text, size);
    else if (instance->started && instance->plan)
        trv_plan_describe_as(instance->plan, comm->member, text, size);
    else
        entry_describe(instance->entry, text, size);
}

static const trv_request_kind_t instance_kind = {.advance = instance_advance,
                                                 .end = trv_net_request_end,
                                                 .describe = instance_describe};

static void instance_done(struct trv_net_request *request) { trv_instance_give(instance_of(&request->base)); }

void trv_instance_init(trv_instance_t *instance, trv_net_comm_t *comm, const char *what)
{
    trv_channel_init(&instance->channel, comm);
    trv_net_request_init(&instance->request, comm, what, &instance_kind, instance_done);
}

int trv_instance_take(trv_net_entry_t *entry, trv_instance_t **taken)
{
    trv_instance_t *instance = (trv_instance_t *)(void *)trv_pool_take(&entry->base.pool);
    if (!instance && !(instance = calloc(1, sizeof *instance)))
        return trv_fail_memory();
    trv_cached_hold(&entry->base.cached);
    if (!instance->entry) {
        instance->entry = entry;
        trv_instance_init(instance, entry->comm, entry_title(entry));
    }
    *taken = instance;
    return TRV_OK;
}

void trv_instance_give(trv_instance_t *instance)
{
    trv_net_entry_t *entry = instance->entry;
    trv_pool_t *pool = entry ? &entry->base.pool : &instance->request.comm->exchanges;
    if (!trv_pool_give(pool, &instance->pooled))
        trv_instance_destroy(&instance->pooled);
    if (entry)
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

/* The members are set before trv_net_request_begin, because from then on any thread may advance the request. */
void trv_instance_begin_creation(trv_instance_t *instance, size_t count)
{
    instance->started = instance->sent = false;
    instance->only_create = true;
    instance->count = count;
    instance->call = 0;
    trv_net_request_begin(&instance->request);
}

void trv_instance_begin(trv_instance_t *instance, uint64_t inner, const void *input, void *output, size_t count)
{
    instance->channel.inner = inner;
    instance->started = instance->only_create = instance->sent = false;
    instance->input = input;
    instance->output = output;
    instance->count = count;
    instance->call = 0;
    if (trv_recording)
        instance_record(instance);
    trv_net_request_begin(&instance->request);
}
