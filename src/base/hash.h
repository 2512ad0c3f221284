/*
 * FNV-1a, the hash function for all comparisons and tables (Fowler, Noll and Vo; the 64-bit variant). Its values are
 * stored in files (star searches) and sent between ranks; therefore they must not change.
 */
#ifndef TRIVANCE_BASE_HASH_H
#define TRIVANCE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define TRV_HASH_SEED UINT64_C(14695981039346656037)

/* Continues a hash with further bytes. seed: the hash of the bytes so far, initially TRV_HASH_SEED. */
static inline uint64_t trv_hash(uint64_t seed, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        seed = (seed ^ byte[i]) * UINT64_C(1099511628211);
    return seed;
}

/* A variant for tables in memory, which processes an integer at a time. It is faster; its values must not be stored. */
#define TRV_HASH_INTS_SEED 2166136261u

static inline unsigned trv_hash_ints(unsigned seed, const int *value, int count)
{
    for (int i = 0; i < count; i++)
        seed = (seed ^ (unsigned)value[i]) * 16777619u;
    return seed;
}

#endif
