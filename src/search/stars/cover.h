/*
 * The search for coverings, and a covering that exists for every torus.
 */
#ifndef TRIVANCE_SEARCH_STARS_COVER_H
#define TRIVANCE_SEARCH_STARS_COVER_H

#include <stdint.h>

#include "base/span.h"
#include "search/stars/stars.h"

/* No coverings are searched for on more ranks than this. */
#define TRV_STAR_COVER_MAX 1024

/* The minimum number of steps of any chain: ceil(log_(2D+1) n), where D is the number of dimensions with more than one
 * rank. */
int trv_star_steps_min(const trv_torus_t *torus);

/* The covering with the fewest steps among three: the result of a search, first with the minimum number of steps, then
 * one more, and so on; the overlapping windows of the torus, one dimension after another; and `direct`, a direct sum,
 * or NULL. The search is random but gives the same result in every run. It prefers few hops, and does `work`, counted
 * in sums, for each number of steps. TRV_ERR_MEMORY, or TRV_ERR_CANCELLED if the part to which progress is reported
 * requests it. */
int trv_star_cover_search(const trv_torus_t *torus, const trv_star_chain_t *direct, int64_t work, trv_span_t part,
                          trv_star_chain_t *chain);

#endif
