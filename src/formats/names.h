/*
 * The words that files and pictures use for a schedule's properties and for networks.
 */
#ifndef TRIVANCE_FORMATS_NAMES_H
#define TRIVANCE_FORMATS_NAMES_H

#include <ctype.h>
#include <stdio.h>

#include <trivance/network.h>
#include <trivance/schedule.h>

extern const char *const trv_symmetry_words[3];

static inline const char *trv_symmetry_word(trv_symmetry_t symmetry) { return trv_symmetry_words[symmetry]; }

/* Returns "ring", "line", "torus", "mesh" (no dimension wraps around) or "network" (some dimensions wrap around, or
 * a link is cut). */
const char *trv_shape_noun(const trv_network_t *network);
/* Writes "a ring of 9", "a ring of 9 with a cut", "a line of 9", "the torus 8x8", "the mesh 8mx8m", "the network
 * 8x8m"; " without forwarding" follows if the network does not forward. Returns `text`. */
#define TRV_SHAPE_TEXT_MAX (TRV_TORUS_TEXT_MAX + 64)
char *trv_shape_words(const trv_network_t *network, char text[TRV_SHAPE_TEXT_MAX]);

/* Writes the schedule's name with letters, digits and - . _ only, for formats in which other characters would
 * require quoting. */
static inline const char *trv_plain_name(const trv_schedule_t *schedule, char text[64])
{
    snprintf(text, 64, "%s", trv_schedule_name(schedule));
    for (char *c = text; *c; c++)
        if ((unsigned char)*c > 127 || (!isalnum((unsigned char)*c) && *c != '-' && *c != '.'))
            *c = '_';
    return text;
}

#endif
