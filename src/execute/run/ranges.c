/*
 * Ranges, see ranges.h.
 */
#include "execute/run/ranges.h"

#include <stdlib.h>

static int compare_ranges(const void *left, const void *right)
{
    const trv_range_t *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

size_t trv_ranges_overlap(trv_range_t *range, size_t ranges)
{
    bool sorted = true;
    for (size_t i = 1; i < ranges && sorted; i++)
        sorted = range[i - 1].begin <= range[i].begin;
    if (!sorted)
        qsort(range, ranges, sizeof *range, compare_ranges);
    for (size_t i = 1; i < ranges; i++)
        if (range[i].begin < range[i - 1].end)
            return i;
    return 0;
}

bool trv_ranges_meet(const trv_range_t *range, size_t ranges, const trv_range_t *other, size_t others)
{
    for (size_t i = 0, j = 0; i < ranges && j < others;) {
        if (range[i].begin < other[j].end && other[j].begin < range[i].end)
            return true;
        if (range[i].end <= other[j].end)
            i++;
        else
            j++;
    }
    return false;
}
