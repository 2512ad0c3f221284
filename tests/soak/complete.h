/*
 * Ways to complete several requests, in an order of each rank's own.
 */
#ifndef TRIVANCE_TESTS_SOAK_COMPLETE_H
#define TRIVANCE_TESTS_SOAK_COMPLETE_H

#include "values.h"

/* From COMPLETE_BESIDE on they need MPI_THREAD_MULTIPLE, and all ranks of `home` must take the same way at the same time:
 * four threads complete, while the caller makes, uses and frees a duplicate of `home`. */
#define COMPLETE_BESIDE 5
#define COMPLETE_WAYS   6

/* False: a sum over the duplicate was wrong. */
bool complete(MPI_Request **request, int count, int way, draw_t *draw, MPI_Comm home);

#endif
