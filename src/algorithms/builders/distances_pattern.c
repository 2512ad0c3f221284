/*
 * The pattern of searched distances: the tree of one block, in which displacements are reached as late as this reduces
 * the transmission.
 */
#include "algorithms/builders/distances_pattern.h"

#include <stdlib.h>

#include "algorithms/builders/tree.h"
#include "base/radix.h"

trv_pattern_t *trv_distances_pattern(const trv_distances_t *distances)
{
    int offset[2 * TRV_DISTANCES_STEPS_MAX], size = distances->size, steps = distances->steps;
    unsigned char *level = malloc(2 * (size_t)size);
    trv_pattern_t *pattern = NULL;
    bool digits = trv_is_power(3, size) && trv_power(3, steps) == size;
    for (int l = 0; l < steps; l++) { /* levels are numbered in the order of the reduce-scatter */
        offset[2 * l] = distances->distance[steps - 1 - l];
        offset[2 * l + 1] = -offset[2 * l];
        digits = digits && offset[2 * l] == trv_power(3, l);
    }
    if (level && trv_distances_tree(distances, true, level) > 0) {
        for (int x = 1; x < size; x++)
            level[x] = (unsigned char)(steps - level[x]);
        pattern = trv_tree_pattern(&(trv_tree_options_t){.size = size,
                                                         .levels = steps,
                                                         .offset = offset,
                                                         .level = level,
                                                         .balanced = true,
                                                         .radix = digits ? 3 : 0});
    }
    free(level);
    return pattern;
}
