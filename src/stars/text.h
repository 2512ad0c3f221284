/*
 * What the files of the room share about the text of chains.
 */
#ifndef TRIVANCE_STARS_TEXT_H
#define TRIVANCE_STARS_TEXT_H

#include <stddef.h>

#include "stars/stars.h"

#define VECTOR_TEXT_MAX (12 * TRV_DIMS_MAX)

/* "2.-1"; returns `text`. */
const char *trv_star_vector_text(const trv_torus_t *torus, const int *at, char text[VECTOR_TEXT_MAX]);

#endif
