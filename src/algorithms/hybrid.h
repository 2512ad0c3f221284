/*
 * Hybrids: algorithms between Trivance L and B (hybrid.c explains them). In every dimension of size a = g * h: a
 * reduce-scatter over g, an AllReduce of whole pieces among the h ranks at stride g, an allgather over g.
 *
 * A name specifies a hybrid completely:
 *
 *     hybrid:G[xG…][:own[K]][:grouped][:sequential][:streamsN][:folded][:weightsW/W…]
 *                     G: g, or g/s for s steps per phase, or g/s/t: s steps for the streams that begin in the
 *                     dimension, t for the others; one G for each dimension, or one for all
 *
 *     hybrid:4        g = 4 in every dimension, in the fewest steps
 *     hybrid:8/4x4    g = 8 in dimension 0, in 4 steps with less transmission (docs/distances.md); g = 4 in dimension 1
 *     hybrid:9:grouped                   the L part in groups: bitwise identical results on every rank
 *     hybrid:8:own                       every stream scatters over its own dimension only; others are in the L part
 *     hybrid:8:own2                      … over its own and the next
 *     hybrid:8/4x64/32/6:streams12:weights11/7   12 streams begin in each dimension, with distance 1 in the 32 steps
 *                                         over 64, and 11 of 18 parts of the vector belong to those of dimension 0
 *
 *     hybrid:32/5:folded                 along lines a ring that is folded onto them (folded.c), in 5 steps
 *
 * The defaults can also be written out: all (for own), windows, interleaved.
 */
#ifndef TRIVANCE_ALGORITHMS_HYBRID_H
#define TRIVANCE_ALGORITHMS_HYBRID_H

#include "algorithms/collector.h"
#include "algorithms/name.h"
#include "algorithms/builders/visit.h"
#include "algorithms/builders/weights.h"
#include "schedule/schedule.h"

typedef enum trv_hybrid_form { TRV_HYBRID_WINDOWS, TRV_HYBRID_GROUPED } trv_hybrid_form_t;

typedef struct trv_factor {
    int g; /* a divisor of the dimension's size */
    /* Steps of one phase, for the streams that begin in the dimension, and for the others: the steps of a row of
     * trv_distances_front(g), or g / 2 for distance 1 in all steps; 0 for g = 1. `later` 0: the same as `steps`. */
    int steps, later;
} trv_factor_t;

typedef struct trv_hybrid {
    trv_factor_t dimension[TRV_DIMS_MAX];
    int joint; /* maximum number of line dimensions that the stage treats together; 0: 1 */
    int own;   /* number of dimensions over which a stream scatters, beginning with its own; 0: all */
    trv_hybrid_form_t form;
    bool folded; /* lines with g > 1 are used as folded rings */
    int streams; /* streams that begin in each dimension; 0: one */
    trv_weights_t weights;
    trv_visit_t visit; /* of reduce-scatter and allgather; the L part is interleaved if its windows allow it */
} trv_hybrid_t;

/* The hybrid that a name specifies. Without factors: for AllReduce the divisor of each size that is nearest to its
 * square root; for Reduce-Scatter and AllGather g is the size. Fails, with the reason, with TRV_ERR_UNSUPPORTED for
 * factors that do not fit the torus. (Step counts without a row of distances are detected when the schedule is
 * created.) */
int trv_hybrid_read(const trv_parameters_t *parameters, const trv_torus_t *torus, trv_collective_t collective,
                    trv_hybrid_t *hybrid);

/* The maximum of trv_hybrid_t.own. */
int trv_hybrid_own_max(const trv_torus_t *torus);

/* Completes the schedule (trv_algorithm.create). Steps of 0 stand for the fewest. */
int trv_hybrid_make(trv_schedule_t *schedule, const trv_hybrid_t *hybrid);

/* Writes the name in its shortest form. */
void trv_hybrid_name(const trv_hybrid_t *hybrid, const trv_torus_t *torus, char *name, size_t size);

/* Sets all values of a full name, including steps, own, form and order (trv_algorithm.complete). */
int trv_hybrid_complete(trv_parameters_t *parameters, const trv_torus_t *torus, trv_collective_t collective);

/* Adds the hybrids that the planner should consider (trv_algorithm.candidates). */
int trv_hybrid_candidates(const trv_collector_t *collector);

#endif
