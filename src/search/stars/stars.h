/*
 * Star chains: the displacements of star schedules (docs/stars.md).
 *
 * On a torus, a group of n displacements, a chain is a sequence of steps; step k has q_k - 1 vectors, S_k, which leave
 * a rank by different ports (so q_k <= 2D + 1). In step k every rank r receives from r + v for each v in S_k, sends to
 * r - v, and adds the received data. With A_k = S_k and 0, the result is exact when the chain is a *direct sum*: all
 * sums a_0 + a_1 + … of one element of each A_k are different and n = q_0 q_1 …; a *covering* reaches every
 * displacement at least once, which is enough for MAX, MIN, AND, OR and for gathering. Both hold in any order of steps.
 *
 * The text form of a chain has a vector's coordinates separated by `.`, the vectors of a step by `/`, the steps by `_`:
 * 1.0/0.1/-1.0_2.1/0.2/2.-1 on 4x4. It does not contain ports, because they follow from the vectors.
 *
 * A mirrored stream uses -v instead of v, and the opposite port.
 *
 * All results are deterministic: searches are limited by work, never by time, so that all ranks have the same chains.
 */
#ifndef TRIVANCE_SEARCH_STARS_STARS_H
#define TRIVANCE_SEARCH_STARS_STARS_H

#include <stdbool.h>
#include <stddef.h>

#include <trivance/torus.h>

#define TRV_STAR_STEPS_MAX 30 /* every step at least doubles the number of sums, and a torus has at most 2^30 ranks */

typedef struct trv_star_vector {
    int at[TRV_DIMS_MAX]; /* position of the sender relative to the receiver, -size / 2 < at[d] <= size / 2 */
    int port;             /* port of the sender (trv_port): the shorter way in a dimension in which at[d] is not 0 */
} trv_star_vector_t;

typedef struct trv_star_step {
    int vectors; /* q - 1 */
    trv_star_vector_t vector[TRV_PORTS_MAX];
} trv_star_step_t;

typedef struct trv_star_chain {
    trv_torus_t torus;
    int steps;
    bool direct; /* a direct sum; otherwise a covering */
    trv_star_step_t step[TRV_STAR_STEPS_MAX];
} trv_star_chain_t;

/* Reads the text form, assigns a port to every vector and checks that the chain is a direct sum or, with `covering`, at
 * least a covering. Coordinates are in the range -size / 2 to size / 2. Errors, with a message: TRV_ERR_ARGUMENT for
 * text that is not a chain; TRV_ERR_UNSUPPORTED for a chain that is not valid on this torus (vectors that share a port,
 * factors that do not multiply to n, the first two sums that are the same, a displacement that is not covered);
 * TRV_ERR_MEMORY. */
int trv_star_parse(trv_star_chain_t *chain, const trv_torus_t *torus, const char *text, bool covering);

/* Writes the text form; returns its length without the terminating 0, which may be `text_size` or more, as with
 * snprintf. */
size_t trv_star_format(const trv_star_chain_t *chain, char *text, size_t text_size);

/* Assigns ports to the vectors of a chain whose torus, steps and `at` are set, and checks it as trv_star_parse does. */
int trv_star_check(trv_star_chain_t *chain, bool covering);

/* Whether the sum of A_k over the steps k with bit k of `steps` is a subgroup. These steps may then be executed as L,
 * and all others as reduce-scatter and allgather, in any order. True for no steps and for all. */
bool trv_star_is_subgroup(const trv_star_chain_t *chain, unsigned steps);
/* Whether that is true for every tail (steps k, k + 1, … to the last). Then every hybrid is possible, blocks are
 * contiguous, and groups add in the same order. */
bool trv_star_has_subgroup_tails(const trv_star_chain_t *chain);

/* Hops of the longest vector of a step. */
int trv_star_hops(const trv_star_chain_t *chain, int step);
/* The hops of a step's vectors in dimension d, in both directions together. With two mirrored streams of half the
 * vector each, the load of every link of the dimension is half of this number times the bytes of a message with the
 * whole vector. */
int trv_star_dimension_load(const trv_star_chain_t *chain, int step, int dimension);
/* The maximum over the dimensions. */
int trv_star_load(const trv_star_chain_t *chain, int step);

/* The direct sums that are worth trying on a torus, at most TRV_STAR_FOUND_MAX of them. The first has the fewest steps
 * and then the fewest hops; others transmit less, or have a subgroup as every tail where the first does not. They are
 * taken from the table (any order of the dimensions) or from a search, whose result is cached in the process. Returns
 * their number or a negative error: TRV_ERR_UNSUPPORTED if there is none, with the reason; TRV_ERR_MEMORY. */
#define TRV_STAR_FOUND_MAX 6
int trv_star_find(const trv_torus_t *torus, trv_star_chain_t chain[TRV_STAR_FOUND_MAX]);

/* A covering with the fewest steps known: ceil(log_(2D+1) n), where D is the number of dimensions with more than one
 * rank, if the search found one; a direct sum if that has as few. TRV_ERR_UNSUPPORTED for one rank; TRV_ERR_MEMORY. */
int trv_star_cover(const trv_torus_t *torus, trv_star_chain_t *chain);

#endif
