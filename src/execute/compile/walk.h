/*
 * Visits the elements of several products at the same time, in the order of positions. A callback is called for every
 * stretch of elements that are in the same products, with a bit for each of these products. Empty parts are skipped.
 */
#ifndef TRIVANCE_EXECUTE_COMPILE_WALK_H
#define TRIVANCE_EXECUTE_COMPILE_WALK_H

#include "execute/compile/size.h"

__extension__ typedef unsigned __int128 trv_mask_t; /* one bit for each of TRV_WALK_PRODUCTS_MAX products */

/* Indices of an axis that are in the same products. */
typedef struct trv_segment {
    int begin, end;
    trv_mask_t mask;
} trv_segment_t;

typedef struct trv_walk {
    const trv_sized_t *sized;
    int products, product[128];
    /* The caller allocates `segment` and `bound`, with trv_program_t.walk_bounds entries each. */
    trv_segment_t *segment;
    int *bound; /* scratch buffer */
    /* per axis: its first segment, number of segments; last: the last axis that must be visited segment by segment */
    int first[TRV_SPACE_AXES_MAX], segments[TRV_SPACE_AXES_MAX], last;
    int (*visit)(void *context, trv_mask_t mask, size_t first, size_t elements);
    void *context;
} trv_walk_t;

/* Called for every stretch of elements of a work, with its piece (-1: none) and a bit for each of the work's walked
 * containers that contain it. */
typedef int (*trv_visit_stretch_t)(void *context, int piece, trv_mask_t in, size_t first, size_t elements);

/* Visits the elements of a work. The arrays of `walk` must be allocated; its other members are set. */
int trv_walk_work(trv_walk_t *walk, const trv_work_t *work, trv_visit_stretch_t visit, void *context);

/* Visits the elements of walk->product[0 … products - 1] and calls walk->visit for every stretch. Stops when that
 * returns a value other than 0, and returns it. */
int trv_walk(trv_walk_t *walk);

#endif
