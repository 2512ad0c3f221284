/*
 * Balanced paths: one path from a root to every other rank over links of the network, such that the maximum number of
 * paths on a link is the minimum. A link that is slow by a factor F counts F times.
 *
 * The paths are an integral flow from the root of one unit to every rank, in which a link has a capacity of load / F
 * units, rounded down. By the theorem of Ford and Fulkerson (1956) there is such a flow unless the links that leave
 * some set of ranks with the root have less capacity than there are ranks outside. The search (Dinic, 1970) begins with
 * the smallest load that lets all units leave the root, and raises it only if it finds such a set.
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_FLOW_PATHS_H
#define TRIVANCE_ALGORITHMS_BUILDERS_FLOW_PATHS_H

#include <stdbool.h>

#include <trivance/network.h>

/* The path to `block` goes from a rank by a port to its neighbour in a step. A link has one hop in a step. */
typedef struct trv_hop {
    int step, from, to, port, block;
} trv_hop_t;

typedef struct trv_paths {
    int hops, steps;
    double load;    /* of the busiest link, in blocks on a regular link */
    trv_hop_t *hop; /* by step, sender and port; allocated */
} trv_paths_t;

/* Finds the paths from the root or, with `to_root`, from every rank to the root: the latter are those from the root
 * over the opposite links, in reverse order. Blocks with long paths leave the root first. On a uniform network the
 * paths of all roots are translations of each other. TRV_ERR_UNSUPPORTED if a rank cannot be reached. */
int trv_flow_paths_find(const trv_network_t *network, int root, bool to_root, trv_paths_t *paths);

#endif
