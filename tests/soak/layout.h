/*
 * How the elements of an AllGather lie in memory: plain, with gaps, at absolute addresses; told to MPI as
 * many small elements or as one large one of a type made for it.
 */
#ifndef TRIVANCE_TESTS_SOAK_LAYOUT_H
#define TRIVANCE_TESTS_SOAK_LAYOUT_H

#include "values.h"

typedef struct layout {
    MPI_Datatype type;
    const char *name;
    int count; /* of `type`, in a block */
    bool derived;
    bool absolute;   /* `start` is MPI_BOTTOM */
    size_t elements; /* in a block */
    size_t extent;
    size_t step;  /* bytes from one element to the next */
    size_t block; /* from one block to the next */
    char *memory;
    size_t bytes;
} layout_t;

/* Memory for `blocks` blocks of `count` elements; plain ones where `draw` is NULL. layout_plain: of a vector. */
layout_t layout_draw(draw_t *draw, const element_t *element, int count, size_t blocks);
layout_t layout_plain(const element_t *element, size_t count);
/* All bytes are canaries then. */
void layout_clear(layout_t *layout);
void layout_free(layout_t *layout);

/* What a call takes as its buffer. */
void *layout_start(const layout_t *layout);

/* Elements from `from`, one behind the other, into blocks `block` … of the layout; and back. */
void layout_put(const layout_t *layout, size_t block, const void *from, size_t blocks);
void layout_get(const layout_t *layout, void *to, size_t blocks);

/* Whether all that is no element of the first `blocks` blocks is as layout_clear left it. */
bool layout_is_clean(const layout_t *layout, size_t blocks);

#endif
