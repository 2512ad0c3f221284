/*
 * Comparison functions for ascending order with qsort and bsearch; medians.
 */
#ifndef TRIVANCE_BASE_ASCENDING_H
#define TRIVANCE_BASE_ASCENDING_H

#include <stdint.h>
#include <stdlib.h>

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

/* The median of at least one value: for an even count, the mean of the two middle ones. Sorts the values. */
static inline double trv_median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, trv_compare_double);
    return (value[(count - 1) / 2] + value[count / 2]) / 2;
}

#endif
