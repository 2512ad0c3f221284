/*
 * Vector clocks: for each participant, the progress that is known of it.
 */
#ifndef TRIVANCE_VERIFY_VECTOR_CLOCK_H
#define TRIVANCE_VERIFY_VECTOR_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Merges another clock into `mine`. */
static inline void trv_clock_join(int32_t *mine, const int32_t *known, int count)
{
    for (int i = 0; i < count; i++)
        mine[i] = known[i] > mine[i] ? known[i] : mine[i];
}

/* Whether `mine` includes all of another clock. */
static inline bool trv_clock_knows(const int32_t *mine, const int32_t *known, int count)
{
    for (int i = 0; i < count; i++)
        if (mine[i] < known[i])
            return false;
    return true;
}

#endif
