/*
 * A cache of sets of spanning trees, because planners create schedules along the same trees again and again.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_TREE_CACHE_H
#define TRIVANCE_ALGORITHMS_BUILDERS_TREE_CACHE_H

#include <trivance/network.h>

#include "algorithms/builders/spanning.h"

/* A search for a set of trees on a network. Equal keys and networks have equal sets. */
typedef struct trv_tree_search {
    const trv_network_t *network;
    int key[2];
    /* Fills in edge[tree * ranks + rank] (allocated) and returns the number of trees, or an error. */
    int (*find)(const struct trv_tree_search *search, trv_tree_edge_t **edge);
} trv_tree_search_t;

/* Returns the result of the search, of which the caller frees `edge`. The latest results are kept. */
int trv_tree_cache_find(const trv_tree_search_t *search, trv_tree_edge_t **edge);

#endif
