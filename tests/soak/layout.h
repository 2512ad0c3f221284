/*
 * Layout of an AllGather's elements in memory: contiguous, with gaps, or at absolute addresses; described to MPI as
 * many small elements or as one large element of a derived type.
 */
#ifndef TRIVANCE_TESTS_SOAK_LAYOUT_H
#define TRIVANCE_TESTS_SOAK_LAYOUT_H

#include "values.h"

typedef struct layout {
    MPI_Datatype type;
    const char *name;
    int count; /* number of `type` in a block */
    bool derived;
    bool absolute;   /* `start` is MPI_BOTTOM */
    size_t elements; /* in a block */
    size_t extent;
    size_t step;  /* distance between consecutive elements in bytes */
    size_t block; /* distance between consecutive blocks */
    char *memory;
    size_t bytes;
} layout_t;

/* Allocates memory for `blocks` blocks of `count` elements; contiguous if `draw` is NULL. layout_plain does so for a
 * vector. */
layout_t layout_draw(draw_t *draw, const element_t *element, int count, size_t blocks);
layout_t layout_plain(const element_t *element, size_t count);
/* Fills all bytes with canary values. */
void layout_clear(layout_t *layout);
void layout_free(layout_t *layout);

/* Returns the buffer argument of a call. */
void *layout_start(const layout_t *layout);

/* layout_put copies contiguous elements at `from` into the layout's blocks from `block` on; layout_get copies them
 * back. */
void layout_put(const layout_t *layout, size_t block, const void *from, size_t blocks);
void layout_get(const layout_t *layout, void *to, size_t blocks);

/* Returns whether all bytes outside the elements of the first `blocks` blocks still have the canary values. */
bool layout_is_clean(const layout_t *layout, size_t blocks);

#endif
