/*
 * The cost of a schedule at several sizes at once. Routing every message takes most of the time, so it is done only
 * once.
 */
#ifndef TRIVANCE_COST_MEASURE_H
#define TRIVANCE_COST_MEASURE_H

#include <trivance/cost.h>
#include <trivance/network.h>

#include "base/span.h"

/* Does the work of trv_cost_measure, and of trv_cost_time_ns for each of the sizes. `on` has slow and cut links, or is
 * NULL: the bytes of a slow link count with its factor. TRV_ERR_UNSUPPORTED if a message passes a cut link. Reports
 * progress to `part`. */
int trv_cost_sizes(const trv_schedule_t *schedule, const trv_network_t *on, const trv_hockney_t *network,
                   const uint64_t *vector_bytes, int sizes, trv_span_t part, trv_cost_t *cost, double *time_ns);

#endif
