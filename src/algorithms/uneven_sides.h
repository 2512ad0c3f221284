/*
 * Candidates for uneven sides: names whose streams are weighted (weights.h) so that the links of all dimensions carry
 * the same.
 */
#ifndef TRIVANCE_ALGORITHMS_UNEVEN_SIDES_H
#define TRIVANCE_ALGORITHMS_UNEVEN_SIDES_H

#include "algorithms/collector.h"
#include "algorithms/builders/weights.h"

/* Adds `name` with `before` and the weights that balance its streams after it, "bucket", ":", "9/7"; nothing where equal
 * weights do as well, as on even sides. A torus with lines is taken as rings whose links in these dimensions are half as
 * fast (what is made for lines loads them about twice as much as a ring); there `form` stands behind the name, and where
 * equal weights do as well it stands there alone. At most `most` are added, those of the smallest weights. */
int trv_uneven_add(const trv_collector_t *collector, const char *name, const char *form, const char *before, int most);

#endif
