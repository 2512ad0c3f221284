/*
 * Star schedules (star.c explains them; docs/stars.md has the mathematics). Their names say all about them:
 *
 *     star[:STEPS][:CHAIN][:STREAMS]
 *
 *     STEPS   which steps of the chain send whole vectors; the others are reduce-scatter and allgather
 *             b         none, if nothing is said
 *             l         all
 *             12        steps 1 and 2; what they reach must be a subgroup
 *             overlap   all, of a chain that covers: for MAX, MIN, AND, OR
 *             gathered  all, and the vectors themselves are collected, to be added in the order of the ranks
 *     CHAIN   a number: of the chains that trv_star_find knows for the torus, 0 if nothing is said; or the chain's
 *             text, for example 1.0/0.1/-1.0_2.1/0.2/2.-1 on 4x4
 *     STREAMS 1; 2 (the chain and its mirror); or 2 for each dimension of the commonest size (6 on 4x4x4), which
 *             take turns. If nothing is said, those of the last that differ, which can be said, too: 3of6. Fewer streams
 *             send fewer messages, more balance the links, and hide the alpha of each other's steps
 */
#ifndef TRIVANCE_ALGORITHMS_STAR_NAME_H
#define TRIVANCE_ALGORITHMS_STAR_NAME_H

#include "algorithms/collector.h"
#include "algorithms/builders/star_streams.h"
#include "schedule/schedule.h"
#include "search/stars/stars.h"

/* Reads what follows "star:" in a name (NULL or "": nothing is said). TRV_ERR_ARGUMENT for what cannot be read or is no
 * chain; TRV_ERR_UNSUPPORTED for what does not fit the torus. */
int trv_star_choose(const char *parameters, const trv_torus_t *torus, trv_star_t *star);

/* The name of a star of sums whose chain has the number `chain`, shortest way to say it. */
void trv_star_name(const trv_star_t *star, int chain, char *name, size_t size);

/* The name spelled out: the chain as text, the number of streams (trv_algorithm.spell). */
int trv_star_spell(const char *parameters, const trv_torus_t *torus, trv_collective_t collective, char *text,
                   size_t size);

/* The stars that are worth a look (trv_algorithm.candidates). */
int trv_star_candidates(const trv_collector_t *collector);

/* Completes a schedule of the gathered form. */
int trv_star_gathered_create(trv_schedule_t *schedule, const trv_star_chain_t *chain);

#endif
