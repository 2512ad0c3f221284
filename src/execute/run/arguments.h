/*
 * Checks of a collective's arguments, used by plans and by the modules that create plans.
 */
#ifndef TRIVANCE_EXECUTE_RUN_ARGUMENTS_H
#define TRIVANCE_EXECUTE_RUN_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/execute.h>

#include "base/error.h"
#include "schedule/collective.h"

static inline size_t trv_elements_size(const trv_elements_t *elements)
{
    return elements->reduce ? elements->element_size : trv_type_size(elements->type);
}

static inline int trv_elements_check(trv_collective_t collective, const trv_elements_t *elements)
{
    if (elements->reduce)
        return elements->element_size > 0 ? TRV_OK
                                          : trv_fail(TRV_ERR_ARGUMENT, "elements of 0 bytes cannot be reduced");
    if (trv_type_size(elements->type) == 0)
        return trv_fail(TRV_ERR_ARGUMENT, "element type %d does not exist", (int)elements->type);
    if (!trv_collective_shape(collective)->reduces)
        return TRV_OK;
    if (elements->op < 0 || elements->op >= TRV_OPS)
        return trv_fail(TRV_ERR_ARGUMENT, "operation %d does not exist", (int)elements->op);
    if (!trv_op_supports(elements->op, elements->type))
        return trv_fail(TRV_ERR_UNSUPPORTED, "the operation %s is not defined on elements of type %s",
                        trv_op_name(elements->op), trv_type_name(elements->type));
    return TRV_OK;
}

static inline int trv_count_check(trv_collective_t collective, size_t element_size, size_t count, int ranks)
{
    if (count > SIZE_MAX / 4 / element_size / trv_collective_blocks(collective, ranks))
        return trv_fail(TRV_ERR_ARGUMENT, "%zu elements of %zu bytes exceed the address space", count, element_size);
    return TRV_OK;
}

/* The bytes of the whole vector. `count` is that of the vector or, for collectives with blocks, of a block. */
static inline uint64_t trv_vector_bytes(trv_collective_t collective, size_t element_size, size_t count, int ranks)
{
    return (uint64_t)count * element_size * trv_collective_blocks(collective, ranks);
}

/* The bytes of the input and of the output buffer of a rank; `part` is the size of a vector without blocks, or of one
 * block. Ranks other than the root may have no input or no output. */
static inline size_t trv_input_bytes(trv_collective_t collective, size_t part, int ranks, bool is_root)
{
    return part * trv_blocks_held(collective, trv_collective_shape(collective)->before, ranks, is_root);
}

static inline size_t trv_output_bytes(trv_collective_t collective, size_t part, int ranks, bool is_root)
{
    return part * trv_blocks_held(collective, trv_collective_shape(collective)->after, ranks, is_root);
}

/* Whether two parts of memory overlap. */
static inline bool trv_memory_overlaps(const void *first, size_t first_bytes, const void *second, size_t second_bytes)
{
    const uintptr_t a = (uintptr_t)first, b = (uintptr_t)second;
    return first_bytes > 0 && second_bytes > 0 && a < b + second_bytes && b < a + first_bytes;
}

static inline int trv_fail_overlap(void)
{
    return trv_fail(TRV_ERR_ARGUMENT,
                    "input and output overlap; they must be disjoint, or the same address for a call in place");
}

static inline int trv_fail_blocks(size_t displacement, size_t end)
{
    return trv_fail(TRV_ERR_ARGUMENT,
                    "the block at displacement %zu overlaps the one before it, which ends at %zu; blocks of the output "
                    "must be disjoint, for example at displacements 0, 2, 3 for counts 2, 1, 4",
                    displacement, end);
}

static inline int trv_fail_extent(int block, size_t count, size_t size, size_t displacement)
{
    return trv_fail(TRV_ERR_ARGUMENT,
                    "block %d has %zu elements of %zu bytes at displacement %zu, which exceeds the address space",
                    block, count, size, displacement);
}

/* Checks that buffers that have bytes are not NULL. */
static inline int trv_buffers_check_null(const void *input, size_t in_bytes, const void *output, size_t out_bytes)
{
    const bool no_input = !input && in_bytes > 0;
    if (!no_input && (output || out_bytes == 0))
        return TRV_OK;
    return trv_fail(TRV_ERR_ARGUMENT, "the %s buffer is NULL, but the count is not 0", no_input ? "input" : "output");
}

/* Checks buffers for a vector or block of `part` bytes. input == output means in place. */
static inline int trv_buffers_check(trv_collective_t collective, size_t part, int ranks, bool is_root,
                                    const void *input, const void *output)
{
    const size_t in_bytes = trv_input_bytes(collective, part, ranks, is_root);
    const size_t out_bytes = trv_output_bytes(collective, part, ranks, is_root);
    const int rc = trv_buffers_check_null(input, in_bytes, output, out_bytes);
    if (!rc && input != output && trv_memory_overlaps(input, in_bytes, output, out_bytes))
        return trv_fail_overlap();
    return rc;
}

#endif
