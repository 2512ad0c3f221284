/*
 * The search for direct sums: chains of subgroups (docs/stars.md).
 *
 * Let G = H_0 > H_1 > … > H_s = 0 be subgroups and A_k have one element of each coset of H_(k+1) in H_k. Then the A_k
 * are a direct sum, every tail of which is a subgroup. What a step costs depends on H_k and H_(k+1) alone, so the best
 * chain is a shortest path among the subgroups of the torus, and no step constrains another.
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

/* Displacements are numbered, so a torus that is searched has no more ranks. */
#define TRV_STAR_SEARCH_MAX 65536

/* At most TRV_STAR_FOUND_MAX chains, the fewest steps and then hops first; on tori without dimensions of 1. Stops
 * looking for more subgroups after `work`, counted in vectors looked at (some ten million a second). Returns how many,
 * or an error: TRV_ERR_UNSUPPORTED, TRV_ERR_MEMORY, or TRV_ERR_CANCELLED by the part that progress is reported to. */
int trv_star_search(const trv_torus_t *torus, int64_t work, trv_span_t part,
                    trv_star_chain_t chain[TRV_STAR_FOUND_MAX]);

/* ---- displacements.c --------------------------------------------------------------------------------------------- */

/* All displacements but 0, the shortest first. */
typedef struct trv_star_displacements {
    trv_torus_t torus;
    int count;
    int (*at)[TRV_DIMS_MAX];
    int *hops;
} trv_star_displacements_t;

/* 0 or TRV_ERR_MEMORY; to be cleared either way. */
int trv_star_displacements_create(trv_star_displacements_t *all, const trv_torus_t *torus);
void trv_star_displacements_clear(trv_star_displacements_t *all);

/* ---- cosets.c ---------------------------------------------------------------------------------------------------- */

/* Those of one subgroup, and what multiples of its rows they are. */
typedef struct trv_star_members {
    int count;
    int *displacement;
    int (*multiple)[TRV_DIMS_MAX];
} trv_star_members_t;

/* Vectors of one step. Of several ways, each has longer vectors and a smaller load than those before. */
typedef struct trv_star_option {
    int hops;    /* of the longest */
    double load; /* trv_star_load; but dimensions of one size, which streams can take in turns, count as their mean */
    uint16_t displacement[TRV_PORTS_MAX];
} trv_star_option_t;
#define TRV_STAR_OPTIONS_MAX 3

/* Work, in vectors looked at, and where it is to end. */
typedef struct trv_star_work {
    int64_t done, limit;
} trv_star_work_t;

/* One vector of each coset but 0, leaving by different ports: `part` has the rows of the smaller subgroup as multiples
 * of those of the larger, whose members are given. Returns how many ways. Where the work is done it still looks at some
 * thousand choices. */
int trv_star_cosets(const trv_star_displacements_t *all, const trv_star_members_t *members, const trv_lattice_t *part,
                    trv_star_option_t option[TRV_STAR_OPTIONS_MAX], trv_star_work_t *work);

/* ---- subgroups.c ------------------------------------------------------------------------------------------------- */

/* A symmetry of the torus: coordinate d of the image is sign[d] times coordinate from[d]. */
typedef struct trv_star_symmetry {
    int8_t from[TRV_DIMS_MAX], sign[TRV_DIMS_MAX];
} trv_star_symmetry_t;

typedef struct trv_star_edge {
    int to;       /* the image of the smaller subgroup … */
    int symmetry; /* … under this */
    int factor, options;
    trv_star_option_t option[TRV_STAR_OPTIONS_MAX];
} trv_star_edge_t;

typedef struct trv_star_node {
    trv_lattice_t lattice;
    int ranks;             /* that the subgroup has */
    int first_edge, edges; /* -1: not looked at */
    double cost;           /* least, from the whole torus to here */
} trv_star_node_t;

/* Node 0 is the whole torus. */
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
