/*
 * FNV-1a, the hash of everything that is compared or looked up by one (Fowler, Noll and Vo; the 64-bit variant). Its
 * values are in files (star searches) and in messages between ranks: they may not change.
 */
#ifndef TRIVANCE_BASE_HASH_H
#define TRIVANCE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define TRV_HASH_SEED UINT64_C(14695981039346656037)

/* Of some bytes, after those whose hash is `seed` (TRV_HASH_SEED at first). */
static inline uint64_t trv_hash(uint64_t seed, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        seed = (seed ^ byte[i]) * UINT64_C(1099511628211);
    return seed;
}

/* The same idea for tables in memory, a number at a time: quicker, and not to be kept. */
#define TRV_HASH_INTS_SEED 2166136261u

static inline unsigned trv_hash_ints(unsigned seed, const int *value, int count)
{
    for (int i = 0; i < count; i++)
        seed = (seed ^ (unsigned)value[i]) * 16777619u;
    return seed;
}

#endif
