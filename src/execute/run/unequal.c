/*
 * Runs with blocks of different sizes. The program is that of equal blocks; only the sizes that are computed from it
 * differ.
 *
 * Chunk c has the elements c * E to (c + 1) * E - 1 of every block, as far as the block has them; E depends on the
 * largest block. Chunks therefore differ in their sizes, so each lane has sizes of its own, which are computed when it
 * begins a chunk; they are kept for later chunks and runs with the same sizes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "execute/run/arguments.h"
#include "execute/run/block_sizes.h"
#include "execute/run/plan.h"

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static int blocks_create(trv_plan_blocks_t **created, int ranks, int lanes_max)
{
    const size_t n = (size_t)ranks;
    trv_plan_blocks_t *blocks = calloc(1, sizeof *blocks);
    *created = blocks;
    if (!blocks)
        return trv_fail_memory();
    blocks->count = malloc(2 * n * sizeof *blocks->count);
    blocks->range = malloc(n * sizeof *blocks->range);
    blocks->lane = calloc((size_t)lanes_max, sizeof *blocks->lane);
    if (!blocks->count || !blocks->range || !blocks->lane)
        return trv_fail_memory();
    blocks->displacement = blocks->count + n;
    return 0;
}

void trv_blocks_destroy(trv_plan_blocks_t *blocks)
{
    if (!blocks)
        return;
    for (int i = 0; i < blocks->lanes; i++)
        trv_sized_clear(&blocks->lane[i].sized);
    free(blocks->lane);
    free(blocks->range);
    free(blocks->count);
    free(blocks);
}

size_t trv_blocks_memory_bytes(const trv_plan_blocks_t *blocks)
{
    size_t bytes = 0;
    for (int i = 0; i < blocks->lanes; i++)
        bytes += trv_sized_memory_bytes(&blocks->lane[i].sized);
    return bytes;
}

/* Creates the sizes of the lanes that the plan needs. */
static int create_lanes(trv_plan_t *plan)
{
    trv_plan_blocks_t *blocks = plan->blocks;
    for (; blocks->lanes < plan->lanes; blocks->lanes++) {
        trv_sized_t *sized = &blocks->lane[blocks->lanes].sized;
        int rc = trv_sized_create(sized, &plan->compiled->program[blocks->lanes % plan->streams], true);
        if (rc) {
            trv_sized_clear(sized);
            return rc;
        }
    }
    return 0;
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

/* Whether two chunks have the same parts of all blocks. */
static bool chunks_equal(const trv_plan_t *plan, size_t chunk, size_t other)
{
    const size_t whole = plan->chunk_elements;
    for (int r = 0; chunk != other && r < plan->ranks; r++) {
        const size_t count = plan->blocks->count[r];
        if (trv_chunk_part(count, chunk * whole, (chunk + 1) * whole) !=
            trv_chunk_part(count, other * whole, (other + 1) * whole))
            return false;
    }
    return true;
}

trv_sized_t *trv_blocks_size_lane(trv_plan_t *plan, int number, size_t chunk)
{
    trv_plan_blocks_t *blocks = plan->blocks;
    trv_lane_blocks_t *lane = &blocks->lane[number];
    const size_t begin = chunk * plan->chunk_elements;
    if (!lane->set || !chunks_equal(plan, lane->chunk, chunk))
        trv_size_blocks(&lane->sized, blocks->count, blocks->displacement, begin, begin + plan->chunk_elements,
                        plan->element_size);
    lane->set = true;
    lane->chunk = chunk;
    return &lane->sized;
}

/* Computes the scratch of a lane and the bytes sent, from the sizes of all chunks. */
static void measure_chunks(trv_plan_t *plan)
{
    plan->lane_scratch_bytes = 0;
    plan->blocks->bytes_sent = 0;
    for (int i = 0; i < plan->blocks->lanes; i++)
        plan->blocks->lane[i].set = false;
    for (int stream = 0; stream < plan->streams; stream++)
        for (size_t chunk = 0; chunk < plan->chunks; chunk++) {
            const trv_sized_t *sized = trv_blocks_size_lane(plan, stream, chunk);
            if (sized->scratch_bytes > plan->lane_scratch_bytes)
                plan->lane_scratch_bytes = sized->scratch_bytes;
            plan->blocks->bytes_sent += trv_sized_bytes_sent(sized);
        }
    plan->scratch_bytes = (size_t)plan->lanes * plan->lane_scratch_bytes;
    plan->copy_bytes = 0;
}

uint64_t trv_blocks_hash(const trv_plan_t *plan)
{
    const size_t *count = plan->unequal ? plan->blocks->count : NULL;
    bool equal = true;
    for (int r = 1; count && equal && r < plan->ranks; r++)
        equal = count[r] == count[0];
    return !count || equal ? 0 : trv_hash(TRV_HASH_SEED, count, (size_t)plan->ranks * sizeof *count);
}

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

static trv_block_sizes_t sizes_of(const trv_plan_t *plan, const size_t *count, const size_t *displacement)
{
    return (trv_block_sizes_t){plan->collective,   plan->rank, plan->ranks, plan->is_root,
                               plan->element_size, count,      displacement};
}

/* Whether the sizes are those of the present ones. */
static bool sizes_unchanged(const trv_plan_t *plan, const size_t *count, const size_t *displacement)
{
    const trv_plan_blocks_t *blocks = plan->blocks;
    const size_t bytes = (size_t)plan->ranks * sizeof *count;
    bool same = plan->unequal && memcmp(blocks->count, count, bytes) == 0;
    size_t at = 0;
    if (same && displacement)
        return memcmp(blocks->displacement, displacement, bytes) == 0;
    for (int r = 0; same && r < plan->ranks; at += count[r++])
        same = blocks->displacement[r] == at;
    return same;
}

static int set_sizes(trv_plan_t *plan, const size_t *count, const size_t *displacement)
{
    const trv_collective_shape_t *shape = trv_collective_shape(plan->collective);
    trv_plan_blocks_t *blocks = plan->blocks;
    const trv_block_sizes_t sizes = sizes_of(plan, count, displacement);
    const size_t previous = plan->count;
    trv_block_totals_t totals;
    size_t at = 0;
    int rc = trv_blocks_check(&sizes, blocks->range, &totals);
    if (rc)
        return rc;
    plan->count = totals.largest;
    trv_plan_set_chunks(plan);
    rc = create_lanes(plan);
    if (rc) { /* the plan keeps its present sizes */
        plan->count = previous;
        trv_plan_set_chunks(plan);
        return rc;
    }
    for (int r = 0; r < plan->ranks; at += count[r++]) {
        blocks->count[r] = count[r];
        blocks->displacement[r] = displacement ? displacement[r] : at;
    }
    blocks->extent = totals.extent;
    plan->unequal = true;
    plan->starts = 0;
    const size_t own = blocks->displacement[plan->rank];
    plan->origin[TRV_AT_INPUT] = shape->before == TRV_OWNER ? own : 0;
    plan->origin[TRV_AT_OUTPUT] = shape->after == TRV_OWNER ? own : 0;
    measure_chunks(plan);
    return 0;
}

static int set_buffers(trv_plan_t *plan, const void *input, void *output)
{
    const trv_plan_blocks_t *blocks = plan->blocks;
    const trv_collective_shape_t *shape = trv_collective_shape(plan->collective);
    const trv_block_sizes_t sizes = sizes_of(plan, blocks->count, blocks->displacement);
    const size_t own = blocks->count[plan->rank] * plan->element_size;
    const size_t offset = blocks->displacement[plan->rank] * plan->element_size;
    const bool in_place = input == output && blocks->extent > 0;
    const int rc = trv_blocks_check_buffers(&sizes, blocks->extent, input, output);
    if (rc)
        return rc;
    plan->input = input;
    plan->output = output;
    if (in_place && trv_holds_all_blocks(shape->after, plan->is_root))
        plan->input = (const char *)input + offset;
    if (in_place && shape->before == TRV_ROOT && plan->is_root)
        plan->output = (char *)output + offset;
    /* The result of a Reduce-Scatter in place overlaps blocks of other ranks, except that of rank 0 at its own block,
     * for which programs provide. */
    const bool copies = in_place && shape->before == TRV_EVERY_RANK && own > 0 && (plan->rank > 0 || offset > 0);
    plan->copied_output = copies ? output : NULL;
    plan->scratch_bytes -= plan->copy_bytes;
    plan->copy_bytes = copies ? own : 0;
    plan->scratch_bytes += plan->copy_bytes;
    return 0;
}

/* Whether the blocks are equal and one after the other, so that the sizes of equal blocks apply. */
static bool is_equal(const trv_plan_t *plan, const size_t *count, const size_t *displacement)
{
    bool equal = true;
    for (int r = 0; equal && r < plan->ranks; r++)
        equal = count[r] == count[0] && (!displacement || displacement[r] == (size_t)r * count[0]);
    return equal;
}

int trv_plan_start_blocks(trv_plan_t *plan, const size_t *count, const size_t *displacement, const void *input,
                          void *output)
{
    int rc = trv_plan_check_startable(plan);
    if (rc)
        return rc;
    if (!trv_collective_has_owners(plan->collective))
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "%s has no blocks of different sizes; AllGather, Reduce-Scatter, Gather and Scatter have",
                        trv_collective_shape(plan->collective)->title);
    if (count && is_equal(plan, count, displacement))
        return trv_plan_start_count(plan, count[0], input, output);
    if (!plan->blocks)
        rc = blocks_create(&plan->blocks, plan->ranks, plan->lanes_max);
    if (rc) {
        trv_blocks_destroy(plan->blocks);
        plan->blocks = NULL;
        return rc;
    }
    if (!count || !sizes_unchanged(plan, count, displacement))
        rc = set_sizes(plan, count, displacement);
    if (!rc)
        rc = set_buffers(plan, input, output);
    return rc ? rc : trv_plan_begin(plan);
}
