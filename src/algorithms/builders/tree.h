/*
 * Translation-invariant patterns. A pattern is defined by the tree along which one block travels in the allgather, in
 * displacements relative to its owner (displacement 0). C is the set of covered displacements:
 *
 *   C = {0}; for level = levels - 1 … 0: C gains C + offset[2 * level] and C + offset[2 * level + 1].
 *
 * The sign of an offset is the direction in which the allgather sends. With `shortest` it sends the shorter way instead
 * (direction + if both ways are equally long). A displacement that both offsets can reach is reached over the first.
 * With `balanced` it is reached over the first if it is less than size / 2, over the second if it is more, and over one
 * for each half of its block if it is equal. With `level`, a displacement x > 0 is gained in level[x] only, not as soon
 * as it can be reached.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_TREE_H
#define TRIVANCE_ALGORITHMS_BUILDERS_TREE_H

#include "algorithms/builders/scatter.h"

typedef struct trv_tree_options {
    int size, levels;
    const int *offset;          /* two per level */
    const unsigned char *level; /* NULL, or one entry per displacement */
    bool balanced, shortest;
    int radix; /* as in trv_pattern_t */
} trv_tree_options_t;

/* NULL when out of memory. */
trv_pattern_t *trv_tree_pattern(const trv_tree_options_t *options);

#endif
