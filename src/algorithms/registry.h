/*
 * Every algorithm's entry of the table, each defined in the file that describes the algorithm.
 */
#ifndef TRIVANCE_ALGORITHMS_REGISTRY_H
#define TRIVANCE_ALGORITHMS_REGISTRY_H

#include "algorithms/algorithm.h"

#define ALGORITHM(name) extern const trv_algorithm_t trv_##name;
#include "algorithms/lines.h"
#undef ALGORITHM

/* Parts a name from what follows an @ (trivance/network.h): how many times as slow links are left alone, INFINITY where
 * it does not say. */
int trv_name_split(const char *name, char base[TRV_SPELLED_MAX], double *avoid);

#endif
