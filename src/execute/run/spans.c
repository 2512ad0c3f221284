/*
 * Spans, see spans.h.
 */
#include "execute/run/spans.h"

#include <stdlib.h>

static int compare_spans(const void *left, const void *right)
{
    const trv_span_t *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

size_t trv_spans_overlap(trv_span_t *span, size_t spans)
{
    bool sorted = true;
    for (size_t i = 1; i < spans && sorted; i++)
        sorted = span[i - 1].begin <= span[i].begin;
    if (!sorted)
        qsort(span, spans, sizeof *span, compare_spans);
    for (size_t i = 1; i < spans; i++)
        if (span[i].begin < span[i - 1].end)
            return i;
    return 0;
}

bool trv_spans_meet(const trv_span_t *span, size_t spans, const trv_span_t *other, size_t others)
{
    for (size_t i = 0, j = 0; i < spans && j < others;) {
        if (span[i].begin < other[j].end && other[j].begin < span[i].end)
            return true;
        if (span[i].end <= other[j].end)
            i++;
        else
            j++;
    }
    return false;
}
