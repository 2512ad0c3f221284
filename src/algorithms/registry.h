/*
 * The entries of all algorithms in the table. Each is defined in the file of its algorithm.
 */
#ifndef TRIVANCE_ALGORITHMS_REGISTRY_H
#define TRIVANCE_ALGORITHMS_REGISTRY_H

#include "algorithms/algorithm.h"
#include "algorithms/name.h"

#define ALGORITHM(name) extern const trv_algorithm_t trv_##name;
#include "algorithms/lines.h"
#undef ALGORITHM

/* TRV_OK, or TRV_ERR_UNSUPPORTED with the reason if the algorithm does not support the collective on any torus. */
int trv_algorithm_check_collective(const trv_algorithm_t *algorithm, trv_collective_t collective);

/* Splits a name into the part before an @ and the number after it (trivance/network.h): links that are slower than
 * normal by at least this factor are not used. INFINITY if the name has no @. */
int trv_name_split(const char *name, char base[TRV_FULL_NAME_MAX], double *avoid);

#endif
