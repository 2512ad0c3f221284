/*
 * Whether a test runs all of its cases or, in the quick tier, a sample that includes the boundary cases. The exhaustive
 * tier (`make check-all`, `ctest -L exhaustive`) sets TEST_EXHAUSTIVE; the quick tier is `make check`, `ctest -L
 * quick`.
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
 * Sizes of a ring or a line. The quick tier tries a sample: all up to 10, powers of two up to 128 and of three up to
 * 243, most of their neighbours, and some primes and composite sizes between. try_size: whether a loop tries the size
 * in this tier.
 */
static inline bool in_sample(int size)
{
    static const int sample[] = {12, 13, 15, 16, 17, 18, 25, 26, 27, 28,  31,  32,  33,
                                 53, 54, 63, 64, 65, 80, 81, 82, 97, 127, 128, 129, 243};
    bool found = size <= 10;
    for (size_t i = 0; !found && i < sizeof sample / sizeof *sample; i++)
        found = sample[i] == size;
    return found;
}

static inline bool try_size(int size) { return exhaustive() || in_sample(size); }

#endif
