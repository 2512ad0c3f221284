/*
 * Vector clocks: for each participant, how far it is known to be.
 */
#ifndef TRIVANCE_VERIFY_VECTOR_CLOCK_H
#define TRIVANCE_VERIFY_VECTOR_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Takes over what another one knows. */
static inline void trv_clock_join(int32_t *mine, const int32_t *known, int count)
{
    for (int i = 0; i < count; i++)
        mine[i] = known[i] > mine[i] ? known[i] : mine[i];
}

/* Whether all of that is known. */
static inline bool trv_clock_knows(const int32_t *mine, const int32_t *known, int count)
{
    for (int i = 0; i < count; i++)
        if (mine[i] < known[i])
            return false;
    return true;
}

#endif
