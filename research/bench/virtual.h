/*
 * Ranks with a core each and a network between them, in virtual time: the executor runs unchanged, with real data, and
 * each rank has a clock. Only these operations take time: reductions, posting of a message, and transfer of messages.
 * Always the rank with the earliest time runs and the others wait, so that results are the same on every machine.
 *
 * A message starts when its send and its receive are posted. It traverses its path link by link (trv_route_next), with
 * `latency` to the next link. Each directed link carries one message at a time, in the order of arrival.
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

/* Returns NULL if memory is exhausted. */
world_t *world_create(const trv_torus_t *torus, const network_t *network);
void world_destroy(world_t *world);

/* The transport of a rank, for one plan at a time. */
const trv_transport_t *world_transport(world_t *world, int rank);

/* Called from the reduction of a plan: the core of the rank is busy for this time. */
void world_work(world_t *world, int rank, double seconds);

/* Runs plan[r] from input[r] to output[r] on all ranks. Returns the time until the last one is done; negative, after a
 * message on stderr, if one fails or there is a deadlock. */
double world_run(world_t *world, trv_plan_t *const *plan, void *const *input, void *const *output);

#endif
