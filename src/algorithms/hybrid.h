/*
 * Hybrids: what lies between Trivance L and B (hybrid.c explains them). In every dimension of size a = g * h: a
 * reduce-scatter over g, an AllReduce of whole pieces among the h ranks at stride g, an allgather over g.
 *
 * Their names say all about them:
 *
 *     hybrid:G[xG…][:own[K]][:grouped][:sequential][:streamsN][:folded][:weightsW/W…]
 *                     G: g, or g/s for s steps per phase, or g/s/t: s where a stream begins, t where it comes later; one
 *                     for each dimension, or one for all
 *
 *     hybrid:4        g = 4 in every dimension, in the fewest steps
 *     hybrid:8/4x4    g = 8 in dimension 0, in 4 steps with less transmission (docs/distances.md); g = 4 in dimension 1
 *     hybrid:9:grouped                   the L part in groups: the same bits on every rank
 *     hybrid:8:own                       every stream scatters over its own dimension only, the others it does whole
 *     hybrid:8:own2                      … over its own and the next
 *     hybrid:8/4x64/32/6:streams12:weights11/7   12 streams begin in each dimension, with distance 1 in the 32 steps
 *                                         over 64, and 11 of 18 parts of the vector belong to those of dimension 0
 *
 *     hybrid:32/5:folded                 along lines a ring that is laid twofold along them (folded.c), in 5 steps
 *
 * What holds where nothing is said can be said, too: all (for own), windows, interleaved.
 */
#ifndef TRIVANCE_ALGORITHMS_HYBRID_H
#define TRIVANCE_ALGORITHMS_HYBRID_H

#include "algorithms/collector.h"
#include "algorithms/builders/visit.h"
#include "algorithms/builders/weights.h"
#include "schedule/schedule.h"

typedef enum trv_hybrid_form { TRV_HYBRID_WINDOWS, TRV_HYBRID_GROUPED } trv_hybrid_form_t;

typedef struct trv_factor {
    int g; /* divides the dimension's size */
    /* Of one phase, of the stream that begins in the dimension, and of the others: those of a row of
     * trv_distances_front(g), or g / 2 for distance 1 throughout; 0 for g = 1. `later` 0: the same. */
    int steps, later;
} trv_factor_t;

typedef struct trv_hybrid {
    trv_factor_t dimension[TRV_DIMS_MAX];
    int joint; /* line dimensions that go together in the stage; 0: 1 */
    int own;   /* dimensions that a stream scatters over, its own first; 0: all */
    trv_hybrid_form_t form;
    bool folded; /* lines are used as rings that are folded, where g > 1 */
    int streams; /* that begin in each dimension; 0: one */
    trv_weights_t weights;
    trv_visit_t visit; /* of reduce-scatter and allgather; the L part interleaves where its windows allow it */
} trv_hybrid_t;

/* Reads what follows "hybrid:" (NULL or "": g the divisor nearest to the root of each size, windows, interleaved; for
 * Reduce-Scatter and AllGather g is the size).
 * With the reason, TRV_ERR_ARGUMENT: words that are none; TRV_ERR_UNSUPPORTED: factors that do not fit the torus. (Step
 * counts that no row has are found when the schedule is made.) */
int trv_hybrid_parse(const char *parameters, const trv_torus_t *torus, trv_collective_t collective,
                     trv_hybrid_t *hybrid);

/* Completes the schedule (trv_algorithm.create); steps of 0 are the fewest. */
int trv_hybrid_make(trv_schedule_t *schedule, const trv_hybrid_t *hybrid);

/* The name, shortest way to say it. */
void trv_hybrid_name(const trv_hybrid_t *hybrid, const trv_torus_t *torus, char *name, int size);

/* The name spelled out: steps, own, form and order, too (trv_algorithm.spell). */
int trv_hybrid_spell(const char *parameters, const trv_torus_t *torus, trv_collective_t collective, char *text,
                     size_t size);

/* Those that are worth a look (trv_algorithm.candidates). */
int trv_hybrid_candidates(const trv_collector_t *collector);

#endif
