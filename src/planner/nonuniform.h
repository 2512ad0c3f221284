/*
 * Choices for networks whose ranks differ: meshes, and networks with slow or cut links.
 */
#ifndef TRIVANCE_PLANNER_NONUNIFORM_H
#define TRIVANCE_PLANNER_NONUNIFORM_H

#include "planner/ranking.h"

/* Completes a planner whose network, list.network and constraints are set. */
int trv_nonuniform_create(trv_planner_t *planner, const trv_simulate_options_t *asked);

/* Ranks the prospects and fills ranking->best, which has TRV_NONUNIFORM_ENTRIES entries. */
#define TRV_NONUNIFORM_ENTRIES 512
int trv_nonuniform_rank(trv_ranking_t *ranking);

#endif
