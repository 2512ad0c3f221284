/*
 * Where every unit of a slice lies in the user's buffers.
 *
 * AllReduce: a chunk is a contiguous part of the vector, stream s has part s of it, the unit at position p of U has
 * part p of that. Reduce-Scatter and AllGather: every rank's block is cut the same way, the chunk's part into streams
 * and those into the units that the rank owns. Parts differ by at most one element; an empty unit exists nowhere.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "execute/program.h"

size_t trv_cut(size_t count, size_t parts, size_t i)
{
    return count / parts * i + count % parts * i / parts;
}

static int allocate(trv_layout_t *layout)
{
    size_t n = (size_t)layout->units;
    if ((uint64_t)layout->units > SIZE_MAX / sizeof(int64_t))
        return trv_fail_memory();
    layout->order = malloc(n * sizeof *layout->order);
    layout->position = malloc(n * sizeof *layout->position);
    layout->bytes = malloc(n * sizeof *layout->bytes);
    layout->input = malloc(n * sizeof *layout->input);
    layout->output = malloc(n * sizeof *layout->output);
    layout->shared = malloc(n * sizeof *layout->shared);
    if (!layout->order || !layout->position || !layout->bytes || !layout->input || !layout->output || !layout->shared)
        return trv_fail_memory();
    return 0;
}

static int make_order(trv_layout_t *layout, const trv_shape_t *shape)
{
    for (int64_t p = 0; p < layout->units; p++)
        layout->order[p] = -1;
    for (int64_t u = 0; u < layout->units; u++) {
        int64_t p = trv_schedule_position(shape->schedule, shape->stream, u);
        if (p < 0 || p >= layout->units || layout->order[p] >= 0)
            return trv_fail(TRV_ERR_INVALID, "the positions of '%s' are no permutation: unit %lld has position %lld",
                            trv_schedule_name(shape->schedule), (long long)u, (long long)p);
        layout->order[p] = u;
        layout->position[u] = p;
    }
    return 0;
}

static void lay_vector(trv_layout_t *layout, const trv_shape_t *shape, size_t begin, size_t length)
{
    for (int64_t u = 0; u < layout->units; u++) {
        size_t p = (size_t)layout->position[u], parts = (size_t)layout->units;
        size_t from = trv_cut(length, parts, p), to = trv_cut(length, parts, p + 1);
        layout->bytes[u] = (to - from) * shape->element_size;
        layout->input[u] = layout->output[u] = (begin + from) * shape->element_size;
        layout->shared[u] = u;
    }
}

/* Unit u is the seen[b]-th one of its owner b. `part` of rank 0's units is kept to find who shares memory in place. */
static int lay_blocks(trv_layout_t *layout, const trv_shape_t *shape, size_t begin, size_t length, size_t *seen,
                      int64_t *part_of_first)
{
    const int ranks = trv_schedule_torus(shape->schedule)->ranks;
    const bool scatter = trv_schedule_collective(shape->schedule) == TRV_REDUCE_SCATTER;
    const size_t parts = (size_t)layout->units / (size_t)ranks;
    for (int64_t u = 0; u < layout->units; u++) {
        int owner = trv_schedule_owner(shape->schedule, u);
        size_t part = owner >= 0 && owner < ranks ? seen[owner]++ : parts;
        if (part >= parts)
            return trv_fail(TRV_ERR_INVALID, "'%s' gives unit %lld to rank %d; each of the %d ranks needs %zu units",
                            trv_schedule_name(shape->schedule), (long long)u, owner, ranks, parts);
        size_t from = trv_cut(length, parts, part), to = trv_cut(length, parts, part + 1);
        size_t in_block = (begin + from) * shape->element_size;
        size_t in_vector = (size_t)owner * shape->count * shape->element_size + in_block;
        bool own = owner == shape->rank;
        layout->bytes[u] = (to - from) * shape->element_size;
        layout->input[u] = scatter ? in_vector : own ? in_block : TRV_NOWHERE;
        layout->output[u] = !scatter ? in_vector : own ? in_block : TRV_NOWHERE;
        /* In place, a Reduce-Scatter's result lies where block 0 was; an AllGather's own block is there already. */
        layout->shared[u] = own ? (scatter ? (int64_t)part : u) : -1;
        if (owner == 0)
            part_of_first[part] = u;
    }
    for (int64_t u = 0; scatter && u < layout->units; u++)
        if (layout->shared[u] >= 0)
            layout->shared[u] = part_of_first[layout->shared[u]];
    return 0;
}

int trv_layout_make(trv_layout_t *layout, const trv_shape_t *shape)
{
    const size_t streams = (size_t)trv_schedule_streams(shape->schedule), stream = (size_t)shape->stream;
    const size_t begin = trv_cut(shape->elements, streams, stream);
    const size_t length = trv_cut(shape->elements, streams, stream + 1) - begin;
    memset(layout, 0, sizeof *layout);
    layout->units = trv_schedule_units(shape->schedule);
    int rc = allocate(layout);
    if (!rc)
        rc = make_order(layout, shape);
    if (rc)
        return rc;
    if (trv_schedule_collective(shape->schedule) == TRV_ALLREDUCE) {
        lay_vector(layout, shape, begin, length);
        return 0;
    }
    size_t ranks = (size_t)trv_schedule_torus(shape->schedule)->ranks, parts = (size_t)layout->units / ranks;
    if (parts * ranks != (size_t)layout->units)
        return trv_fail(TRV_ERR_INVALID, "'%s' has %lld units, which is no multiple of its %zu ranks",
                        trv_schedule_name(shape->schedule), (long long)layout->units, ranks);
    size_t *seen = calloc(ranks, sizeof *seen);
    int64_t *part_of_first = calloc(parts, sizeof *part_of_first);
    rc = seen && part_of_first ? lay_blocks(layout, shape, begin, length, seen, part_of_first) : trv_fail_memory();
    free(seen);
    free(part_of_first);
    return rc;
}

void trv_layout_clear(trv_layout_t *layout)
{
    free(layout->order);
    free(layout->position);
    free(layout->bytes);
    free(layout->input);
    free(layout->output);
    free(layout->shared);
    memset(layout, 0, sizeof *layout);
}
