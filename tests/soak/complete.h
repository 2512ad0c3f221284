/*
 * Ways to complete several requests, in an order that differs between ranks.
 */
#ifndef TRIVANCE_TESTS_SOAK_COMPLETE_H
#define TRIVANCE_TESTS_SOAK_COMPLETE_H

#include "functions.h"
#include "values.h"

/* The ways from COMPLETE_BESIDE on require MPI_THREAD_MULTIPLE, and all ranks of `home` must use the same way at the
 * same time: four threads complete requests while the caller creates, uses and frees a duplicate of `home`. */
#define COMPLETE_BESIDE 5
#define COMPLETE_WAYS   6

/* Returns false if a sum over the duplicate was wrong. */
bool complete(request_t **request, int count, int way, draw_t *draw, MPI_Comm home);

#endif
