/*
 * The search for direct sums: chains of subgroups (docs/stars.md).
 *
 * Let G = H_0 > H_1 > … > H_s = 0 be subgroups, and let A_k contain one element of each coset of H_(k+1) in H_k. Then
 * the A_k are a direct sum, every tail of which is a subgroup. The cost of a step depends only on H_k and H_(k+1), so
 * the best chain is a shortest path among the subgroups of the torus, and the steps are independent.
 *
 *   subgroups.c  the subgroups that such chains pass, up to the torus' symmetries
 *   cosets.c     the best vectors of a step between two of them
 *   search.c     shortest paths, for vectors of many sizes, and which of them are worth keeping
 */
#ifndef TRIVANCE_SEARCH_STARS_SEARCH_H
#define TRIVANCE_SEARCH_STARS_SEARCH_H

#include <stdint.h>

#include "base/span.h"
#include "search/stars/lattice.h"
#include "search/stars/stars.h"

/* The maximum number of ranks of a torus that is searched, because displacements are stored in 16 bits. */
#define TRV_STAR_SEARCH_MAX 65536

/* Finds at most TRV_STAR_FOUND_MAX chains on a torus without dimensions of size 1; the first has the fewest steps and
 * then the fewest hops. The search stops looking for more subgroups after `work`, counted in examined vectors (about
 * ten million per second). Returns the number of chains, or an error: TRV_ERR_UNSUPPORTED, TRV_ERR_MEMORY, or
 * TRV_ERR_CANCELLED if the part to which progress is reported requests it. */
int trv_star_search(const trv_torus_t *torus, int64_t work, trv_span_t part,
                    trv_star_chain_t chain[TRV_STAR_FOUND_MAX]);

/* ---- displacements.c --------------------------------------------------------------------------------------------- */

/* All displacements except 0, the shortest first. */
typedef struct trv_star_displacements {
    trv_torus_t torus;
    int count;
    int (*at)[TRV_DIMS_MAX];
    int *hops;
} trv_star_displacements_t;

/* Returns 0 or TRV_ERR_MEMORY. In both cases `all` must be cleared. */
int trv_star_displacements_create(trv_star_displacements_t *all, const trv_torus_t *torus);
void trv_star_displacements_clear(trv_star_displacements_t *all);

/* ---- cosets.c ---------------------------------------------------------------------------------------------------- */

/* The members of one subgroup, and their coefficients with respect to its rows. */
typedef struct trv_star_members {
    int count;
    int *displacement;
    int (*multiple)[TRV_DIMS_MAX];
} trv_star_members_t;

/* The vectors of one step. If there are several options, each has longer vectors and a lower load than those before. */
typedef struct trv_star_option {
    int hops;    /* hops of the longest vector */
    double load; /* trv_star_load, except that dimensions of one size that streams can permute count with their mean */
    uint16_t displacement[TRV_PORTS_MAX];
} trv_star_option_t;
#define TRV_STAR_OPTIONS_MAX 3

/* The work done, in examined vectors, and its limit. */
typedef struct trv_star_work {
    int64_t done, limit;
} trv_star_work_t;

/* Chooses one vector of each coset except that of 0, such that they leave through different ports. `part` has the rows
 * of the smaller subgroup as multiples of those of the larger, whose members are given. Returns the number of options.
 * If the limit of the work has been reached, it still examines some thousand choices. */
int trv_star_cosets(const trv_star_displacements_t *all, const trv_star_members_t *members, const trv_lattice_t *part,
                    trv_star_option_t option[TRV_STAR_OPTIONS_MAX], trv_star_work_t *work);

/* ---- subgroups.c ------------------------------------------------------------------------------------------------- */

/* A symmetry of the torus: coordinate d of the image is sign[d] times coordinate from[d]. */
typedef struct trv_star_symmetry {
    int8_t from[TRV_DIMS_MAX], sign[TRV_DIMS_MAX];
} trv_star_symmetry_t;

typedef struct trv_star_edge {
    int to;       /* the node of the smaller subgroup's image … */
    int symmetry; /* … under this symmetry */
    int factor, options;
    trv_star_option_t option[TRV_STAR_OPTIONS_MAX];
} trv_star_edge_t;

typedef struct trv_star_node {
    trv_lattice_t lattice;
    int ranks;             /* number of ranks in the subgroup */
    int first_edge, edges; /* -1: not expanded yet */
    double cost;           /* minimum cost from the whole torus to here */
} trv_star_node_t;

/* Subgroups as nodes; node 0 is the whole torus. */
typedef struct trv_star_graph {
    trv_star_displacements_t all;
    int symmetries, nodes, edges;
    trv_star_symmetry_t *symmetry;
    trv_star_node_t *node;
    trv_star_edge_t *edge;
} trv_star_graph_t;

int trv_star_graph_create(trv_star_graph_t *graph, const trv_torus_t *torus, int64_t work, trv_span_t part);
void trv_star_graph_clear(trv_star_graph_t *graph);

#endif
