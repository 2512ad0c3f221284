/*
 * Whether a test runs all of its cases or, in the quick tier, a sample that includes the boundary cases. The exhaustive
 * tier (`make check-all`, `ctest -L exhaustive`) sets TEST_EXHAUSTIVE; the quick tier is `make check`, `ctest -L
 * quick`.
 */
#ifndef TRIVANCE_TESTS_EXHAUSTIVE_H
#define TRIVANCE_TESTS_EXHAUSTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline bool exhaustive(void)
{
    const char *value = getenv("TEST_EXHAUSTIVE");
    return value && *value;
}

/*
 * A random number below `limit`, other than in the last run: where all cases of a product take too long, every run of
 * the exhaustive tier has a random sample of them. The first call prints the seed; TEST_SEED=SEED repeats the run.
 */
static inline int sample_draw(int limit)
{
    static uint64_t state;
    if (state == 0) {
        const char *seed = getenv("TEST_SEED");
        const unsigned long long start = seed ? strtoull(seed, NULL, 10) : (unsigned long long)time(NULL);
        printf("a random sample; TEST_SEED=%llu repeats it\n", start);
        state = 2 * start + 1;
    }
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)limit);
}

/* Whether a loop tries its i-th case: the quick tier tries every `every`-th one, beginning with the first. */
static inline bool try_case(int i, int every) { return exhaustive() || i % every == 0; }

/* The seed of a test's own random numbers: 1 in the quick tier, another one in every run of the exhaustive tier. */
static inline uint64_t sample_seed(void) { return exhaustive() ? 1 + (uint64_t)sample_draw(1 << 30) : 1; }

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
