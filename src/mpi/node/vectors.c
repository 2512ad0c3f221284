/*
 * The vectors of a run: their sizes, where the leader keeps them, and copies between node order and the order of the
 * communicator's ranks.
 */
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "mpi/node/node_run.h"
#include "schedule/collective.h"

/* Elements of the blocks of a node, and of all blocks. */
static size_t own_count(const trv_mpi_node_run_t *run) { return run->count * (size_t)run->node->ranks; }

static size_t all_count(const trv_mpi_node_run_t *run) { return own_count(run) * (size_t)run->node->nodes; }

/* ---- Orders ------------------------------------------------------------------------------------------------------ */

/* The next contiguous piece of `range`: its number of elements. *at: its first element in the order of the ranks. */
static size_t piece_of(const trv_mpi_node_run_t *run, part_t range, size_t *at)
{
    const int *rank_at = run->node->rank_at;
    const size_t block = range.first / run->count, offset = range.first % run->count;
    const size_t left = run->count - offset;
    *at = (rank_at ? (size_t)rank_at[block] : block) * run->count + offset;
    return !rank_at || left > range.count ? range.count : left;
}

/* Copies the elements of a vector in the order of the ranks that are `range` in node order to `part`, or from it. */
static void copy_range(const trv_mpi_node_run_t *run, char *part, char *vector, part_t range, bool to_part)
{
    while (range.count > 0) {
        size_t at;
        const size_t count = piece_of(run, range, &at), bytes = count * run->size;
        char *element = vector + at * run->size;
        memcpy(to_part ? part : element, to_part ? element : part, bytes);
        part += bytes;
        range = (part_t){range.first + count, range.count - count};
    }
}

void trv_mpi_node_to_node_order(const trv_mpi_node_run_t *run, char *part, const char *vector, part_t range)
{
    copy_range(run, part, (char *)vector, range, true);
}

static void to_rank_order(const trv_mpi_node_run_t *run, char *vector, const char *part, part_t range)
{
    copy_range(run, (char *)part, vector, range, false);
}

void trv_mpi_node_run_deliver(const trv_mpi_node_run_t *run, const char *from, part_t range)
{
    const size_t end = range.first + range.count, wanted_end = run->wanted.first + run->wanted.count;
    const size_t first = range.first > run->wanted.first ? range.first : run->wanted.first;
    const part_t part = {first, (end < wanted_end ? end : wanted_end) - first};
    if (first >= end || first >= wanted_end)
        return;
    from += (first - range.first) * run->size;
    if (run->collective == TRV_ALLGATHER || run->collective == TRV_GATHER)
        to_rank_order(run, run->output, from, part);
    else if (run->assembly == INTERLEAVING)
        to_rank_order(run, run->output, from, (part_t){first - run->wanted.first, part.count});
    else
        memcpy(run->output + (first - run->wanted.first) * run->size, from, part.count * run->size);
}

void trv_mpi_node_run_deliver_own(const trv_mpi_node_run_t *run)
{
    if (run->assembly != INTERLEAVING) {
        trv_mpi_node_run_deliver(run, run->result, (part_t){0, run->out_count});
        return;
    }
    const size_t blocks = own_count(run); /* from the ranks of one node for one rank */
    for (int node = 0; node < run->node->nodes; node++)
        to_rank_order(run, run->output, run->result + (size_t)node * run->plan_count * run->size,
                      (part_t){(size_t)node * blocks, blocks});
}

void trv_mpi_node_run_place(const trv_mpi_node_run_t *run, int rank, const char *from, part_t chunk)
{
    const size_t ranks = (size_t)run->node->ranks;
    if (run->assembly != INTERLEAVING) {
        const size_t at = chunk.first + (run->assembly == FROM_ROOT ? 0 : run->whole_at + (size_t)rank * run->count);
        memcpy(run->whole + at * run->size, from, chunk.count * run->size);
        return;
    }
    while (chunk.count > 0) {
        const size_t block = chunk.first / run->count, offset = chunk.first % run->count;
        const size_t left = run->count - offset, count = left < chunk.count ? left : chunk.count;
        const size_t at = (block * ranks + (size_t)rank) * run->count + offset;
        memcpy(run->whole + at * run->size, from, count * run->size);
        from += count * run->size;
        chunk = (part_t){chunk.first + count, chunk.count - count};
    }
}

void trv_mpi_node_run_publish(const trv_mpi_node_run_t *run, char *to, part_t chunk)
{
    if (run->assembly != INTERLEAVING) {
        memcpy(to, run->result + chunk.first * run->size, chunk.count * run->size);
        return;
    }
    const size_t nodes = (size_t)run->node->nodes, blocks = own_count(run);
    while (chunk.count > 0) {
        const size_t part = chunk.first / blocks, offset = chunk.first % blocks;
        const size_t left = blocks - offset, count = left < chunk.count ? left : chunk.count;
        const size_t rank = part / nodes, node = part % nodes;
        memcpy(to, run->result + (node * run->plan_count + rank * blocks + offset) * run->size, count * run->size);
        to += count * run->size;
        chunk = (part_t){chunk.first + count, chunk.count - count};
    }
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

static uint64_t chunks_of(const trv_mpi_node_run_t *run, size_t count)
{
    return (count + run->chunk_count - 1) / run->chunk_count;
}

static bool is_root(const trv_mpi_node_run_t *run)
{
    return trv_collective_has_root(run->collective) && trv_mpi_node_has_root(run) && run->root_index == run->node->rank;
}

static assembly_t assembly_of(const trv_mpi_node_run_t *run)
{
    const trv_collective_shape_t *shape = trv_collective_shape(run->collective);
    if (shape->reduces)
        return SUM;
    if (shape->exchanges)
        return INTERLEAVING;
    if (shape->before == TRV_OWNER)
        return CONCATENATION;
    return trv_mpi_node_has_root(run) && run->root_index > 0 ? FROM_ROOT : NOTHING;
}

/* Sets the sizes of the vectors and the number of chunks, which are equal on all ranks of a node. */
static void set_sizes(trv_mpi_node_run_t *run)
{
    const trv_collective_shape_t *shape = trv_collective_shape(run->collective);
    const bool has_blocks = trv_collective_has_blocks(run->collective);
    run->assembly = assembly_of(run);
    run->in_count = run->assembly == NOTHING                        ? 0
                    : run->assembly == CONCATENATION || !has_blocks ? run->count
                                                                    : all_count(run);
    run->out_count = !has_blocks ? run->count : shape->after == TRV_OWNER ? own_count(run) : all_count(run);
    if (shape->exchanges)
        run->out_count *= (size_t)run->node->ranks;
    const bool no_reader = shape->after == TRV_ROOT && (!trv_mpi_node_has_root(run) || run->root_index == 0);
    run->in_chunks = chunks_of(run, run->in_count);
    run->out_chunks = no_reader ? 0 : chunks_of(run, run->out_count);
    run->chunks = run->in_chunks > run->out_chunks ? run->in_chunks : run->out_chunks;
    run->plan_count = !has_blocks ? run->count : own_count(run) * (shape->exchanges ? (size_t)run->node->ranks : 1);
}

/* Sets what this rank copies. */
static void set_part(trv_mpi_node_run_t *run)
{
    const trv_collective_shape_t *shape = trv_collective_shape(run->collective);
    const size_t rank = (size_t)run->node->rank;
    run->contributes = run->assembly == SUM || (run->assembly == FROM_ROOT && is_root(run)) ||
                       ((run->assembly == CONCATENATION || run->assembly == INTERLEAVING) && rank > 0);
    run->wanted = shape->exchanges            ? (part_t){rank * all_count(run), all_count(run)}
                  : shape->after == TRV_OWNER ? (part_t){rank * run->count, run->count}
                                              : (part_t){0, run->out_count};
    const bool has_result = run->collective == TRV_BROADCAST ||
                            (run->collective == TRV_SCATTER && run->input == run->output);
    if (is_root(run) ? has_result : shape->after == TRV_ROOT)
        run->wanted.count = 0;
}

/* ---- The leader's vectors ---------------------------------------------------------------------------------------- */

/* Whether the schedule reads the input of a leader that is the root of a Scatter. */
static bool scatters_input(const trv_mpi_node_run_t *run)
{
    return run->collective == TRV_SCATTER && is_root(run) && !run->node->rank_at;
}

/* The size of `whole` in scratch memory, in elements; 0: `whole` is the output. */
static size_t scratch_count(const trv_mpi_node_run_t *run)
{
    const bool in_order = !run->node->rank_at;
    switch (run->collective) {
    case TRV_REDUCE_SCATTER: return all_count(run);
    case TRV_ALLTOALL: return run->out_count;
    case TRV_ALLGATHER: return in_order ? 0 : all_count(run);
    case TRV_REDUCE: return is_root(run) ? 0 : run->count;
    case TRV_GATHER:
        return !trv_mpi_node_has_root(run) ? own_count(run) : is_root(run) && in_order ? 0 : all_count(run);
    case TRV_SCATTER: return !trv_mpi_node_has_root(run) || scatters_input(run) ? own_count(run) : all_count(run);
    default: return 0;
    }
}

size_t trv_mpi_node_scratch_bytes(const trv_mpi_node_t *node, trv_collective_t collective, size_t count,
                                  size_t element_bytes)
{
    /* The leader needs most if another rank of its node is the root. */
    trv_mpi_node_run_t run = {.node = (trv_mpi_node_t *)(uintptr_t)node,
                              .collective = collective,
                              .root_node = node->coordinate,
                              .root_index = 1,
                              .size = element_bytes,
                              .chunk_count = TRV_MPI_NODE_CHUNK_BYTES / element_bytes,
                              .count = count};
    set_sizes(&run);
    return node->rank == 0 ? scratch_count(&run) * element_bytes : 0;
}

/* Sets `whole` and `result`, and the buffers of the plan, which runs in place on `whole` where it can. */
static int place_vectors(trv_mpi_node_run_t *run)
{
    const trv_collective_shape_t *shape = trv_collective_shape(run->collective);
    const size_t scratch = scratch_count(run), own_at = own_count(run) * (size_t)run->node->coordinate;
    if (trv_run_scratch_acquire(&run->scratch, &run->options, scratch * run->size) < 0)
        return TRV_ERR_MEMORY;
    run->whole = run->result = scratch > 0 ? run->scratch.data : run->output;
    run->plan_input = run->plan_output = run->whole;
    run->whole_at = run->collective == TRV_GATHER && !trv_mpi_node_has_root(run) ? 0 : own_at;
    run->delivered = scratch == 0 || run->wanted.count == 0;
    if (shape->before == TRV_ROOT && !trv_mpi_node_has_root(run))
        run->plan_input = NULL;
    if (shape->after == TRV_ROOT && !trv_mpi_node_has_root(run))
        run->plan_output = NULL;
    if (run->collective == TRV_BROADCAST && is_root(run)) {
        run->plan_input = run->input;
        run->result = (char *)(uintptr_t)run->input;
    }
    if (scatters_input(run))
        run->plan_input = run->input;
    else if (run->collective == TRV_SCATTER && trv_mpi_node_has_root(run))
        run->result = run->whole + own_at * run->size; /* the plan leaves it there */
    return TRV_OK;
}

/* Copies the leader's blocks for all ranks to `whole`. */
static void place_blocks(const trv_mpi_node_run_t *run)
{
    const int *rank_at = run->node->rank_at;
    const int ranks = run->node->nodes * run->node->ranks;
    for (int i = 0; i < ranks; i++)
        trv_mpi_node_run_place(run, 0, run->input + (size_t)(rank_at ? rank_at[i] : i) * run->count * run->size,
                               (part_t){(size_t)i * run->count, run->count});
}

/* Copies the leader's own block, or its blocks if it is the root or in an All-to-All, to `whole`. */
static void assemble_own(trv_mpi_node_run_t *run)
{
    char *to = run->whole + run->whole_at * run->size;
    if (run->assembly == CONCATENATION && to != run->input)
        memcpy(to, run->input, run->count * run->size);
    else if (run->assembly == INTERLEAVING)
        place_blocks(run);
    else if (run->collective == TRV_SCATTER && is_root(run) && !scatters_input(run))
        trv_mpi_node_to_node_order(run, run->whole, run->input, (part_t){0, all_count(run)});
}

/* A hash of the count, the root and the operation signature, which must be the same on all ranks of the node. */
static uint64_t signature_of(const trv_mpi_node_run_t *run, int root_node, int root_index)
{
    const trv_elements_t *elements = &run->elements;
    const bool own = elements->reduce != NULL;
    const uint64_t property[] = {(uint64_t)run->collective,
                                 run->count,
                                 run->size,
                                 (uint64_t)root_node,
                                 (uint64_t)root_index,
                                 own,
                                 own ? 0 : (uint64_t)elements->type,
                                 own ? 0 : (uint64_t)elements->op};
    return trv_hash(TRV_HASH_SEED, property, sizeof property);
}

int trv_mpi_node_run_find_root(const trv_mpi_node_run_t *run, uint64_t signature)
{
    for (int node = 0; node < run->node->nodes && trv_collective_has_root(run->collective); node++)
        for (int index = 0; index < run->node->ranks; index++)
            if (signature_of(run, node, index) == signature)
                return trv_mpi_node_rank_of(run->node, node, index);
    return -1;
}

int trv_mpi_node_run_prepare(trv_mpi_node_run_t *run)
{
    const trv_mpi_node_t *node = run->node;
    const int position = node->coordinate * node->ranks + node->rank;
    run->signature = signature_of(run, run->root_node, run->root_index);
    set_sizes(run);
    set_part(run);
    const bool has_place = run->collective == TRV_ALLGATHER || is_root(run);      /* for its own block in the output */
    if (run->assembly == CONCATENATION && has_place && run->input == run->output) /* in place */
        run->input = run->output +
                     (size_t)(node->rank_at ? node->rank_at[position] : position) * run->count * run->size;
    if (run->collective == TRV_BROADCAST && is_root(run) && node->rank > 0 && run->input != run->output)
        memcpy(run->output, run->input, run->count * run->size);
    if (node->rank > 0)
        return TRV_OK;
    const int code = place_vectors(run);
    if (code == TRV_OK)
        assemble_own(run);
    return code;
}
