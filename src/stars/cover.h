/*
 * The search for coverings, and the one that every torus has.
 */
#ifndef TRIVANCE_STARS_COVER_H
#define TRIVANCE_STARS_COVER_H

#include <stdint.h>

#include "stars/stars.h"

/* On more ranks than that none are searched. */
#define TRV_STAR_COVER_MAX 1024

/* ceil(log_(2D+1) n), D the dimensions that have more than one rank: no chain has fewer steps. */
int trv_star_steps_least(const trv_torus_t *torus);

/* Looks for a covering in the fewest steps there can be, the shorter the better; at random, the same on every run.
 * `work` is counted in sums. TRV_ERR_UNSUPPORTED where none was found, TRV_ERR_MEMORY. */
int trv_star_cover_search(const trv_torus_t *torus, int64_t work, trv_star_chain_t *chain);

/* Windows that overlap, one dimension after another: ceil(log3 size) steps in each. */
void trv_star_cover_windows(const trv_torus_t *torus, trv_star_chain_t *chain);

#endif
