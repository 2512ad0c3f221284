/*
 * The words that files and pictures use for a schedule's properties.
 */
#ifndef TRIVANCE_EXPORT_NAMES_H
#define TRIVANCE_EXPORT_NAMES_H

#include <ctype.h>
#include <stdio.h>

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

/* The schedule's name with letters, digits and - . _ only, for formats where others would need care. */
static inline const char *trv_plain_name(const trv_schedule_t *schedule, char text[64])
{
    snprintf(text, 64, "%s", trv_schedule_name(schedule));
    for (char *c = text; *c; c++)
        if ((unsigned char)*c > 127 || (!isalnum((unsigned char)*c) && *c != '-' && *c != '.'))
            *c = '_';
    return text;
}

#endif
