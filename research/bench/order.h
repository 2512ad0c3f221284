/*
 * A transport that decides the order in which the chunks of a message leave (paper, section 7, joint reductions). In
 * opposite order, the messages of direction - leave from the last chunk to the first: each one is held back until those
 * of all later chunks in the same step have left. Those of direction + leave in the executor's order, from the first
 * chunk on. Its limit: every chunk has a lane of its own, so there are at most TRV_PLAN_WINDOW chunks.
 */
#ifndef TRIVANCE_BENCH_ORDER_H
#define TRIVANCE_BENCH_ORDER_H

#include <stdbool.h>

#include <trivance/execute.h>

enum { ORDER_CHUNKS_MAX = 4 }; /* TRV_PLAN_WINDOW */

typedef struct order order_t;

/* For one plan at a time on the transport `under`, which must outlive it. Returns NULL if memory is exhausted. */
order_t *order_create(const trv_transport_t *under, int streams, int chunks, bool opposite);
void order_destroy(order_t *order);
const trv_transport_t *order_transport(order_t *order);

/* The bytes that have arrived so far, divided by those of the first step in all chunks. */
double order_arrived(const order_t *order);

#endif
