/*
 * The table of algorithms: name, properties and limits of each, in one place, from which help texts, docs and tests
 * print.
 */
#ifndef TRIVANCE_ALGORITHMS_H
#define TRIVANCE_ALGORITHMS_H

#include <trivance/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct trv_algorithm trv_algorithm_t;

/* The algorithms in the order of the table: index 0 … trv_algorithms_count() - 1. NULL beyond. */
TRV_API int trv_algorithms_count(void);
TRV_API const trv_algorithm_t *trv_algorithm_at(int index);
/* By name ("trivance-l"), parameters or not ("hybrid:4x8"); NULL with trv_last_error() (which lists the names) when
 * there is none. */
TRV_API const trv_algorithm_t *trv_algorithm_find(const char *name);

TRV_API const char *trv_algorithm_name(const trv_algorithm_t *algorithm);   /* "trivance-b" */
TRV_API const char *trv_algorithm_family(const trv_algorithm_t *algorithm); /* "trivance": its L and B; or its name */
TRV_API const char *trv_algorithm_title(const trv_algorithm_t *algorithm);  /* "Trivance, bandwidth-optimal" */
TRV_API const char *trv_algorithm_source(const trv_algorithm_t *algorithm); /* where it is published */
TRV_API const char *trv_algorithm_sizes(const trv_algorithm_t *algorithm);  /* which tori it takes, in words */
TRV_API const char *trv_algorithm_steps_formula(const trv_algorithm_t *algorithm); /* per torus, in words */
TRV_API const char *trv_algorithm_bytes_formula(const trv_algorithm_t *algorithm); /* sent per rank, in words */
/* How a name's parameters, after a colon, are written ("G[xG…]…"); NULL where there are none. Left out, the algorithm
 * chooses them; the other properties here are those of its choice, and a schedule's own are what counts. */
TRV_API const char *trv_algorithm_parameters(const trv_algorithm_t *algorithm);
TRV_API trv_symmetry_t trv_algorithm_symmetry(const trv_algorithm_t *algorithm);   /* on the tori it is made for */
TRV_API trv_exactness_t trv_algorithm_exactness(const trv_algorithm_t *algorithm);
TRV_API bool trv_algorithm_consistent(const trv_algorithm_t *algorithm);
TRV_API bool trv_algorithm_latency_optimal(const trv_algorithm_t *algorithm); /* L: whole vectors; else B */

/* 0 if the algorithm serves the torus and the collective, else TRV_ERR_UNSUPPORTED with the reason. */
TRV_API int trv_algorithm_supports(const trv_algorithm_t *algorithm, const trv_torus_t *torus,
                                   trv_collective_t collective);

#ifdef __cplusplus
}
#endif
#endif
