/*
 * Candidates for uneven sides: names whose streams are weighted (weights.h) so that the links of all dimensions carry
 * the same.
 */
#ifndef TRIVANCE_ALGORITHMS_UNEVEN_H
#define TRIVANCE_ALGORITHMS_UNEVEN_H

#include "algorithms/candidates.h"
#include "algorithms/weights.h"

/* Adds `name` with `before` and the weights that balance its streams after it, "bucket", ":", "9/7"; nothing where equal
 * weights do as well, as on even sides. */
int trv_uneven_add(const trv_collector_t *collector, const char *name, const char *before);

#endif
