/*
 * Every algorithm's entry of the table, each defined in the file that describes the algorithm.
 */
#ifndef TRIVANCE_ALGORITHMS_TABLE_H
#define TRIVANCE_ALGORITHMS_TABLE_H

#include "algorithms/algorithm.h"

#define ALGORITHM(name) extern const trv_algorithm_t trv_##name;
#include "algorithms/lines.h"
#undef ALGORITHM

#endif
