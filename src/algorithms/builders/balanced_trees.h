/*
 * Balanced spanning trees: trees that share the links of a network evenly, for collectives that use every link of a
 * tree once in each direction, as an AllReduce does (a reduce up the tree, a broadcast down).
 *
 * With K trees, each of which carries 1/K of the vector, the vector's largest part on one link is the maximum number of
 * trees on a link, over K. By the theorem of Tutte and Nash-Williams (1961) the best fractional packing of spanning
 * trees reaches max over all partitions of the ranks into parts of (parts - 1) / (links between parts), which no
 * AllReduce is faster than. The trees approach it as in Young's packing ("Randomized rounding without solving the
 * linear program", 1995): each in turn is replaced by a spanning tree of minimum length, where the length of a link
 * doubles with every tree on it. Of links of similar length those are preferred that keep the tree flat, as in the
 * trees between Prim's and Dijkstra's of Alpert et al. (1995). A link that is slow by a factor F counts F times.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_BALANCED_TREES_H
#define TRIVANCE_ALGORITHMS_BUILDERS_BALANCED_TREES_H

#include <trivance/network.h>

#include "algorithms/builders/spanning.h"

/* Fills in edge[tree * ranks + rank] (allocated; the caller frees it), where an edge's step is the depth of its parent,
 * and the root of a tree is its centre. Links that are cut in either direction are not used. Returns 0, or
 * TRV_ERR_UNSUPPORTED if the other links do not connect all ranks, or TRV_ERR_MEMORY. */
int trv_balanced_trees_find(const trv_network_t *network, int trees, trv_tree_edge_t **edge);

/* The time of the busiest link in one direction, in multiples of the time of a whole vector on a regular link. */
int trv_balanced_trees_load(const trv_network_t *network, int trees, const trv_tree_edge_t *edge, double *load);

#endif
