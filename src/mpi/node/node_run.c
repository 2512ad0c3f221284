/*
 * A run on a node. Each rank processes its chunks independently, as far as the counters of the other ranks allow;
 * trv_mpi_node_run_test performs the steps that are possible and returns. node_run.h describes the vectors.
 *
 *     step        ranks     action                                    condition
 *     contribute  those     copy a chunk of the input to the memory   the others no longer need the chunk two before it
 *                 with input
 *     reduce      all       SUM: add the inputs of all ranks, in      all ranks have contributed the chunk
 *                           this rank's part of the chunk
 *     collect     leader    copy the other ranks' parts of the sum,   these ranks have reduced the chunk, or
 *                           or their inputs, to `whole`               contributed it
 *     run_torus   leader    run the torus's schedule                  all chunks are collected (AllReduce: as far as
 *                                                                     they are)
 *     deliver     leader    copy its part of `result` to its output   the schedule is complete
 *     publish     leader    copy a chunk of `result` to the memory    it is final, and the others no longer need the
 *                                                                     chunk two before it
 *     fetch       others    copy a chunk of the result to the output  the leader has published it
 *
 * In an AllReduce and a Reduce of vectors a rank adds its own part of the input from its buffer, and does not copy it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mpi/node/node_run.h"
#include "execute/run/arguments.h"
#include "schedule/collective.h"

#define PART_BYTES_MIN    4096 /* minimum size of the part of a chunk that a rank reduces */
#define PROGRESS_INTERVAL 16   /* unsuccessful tests between two calls that let MPI make progress */

static uint64_t counter_value(const node_counter_t *counter)
{
    return atomic_load_explicit(&counter->value, memory_order_acquire);
}

static void counter_set(node_counter_t *counter, uint64_t value)
{
    atomic_store_explicit(&counter->value, value, memory_order_release);
}

/* The value of a counter after `done` of `total` chunks of a run. After the last one the buffers of all chunks of the
 * run are free. */
static uint64_t counter_after(const trv_mpi_node_run_t *run, uint64_t done, uint64_t total)
{
    return run->base + (done == total ? run->chunks : done);
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

/* A chunk of a vector of `count` elements. */
static part_t chunk_of(const trv_mpi_node_run_t *run, size_t count, uint64_t chunk)
{
    size_t first = (size_t)chunk * run->chunk_count, remaining = count - first;
    return (part_t){first, remaining < run->chunk_count ? remaining : run->chunk_count};
}

/* The part of a chunk that `rank` reduces, relative to the chunk's first element. The last ranks may have none. */
static part_t part_of(const trv_mpi_node_run_t *run, part_t chunk, int rank)
{
    size_t ranks = (size_t)run->node->ranks, part_min = (PART_BYTES_MIN + run->size - 1) / run->size;
    size_t each = (chunk.count + ranks - 1) / ranks;
    each = each < part_min ? part_min : each;
    size_t first = (size_t)rank * each < chunk.count ? (size_t)rank * each : chunk.count;
    size_t remaining = chunk.count - first;
    return (part_t){first, remaining < each ? remaining : each};
}

/* ---- Steps. Each returns 1 after it has processed a chunk, 0 if it must wait or has nothing to do, or an error --- */

typedef enum counter_kind { CONTRIBUTED, REDUCED, FETCHED } counter_kind_t;

static const node_counter_t *counter_of(const node_rank_t *rank, counter_kind_t what)
{
    return what == CONTRIBUTED ? &rank->contributed : what == REDUCED ? &rank->reduced : &rank->fetched;
}

/* Whether the counters `what` of all other ranks of the node are at least `chunks`. */
static bool others_have(const trv_mpi_node_run_t *run, counter_kind_t what, uint64_t chunks)
{
    const node_head_t *head = trv_mpi_node_head(run->node, run->slot);
    for (int r = 0; r < run->node->ranks; r++)
        if (r != run->node->rank && counter_value(counter_of(&head->rank[r], what)) < chunks)
            return false;
    return true;
}

/* The value that a counter must have before chunk `number` may overwrite the buffer of an earlier chunk. */
static uint64_t chunks_before_reuse(uint64_t number) { return number < NODE_CHUNKS ? 0 : number + 1 - NODE_CHUNKS; }

/* Copies a range of this rank's input, in node order. */
static void copy_input(const trv_mpi_node_run_t *run, char *to, part_t range)
{
    if (run->assembly != CONCATENATION && trv_collective_has_blocks(run->collective))
        trv_mpi_node_to_node_order(run, to, run->input, range);
    else
        memcpy(to, run->input + range.first * run->size, range.count * run->size);
}

/* Whether a rank adds its own part of the input from its buffer, where it is contiguous. */
static bool adds_from_buffer(const trv_mpi_node_run_t *run)
{
    return run->assembly == SUM && !(trv_collective_has_blocks(run->collective) && run->node->rank_at);
}

static int contribute(trv_mpi_node_run_t *run)
{
    const trv_mpi_node_t *node = run->node;
    uint64_t number = run->base + run->contributed;
    if (run->contributed == run->in_chunks || !others_have(run, REDUCED, chunks_before_reuse(number)))
        return 0;
    if (run->assembly == SUM && run->contributed - run->reduced == NODE_CHUNKS) /* this rank may add from the memory */
        return 0;
    part_t chunk = chunk_of(run, run->in_count, run->contributed), skipped = {chunk.count, 0};
    if (adds_from_buffer(run))
        skipped = part_of(run, chunk, node->rank);
    size_t after = skipped.first + skipped.count;
    char *to = trv_mpi_node_input(node, run->slot, node->rank, number);
    copy_input(run, to, (part_t){chunk.first, skipped.first});
    copy_input(run, to + after * run->size, (part_t){chunk.first + after, chunk.count - after});
    node_rank_t *mine = &trv_mpi_node_head(node, run->slot)->rank[node->rank];
    atomic_store_explicit(&mine->signature[number % NODE_CHUNKS], run->signature,
                          memory_order_relaxed); /* `contributed` publishes it */
    counter_set(&mine->contributed, number + 1);
    run->contributed++;
    return 1;
}

static int add(trv_mpi_node_run_t *run, char *to, size_t count)
{
    const trv_elements_t *elements = &run->elements;
    int ranks = run->node->ranks;
    return elements->reduce ? elements->reduce(elements->reduce_context, to, run->source, ranks, count)
                            : trv_reduce(elements->op, elements->type, to, run->source, ranks, count);
}

/* Compares the signature of a rank's run, which filled the buffer of chunk `number`, with that of this rank. `index`:
 * that of the rank on the node. */
static int compare_signature(const trv_mpi_node_run_t *run, const _Atomic uint64_t *signature, uint64_t number,
                             int index)
{
    const trv_mpi_node_t *node = run->node;
    const uint64_t other = atomic_load_explicit(&signature[number % NODE_CHUNKS], memory_order_relaxed);
    if (other == run->signature)
        return TRV_OK;
    const char *collective = trv_collective_shape(run->collective)->title;
    const int rank = trv_mpi_node_rank_of(node, node->coordinate, index), root = trv_mpi_node_run_find_root(run, other);
    const int own = trv_mpi_node_rank_of(node, node->coordinate, node->rank);
    if (root >= 0)
        return trv_fail(TRV_ERR_TRANSPORT,
                        "rank %d calls %s with the root %d, but rank %d, on the same node, with the root %d; all ranks "
                        "must pass the same",
                        rank, collective, root, own, trv_mpi_node_rank_of(node, run->root_node, run->root_index));
    return trv_fail(TRV_ERR_TRANSPORT,
                    "rank %d has another count, type or operation than rank %d, on the same node, which calls %s with "
                    "%zu elements of %zu bytes; all ranks must pass the same",
                    rank, own, collective, run->count, run->size);
}

/* Checks that the ranks of the node that contribute have started the same operation with the same count. The leader
 * calls it when they have contributed their first chunk, before any rank can receive a result. */
static int compare_inputs(const trv_mpi_node_run_t *run)
{
    const node_head_t *head = trv_mpi_node_head(run->node, run->slot);
    int code = TRV_OK;
    for (int r = 1; r < run->node->ranks && code == TRV_OK; r++)
        if (run->assembly != FROM_ROOT || r == run->root_index)
            code = compare_signature(run, head->rank[r].signature, run->base, r);
    return code;
}

static int reduce(trv_mpi_node_run_t *run)
{
    const trv_mpi_node_t *node = run->node;
    node_head_t *head = trv_mpi_node_head(node, run->slot);
    uint64_t number = run->base + run->reduced;
    if (run->reduced >= run->contributed)
        return 0;
    part_t chunk = chunk_of(run, run->in_count, run->reduced), own = part_of(run, chunk, node->rank);
    if (own.count > 0) {
        bool leads = node->rank == 0;
        if (!others_have(run, CONTRIBUTED, number + 1) ||
            (!leads && counter_value(&head->collected) < chunks_before_reuse(number)))
            return 0;
        int differs = leads && run->reduced == 0 ? compare_inputs(run) : TRV_OK;
        if (differs < 0)
            return differs;
        for (int r = 0; r < node->ranks; r++)
            run->source[r] = trv_mpi_node_input(node, run->slot, r, number) + own.first * run->size;
        size_t at = (chunk.first + own.first) * run->size;
        if (adds_from_buffer(run))
            run->source[node->rank] = run->input + at;
        char *sum = trv_mpi_node_sum(node, run->slot, number) + own.first * run->size;
        int code = add(run, leads ? run->whole + at : sum, own.count);
        if (code < 0)
            return code;
    }
    run->reduced++;
    counter_set(&head->rank[node->rank].reduced, counter_after(run, run->reduced, run->in_chunks));
    return 1;
}

static int collect_sums(trv_mpi_node_run_t *run)
{
    const trv_mpi_node_t *node = run->node;
    node_head_t *head = trv_mpi_node_head(node, run->slot);
    uint64_t number = run->base + run->collected;
    if (run->collected == run->reduced)
        return 0;
    part_t chunk = chunk_of(run, run->in_count, run->collected), own = part_of(run, chunk, 0);
    for (int r = 1; r < node->ranks; r++)
        if (part_of(run, chunk, r).count > 0 && counter_value(&head->rank[r].reduced) <= number)
            return 0;
    memcpy(run->whole + (chunk.first + own.count) * run->size,
           trv_mpi_node_sum(node, run->slot, number) + own.count * run->size, (chunk.count - own.count) * run->size);
    run->collected++;
    counter_set(&head->collected, counter_after(run, run->collected, run->in_chunks));
    return 1;
}

/* Copies a chunk of the input of every other rank, or of the root. */
static int collect_inputs(trv_mpi_node_run_t *run)
{
    const trv_mpi_node_t *node = run->node;
    node_head_t *head = trv_mpi_node_head(node, run->slot);
    uint64_t number = run->base + run->collected;
    const bool from_root = run->assembly == FROM_ROOT;
    const int first = from_root ? run->root_index : 1, end = from_root ? first + 1 : node->ranks;
    if (run->collected == run->in_chunks)
        return 0;
    for (int r = first; r < end; r++)
        if (counter_value(&head->rank[r].contributed) <= number)
            return 0;
    const int differs = run->collected == 0 ? compare_inputs(run) : TRV_OK;
    if (differs < 0)
        return differs;
    const part_t chunk = chunk_of(run, run->in_count, run->collected);
    for (int r = first; r < end; r++)
        trv_mpi_node_run_place(run, r, trv_mpi_node_input(node, run->slot, r, number), chunk);
    run->collected++;
    counter_set(&head->rank[0].reduced, counter_after(run, run->collected, run->in_chunks));
    return 1;
}

static int collect(trv_mpi_node_run_t *run) { return run->assembly == SUM ? collect_sums(run) : collect_inputs(run); }

/* The number of elements of the input up to the end of the collected chunks. */
static size_t collected_elements(const trv_mpi_node_run_t *run)
{
    if (run->collected == 0)
        return 0;
    part_t last = chunk_of(run, run->in_count, run->collected - 1);
    return last.first + last.count;
}

/* Runs the leaders' schedule; the input of an AllReduce is available up to the last collected chunk. */
static int run_torus(trv_mpi_node_run_t *run)
{
    const bool streams = run->collective == TRV_ALLREDUCE;
    if (run->torus_done || (!streams && run->collected < run->in_chunks))
        return 0;
    if (!run->torus_started) {
        int code = streams ? trv_plan_start_streamed(run->plan, run->plan_count, run->plan_input, run->plan_output)
                           : trv_plan_start_count(run->plan, run->plan_count, run->plan_input, run->plan_output);
        if (code < 0)
            return code;
        run->torus_started = true;
    }
    if (streams && run->collected > 0)
        trv_plan_input_ready(run->plan, collected_elements(run));
    int done = trv_plan_test(run->plan);
    run->torus_done = done != 0;
    return done;
}

static int deliver(trv_mpi_node_run_t *run)
{
    if (!run->torus_done || run->delivered)
        return 0;
    trv_mpi_node_run_deliver_own(run);
    run->delivered = true;
    return 1;
}

/* The number of elements of `result`, from the first on, that are final. The root's node has the vector of a Broadcast
 * before the schedule runs. */
static size_t final_elements(const trv_mpi_node_run_t *run)
{
    if (run->torus_done)
        return run->out_count;
    if (run->collective == TRV_BROADCAST && trv_mpi_node_has_root(run))
        return run->root_index == 0 ? run->out_count : collected_elements(run);
    return run->torus_started && !trv_collective_has_blocks(run->collective) ? trv_plan_output_ready(run->plan) : 0;
}

static int publish(trv_mpi_node_run_t *run)
{
    const trv_mpi_node_t *node = run->node;
    node_head_t *head = trv_mpi_node_head(node, run->slot);
    uint64_t number = run->base + run->finished;
    if (run->finished == run->out_chunks)
        return 0;
    part_t chunk = chunk_of(run, run->out_count, run->finished);
    if (final_elements(run) < chunk.first + chunk.count || !others_have(run, FETCHED, chunks_before_reuse(number)))
        return 0;
    trv_mpi_node_run_publish(run, trv_mpi_node_result(node, run->slot, number), chunk);
    atomic_store_explicit(&head->signature[number % NODE_CHUNKS], run->signature,
                          memory_order_relaxed); /* `ready` publishes it */
    counter_set(&head->ready, number + 1);
    run->finished++;
    return 1;
}

static int fetch(trv_mpi_node_run_t *run)
{
    const trv_mpi_node_t *node = run->node;
    node_head_t *head = trv_mpi_node_head(node, run->slot);
    uint64_t number = run->base + run->finished;
    if (run->finished == run->out_chunks || counter_value(&head->ready) <= number)
        return 0;
    int differs = compare_signature(run, head->signature, number, 0);
    if (differs < 0)
        return differs;
    part_t chunk = chunk_of(run, run->out_count, run->finished);
    trv_mpi_node_run_deliver(run, trv_mpi_node_result(node, run->slot, number), chunk);
    run->finished = chunk.first + chunk.count < run->wanted.first + run->wanted.count ? run->finished + 1
                                                                                      : run->out_chunks;
    counter_set(&head->rank[node->rank].fetched, counter_after(run, run->finished, run->out_chunks));
    return 1;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

/* The lowest free slot for a run that is not shared; NODE_SLOTS if there is none. */
static int find_free_slot(const trv_mpi_node_t *node)
{
    int slot = NODE_POSITIONS;
    while (slot < NODE_SLOTS && node->slot_used[slot])
        slot++;
    return slot;
}

bool trv_mpi_node_has_free_slot(const trv_mpi_node_t *node) { return find_free_slot(node) < NODE_SLOTS; }

int trv_mpi_node_run_create(trv_mpi_node_run_t **created, trv_mpi_node_t *node, const trv_mpi_node_call_t *call)
{
    int slot = call->shared ? 0 : find_free_slot(node);
    if (slot == NODE_SLOTS)
        return trv_fail(TRV_ERR_UNSUPPORTED, "the shared memory of a node supports %d plans at a time; free one",
                        NODE_SLOTS - NODE_POSITIONS);
    trv_mpi_node_run_t *run = calloc(1, sizeof *run);
    if (run)
        run->source = calloc((size_t)node->ranks, sizeof *run->source);
    if (!run || !run->source) {
        free(run);
        return trv_fail_memory();
    }
    node->slot_used[slot] = true;
    run->node = node;
    run->slot = slot;
    run->collective = call->collective;
    run->root_node = trv_mpi_node_coordinate_of(node, call->root);
    run->root_index = trv_mpi_node_index_of(node, call->root);
    run->elements = call->elements;
    run->size = trv_elements_size(&call->elements);
    run->chunk_count = TRV_MPI_NODE_CHUNK_BYTES / run->size;
    run->plan = call->plan;
    if (call->options)
        run->options = *call->options;
    *created = run;
    return TRV_OK;
}

void trv_mpi_node_run_destroy(trv_mpi_node_run_t *run)
{
    if (!run)
        return;
    if (run->slot >= NODE_POSITIONS)
        run->node->slot_used[run->slot] = false;
    trv_run_scratch_abandon(&run->scratch); /* of a run that has not ended: a message may still read it */
    trv_run_scratch_clear(&run->scratch);
    free(run->source);
    free(run);
}

void trv_mpi_node_run_set_position(trv_mpi_node_run_t *run, int position) { run->slot = position; }

/* Sets the counters of chunks that this rank does not process to their values after the run. */
static void skip_steps(trv_mpi_node_run_t *run)
{
    node_head_t *head = trv_mpi_node_head(run->node, run->slot);
    node_rank_t *mine = &head->rank[run->node->rank];
    const bool leads = run->node->rank == 0;
    run->contributed = run->contributes ? 0 : run->in_chunks;
    run->reduced = run->assembly == SUM ? 0 : run->in_chunks;
    run->collected = leads ? 0 : run->in_chunks;
    /* In an All-to-All the leader's part of the result, which no other rank fetches, is the first. */
    run->finished = leads                   ? run->assembly == INTERLEAVING ? run->wanted.count / run->chunk_count : 0
                    : run->wanted.count > 0 ? run->wanted.first / run->chunk_count
                                            : run->out_chunks;
    if (run->in_chunks == 0 || (run->assembly != SUM && !leads))
        counter_set(&mine->reduced, run->base + run->chunks);
    if (leads && (run->in_chunks == 0 || run->assembly != SUM))
        counter_set(&head->collected, run->base + run->chunks);
    if (!leads)
        counter_set(&mine->fetched, counter_after(run, run->finished, run->out_chunks));
}

int trv_mpi_node_run_start(trv_mpi_node_run_t *run, size_t count, const void *input, void *output)
{
    uint64_t *chunks = &run->node->chunks[run->slot];
    run->count = count;
    run->input = input;
    run->output = output;
    run->chunks = 0;
    const int code = count > 0 ? trv_mpi_node_run_prepare(run) : TRV_OK;
    run->base = *chunks;
    *chunks += run->chunks;
    run->torus_started = run->torus_done = false;
    if (run->chunks > 0 && code == TRV_OK)
        skip_steps(run);
    return code;
}

/* Ends the run after the error `code` on this rank, and returns that code. A message may still read the scratch
 * memory. */
static int run_fail(trv_mpi_node_run_t *run, int code)
{
    char reason[256];
    snprintf(reason, sizeof reason, "%s", trv_last_error()); /* trv_plan_cancel replaces the message */
    if (run->torus_started && !run->torus_done)
        trv_plan_cancel(run->plan);
    run->torus_done = true;
    trv_run_scratch_abandon(&run->scratch);
    return trv_fail(code, "%s", reason);
}

/* Performs each step once. Returns whether one of them processed a chunk, or an error. */
static int run_steps(trv_mpi_node_run_t *run)
{
    static int (*const leader[])(trv_mpi_node_run_t *) = {contribute, reduce,  collect, run_torus,
                                                          deliver,    publish, NULL};
    static int (*const other[])(trv_mpi_node_run_t *) = {contribute, reduce, fetch, NULL};
    bool progressed = false;
    for (int (*const *step)(trv_mpi_node_run_t *) = run->node->rank == 0 ? leader : other; *step; step++) {
        int code = (*step)(run);
        if (code < 0)
            return run_fail(run, code);
        progressed = progressed || code > 0;
    }
    return progressed;
}

/* The leader must also wait for its schedule: its last sends may be in flight when the whole result is published. */
static bool is_complete(const trv_mpi_node_run_t *run)
{
    if (run->chunks == 0)
        return true;
    return run->finished == run->out_chunks &&
           (run->node->rank == 0 ? run->torus_done && run->delivered
                                 : run->contributed == run->in_chunks && run->reduced == run->in_chunks);
}

int trv_mpi_node_run_test(trv_mpi_node_run_t *run)
{
    int progressed = 1, pending;
    while (progressed > 0 && !is_complete(run))
        progressed = run_steps(run);
    if (progressed < 0)
        return progressed;
    if (is_complete(run)) {
        trv_run_scratch_release(&run->scratch, &run->options);
        return 1;
    }
    if (run->idle++ % PROGRESS_INTERVAL == 0) /* MPI must also make progress on messages of the program */
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, run->node->comm, &pending, MPI_STATUS_IGNORE);
    return 0;
}

/* Lists, as " 1, 3", the ranks (indices on the node) that have contributed fewer than `chunks` chunks. */
static void list_missing(const trv_mpi_node_run_t *run, uint64_t chunks, char *text, size_t size)
{
    const node_head_t *head = trv_mpi_node_head(run->node, run->slot);
    size_t used = 0;
    text[0] = '\0';
    for (int r = 0; r < run->node->ranks && used + 16 < size; r++)
        if (r != run->node->rank && (run->assembly != FROM_ROOT || r == run->root_index) &&
            counter_value(&head->rank[r].contributed) < chunks)
            used += (size_t)snprintf(text + used, size - used, "%s%d", used ? ", " : " ", r);
}

void trv_mpi_node_run_describe(const trv_mpi_node_run_t *run, const int *name, char *text, size_t size)
{
    char missing[64];
    const uint64_t done = run->reduced < run->collected ? run->reduced : run->collected;
    const bool reducing = done < run->in_chunks;
    if (run->torus_started && !run->torus_done && run->collected == run->in_chunks) {
        trv_plan_describe_as(run->plan, name, text, size);
        return;
    }
    list_missing(run, run->base + done + 1, missing, sizeof missing);
    snprintf(text, size, "rank %d of its node, chunk %llu of %llu, waits for %s%s", run->node->rank,
             (unsigned long long)(reducing ? done : run->finished), (unsigned long long)run->chunks,
             reducing               ? "the inputs of the node's ranks"
             : run->node->rank == 0 ? "the node's ranks to copy the result"
                                    : "the result of its leader",
             reducing ? missing : "");
}
