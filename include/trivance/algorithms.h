/*
 * The table of algorithms: the name, the properties and the limits of each algorithm. Help texts, documents and tests
 * are generated from it.
 *
 * Stability: stable.
 */
#ifndef TRIVANCE_ALGORITHMS_H
#define TRIVANCE_ALGORITHMS_H

#include <trivance/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct trv_algorithm trv_algorithm_t;

/* The algorithms in table order: index 0 … trv_algorithms_count() - 1. NULL beyond. */
TRV_API int trv_algorithms_count(void);
TRV_API const trv_algorithm_t *trv_algorithm_at(int index);
/* By name, with or without parameters ("trivance-l", "hybrid:4x8"); NULL if there is none, with the names in
 * trv_last_error(). */
TRV_API const trv_algorithm_t *trv_algorithm_find(const char *name);

TRV_API const char *trv_algorithm_name(const trv_algorithm_t *algorithm);   /* "trivance-b" */
TRV_API const char *trv_algorithm_family(const trv_algorithm_t *algorithm); /* "trivance" (L and B), or its name */
TRV_API const char *trv_algorithm_title(const trv_algorithm_t *algorithm);  /* "Trivance, bandwidth-optimal" */
TRV_API const char *trv_algorithm_source(const trv_algorithm_t *algorithm); /* its publication */
TRV_API const char *trv_algorithm_sizes(const trv_algorithm_t *algorithm);  /* the tori it supports, in words */
TRV_API const char *trv_algorithm_use(const trv_algorithm_t *algorithm);    /* "medium and long vectors" */
TRV_API const char *trv_algorithm_steps_formula(const trv_algorithm_t *algorithm); /* per torus, in words */
TRV_API const char *trv_algorithm_bytes_formula(const trv_algorithm_t *algorithm); /* sent per rank, in words */
/* The syntax of the parameters after the name and a colon ("G[xG…]…"); NULL if there are none. Omitted parameters are
 * chosen by the algorithm. The properties in this table apply to that choice; with other parameters those of the
 * schedule apply (trivance/schedule.h). */
TRV_API const char *trv_algorithm_parameters(const trv_algorithm_t *algorithm);
TRV_API trv_symmetry_t trv_algorithm_symmetry(const trv_algorithm_t *algorithm); /* on the tori it is designed for */
TRV_API trv_exactness_t trv_algorithm_exactness(const trv_algorithm_t *algorithm);
TRV_API bool trv_algorithm_consistent(const trv_algorithm_t *algorithm);
/* Whether the algorithm collects all vectors and combines them in the order of the ranks, as required by operations
 * that do not commute. */
TRV_API bool trv_algorithm_in_rank_order(const trv_algorithm_t *algorithm);
TRV_API bool trv_algorithm_latency_optimal(const trv_algorithm_t *algorithm); /* L: sends whole vectors; otherwise B */
/* Properties of a family, from its first entry in the table: whether Trivance is compared with it, and the number of
 * its colour and marker in the figures, which is also the order of the curves (0: it has no curve). */
TRV_API bool trv_algorithm_baseline(const trv_algorithm_t *algorithm);
TRV_API int trv_algorithm_colour(const trv_algorithm_t *algorithm);

/* The paper's closed forms of the quantities that trivance/cost.h measures: the exact sums of appendix B on this torus
 * (given for square tori, without lines, whose sides are powers of the algorithm's radix), and the limits of tables 1
 * and 2. NAN if the paper has none, or if the algorithm is NULL. */
typedef struct trv_paper_cost {
    double lambda, delta, theta; /* exact sums of appendix B */
    double theta_limit;          /* table 1 (rings) or table 2 (n to infinity) */
} trv_paper_cost_t;
TRV_API void trv_algorithm_paper_cost(const trv_algorithm_t *algorithm, const trv_torus_t *torus,
                                      trv_paper_cost_t *paper);

/* Whether the algorithm supports the collective on any torus. */
TRV_API bool trv_algorithm_has_collective(const trv_algorithm_t *algorithm, trv_collective_t collective);

/* Returns 0 if the algorithm supports the torus and the collective, otherwise TRV_ERR_UNSUPPORTED with the reason. */
TRV_API int trv_algorithm_supports(const trv_algorithm_t *algorithm, const trv_torus_t *torus,
                                   trv_collective_t collective);

/* A buffer size that suffices for any algorithm name with parameters ("hybrid:4x8"), including the terminating 0. */
#define TRV_ALGORITHM_NAME_MAX 128

/* Creates the schedule of a named algorithm for a torus; a name has fewer than TRV_FULL_NAME_MAX characters. Any name
 * may end with ":together": all streams are one, in which a rank begins a step when its messages of the previous step
 * have arrived in all of them ("swing-b:together").
 * TRV_ERR_UNSUPPORTED with the reason if the algorithm does not support that torus or collective. "planned" is not
 * the name of an algorithm but a choice for one size, which trv_planner_best makes. Destroy the schedule with
 * trv_schedule_destroy. */
TRV_API int trv_schedule_create(trv_schedule_t **schedule, const trv_torus_t *torus, const char *algorithm,
                                trv_collective_t collective);

/* ---- Names in full --------------------------------------------------------------------------------------------- */

/* Writes the name of a schedule in full: trv_schedule_create creates the same schedule from `text` as from
 * `algorithm`, message by message, but independently of any search, table, cache or default. "star:l:2" names one
 * of the chains known to this process; star:l:1.0/0.1/-1.0_2.1/0.2/2.-1:2 contains the chain. Use it if one rank
 * chooses an algorithm for all. Returns 0, or the error of trv_schedule_create if name, torus and collective do not
 * match (errors that are detected only while creating the schedule are reported by trv_schedule_create);
 * TRV_ERR_ARGUMENT if `size` is too small. */
TRV_API int trv_schedule_full_name(const trv_torus_t *torus, const char *algorithm, trv_collective_t collective,
                                   char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
