/*
 * Ranks with a core each and a network between them, in virtual time: the executor runs as it is, with real data, and
 * every rank has a clock. What takes time is what is said to: reductions, posting a message, and the way of messages.
 * The rank that is first in time goes on, the others wait, so that the numbers are the same on every machine.
 *
 * A message sets out when its send and its receive are posted, and goes link by link (trv_route_next), `latency` to the
 * next one; every directed link carries one message at a time, in the order in which they reach it.
 */
#ifndef TRIVANCE_BENCH_VIRTUAL_H
#define TRIVANCE_BENCH_VIRTUAL_H

#include <trivance/trivance.h>

typedef struct network {
    double latency;   /* seconds per link */
    double bandwidth; /* bytes per second of a directed link */
    double overhead;  /* seconds of the rank's core per message posted */
} network_t;

typedef struct world world_t;

/* NULL when out of memory. */
world_t *world_create(const trv_torus_t *torus, const network_t *network);
void world_destroy(world_t *world);

/* Of one plan per rank at a time. */
const trv_transport_t *world_transport(world_t *world, int rank);

/* Called from a plan's reduction: the rank's core is busy for so long. */
void world_work(world_t *world, int rank, double seconds);

/* Runs plan[r] from input[r] to output[r] on all ranks; the time until the last one is done. Negative, with a sentence on
 * stderr, when one fails or all wait for each other. */
double world_run(world_t *world, trv_plan_t *const *plan, void *const *input, void *const *output);

#endif
