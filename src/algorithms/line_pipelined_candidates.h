/*
 * The candidates of line-pipelined.
 */
#ifndef TRIVANCE_ALGORITHMS_LINE_PIPELINED_CANDIDATES_H
#define TRIVANCE_ALGORITHMS_LINE_PIPELINED_CANDIDATES_H

#include "algorithms/collector.h"

/* Adds the numbers of chunks that the planner should consider (trv_algorithm.candidates). */
int trv_line_pipelined_candidates(const trv_collector_t *collector);

#endif
