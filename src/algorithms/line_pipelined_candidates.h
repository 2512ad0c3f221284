/*
 * What line-pipelined offers the planner.
 */
#ifndef TRIVANCE_ALGORITHMS_LINE_PIPELINED_CANDIDATES_H
#define TRIVANCE_ALGORITHMS_LINE_PIPELINED_CANDIDATES_H

#include "algorithms/collector.h"

/* Those that are worth a look (trv_algorithm.candidates). */
int trv_line_pipelined_candidates(const trv_collector_t *collector);

#endif
