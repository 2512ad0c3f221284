/*
 * What the files of the room share about single vectors.
 */
#ifndef TRIVANCE_STARS_VECTOR_H
#define TRIVANCE_STARS_VECTOR_H

#include <trivance/torus.h>

#define VECTOR_TEXT_MAX (12 * TRV_DIMS_MAX)

/* "2.-1"; returns `text`. */
const char *trv_star_vector_text(const trv_torus_t *torus, const int *at, char text[VECTOR_TEXT_MAX]);

/* The ports, as bits, by which a message from `at` may leave: the shorter way in a dimension, both where that is half
 * way round (at[d] is not -size / 2). */
unsigned trv_star_vector_ports(const trv_torus_t *torus, const int *at);

#endif
