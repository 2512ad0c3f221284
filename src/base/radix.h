/*
 * Integer logarithms and powers for the algorithms.
 */
#ifndef TRIVANCE_BASE_RADIX_H
#define TRIVANCE_BASE_RADIX_H

#include <stdbool.h>

/* ceil(log_radix value): the smallest s with radix^s >= value. */
static inline int trv_log_ceil(int radix, int value)
{
    int steps = 0;
    for (long long power = 1; power < value; power *= radix)
        steps++;
    return steps;
}

/* radix^exponent; the caller ensures that the result fits. */
static inline int trv_power(int radix, int exponent)
{
    int power = 1;
    while (exponent-- > 0)
        power *= radix;
    return power;
}

static inline bool trv_is_power(int radix, int value)
{
    while (value % radix == 0)
        value /= radix;
    return value == 1;
}

#endif
