/*
 * Two schedules one after another: a scatter along trees and then an allgather is a broadcast; a reduce-scatter and
 * then a gather is a reduce.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_SEQUENCE_H
#define TRIVANCE_ALGORITHMS_BUILDERS_SEQUENCE_H

#include "schedule/schedule.h"

/* Completes a schedule with the steps of `first`, then those of `second`. One of them, which has the streams, is an
 * allgather or reduce-scatter (main_first: it is `first`); the other, a scatter or gather along trees, executes its
 * stream s modulo the number of its streams on every slice. Takes ownership of both, also on failure. */
int trv_sequence_create(trv_schedule_t *schedule, trv_schedule_t *first, trv_schedule_t *second, bool main_first);

#endif
