/*
 * Distances for the trees of bandwidth-optimal phases on a ring (docs/distances.md).
 *
 * A phase of s steps with distances d_0 … d_(s-1), in the allgather's order: C = {0}; in step k C gains some of C + d_k
 * and C - d_k, until it has every displacement. Each displacement that is new travels one edge of that length, so a
 * step moves new_k * d_k block-hops. C is its own mirror image at all times, so each direction carries exactly half of
 * what is new, in whole blocks or, for displacement size / 2, in halves. The phase therefore keeps the busiest link for
 *
 *     transmission = sum over the steps of new_k * d_k / 2 blocks; over size, that is a fraction of the vector m.
 *
 * It is never less than (size - 1) / (2 size), as every block enters a rank over one of its two links. The paper's
 * distances (paper section 4.1) are one choice in ceil(log3 size) steps; other ones, and a few more steps, transmit less.
 *
 * All of this is deterministic: searches are limited by work, never by time, so that all ranks decide alike.
 */
#ifndef TRIVANCE_SEARCH_DISTANCES_DISTANCES_H
#define TRIVANCE_SEARCH_DISTANCES_DISTANCES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

#define TRV_DISTANCES_STEPS_MAX 40
/* Up to this size fronts come from the table; up to the next they are searched; larger rings have composed ones. */
#define TRV_DISTANCES_TABLE_MAX  128
#define TRV_DISTANCES_SEARCH_MAX 4096

typedef struct trv_distances {
    int size, steps;
    int distance[TRV_DISTANCES_STEPS_MAX]; /* the allgather's order; the paper's apart, they never rise */
    int64_t hops;                          /* twice the transmission in blocks: sum of new_k * d_k */
    bool exact; /* the search was complete: nothing in so many steps that takes displacements at once transmits less */
} trv_distances_t;

/* The transmission of one phase as a fraction of the vector. */
double trv_distances_transmission(const trv_distances_t *distances);
/* What no phase on a ring of `size` can be below, in the same unit. */
double trv_distances_bound(int size);

/* The step counts that make sense: ceil(log3 size) at least, and size / 2, where the distances are all 1, at most. */
int trv_distances_steps_least(int size);
int trv_distances_steps_most(int size);
/* Those of a front: up to ceil(log2 size) + 1. */
void trv_distances_front_steps(int size, int *first, int *last);

/* The tree: step[x] is the step, from 1, that covers displacement x; step[0] is 0. Each is covered as soon as it can be
 * reached, or, `deferred`, as late as helps (on rings up to TRV_DISTANCES_SEARCH_MAX). `step` holds 2 * size bytes.
 * Returns the hops, 0 where the distances do not reach everything. */
int64_t trv_distances_tree(const trv_distances_t *distances, bool deferred, unsigned char *step);

/* Sets `hops` by the tree. 0, TRV_ERR_ARGUMENT where the distances do not reach everything, or TRV_ERR_MEMORY. */
int trv_distances_evaluate(trv_distances_t *distances, bool deferred);

/* The paper's distances, with the `hops` of its tree, which takes all at once. 0 or TRV_ERR_MEMORY. */
int trv_distances_paper(int size, trv_distances_t *paper);

/* The best that is made of the table's rings, which size is the product of: best[k] for k <= steps_max steps, hops 0
 * where there is none. Nothing is deferred. */
void trv_distances_compose(int size, int steps_max, trv_distances_t *best);

/* Looks for the distances with the least transmission in `steps` steps, and stops after the work `limit`, counted in
 * 64-bit words of sets. `at_once` (may be NULL): the best where nothing is deferred. 0, TRV_ERR_ARGUMENT (no such size
 * or step count), TRV_ERR_MEMORY, or TRV_ERR_CANCELLED by the part that progress is reported to. */
int trv_distances_search(int size, int steps, int64_t limit, trv_span_t part, trv_distances_t *found,
                         trv_distances_t *at_once);

/* The front of a ring of 2 or more: distances for more and more steps, each with less transmission than those before
 * (step counts that gain nothing are left out). Returns how many, or an error. */
#define TRV_DISTANCES_FRONT_MAX 24
int trv_distances_front(int size, trv_distances_t front[TRV_DISTANCES_FRONT_MAX]);

/* distances_table.c, generated: for every size from 2 to TRV_DISTANCES_TABLE_MAX in order: the number of its rows; per
 * row: steps, hops, distances. Rows that have more hops than one before are the best where nothing is deferred, which
 * is what larger rings are composed of; where there is none for a step count, the row that is there defers nothing. */
extern const unsigned short trv_distances_table[];

#endif
