/*
 * An AllReduce on a node. Each rank processes its chunks independently, as far as the counters of the other ranks
 * allow; trv_mpi_node_run_test performs the steps that are possible and returns.
 *
 *     step        ranks     action                                    condition
 *     contribute  all       copy a chunk of the input to the memory,  the others have reduced the chunk two before it
 *                           except the part that this rank reduces
 *     reduce      all       add the inputs of all ranks, in this      all ranks have contributed the chunk
 *                           rank's part of the chunk
 *     collect     leader    copy the sums of the other ranks' parts   these ranks have reduced the chunk
 *     run_torus   leader    run the torus's schedule on the vector    as far as chunks are collected
 *     publish     leader    copy a chunk of the result to the memory  it is final, and all ranks have fetched the chunk
 *                                                                     two before it
 *     fetch       others    copy a chunk of the result to the output  the leader has published it
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "mpi/node/memory.h"

#define PART_BYTES_MIN    4096 /* minimum size of the part of a chunk that a rank reduces */
#define PROGRESS_INTERVAL 16   /* unsuccessful tests between two calls that let MPI make progress */

struct trv_mpi_node_run {
    trv_mpi_node_t *node;
    int slot;
    trv_elements_t elements;
    size_t size, count, chunk_count; /* bytes of an element; elements of the vector; elements of a chunk */
    uint64_t chunks;
    trv_plan_t *plan;
    const void **source; /* scratch memory: the inputs of all ranks of the node, for the kernels */
    unsigned idle;       /* number of unsuccessful tests */

    uint64_t base; /* the number of this run's first chunk in its slot */
    const char *input;
    char *output;
    /* Chunks of this run after each step; finished: published or fetched. */
    uint64_t contributed, reduced, collected, finished;
    bool torus_started, torus_done;
};

/* A part of the vector, in elements. */
typedef struct part {
    size_t first, count;
} part_t;

static uint64_t counter_value(const node_counter_t *counter)
{
    return atomic_load_explicit(&counter->value, memory_order_acquire);
}

static void counter_set(node_counter_t *counter, uint64_t value)
{
    atomic_store_explicit(&counter->value, value, memory_order_release);
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

static part_t chunk_of(const trv_mpi_node_run_t *run, uint64_t chunk)
{
    size_t first = (size_t)chunk * run->chunk_count, remaining = run->count - first;
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

/* A hash of the count and the operation signature, which must be the same on all ranks of the node. */
static uint64_t signature_of(const trv_mpi_node_run_t *run)
{
    const trv_elements_t *elements = &run->elements;
    const bool own = elements->reduce != NULL;
    const uint64_t property[] = {run->count, run->size, own, own ? 0 : (uint64_t)elements->type,
                                 own ? 0 : (uint64_t)elements->op};
    return trv_hash(TRV_HASH_SEED, property, sizeof property);
}

static int contribute(trv_mpi_node_run_t *run)
{
    const trv_mpi_node_t *node = run->node;
    uint64_t number = run->base + run->contributed;
    if (run->contributed == run->chunks || !others_have(run, REDUCED, chunks_before_reuse(number)))
        return 0;
    part_t chunk = chunk_of(run, run->contributed), own = part_of(run, chunk, node->rank);
    size_t after_own = own.first + own.count;
    char *to = trv_mpi_node_input(node, run->slot, node->rank, number);
    const char *from = run->input + chunk.first * run->size;
    memcpy(to, from, own.first * run->size);
    memcpy(to + after_own * run->size, from + after_own * run->size, (chunk.count - after_own) * run->size);
    node_rank_t *mine = &trv_mpi_node_head(node, run->slot)->rank[node->rank];
    if (run->contributed == 0)
        atomic_store_explicit(&mine->signature, signature_of(run),
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

/* Checks that all ranks of the node started the same operation with the same count. The leader calls it when all ranks
 * have contributed their first chunk, before any rank can receive a result. */
static int compare_signatures(const trv_mpi_node_run_t *run)
{
    const node_head_t *head = trv_mpi_node_head(run->node, run->slot);
    for (int r = 1; r < run->node->ranks; r++)
        if (atomic_load_explicit(&head->rank[r].signature, memory_order_relaxed) != signature_of(run))
            return trv_fail(TRV_ERR_TRANSPORT,
                            "rank %d of the node has a different count, type or operation from rank 0 of the node, "
                            "which has %zu elements of %zu bytes",
                            r, run->count, run->size);
    return TRV_OK;
}

static int reduce(trv_mpi_node_run_t *run)
{
    const trv_mpi_node_t *node = run->node;
    node_head_t *head = trv_mpi_node_head(node, run->slot);
    uint64_t number = run->base + run->reduced;
    if (run->reduced == run->contributed)
        return 0;
    part_t chunk = chunk_of(run, run->reduced), own = part_of(run, chunk, node->rank);
    if (own.count > 0) {
        bool leads = node->rank == 0;
        if (!others_have(run, CONTRIBUTED, number + 1) ||
            (!leads && counter_value(&head->collected) < chunks_before_reuse(number)))
            return 0;
        int differs = leads && run->reduced == 0 ? compare_signatures(run) : TRV_OK;
        if (differs < 0)
            return differs;
        for (int r = 0; r < node->ranks; r++)
            run->source[r] = trv_mpi_node_input(node, run->slot, r, number) + own.first * run->size;
        size_t at = (chunk.first + own.first) * run->size;
        run->source[node->rank] = run->input + at;
        char *sum = trv_mpi_node_sum(node, run->slot, number) + own.first * run->size;
        int code = add(run, leads ? run->output + at : sum, own.count);
        if (code < 0)
            return code;
    }
    counter_set(&head->rank[node->rank].reduced, number + 1);
    run->reduced++;
    return 1;
}

static int collect(trv_mpi_node_run_t *run)
{
    const trv_mpi_node_t *node = run->node;
    node_head_t *head = trv_mpi_node_head(node, run->slot);
    uint64_t number = run->base + run->collected;
    if (run->collected == run->reduced)
        return 0;
    part_t chunk = chunk_of(run, run->collected), own = part_of(run, chunk, 0);
    for (int r = 1; r < node->ranks; r++)
        if (part_of(run, chunk, r).count > 0 && counter_value(&head->rank[r].reduced) <= number)
            return 0;
    memcpy(run->output + (chunk.first + own.count) * run->size,
           trv_mpi_node_sum(node, run->slot, number) + own.count * run->size, (chunk.count - own.count) * run->size);
    counter_set(&head->collected, number + 1);
    run->collected++;
    return 1;
}

/* The number of elements up to the end of a chunk. */
static size_t end_of(const trv_mpi_node_run_t *run, uint64_t chunk)
{
    part_t part = chunk_of(run, chunk);
    return part.first + part.count;
}

/* Runs the leaders' schedule; its input is available up to the last collected chunk. */
static int run_torus(trv_mpi_node_run_t *run)
{
    if (run->torus_done)
        return 0;
    if (!run->torus_started) {
        int code = trv_plan_start_streamed(run->plan, run->count, run->output, run->output);
        if (code < 0)
            return code;
        run->torus_started = true;
    }
    if (run->collected > 0)
        trv_plan_input_ready(run->plan, end_of(run, run->collected - 1));
    int done = trv_plan_test(run->plan);
    run->torus_done = done != 0;
    return done;
}

static int publish(trv_mpi_node_run_t *run)
{
    const trv_mpi_node_t *node = run->node;
    uint64_t number = run->base + run->finished;
    if (run->finished == run->chunks || trv_plan_output_ready(run->plan) < end_of(run, run->finished) ||
        !others_have(run, FETCHED, chunks_before_reuse(number)))
        return 0;
    part_t chunk = chunk_of(run, run->finished);
    memcpy(trv_mpi_node_result(node, run->slot, number), run->output + chunk.first * run->size,
           chunk.count * run->size);
    counter_set(&trv_mpi_node_head(node, run->slot)->ready, number + 1);
    run->finished++;
    return 1;
}

static int fetch(trv_mpi_node_run_t *run)
{
    const trv_mpi_node_t *node = run->node;
    node_head_t *head = trv_mpi_node_head(node, run->slot);
    uint64_t number = run->base + run->finished;
    if (run->finished == run->chunks || counter_value(&head->ready) <= number)
        return 0;
    part_t chunk = chunk_of(run, run->finished);
    memcpy(run->output + chunk.first * run->size, trv_mpi_node_result(node, run->slot, number),
           chunk.count * run->size);
    counter_set(&head->rank[node->rank].fetched, number + 1);
    run->finished++;
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

int trv_mpi_node_run_create(trv_mpi_node_run_t **created, trv_mpi_node_t *node, const trv_elements_t *elements,
                            trv_plan_t *plan, bool shared)
{
    int slot = shared ? 0 : find_free_slot(node);
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
    run->elements = *elements;
    run->size = elements->element_size;
    run->chunk_count = TRV_MPI_NODE_CHUNK_BYTES / run->size;
    run->plan = plan;
    *created = run;
    return TRV_OK;
}

void trv_mpi_node_run_destroy(trv_mpi_node_run_t *run)
{
    if (!run)
        return;
    if (run->slot >= NODE_POSITIONS)
        run->node->slot_used[run->slot] = false;
    free(run->source);
    free(run);
}

void trv_mpi_node_run_set_position(trv_mpi_node_run_t *run, int position) { run->slot = position; }

void trv_mpi_node_run_start(trv_mpi_node_run_t *run, size_t count, const void *input, void *output)
{
    uint64_t *chunks = &run->node->chunks[run->slot];
    run->count = count;
    run->chunks = (count + run->chunk_count - 1) / run->chunk_count;
    run->base = *chunks;
    *chunks += run->chunks;
    run->input = input;
    run->output = output;
    run->contributed = run->reduced = run->collected = run->finished = 0;
    run->torus_started = run->torus_done = false;
}

/* Ends the run after the error `code` on this rank, and returns that code. */
static int run_fail(trv_mpi_node_run_t *run, int code)
{
    char reason[256];
    snprintf(reason, sizeof reason, "%s", trv_last_error()); /* trv_plan_cancel replaces the message */
    if (run->torus_started && !run->torus_done)
        trv_plan_cancel(run->plan);
    run->torus_done = true;
    return trv_fail(code, "%s", reason);
}

/* Performs each step once. Returns whether one of them processed a chunk, or an error. */
static int run_steps(trv_mpi_node_run_t *run)
{
    static int (*const leader[])(trv_mpi_node_run_t *) = {contribute, reduce, collect, run_torus, publish, NULL};
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
    return run->finished == run->chunks && (run->node->rank > 0 || run->torus_done || run->chunks == 0);
}

int trv_mpi_node_run_test(trv_mpi_node_run_t *run)
{
    int progressed = 1, pending;
    while (progressed > 0 && !is_complete(run))
        progressed = run_steps(run);
    if (progressed < 0 || is_complete(run))
        return progressed < 0 ? progressed : 1;
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
        if (r != run->node->rank && counter_value(&head->rank[r].contributed) < chunks)
            used += (size_t)snprintf(text + used, size - used, "%s%d", used ? ", " : " ", r);
}

void trv_mpi_node_run_describe(const trv_mpi_node_run_t *run, const int *name, char *text, size_t size)
{
    char missing[64];
    bool reducing = run->reduced < run->chunks;
    if (run->torus_started && !run->torus_done && run->collected == run->chunks) {
        trv_plan_describe_as(run->plan, name, text, size);
        return;
    }
    list_missing(run, run->base + run->reduced + 1, missing, sizeof missing);
    snprintf(text, size, "rank %d of its node, chunk %llu of %llu, waits for %s%s", run->node->rank,
             (unsigned long long)(reducing ? run->reduced : run->finished), (unsigned long long)run->chunks,
             reducing ? "the inputs of the node's ranks" : "the result of its leader", reducing ? missing : "");
}
