/*
 * The translation-invariant pattern: the tree of one block, seen from its owner (coordinate displacement 0) and in the
 * allgather's order: C = {0}; for level = levels - 1 … 0: C gains C + offset[2 * level] and C + offset[2 * level + 1].
 *
 * Offsets are signed and their sign is the direction in which the allgather goes, unless `shortest`, where it goes the
 * shorter way (half way round: +). A displacement reachable by both offsets takes, with `balanced`, the first if it is
 * less than half way round, the second if it is more, and one for each half of its block at exactly half; otherwise it
 * takes the first. With `level`, a displacement x > 0 is gained in level[x] only, not as soon as it is reached.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_TREE_H
#define TRIVANCE_ALGORITHMS_BUILDERS_TREE_H

#include "algorithms/builders/scatter.h"

typedef struct trv_tree_options {
    int size, levels;
    const int *offset;          /* 2 * levels */
    const unsigned char *level; /* NULL, or one per displacement */
    bool balanced, shortest;
    int radix; /* as in trv_pattern_t */
} trv_tree_options_t;

/* NULL when out of memory. */
trv_pattern_t *trv_tree_pattern(const trv_tree_options_t *options);

#endif
