/*
 * The words that files and pictures use for a schedule's properties.
 */
#ifndef TRIVANCE_EXPORT_NAMES_H
#define TRIVANCE_EXPORT_NAMES_H

#include <trivance/schedule.h>

static inline const char *trv_collective_word(trv_collective_t collective)
{
    static const char *const word[] = {"allreduce", "reduce-scatter", "allgather"};
    return word[collective];
}

static inline const char *trv_symmetry_word(trv_symmetry_t symmetry)
{
    static const char *const word[] = {"none", "parity", "translation"};
    return word[symmetry];
}

#endif
