/*
 * Distances for the trees of bandwidth-optimal phases on a ring (docs/distances.md).
 *
 * A phase of s steps with distances d_0 … d_(s-1), in the allgather's order: C = {0}; in step k C gains some of C + d_k
 * and C - d_k, until it contains every displacement. Each new displacement adds one edge of length d_k, so a step moves
 * new_k * d_k block-hops. C is its own mirror image at all times, so each direction carries exactly half of the new
 * displacements, in whole blocks or, for displacement size / 2, in half blocks. The load of the busiest link is
 * therefore
 *
 *     transmission = sum over the steps of new_k * d_k / 2 blocks; over size, that is a fraction of the vector m.
 *
 * It is at least (size - 1) / (2 size), because every block enters a rank over one of its two links. The paper's
 * distances (paper section 4.1) are one choice in ceil(log3 size) steps; other distances, and a few more steps,
 * transmit less.
 *
 * All results are deterministic: searches are limited by work, never by time, so that all ranks compute the same
 * result.
 */
#ifndef TRIVANCE_SEARCH_DISTANCES_DISTANCES_H
#define TRIVANCE_SEARCH_DISTANCES_DISTANCES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

#define TRV_DISTANCES_STEPS_MAX 40
/* Up to the first of these sizes fronts are taken from the table, up to the second they are searched for; larger rings
 * have composed distances. */
#define TRV_DISTANCES_TABLE_MAX  128
#define TRV_DISTANCES_SEARCH_MAX 4096

typedef struct trv_distances {
    int size, steps;
    /* in the allgather's order, never increasing except in the paper's distances */
    int distance[TRV_DISTANCES_STEPS_MAX];
    int64_t hops; /* twice the transmission in blocks: sum of new_k * d_k */
    bool exact;   /* the search was complete: no distances with this number of steps that defer nothing transmit less */
} trv_distances_t;

/* The transmission of one phase as a fraction of the vector. */
double trv_distances_transmission(const trv_distances_t *distances);
/* A lower bound on the transmission of any phase on a ring of `size`, in the same unit. */
double trv_distances_bound(int size);

/* The useful numbers of steps: at least ceil(log3 size), and at most size / 2, where all distances are 1. */
int trv_distances_steps_min(int size);
int trv_distances_steps_max(int size);
/* The numbers of steps in a front, which ends at ceil(log2 size) + 1. */
void trv_distances_front_steps(int size, int *first, int *last);

/* The tree: step[x] is the step, from 1, that covers displacement x; step[0] is 0. Each displacement is covered as soon
 * as it can be reached or, with `deferred`, as late as this reduces the transmission (on rings up to
 * TRV_DISTANCES_SEARCH_MAX). `step` must have 2 * size bytes. Returns the hops, or 0 if the distances do not reach
 * every displacement. */
int64_t trv_distances_tree(const trv_distances_t *distances, bool deferred, unsigned char *step);

/* Sets `hops` according to the tree. Returns 0, TRV_ERR_ARGUMENT if the distances do not reach every displacement, or
 * TRV_ERR_MEMORY. */
int trv_distances_evaluate(trv_distances_t *distances, bool deferred);

/* The paper's distances, with the `hops` of a tree that defers nothing. Returns 0 or TRV_ERR_MEMORY. */
int trv_distances_paper(int size, trv_distances_t *paper);

/* The best distances that are composed of those of rings in the table whose product is `size`: best[k] for k <=
 * steps_max steps; hops is 0 if there are none. Nothing is deferred. */
void trv_distances_compose(int size, int steps_max, trv_distances_t *best);

/* Searches for the distances with the lowest transmission in `steps` steps, and stops when it has done the work
 * `limit`, counted in 64-bit words of sets. `undeferred` (may be NULL) is set to the best distances that defer nothing.
 * Returns 0, TRV_ERR_ARGUMENT (no such size or step count), TRV_ERR_MEMORY, or TRV_ERR_CANCELLED if the part to which
 * progress is reported requests it. */
int trv_distances_search(int size, int steps, int64_t limit, trv_span_t part, trv_distances_t *found,
                         trv_distances_t *undeferred);

/* The front of a ring of at least 2: distances with increasing numbers of steps, each with less transmission than those
 * before; step counts that do not reduce it are omitted. Returns their number, or an error. */
#define TRV_DISTANCES_FRONT_MAX 24
int trv_distances_front(int size, trv_distances_t front[TRV_DISTANCES_FRONT_MAX]);

/* distances_table.c, generated. For every size from 2 to TRV_DISTANCES_TABLE_MAX, in order: the number of its rows; per
 * row: steps, hops, distances. A row with more hops than an earlier one is the best that defers nothing; larger rings
 * are composed of these. If there is none for a step count, the existing row defers nothing. */
extern const unsigned short trv_distances_table[];

#endif
