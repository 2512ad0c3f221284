/*
 * What a count makes of a program: how many elements each unit has, and where the containers lie in scratch.
 *
 * AllReduce: a chunk is a contiguous part of the vector, cut into as many nearly equal parts as the streams' weights add
 * up to; each stream has as many of them, one after the other, as is its weight. What a stream has is cut into as many parts as the
 * first axis of the positions has indices, those into the indices of the second axis, and so on. Reduce-Scatter and
 * AllGather: the same of all blocks' parts one after the other, which makes equal blocks of them. Parts differ by at most
 * one element, on every axis; they may be empty. So the elements of a product are known without going through its units.
 *
 * Below, elements are counted where units lie one after the other, by position; in the user's buffers there is more
 * between blocks.
 */
#ifndef TRIVANCE_EXECUTE_COMPILE_SIZE_H
#define TRIVANCE_EXECUTE_COMPILE_SIZE_H

#include "execute/compile/program.h"

/* Where part i of `parts` nearly equal ones of `count` elements begins: floor(i * count / parts), without overflow. */
size_t trv_cut(size_t count, size_t parts, size_t i);

/* A copy of so many bytes between offsets from bases, or (sources > 1) a reduction of so many elements, whose other
 * sources follow as the `from` of as many moves less one. */
typedef struct trv_move {
    size_t to, from, amount;
    int sources;
    unsigned char to_base, from_base;
} trv_move_t;

/* The moves of a work. 0: it is not listed; negative: they do not fit. */
typedef struct trv_listed {
    int first, moves;
} trv_listed_t;

enum { TRV_MOVES_MAX = 4096 };

typedef struct trv_sized {
    const trv_program_t *program;
    size_t begin, length, total; /* elements of a block of the chunk before the stream's; the stream's; all blocks' */
    size_t gap;                  /* elements between the stream's parts of two blocks in the user's buffers */
    bool blocks;                 /* there are several */
    size_t element_size;
    size_t *table;           /* elements before each position, in small spaces; else NULL */
    size_t *first;           /* of containers that are one run: its first element */
    size_t *offset, *bytes;  /* of containers, in scratch */
    size_t *sent, *received; /* bytes of messages */
    size_t *area_offset, *area_bytes;
    int *live;            /* areas in use, by offset */
    trv_move_t *move;     /* what works come to (perform.c) */
    trv_listed_t *listed; /* of each work */
    int moves, moves_max;
    size_t scratch_bytes;
} trv_sized_t;

/* Allocates what `trv_size` fills in. */
int trv_sized_make(trv_sized_t *sized, const trv_program_t *program);
/* One that has one element in every unit, without containers' sizes: elements are then positions. */
trv_sized_t trv_sized_units(const trv_program_t *program);
void trv_sized_clear(trv_sized_t *sized);
size_t trv_sized_memory_bytes(const trv_sized_t *sized);

/* For chunks of `elements` elements of blocks of `count`. */
void trv_size(trv_sized_t *sized, size_t elements, size_t count, size_t element_size);

/* Elements before index i of an axis, in `length` that all of its indices have. */
static inline size_t trv_before_index(const trv_sized_t *sized, int axis, size_t length, int i)
{
    const trv_program_t *program = sized->program;
    if (sized->blocks && program->space.axes == 1) /* an axis of whole blocks, which are cut in themselves */
        return (size_t)(i / program->block) * sized->length +
               trv_cut(sized->length, (size_t)program->block, (size_t)(i % program->block));
    return trv_cut(length, (size_t)program->space.size[axis], (size_t)i);
}

size_t trv_find_elements(const trv_sized_t *sized, int64_t position);

/* Elements before a position. */
static inline size_t trv_elements_before(const trv_sized_t *sized, int64_t position)
{
    return sized->table ? sized->table[position] : trv_find_elements(sized, position);
}

/* Elements from the chunk's begin in a user's buffer of all blocks. */
static inline size_t trv_user_elements(const trv_sized_t *sized, size_t elements)
{
    return sized->begin + elements + (sized->blocks ? elements / sized->length * sized->gap : 0);
}

#endif
