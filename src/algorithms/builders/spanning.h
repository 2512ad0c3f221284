/*
 * Schedules along spanning trees: broadcast, reduce, AllReduce (a reduce followed by a broadcast), scatter and gather.
 *
 * Every stream has one tree, which may be any tree that contains all ranks. In a broadcast, a rank receives a chunk of
 * its stream's slice from its parent and then sends it to its children: over the edge to child v, chunk c is sent in
 * step edge[v].step + c, so that a chunk moves on while its parent receives the next one. A reduce is the reversal, in
 * which a rank adds everything that it receives in a step jointly. A scatter sends over each edge, at once, the blocks
 * of all ranks that are below it.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_SPANNING_H
#define TRIVANCE_ALGORITHMS_BUILDERS_SPANNING_H

#include "schedule/schedule.h"

/* The edge by which a rank is reached. */
typedef struct trv_tree_edge {
    int parent; /* -1: the root */
    int step;   /* later than the parent's own */
    int port;   /* by which the parent sends; leads to the rank */
} trv_tree_edge_t;

/* The depth of the deepest of `trees` trees, edge[tree * ranks + rank]: the steps of one chunk. */
int trv_spanning_depth(int ranks, int trees, const trv_tree_edge_t *edge);
/* The children of the rank that has most in one of the trees, or TRV_ERR_MEMORY. */
int trv_spanning_children(int ranks, int trees, const trv_tree_edge_t *edge);

/* Completes a schedule of one of these collectives for `streams` trees, edge[stream * ranks + rank] (copied), in
 * `chunks` chunks; scatter and gather have 1. The collective and its root are set; in an AllReduce, trees may have
 * other roots. */
int trv_spanning_create(trv_schedule_t *schedule, int streams, const trv_tree_edge_t *edge, int chunks);

#endif
