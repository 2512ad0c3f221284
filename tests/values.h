/*
 * The values that ranks contribute in tests with known results.
 */
#ifndef TRIVANCE_TESTS_VALUES_H
#define TRIVANCE_TESTS_VALUES_H

#include <stddef.h>
#include <stdint.h>

/* Element i of the contribution of rank r. Sums are exact in a float. */
static inline int64_t value(int r, size_t i) { return (int64_t)((size_t)r * 7 + i * 3) % 101 - 20; }

#endif
