/*
 * Going through the elements of several products at once, in the order of positions: every stretch of elements that lie
 * in the same ones of them is told, with a bit for each product. What is empty is not gone into.
 */
#ifndef TRIVANCE_EXECUTE_COMPILE_WALK_H
#define TRIVANCE_EXECUTE_COMPILE_WALK_H

#include "execute/compile/size.h"

__extension__ typedef unsigned __int128 trv_mask_t; /* a bit for each of TRV_WALK_PRODUCTS_MAX products */

/* Indices of an axis that lie in the same products. */
typedef struct trv_segment {
    int begin, end;
    trv_mask_t mask;
} trv_segment_t;

typedef struct trv_walk {
    const trv_sized_t *sized;
    int products, product[128];
    trv_segment_t *segment;                                            /* holds trv_program_t.walk_bounds */
    int *bound;                                                        /* the same */
    int first[TRV_SPACE_AXES_MAX], segments[TRV_SPACE_AXES_MAX], last; /* of each axis; the last axis with several */
    int (*tell)(void *context, trv_mask_t mask, size_t first, size_t elements);
    void *context;
} trv_walk_t;

/* What going through a work tells of every stretch of elements: its piece (-1: none) and a bit for each of the work's
 * walked containers that it lies in. */
typedef int (*trv_pass_t)(void *context, int piece, trv_mask_t in, size_t first, size_t elements);

/* Goes through a work. `walk` has its arrays; the rest is filled in. */
int trv_walk_work(trv_walk_t *walk, const trv_work_t *work, trv_pass_t pass, void *context);

/* Goes through walk->product[0 … products - 1]; stops at what `tell` returns, if that is not 0. */
int trv_walk(trv_walk_t *walk);

#endif
