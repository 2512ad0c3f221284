/*
 * By how much links are slow: for some of these factors plans leave the links alone that are so slow or slower (NAME@F).
 */
#ifndef TRIVANCE_PLANNER_FACTORS_H
#define TRIVANCE_PLANNER_FACTORS_H

#include <trivance/network.h>

#define TRV_FACTORS_MAX  3
#define TRV_FACTOR_LEAST 1.5 /* what is less is not worth an opened row */

/* The factors of slow links, rounded down so that a name can have them; of many the largest, the least and one between
 * them. */
int trv_factors_find(const trv_network_t *network, double factor[TRV_FACTORS_MAX], int *found);

#endif
