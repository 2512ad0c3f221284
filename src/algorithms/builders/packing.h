/*
 * Packing of spanning trees: as many trees as possible that reach every rank from a root over links of the network,
 * such that no link belongs to two trees. A link joins two neighbours in one direction.
 *
 * By Edmonds' theorem ("Edge-disjoint branchings", 1973) there are k such trees if and only if every rank can be
 * reached from the root by k paths that share no link. Trees that are grown link by link can always be completed if,
 * for every rank v, there are k paths to v without common links, the i-th of which begins at any rank of tree i and
 * which use no link of a tree; after a link to v was added, only the paths to v need to be checked.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_PACKING_H
#define TRIVANCE_ALGORITHMS_BUILDERS_PACKING_H

#include <trivance/network.h>

#include "algorithms/builders/spanning.h"

/* The directions in which messages cross the links of a tree: from the root, towards it, or both. No link in such a
 * direction is cut. */
enum { TRV_FROM_ROOT = 1, TRV_TO_ROOT = 2 };

/* Fills in edge[tree * ranks + rank] (allocated; the caller frees it), where an edge's step is the depth of its parent.
 * Returns the number of trees: 1 … 2D. Slow links are left out if all trees together are faster without them, because a
 * tree is as slow as its slowest link. Errors: TRV_ERR_UNSUPPORTED if a rank cannot be reached; TRV_ERR_MEMORY. */
int trv_packing_find(const trv_network_t *network, int root, int directions, trv_tree_edge_t **edge);

/* The largest factor of a slow link in the trees; 1 if there is none. */
double trv_packing_slowness(const trv_network_t *network, int directions, int trees, const trv_tree_edge_t *edge);

#endif
