/*
 * The factors by which links are slow. For some of them the planner tries schedules that avoid all links with this or a
 * larger factor (NAME@F).
 */
#ifndef TRIVANCE_PLANNER_FACTORS_H
#define TRIVANCE_PLANNER_FACTORS_H

#include <trivance/network.h>

#define TRV_FACTORS_MAX 3
#define TRV_FACTOR_MIN  1.5 /* links with a smaller factor are used: opening their row would cost more */

/* Finds up to TRV_FACTORS_MAX factors of slow links that can be avoided, largest first, rounded down to two decimals so
 * that a name can contain them. If there are more, the largest, the smallest and one between them are considered. */
int trv_factors_find(const trv_network_t *network, double factor[TRV_FACTORS_MAX], int *found);

#endif
