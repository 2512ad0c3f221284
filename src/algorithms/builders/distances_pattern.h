/*
 * Searched distances (search/distances/distances.h) as a pattern of a reduce-scatter (scatter.h).
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_DISTANCES_PATTERN_H
#define TRIVANCE_ALGORITHMS_BUILDERS_DISTANCES_PATTERN_H

#include "algorithms/builders/scatter.h"
#include "search/distances/distances.h"

/* The pattern of these distances with deferred displacements: the load of its busiest link is exactly the
 * `transmission` of the distances. NULL when out of memory. */
trv_pattern_t *trv_distances_pattern(const trv_distances_t *distances);

#endif
