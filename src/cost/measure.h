/*
 * What a schedule costs at several sizes at once: routing every message is what takes long, so it is done once.
 */
#ifndef TRIVANCE_COST_MEASURE_H
#define TRIVANCE_COST_MEASURE_H

#include <trivance/cost.h>
#include <trivance/network.h>

#include "base/span.h"

/* trv_cost_measure, and trv_cost_time_ns of each of the sizes; The bytes of a slow link of `on`
 * (NULL: there is none) take as much longer; TRV_ERR_UNSUPPORTED where a cut one would have to carry some.
 * Progress is reported to the part. */
int trv_cost_sizes(const trv_schedule_t *schedule, const trv_network_t *on, const trv_hockney_t *network,
                   const uint64_t *vector_bytes, int sizes, trv_span_t part, trv_cost_t *cost, double *time_ns);

#endif
