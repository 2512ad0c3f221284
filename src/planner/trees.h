/*
 * The ranking for collectives with a root, for networks in which cuts divide a row, where trees over links are the only
 * schedules, and for networks that do not forward. Most of these schedules have no symmetry, so every rank must be
 * simulated, and only a few are:
 *
 *   - the candidates of algorithms for any network that are best by their models, which know the trees (if the network
 *     does not forward: of all algorithms);
 *   - of a broadcast or reduce as scatter and allgather, the tree that is fastest alone with the best schedules that a
 *     planner for the allgather finds;
 *   - every algorithm of the table by its plain name, unless a lower bound excludes it (if the network does not
 *     forward: every algorithm whose messages all cross one link, and the others relayed).
 *
 * Algorithms of the table with few messages come first, because their times exclude many others. Schedules with more
 * than TRV_TREE_MESSAGES_MAX messages, or many more steps, are left out, unless they have a plain name and no other was
 * timed.
 */
#ifndef TRIVANCE_PLANNER_TREES_H
#define TRIVANCE_PLANNER_TREES_H

#include "planner/ranking.h"

#define TRV_TREE_MESSAGES_MAX 1e6

enum { TRV_TREE_ADDED_MAX = 16 /* candidates that one call may add to the list */ };

/* Adds the algorithms that support the collective to the planner's list. `network`: as it was asked for. */
int trv_tree_planner_create(trv_planner_t *planner, const trv_simulate_options_t *network);

int trv_tree_rank(trv_ranking_t *ranking);

#endif
