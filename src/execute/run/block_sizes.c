/*
 * Checks of blocks of different sizes, see block_sizes.h.
 */
#include "execute/run/block_sizes.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"

/* Whether blocks that are not empty are in ascending order and do not overlap. */
static bool is_ascending(const trv_block_sizes_t *sizes)
{
    size_t end = 0;
    bool ascending = true;
    for (int r = 0; r < sizes->ranks && ascending; r++) {
        if (sizes->count[r] == 0)
            continue;
        ascending = sizes->displacement[r] >= end;
        end = sizes->displacement[r] + sizes->count[r];
    }
    return ascending;
}

/* An error if blocks overlap. */
static int check_disjoint(const trv_block_sizes_t *sizes, trv_range_t *range)
{
    size_t ranges = 0;
    for (int r = 0; r < sizes->ranks; r++)
        if (sizes->count[r] > 0)
            range[ranges++] = (trv_range_t){sizes->displacement[r], sizes->displacement[r] + sizes->count[r]};
    const size_t overlap = trv_ranges_overlap(range, ranges);
    return overlap ? trv_fail_blocks(range[overlap].begin, range[overlap - 1].end) : 0;
}

int trv_blocks_check(const trv_block_sizes_t *sizes, trv_range_t *range, trv_block_totals_t *totals)
{
    const size_t elements_max = SIZE_MAX / 4 / sizes->element_size;
    trv_range_t place = {0, 0};
    *totals = (trv_block_totals_t){0, 0, 0};
    if (!sizes->count)
        return trv_fail(TRV_ERR_ARGUMENT, "the counts of the blocks are NULL; there must be one for each of %d ranks",
                        sizes->ranks);
    for (int r = 0; r < sizes->ranks; r++) {
        const size_t count = sizes->count[r];
        const int rc = trv_block_place(sizes->count, sizes->displacement, r, sizes->element_size, &place);
        if (rc)
            return rc;
        if (count > elements_max - totals->all)
            return trv_fail_extent(r, count, sizes->element_size, place.begin);
        totals->all += count;
        totals->largest = count > totals->largest ? count : totals->largest;
        totals->extent = count > 0 && place.end > totals->extent ? place.end : totals->extent;
    }
    if (!sizes->displacement || is_ascending(sizes) ||
        !trv_holds_all_blocks(trv_collective_shape(sizes->collective)->after, sizes->is_root))
        return 0;
    trv_range_t *allocated = range ? NULL : malloc((size_t)sizes->ranks * sizeof *range);
    if (!range && !allocated)
        return trv_fail_memory();
    const int rc = check_disjoint(sizes, range ? range : allocated);
    free(allocated);
    return rc;
}

/* Whether the rank's own buffer overlaps a block in the buffer with all blocks. */
static bool own_overlaps(const trv_block_sizes_t *sizes, size_t extent, const char *all, const char *own)
{
    const size_t size = sizes->element_size, bytes = sizes->count[sizes->rank] * size;
    trv_range_t place = {0, 0};
    bool overlaps = false;
    if (!trv_memory_overlaps(all, extent * size, own, bytes))
        return false;
    for (int r = 0; !overlaps && r < sizes->ranks; r++)
        overlaps = trv_block_place(sizes->count, sizes->displacement, r, size, &place) == TRV_OK &&
                   place.end > place.begin &&
                   trv_memory_overlaps(all + place.begin * size, (place.end - place.begin) * size, own, bytes);
    return overlaps;
}

int trv_blocks_check_buffers(const trv_block_sizes_t *sizes, size_t extent, const void *input, const void *output)
{
    const trv_collective_shape_t *shape = trv_collective_shape(sizes->collective);
    const size_t own = sizes->count[sizes->rank] * sizes->element_size, all = extent * sizes->element_size;
    const bool all_in = trv_holds_all_blocks(shape->before, sizes->is_root);
    const bool all_out = trv_holds_all_blocks(shape->after, sizes->is_root);
    const int rc = trv_buffers_check_null(input,
                                          all_in                       ? all
                                          : shape->before == TRV_OWNER ? own
                                                                       : 0,
                                          output,
                                          all_out                     ? all
                                          : shape->after == TRV_OWNER ? own
                                                                      : 0);
    if (!rc && input != output && (all_in || all_out) &&
        own_overlaps(sizes, extent, all_in ? input : output, all_in ? output : input))
        return trv_fail_overlap();
    return rc;
}
