/*
 * The sizes of a program for a count: the elements of each unit, and the offsets of the containers in scratch.
 *
 * AllReduce: a chunk is a contiguous part of the vector. It is cut into nearly equal parts, as many as the sum of the
 * streams' weights; each stream has consecutive parts, as many as its weight. The elements of a stream are cut into as
 * many parts as the first axis of the positions has indices, these into the indices of the second axis, and so on.
 * Reduce-Scatter and AllGather: the parts of all blocks in a chunk are treated as one such sequence, which results in
 * equal blocks. Parts differ by at most one element, on every axis; they may be empty. Because of these rules the
 * elements of a product can be computed without visiting its units.
 *
 * Below, elements are counted as if all units were contiguous, in the order of positions; in the user's buffers there
 * are gaps between blocks.
 *
 * Blocks of different sizes (trv_size_blocks): every block is cut into the streams' parts, and these into units, by the
 * same rules. Then prefix sums over the blocks replace the rules that assume equal blocks.
 *
 * If the counts are equal, both kinds of sizes must cut blocks alike, because ranks without gaps between blocks use
 * trv_size and ranks with gaps trv_size_blocks. They do, because at most one axis has several indices within a block;
 * with two, the first would be cut before the second, in the first kind only.
 */
#ifndef TRIVANCE_EXECUTE_COMPILE_SIZE_H
#define TRIVANCE_EXECUTE_COMPILE_SIZE_H

#include "execute/compile/program.h"

/* The begin of part i when `count` elements are cut into `parts` nearly equal parts: floor(i * count / parts), without
 * overflow. */
size_t trv_part_begin(size_t count, size_t parts, size_t i);

/* A copy of `amount` bytes between offsets from bases or, if sources > 1, a reduction of `amount` elements. The other
 * sources of a reduction are the `from` of the next sources - 1 moves. */
typedef struct trv_move {
    size_t to, from, amount;
    int sources;
    unsigned char to_base, from_base;
} trv_move_t;

/* The moves of a work: a range of trv_sized_t.move. moves = 0: they are not listed; -1: the list has no capacity for
 * them. */
typedef struct trv_listed {
    int first, moves;
} trv_listed_t;

enum { TRV_MOVES_MAX = 4096 };

typedef struct trv_sized {
    const trv_program_t *program;
    /* In elements of a block of the chunk: begin and length of the stream's part; total: its length in all blocks. */
    size_t begin, length, total;
    size_t gap;  /* elements between the stream's parts of two blocks in the user's buffers */
    bool blocks; /* there are several blocks */
    /* Per block, for blocks of different sizes; otherwise NULL: the elements before it (and, at the end, all elements),
     * and the offset of the stream's part in a user's buffer that contains all blocks. */
    size_t *before, *user;
    size_t element_size;
    size_t *table;           /* number of elements before each position, in small spaces; otherwise NULL */
    size_t *first;           /* per container that is one run: its first element */
    size_t *offset, *bytes;  /* per container, in scratch */
    size_t *sent, *received; /* bytes of messages */
    size_t *area_offset, *area_bytes;
    int *live;            /* areas in use, sorted by offset */
    trv_move_t *move;     /* the moves of works (perform.c) */
    trv_listed_t *listed; /* per work */
    int moves, moves_max;
    size_t scratch_bytes;
} trv_sized_t;

/* Allocates the arrays that trv_size fills or, with `unequal`, those that trv_size_blocks fills. */
int trv_sized_create(trv_sized_t *sized, const trv_program_t *program, bool unequal);
/* Sizes with one element per unit, so that elements are positions; without the sizes of containers. */
trv_sized_t trv_sized_units(const trv_program_t *program);
void trv_sized_clear(trv_sized_t *sized);
size_t trv_sized_memory_bytes(const trv_sized_t *sized);
/* Bytes of all messages that the program sends. */
size_t trv_sized_bytes_sent(const trv_sized_t *sized);

/* Computes the sizes for chunks with `elements` elements of blocks of `count` elements. */
void trv_size(trv_sized_t *sized, size_t elements, size_t count, size_t element_size);
/* Computes the sizes for chunks with the elements `begin` to `end` - 1 of blocks of count[i] elements, at
 * displacement[i] in a user's buffer. Smaller blocks have fewer elements in the chunk, or none. */
void trv_size_blocks(trv_sized_t *sized, const size_t *count, const size_t *displacement, size_t begin, size_t end,
                     size_t element_size);
/* The part of a block of `count` elements that is in a chunk, in elements. */
static inline size_t trv_chunk_part(size_t count, size_t begin, size_t end)
{
    return count <= begin ? 0 : (count < end ? count : end) - begin;
}

/* The elements before index i of an axis, if all indices of the axis together have `length` elements. For equal blocks
 * only. */
static inline size_t trv_before_index(const trv_sized_t *sized, int axis, size_t length, int i)
{
    const trv_program_t *program = sized->program;
    /* the axis consists of whole blocks, each of which is cut separately */
    if (sized->blocks && program->space.axes == 1)
        return (size_t)(i / program->block) * sized->length +
               trv_part_begin(sized->length, (size_t)program->block, (size_t)(i % program->block));
    return trv_part_begin(length, (size_t)program->space.size[axis], (size_t)i);
}

size_t trv_find_elements(const trv_sized_t *sized, int64_t position);

/* The elements before a position. */
static inline size_t trv_elements_before(const trv_sized_t *sized, int64_t position)
{
    return sized->table ? sized->table[position] : trv_find_elements(sized, position);
}

/* The block of an element, for blocks of different sizes. */
size_t trv_find_block(const trv_sized_t *sized, size_t elements);

/* The end of the block that contains an element, in elements. */
static inline size_t trv_block_end(const trv_sized_t *sized, size_t elements)
{
    return sized->before ? sized->before[trv_find_block(sized, elements) + 1]
                         : (elements / sized->length + 1) * sized->length;
}

/* The offset, in elements, in a user's buffer that contains all blocks. */
static inline size_t trv_user_elements(const trv_sized_t *sized, size_t elements)
{
    if (sized->before) {
        const size_t block = trv_find_block(sized, elements);
        return sized->user[block] + elements - sized->before[block];
    }
    return sized->begin + elements + (sized->blocks ? elements / sized->length * sized->gap : 0);
}

#endif
