/*
 * An AllReduce on a node. Each rank processes its chunks independently, as far as the counters of the other ranks
 * allow; trv_mpi_node_run_test performs the steps that are possible and returns.
 *
 *     step        ranks     action                                    condition
 *     give        all       copy a chunk of the input to the memory,  the others have reduced the chunk two before it
 *                           except the part that this rank reduces
 *     reduce      all       add the inputs of all ranks, in this      all ranks have given the chunk
 *                           rank's part of the chunk
 *     collect     leader    copy the sums of the other ranks' parts   these ranks have reduced the chunk
 *     run_torus   leader    run the torus's schedule on the vector    as far as chunks are collected
 *     publish     leader    copy a chunk of the result to the memory  it is final, and all ranks have taken the chunk
 *                                                                     two before it
 *     take        others    copy a chunk of the result to the output  the leader has published it
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "mpi/node/memory.h"

#define PART_BYTES_MIN 4096 /* minimum size of the part of a chunk that a rank reduces */
#define PROGRESS       16   /* unsuccessful tests between two calls that let MPI make progress */

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
    uint64_t given, reduced, collected, finished; /* chunks of this run after each step; finished: published or taken */
    bool torus_started, torus_done;
};

/* A part of the vector, in elements. */
typedef struct part {
    size_t first, count;
} part_t;

static uint64_t value_of(const node_counter_t *counter)
{
    return atomic_load_explicit(&counter->value, memory_order_acquire);
}

static void set(node_counter_t *counter, uint64_t value)
{
    atomic_store_explicit(&counter->value, value, memory_order_release);
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

static part_t chunk_of(const trv_mpi_node_run_t *run, uint64_t chunk)
{
    size_t first = (size_t)chunk * run->chunk_count, left = run->count - first;
    return (part_t){first, left < run->chunk_count ? left : run->chunk_count};
}

/* The part of a chunk that `rank` reduces, relative to the chunk's first element. The last ranks may have none. */
static part_t part_of(const trv_mpi_node_run_t *run, part_t chunk, int rank)
{
    size_t ranks = (size_t)run->node->ranks, part_min = (PART_BYTES_MIN + run->size - 1) / run->size;
    size_t each = (chunk.count + ranks - 1) / ranks;
    each = each < part_min ? part_min : each;
    size_t first = (size_t)rank * each < chunk.count ? (size_t)rank * each : chunk.count;
    size_t left = chunk.count - first;
    return (part_t){first, left < each ? left : each};
}

/* ---- Steps. Each returns 1 after it has processed a chunk, 0 if it must wait or has nothing to do, or an error --- */

typedef enum counted { GIVEN, REDUCED, TAKEN } counted_t;

static const node_counter_t *counter_of(const node_rank_t *rank, counted_t what)
{
    return what == GIVEN ? &rank->given : what == REDUCED ? &rank->reduced : &rank->taken;
}

/* Whether the counters `what` of all other ranks of the node are at least `chunks`. */
static bool all_have(const trv_mpi_node_run_t *run, counted_t what, uint64_t chunks)
{
    const node_head_t *head = trv_mpi_node_head(run->node, run->slot);
    for (int r = 0; r < run->node->ranks; r++)
        if (r != run->node->rank && value_of(counter_of(&head->rank[r], what)) < chunks)
            return false;
    return true;
}

/* The value that a counter must have before chunk `number` may overwrite the buffer of an earlier chunk. */
static uint64_t before(uint64_t number) { return number < NODE_CHUNKS ? 0 : number + 1 - NODE_CHUNKS; }

/* A hash of the count and the operation signature, which must be the same on all ranks of the node. */
static uint64_t signature_of(const trv_mpi_node_run_t *run)
{
    const trv_elements_t *elements = &run->elements;
    const bool own = elements->reduce != NULL;
    const uint64_t fact[] = {run->count, run->size, own, own ? 0 : (uint64_t)elements->type,
                             own ? 0 : (uint64_t)elements->op};
    return trv_hash(TRV_HASH_SEED, fact, sizeof fact);
}

static int give(trv_mpi_node_run_t *run)
{
    const trv_mpi_node_t *node = run->node;
    uint64_t number = run->base + run->given;
    if (run->given == run->chunks || !all_have(run, REDUCED, before(number)))
        return 0;
    part_t chunk = chunk_of(run, run->given), own = part_of(run, chunk, node->rank);
    size_t behind = own.first + own.count;
    char *to = trv_mpi_node_input(node, run->slot, node->rank, number);
    const char *from = run->input + chunk.first * run->size;
    memcpy(to, from, own.first * run->size);
    memcpy(to + behind * run->size, from + behind * run->size, (chunk.count - behind) * run->size);
    node_rank_t *mine = &trv_mpi_node_head(node, run->slot)->rank[node->rank];
    if (run->given == 0)
        atomic_store_explicit(&mine->kind, signature_of(run), memory_order_relaxed); /* `given` publishes it */
    set(&mine->given, number + 1);
    run->given++;
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
 * have given their first chunk, before any rank can receive a result. */
static int compare_signatures(const trv_mpi_node_run_t *run)
{
    const node_head_t *head = trv_mpi_node_head(run->node, run->slot);
    for (int r = 1; r < run->node->ranks; r++)
        if (atomic_load_explicit(&head->rank[r].kind, memory_order_relaxed) != signature_of(run))
            return trv_fail(TRV_ERR_TRANSPORT,
                            "rank %d of the node came with another count, type or operation than its "
                            "rank 0, which has %zu elements of %zu bytes",
                            r, run->count, run->size);
    return TRV_OK;
}

static int reduce(trv_mpi_node_run_t *run)
{
    const trv_mpi_node_t *node = run->node;
    node_head_t *head = trv_mpi_node_head(node, run->slot);
    uint64_t number = run->base + run->reduced;
    if (run->reduced == run->given)
        return 0;
    part_t chunk = chunk_of(run, run->reduced), own = part_of(run, chunk, node->rank);
    if (own.count > 0) {
        bool leads = node->rank == 0;
        if (!all_have(run, GIVEN, number + 1) || (!leads && value_of(&head->collected) < before(number)))
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
    set(&head->rank[node->rank].reduced, number + 1);
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
        if (part_of(run, chunk, r).count > 0 && value_of(&head->rank[r].reduced) <= number)
            return 0;
    memcpy(run->output + (chunk.first + own.count) * run->size,
           trv_mpi_node_sum(node, run->slot, number) + own.count * run->size, (chunk.count - own.count) * run->size);
    set(&head->collected, number + 1);
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
        !all_have(run, TAKEN, before(number)))
        return 0;
    part_t chunk = chunk_of(run, run->finished);
    memcpy(trv_mpi_node_result(node, run->slot, number), run->output + chunk.first * run->size,
           chunk.count * run->size);
    set(&trv_mpi_node_head(node, run->slot)->ready, number + 1);
    run->finished++;
    return 1;
}

static int take(trv_mpi_node_run_t *run)
{
    const trv_mpi_node_t *node = run->node;
    node_head_t *head = trv_mpi_node_head(node, run->slot);
    uint64_t number = run->base + run->finished;
    if (run->finished == run->chunks || value_of(&head->ready) <= number)
        return 0;
    part_t chunk = chunk_of(run, run->finished);
    memcpy(run->output + chunk.first * run->size, trv_mpi_node_result(node, run->slot, number),
           chunk.count * run->size);
    set(&head->rank[node->rank].taken, number + 1);
    run->finished++;
    return 1;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

/* The lowest free slot for a run that is not shared; NODE_SLOTS if there is none. */
static int free_slot(const trv_mpi_node_t *node)
{
    int slot = NODE_POSITIONS;
    while (slot < NODE_SLOTS && node->taken[slot])
        slot++;
    return slot;
}

bool trv_mpi_node_has_free_slot(const trv_mpi_node_t *node) { return free_slot(node) < NODE_SLOTS; }

int trv_mpi_node_run_create(trv_mpi_node_run_t **created, trv_mpi_node_t *node, const trv_elements_t *elements,
                            trv_plan_t *plan, bool shared)
{
    int slot = shared ? 0 : free_slot(node);
    if (slot == NODE_SLOTS)
        return trv_fail(TRV_ERR_UNSUPPORTED, "the memory that the ranks of a node share serves %d plans at a time",
                        NODE_SLOTS - NODE_POSITIONS);
    trv_mpi_node_run_t *run = calloc(1, sizeof *run);
    if (run)
        run->source = calloc((size_t)node->ranks, sizeof *run->source);
    if (!run || !run->source) {
        free(run);
        return trv_fail_memory();
    }
    node->taken[slot] = true;
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
        run->node->taken[run->slot] = false;
    free(run->source);
    free(run);
}

void trv_mpi_node_run_place(trv_mpi_node_run_t *run, int position) { run->slot = position; }

void trv_mpi_node_run_start(trv_mpi_node_run_t *run, size_t count, const void *input, void *output)
{
    uint64_t *chunks = &run->node->chunks[run->slot];
    run->count = count;
    run->chunks = (count + run->chunk_count - 1) / run->chunk_count;
    run->base = *chunks;
    *chunks += run->chunks;
    run->input = input;
    run->output = output;
    run->given = run->reduced = run->collected = run->finished = 0;
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
static int round_of(trv_mpi_node_run_t *run)
{
    static int (*const leader[])(trv_mpi_node_run_t *) = {give, reduce, collect, run_torus, publish, NULL};
    static int (*const other[])(trv_mpi_node_run_t *) = {give, reduce, take, NULL};
    bool moved = false;
    for (int (*const *step)(trv_mpi_node_run_t *) = run->node->rank == 0 ? leader : other; *step; step++) {
        int code = (*step)(run);
        if (code < 0)
            return run_fail(run, code);
        moved = moved || code > 0;
    }
    return moved;
}

/* The leader must also wait for its schedule: its last sends may be in flight when the whole result is published. */
static bool is_complete(const trv_mpi_node_run_t *run)
{
    return run->finished == run->chunks && (run->node->rank > 0 || run->torus_done || run->chunks == 0);
}

int trv_mpi_node_run_test(trv_mpi_node_run_t *run)
{
    int moved = 1, pending;
    while (moved > 0 && !is_complete(run))
        moved = round_of(run);
    if (moved < 0 || is_complete(run))
        return moved < 0 ? moved : 1;
    if (run->idle++ % PROGRESS == 0) /* MPI must also make progress on messages of the program */
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, run->node->comm, &pending, MPI_STATUS_IGNORE);
    return 0;
}

/* Lists, as " 1, 3", the ranks (indices on the node) that have given fewer than `chunks` chunks. */
static void list_late(const trv_mpi_node_run_t *run, uint64_t chunks, char *text, size_t size)
{
    const node_head_t *head = trv_mpi_node_head(run->node, run->slot);
    size_t used = 0;
    text[0] = '\0';
    for (int r = 0; r < run->node->ranks && used + 16 < size; r++)
        if (r != run->node->rank && value_of(&head->rank[r].given) < chunks)
            used += (size_t)snprintf(text + used, size - used, "%s%d", used ? ", " : " ", r);
}

void trv_mpi_node_run_describe(const trv_mpi_node_run_t *run, const int *name, char *text, size_t size)
{
    char late[64];
    bool adding = run->reduced < run->chunks;
    if (run->torus_started && !run->torus_done && run->collected == run->chunks) {
        trv_plan_describe_as(run->plan, name, text, size);
        return;
    }
    list_late(run, run->base + run->reduced + 1, late, sizeof late);
    snprintf(text, size, "rank %d of its node, chunk %llu of %llu, waits for %s%s", run->node->rank,
             (unsigned long long)(adding ? run->reduced : run->finished), (unsigned long long)run->chunks,
             adding ? "the inputs of the node's ranks" : "the result of its leader", adding ? late : "");
}
