/*
 * Functions for single vectors, shared by the files of this module.
 */
#ifndef TRIVANCE_SEARCH_STARS_VECTOR_H
#define TRIVANCE_SEARCH_STARS_VECTOR_H

#include <stdbool.h>

#include <trivance/torus.h>

#define VECTOR_TEXT_MAX (12 * TRV_DIMS_MAX)

/* Writes a vector, such as "2.-1", and returns `text`. */
const char *trv_star_vector_text(const trv_torus_t *torus, const int *at, char text[VECTOR_TEXT_MAX]);

/* The set of ports, as bits, through which a message from displacement `at` may leave: those of the shorter way in each
 * dimension, or both if the ways are equally long (at[d] is never -size / 2). */
unsigned trv_star_vector_ports(const trv_torus_t *torus, const int *at);

/* Assigns one of its ports to vector i, and reassigns the ports of other vectors if necessary. `ports` has the possible
 * ports of every vector so far; `owner` has the vector of each port, or -1. Returns false if no assignment exists. */
bool trv_star_vector_assign(const unsigned *ports, int owner[TRV_PORTS_MAX], int i);

#endif
