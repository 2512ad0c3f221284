/*
 * Ranges of blocks in buffers, to find blocks that overlap.
 */
#ifndef TRIVANCE_EXECUTE_RUN_RANGES_H
#define TRIVANCE_EXECUTE_RUN_RANGES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct trv_range {
    size_t begin, end; /* begin <= end */
} trv_range_t;

/* Sorts the ranges by their begins; if they are sorted already, that takes one pass. Returns an index i such that range
 * i overlaps the one before it, or 0. */
size_t trv_ranges_overlap(trv_range_t *range, size_t ranges);
/* Whether a range of one list overlaps one of the other. Both lists are sorted by their begins. */
bool trv_ranges_meet(const trv_range_t *range, size_t ranges, const trv_range_t *other, size_t others);

#endif
