/*
 * The pattern of the ring algorithms: one block at a time to the next neighbour, in size - 1 levels of distance 1; the
 * reduce-scatter travels in direction +. Before level k coordinate c holds the blocks c, c + 1, … c + size - 1 - k, and
 * sends the last of them.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_NEIGHBOUR_H
#define TRIVANCE_ALGORITHMS_BUILDERS_NEIGHBOUR_H

#include "algorithms/builders/scatter.h"

/* NULL when out of memory. */
trv_pattern_t *trv_neighbour_pattern(int size);

#endif
