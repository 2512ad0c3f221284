/*
 * All-to-all along spanning trees: every rank sends its blocks as a scatter from it would, along the tree of rank 0
 * moved to it. A block that travels over several edges waits on the ranks between them, and all blocks that a rank
 * sends over the same displacement in a step are one message.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_EXCHANGE_H
#define TRIVANCE_ALGORITHMS_BUILDERS_EXCHANGE_H

#include "algorithms/builders/spanning.h"

/* Completes an all-to-all for `streams` trees with root 0, edge[stream * ranks + rank], on a torus: the edges go around
 * its rings, also where they are lines. */
int trv_exchange_create(trv_schedule_t *schedule, int streams, const trv_tree_edge_t *edge);

/* Completes an allgather, reduce-scatter or AllReduce in which every rank sends to all others directly, in the same
 * way: edge[stream * ranks + rank] of all ranks but 0 begin at 0. In an AllReduce all ranks hold the vectors of all
 * ranks, and add them in the order of the ranks in the last step. */
int trv_direct_exchange_create(trv_schedule_t *schedule, int streams, const trv_tree_edge_t *edge);

#endif
