/*
 * Checks of the arguments of a collective with blocks of different sizes, used by plans and by the modules that create
 * plans.
 */
#ifndef TRIVANCE_EXECUTE_RUN_BLOCK_SIZES_H
#define TRIVANCE_EXECUTE_RUN_BLOCK_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trivance/common.h>

#include "execute/run/arguments.h"
#include "execute/run/ranges.h"
#include "schedule/collective.h"

/* The call of a rank: count[r] elements of `element_size` bytes in the block of rank r, at displacement[r] of a buffer
 * with all blocks; displacement == NULL: one after the other. */
typedef struct trv_block_sizes {
    trv_collective_t collective;
    int rank, ranks;
    bool is_root;
    size_t element_size;
    const size_t *count, *displacement;
} trv_block_sizes_t;

/* Whether a rank's buffer in which the collective has these holders contains all blocks. */
static inline bool trv_holds_all_blocks(trv_holders_t holders, bool is_root)
{
    return holders == TRV_EVERY_RANK || (holders == TRV_ROOT && is_root);
}

/* Elements of the largest block, of all blocks, and of a buffer that contains all blocks at their displacements. */
typedef struct trv_block_totals {
    size_t largest, all, extent;
} trv_block_totals_t;

/* Places block r: *place is the place of the block before it, and becomes its own, in elements. An error if it exceeds
 * the address space. */
static inline int trv_block_place(const size_t *count, const size_t *displacement, int r, size_t element_size,
                                  trv_range_t *place)
{
    const size_t elements_max = SIZE_MAX / 4 / element_size;
    const size_t begin = displacement ? displacement[r] : place->end;
    if (count[r] > elements_max || (count[r] > 0 && begin > elements_max - count[r]))
        return trv_fail_extent(r, count[r], element_size, begin);
    *place = (trv_range_t){begin, begin + count[r]};
    return TRV_OK;
}

/* Checks the sizes, and computes their totals. `range` is a buffer of an entry per rank; NULL: one is allocated if
 * displacements are not ascending. */
TRV_API int trv_blocks_check(const trv_block_sizes_t *sizes, trv_range_t *range, trv_block_totals_t *totals);
/* Checks the buffers of a call whose sizes are valid. */
TRV_API int trv_blocks_check_buffers(const trv_block_sizes_t *sizes, size_t extent, const void *input,
                                     const void *output);

#endif
