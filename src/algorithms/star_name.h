/*
 * The names of star schedules (star.c explains these; docs/stars.md has the mathematics). A name specifies a star
 * completely:
 *
 *     star[:STEPS][:CHAIN][:STREAMS]
 *
 *     STEPS   the steps of the chain that send whole vectors; the others are reduce-scatter and allgather
 *             b         none; the default
 *             l         all
 *             12        steps 1 and 2; the displacements that they reach must be a subgroup
 *             overlap   all, of a chain that covers: for MAX, MIN, AND, OR
 *             gathered  all, and the vectors themselves are collected, to be added in the order of the ranks
 *     CHAIN   a number, of the chains that trv_star_find knows for the torus, by default 0; or the chain's text, for
 *             example 1.0/0.1/-1.0_2.1/0.2/2.-1 on 4x4
 *     STREAMS 1; 2 (the chain and its mirror); or 2 for each dimension of the most frequent size (6 on 4x4x4), which
 *             are permuted. The default, which can be written as 3of6, is the distinct ones of that number. Fewer
 *             streams send fewer messages; more streams balance the links, and use them while others wait for their
 *             alpha
 */
#ifndef TRIVANCE_ALGORITHMS_STAR_NAME_H
#define TRIVANCE_ALGORITHMS_STAR_NAME_H

#include "algorithms/collector.h"
#include "algorithms/name.h"
#include "algorithms/builders/star_streams.h"
#include "schedule/schedule.h"
#include "search/stars/stars.h"

/* The star of the text that selects the steps, and of the values of CHAIN and STREAMS; "" selects the defaults.
 * TRV_ERR_ARGUMENT for text that cannot be read or is not a chain; TRV_ERR_UNSUPPORTED for a star that does not fit the
 * torus. */
int trv_star_choose(const char *steps, const trv_value_t chain[2], const trv_torus_t *torus, trv_star_t *star);

/* Sets the values of CHAIN and STREAMS of a full name, with the chain as text and the number of streams. `text` is
 * their memory; TRV_ERR_ARGUMENT if the chain is longer. */
int trv_star_complete(const trv_star_t *star, trv_value_t chain[2], char *text, size_t size);
/* Does the same for the parameters of a star, with its STEPS (trv_algorithm.complete). */
int trv_star_complete_name(trv_parameters_t *parameters, const trv_torus_t *torus, trv_collective_t collective);

/* Writes the shortest name of a star of sums whose chain has the number `chain`. */
void trv_star_name(const trv_star_t *star, int chain, char *name, size_t size);

/* Adds the stars that the planner should consider (trv_algorithm.candidates). */
int trv_star_candidates(const trv_collector_t *collector);

/* Completes a schedule of the gathered form. */
int trv_star_gathered_create(trv_schedule_t *schedule, const trv_star_chain_t *chain);

#endif
