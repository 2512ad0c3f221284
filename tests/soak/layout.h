/*
 * Layout of a buffer's blocks in memory: contiguous, with gaps, or at absolute addresses; described to MPI as elements
 * or as one large element of a derived type per block; one after the other, or displaced.
 */
#ifndef TRIVANCE_TESTS_SOAK_LAYOUT_H
#define TRIVANCE_TESTS_SOAK_LAYOUT_H

#include "values.h"

typedef enum layout_rule {
    LAYOUT_PLAIN,    /* contiguous elements */
    LAYOUT_ELEMENTS, /* the type is that of one element, which may be followed by a gap */
    LAYOUT_BLOCKS,   /* the type may also be that of a whole block; all blocks must have the same count */
    LAYOUT_DISPLACED /* as LAYOUT_ELEMENTS, with displaced blocks */
} layout_rule_t;

typedef struct layout {
    MPI_Datatype type;
    const char *name;
    bool derived;
    bool absolute; /* `start` is MPI_BOTTOM */
    int blocks;
    int *count, *displacement; /* of each block, in `type` and in its extents */
    size_t *elements, *start;  /* of each block: number of elements, and offset in bytes */
    size_t extent;
    size_t step; /* distance between consecutive elements in bytes */
    char *memory;
    size_t bytes;
} layout_t;

/* Allocates memory for `blocks` blocks, of count[b] elements. */
layout_t layout_draw(draw_t *draw, layout_rule_t rule, const element_t *element, const int *count, int blocks);
/* Fills all bytes with canary values. */
void layout_clear(layout_t *layout);
void layout_free(layout_t *layout);

/* Returns the buffer argument of a call. */
void *layout_start(const layout_t *layout);

/* layout_put copies contiguous elements at `from` into blocks `first` to `end` - 1; layout_get copies them back. */
void layout_put(const layout_t *layout, int first, int end, const void *from);
void layout_get(const layout_t *layout, int first, int end, void *to);

/* Returns whether all bytes outside the blocks' elements still have the canary values. */
bool layout_is_clean(const layout_t *layout);

#endif
