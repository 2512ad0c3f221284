/*
 * Spans of blocks in buffers, to find blocks that overlap.
 */
#ifndef TRIVANCE_EXECUTE_RUN_SPANS_H
#define TRIVANCE_EXECUTE_RUN_SPANS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct trv_span {
    size_t begin, end; /* begin < end */
} trv_span_t;

/* Sorts the spans by their begins; spans in this order already cost one pass. Returns an index i such that spans i - 1
 * and i overlap, or 0. */
size_t trv_spans_overlap(trv_span_t *span, size_t spans);
/* Whether a span of one sorted list without overlaps overlaps one of another. */
bool trv_spans_meet(const trv_span_t *span, size_t spans, const trv_span_t *other, size_t others);

#endif
