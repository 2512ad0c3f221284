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

/* The last parameter of a name, of any algorithm: all streams in one (schedule/together.h). */
#define TRV_TOGETHER ":together"

/* Splits NAME[:together][@F] into NAME, whether :together follows, and F (trivance/network.h): links that are slower
 * than normal by at least this factor are not used. INFINITY if the name has no @. */
int trv_name_split(const char *name, char base[TRV_FULL_NAME_MAX], bool *together, double *avoid);

#endif
