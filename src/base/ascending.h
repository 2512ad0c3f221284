/*
 * Ascending order, for qsort and bsearch.
 */
#ifndef TRIVANCE_BASE_ASCENDING_H
#define TRIVANCE_BASE_ASCENDING_H

#include <stdint.h>

static inline int trv_compare_int(const void *left, const void *right)
{
    const int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

static inline int trv_compare_int64(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static inline int trv_compare_uint64(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static inline int trv_compare_double(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

#endif
