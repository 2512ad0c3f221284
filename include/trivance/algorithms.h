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
TRV_API trv_symmetry_t trv_algorithm_symmetry(const trv_algorithm_t *algorithm); /* on the tori it is made for */
TRV_API trv_exactness_t trv_algorithm_exactness(const trv_algorithm_t *algorithm);
TRV_API bool trv_algorithm_consistent(const trv_algorithm_t *algorithm);
TRV_API bool trv_algorithm_latency_optimal(const trv_algorithm_t *algorithm); /* L: whole vectors; else B */

/* 0 if the algorithm serves the torus and the collective, else TRV_ERR_UNSUPPORTED with the reason. */
TRV_API int trv_algorithm_supports(const trv_algorithm_t *algorithm, const trv_torus_t *torus,
                                   trv_collective_t collective);

/* Room for any name of an algorithm that says which one it is, with parameters ("hybrid:4x8"). */
#define TRV_PLAN_NAME_MAX 128

/* Makes the schedule of a named algorithm for a torus; a name has less than TRV_SPELLED_MAX characters.
 * TRV_ERR_UNSUPPORTED with the reason where the algorithm cannot serve that torus or collective. Destroy it with
 * trv_schedule_destroy. */
TRV_API int trv_schedule_create(trv_schedule_t **schedule, const trv_torus_t *torus, const char *algorithm,
                                trv_collective_t collective);

/* ---- Names that say all ---------------------------------------------------------------------------------------- */

/* Spells out the name of a schedule: what trv_schedule_create makes of `text` is the same as what it makes of
 * `algorithm`, message by message, but depends on nothing else any more: on no search, table, cache or default.
 * "star:l:2" says which of the chains that are known here, star:l:1.0/0.1/-1.0_2.1/0.2/2.-1:2 says the chain. For one
 * rank that decides and others that follow.
 * 0, or a negative error with a sentence: what trv_schedule_create says of a name, torus and collective that do not go
 * together (what only the making finds it leaves to that); TRV_ERR_ARGUMENT where `size` is not enough. */
TRV_API int trv_schedule_spell(const trv_torus_t *torus, const char *algorithm, trv_collective_t collective, char *text,
                               size_t size);

#ifdef __cplusplus
}
#endif
#endif
