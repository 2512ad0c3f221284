/*
 * Pairwise exchanges: the partner of each rank, and folding (pairs.h).
 */
#include "algorithms/builders/pairs.h"

#include <stdlib.h>

#include "base/radix.h"

trv_pairs_t trv_pairs(int size, int (*partner)(int index, int level, int core))
{
    trv_pairs_t pairs = {.size = size, .partner = partner};
    while (2 << pairs.levels <= size)
        pairs.levels++;
    pairs.extra = size - (1 << pairs.levels);
    return pairs;
}

int trv_pairs_index(const trv_pairs_t *pairs, int coordinate)
{
    if (coordinate >= 2 * pairs->extra)
        return coordinate - pairs->extra;
    return coordinate % 2 ? coordinate / 2 : -1;
}

int trv_pairs_coordinate(const trv_pairs_t *pairs, int index)
{
    return index < pairs->extra ? 2 * index + 1 : index + pairs->extra;
}

int trv_pairs_sign(const trv_pairs_t *pairs, int from, int to)
{
    int forward = to >= from ? to - from : to - from + pairs->size;
    if (2 * forward == pairs->size && pairs->ties_alternate)
        return from % 2 ? -1 : 1;
    return 2 * forward <= pairs->size ? 1 : -1;
}

int trv_recdoub_partner(int index, int level, int core)
{
    (void)core;
    return index ^ (1 << level);
}

/* The distance of Swing's step k, with its sign: rho(k) = (1 - (-2)^(k+1)) / 3 = 1, -1, 3, -5, 11 … */
static int swing_rho(int level)
{
    int power = trv_power(2, level + 1);
    return level % 2 ? (1 - power) / 3 : (1 + power) / 3;
}

int trv_swing_distance(int level) { return abs(swing_rho(level)); }

int trv_swing_partner(int index, int level, int core)
{
    int rho = swing_rho(level);
    int partner = (index % 2 ? index - rho : index + rho) % core;
    return partner < 0 ? partner + core : partner;
}

bool trv_pairs_are_unfolded(const trv_torus_t *torus)
{
    for (int d = 0; d < torus->dims; d++)
        if (!trv_is_power(2, torus->size[d]))
            return false;
    return true;
}
