/*
 * Candidates for tori with uneven sides: names whose streams are weighted (weights.h) so that the links of all
 * dimensions carry the same load.
 */
#ifndef TRIVANCE_ALGORITHMS_UNEVEN_SIDES_H
#define TRIVANCE_ALGORITHMS_UNEVEN_SIDES_H

#include "algorithms/collector.h"
#include "algorithms/builders/weights.h"

/* Adds names that consist of `name`, `before` and the weights that balance its streams, such as "bucket", ":", "9/7".
 * Adds nothing if equal weights are as good, as on even sides. A torus with lines is treated as one of rings whose
 * links in these dimensions are half as fast (algorithms for lines load the links about twice as much as those for
 * rings); `form` is then appended to the name, and if equal weights are as good, the name with `form` alone is added.
 * At most `max` names are added, those of the smallest weights. */
int trv_uneven_add(const trv_collector_t *collector, const char *name, const char *form, const char *before, int max);

#endif
