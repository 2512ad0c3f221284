/*
 * What a count makes of a program: how many elements each unit has, and where the containers lie in scratch.
 *
 * AllReduce: a chunk is a contiguous part of the vector, stream s has part s of it, the unit at position p of U has
 * part p of that. Reduce-Scatter and AllGather: every rank's block is cut the same way, the chunk's part into streams
 * and those into the units that the rank owns. Parts differ by at most one element; they may be empty.
 */
#ifndef TRIVANCE_EXECUTE_SIZE_H
#define TRIVANCE_EXECUTE_SIZE_H

#include "execute/program.h"
#include "execute/walk.h"

/* Where part i of `parts` nearly equal ones of `count` elements begins: floor(i * count / parts), without overflow. */
size_t trv_cut(size_t count, size_t parts, size_t i);

typedef struct trv_sized {
    const trv_program_t *program;
    size_t block;                 /* units of a block */
    size_t begin, length;         /* elements of the chunk's part of a block that lie before the stream's; its own */
    size_t whole, rest;           /* length / block, length % block */
    size_t stride;                /* elements from block to block in the user's buffers */
    size_t element_size;
    size_t *offset, *bytes;       /* of containers */
    size_t *area_offset, *area_bytes;
    int *live;                    /* areas in use, by offset */
    size_t scratch_bytes;
} trv_sized_t;

/* Allocates what `trv_size` fills in. */
int trv_sized_make(trv_sized_t *sized, const trv_program_t *program);
void trv_sized_clear(trv_sized_t *sized);

/* For chunks of `elements` elements of blocks of `count`, as stream `stream` of `streams`. */
void trv_size(trv_sized_t *sized, size_t elements, size_t count, int stream, int streams, size_t element_size,
              trv_walk_t *walk);

static inline size_t trv_elements_in_block(const trv_sized_t *sized, size_t part)
{
    return sized->whole * part + sized->rest * part / sized->block;
}

/* Elements before position p where units lie one after the other. */
static inline size_t trv_elements_before(const trv_sized_t *sized, int64_t position)
{
    const size_t p = (size_t)position;
    if (p < sized->block)
        return trv_elements_in_block(sized, p);
    return p / sized->block * sized->length + trv_elements_in_block(sized, p % sized->block);
}

static inline size_t trv_run_bytes(const trv_sized_t *sized, int64_t first, int64_t units)
{
    return (trv_elements_before(sized, first + units) - trv_elements_before(sized, first)) * sized->element_size;
}

/* Elements from the chunk's begin in a user's buffer of all blocks to position p. */
static inline size_t trv_user_elements(const trv_sized_t *sized, int64_t position)
{
    const size_t p = (size_t)position;
    if (p < sized->block)
        return sized->begin + trv_elements_in_block(sized, p);
    return p / sized->block * sized->stride + sized->begin + trv_elements_in_block(sized, p % sized->block);
}

size_t trv_extent_bytes(const trv_sized_t *sized, const trv_extent_t *extent);

#endif
