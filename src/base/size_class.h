/*
 * Classes of sizes: the choice of the planner, and its line in the log, apply to all sizes of a class.
 */
#ifndef TRIVANCE_BASE_SIZE_CLASS_H
#define TRIVANCE_BASE_SIZE_CLASS_H

#include <math.h>
#include <stdint.h>

#define TRV_SIZE_CLASS_MIN 8

/* The size that represents the class of `bytes`: the nearest power of two, at least TRV_SIZE_CLASS_MIN. */
static inline uint64_t trv_size_class(uint64_t bytes)
{
    uint64_t size = TRV_SIZE_CLASS_MIN;
    while ((double)bytes > sqrt(2) * (double)size)
        size *= 2;
    return size;
}

/* The smallest and the largest size of the class of `bytes`. */
static inline void trv_size_class_bounds(uint64_t bytes, uint64_t *min, uint64_t *max)
{
    const uint64_t size = trv_size_class(bytes);
    *min = size == TRV_SIZE_CLASS_MIN ? 0 : (uint64_t)(sqrt(2) * (double)(size / 2)) + 1;
    *max = (uint64_t)(sqrt(2) * (double)size);
}

#endif
