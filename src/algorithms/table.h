/*
 * Every algorithm's line of the table, each defined in the file that describes the algorithm.
 */
#ifndef TRIVANCE_ALGORITHMS_TABLE_H
#define TRIVANCE_ALGORITHMS_TABLE_H

#include "algorithms/algorithm.h"

extern const trv_algorithm_t trv_trivance_l, trv_trivance_l_grouped, trv_trivance_l_gathered, trv_trivance_l_overlap;
extern const trv_algorithm_t trv_trivance_b;
extern const trv_algorithm_t trv_ring, trv_bucket;
extern const trv_algorithm_t trv_recdoub_l, trv_recdoub_b, trv_recdoub_b_split;
extern const trv_algorithm_t trv_swing_l, trv_swing_b;
extern const trv_algorithm_t trv_bruck_l, trv_bruck_b;
extern const trv_algorithm_t trv_hybrid;
extern const trv_algorithm_t trv_star;

#endif
