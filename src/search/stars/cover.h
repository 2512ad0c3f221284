/*
 * The search for coverings, and the one that every torus has.
 */
#ifndef TRIVANCE_SEARCH_STARS_COVER_H
#define TRIVANCE_SEARCH_STARS_COVER_H

#include <stdint.h>

#include "base/span.h"
#include "search/stars/stars.h"

/* On more ranks than that none are searched. */
#define TRV_STAR_COVER_MAX 1024

/* ceil(log_(2D+1) n), D the dimensions that have more than one rank: no chain has fewer steps. */
int trv_star_steps_least(const trv_torus_t *torus);

/* The covering with the fewest steps: of what a search finds with as many steps as there must be, one more and so on;
 * the torus' windows, which overlap, one dimension after another; and `direct`, a direct sum, or NULL. The search is
 * random, the same on every run; it prefers few hops, and does `work`, in sums, for each number of steps.
 * TRV_ERR_MEMORY, or TRV_ERR_CANCELLED by the part that progress is reported to. */
int trv_star_cover_search(const trv_torus_t *torus, const trv_star_chain_t *direct, int64_t work, trv_span_t part,
                          trv_star_chain_t *chain);

#endif
