/*
 * Functions for single vectors, which the files of the module share.
 */
#ifndef TRIVANCE_SEARCH_STARS_VECTOR_H
#define TRIVANCE_SEARCH_STARS_VECTOR_H

#include <stdbool.h>

#include <trivance/torus.h>

#define VECTOR_TEXT_MAX (12 * TRV_DIMS_MAX)

/* "2.-1"; returns `text`. */
const char *trv_star_vector_text(const trv_torus_t *torus, const int *at, char text[VECTOR_TEXT_MAX]);

/* The ports, as bits, by which a message from `at` may leave: the shorter way in a dimension, both where that is half
 * way round (at[d] is not -size / 2). */
unsigned trv_star_vector_ports(const trv_torus_t *torus, const int *at);

/* Gives vector i one of its ports, moving others to another one of theirs where that helps. `ports` are those of every
 * vector so far, `owner` is the vector that has a port, or -1. False where there is none left for one of them. */
bool trv_star_vector_place(const unsigned *ports, int owner[TRV_PORTS_MAX], int i);

#endif
