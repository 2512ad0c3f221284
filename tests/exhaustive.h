/*
 * Whether a test runs all of its cases, or all others (`make check-all`, `ctest -L exhaustive`) or a sample that includes the boundary
 * cases (`make check`, `ctest -L quick`). Tests of the exhaustive tier set TEST_EXHAUSTIVE.
 */
#ifndef TRIVANCE_TESTS_EXHAUSTIVE_H
#define TRIVANCE_TESTS_EXHAUSTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

static inline bool exhaustive(void)
{
    const char *value = getenv("TEST_EXHAUSTIVE");
    return value && *value;
}

/*
 * Whether a loop over the sizes of a ring or a line includes this one. The sample of the quick tier: all sizes up to 10,
 * powers of two up to 128 and of three up to 243, most of their neighbours, and some primes and composite sizes between.
 */
static inline bool try_size(int size)
{
    static const int sample[] = {12, 13, 15, 16, 17, 18, 25, 26, 27, 28,  31,  32,  33,
                                 53, 54, 63, 64, 65, 80, 81, 82, 97, 127, 128, 129, 243};
    bool found = size <= 10 || exhaustive();
    for (size_t i = 0; !found && i < sizeof sample / sizeof *sample; i++)
        found = sample[i] == size;
    return found;
}

#endif
