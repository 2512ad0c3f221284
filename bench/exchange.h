/*
 * AllReduce of doubles written by hand for 2 and for 3 ranks, as whole vectors or in parts: the reference for the
 * overhead of a library. The program provides the functions that send and complete messages; they are inlined.
 */
#ifndef TRIVANCE_BENCH_EXCHANGE_H
#define TRIVANCE_BENCH_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include <trivance/reduce.h>

#define RANKS_MAX    3
#define BYTES_MAX    ((size_t)1 << 20)
#define SWITCH_BYTES 65536 /* up to this size each rank sends its whole vector to all others, like trivance-l-grouped */

typedef struct exchange {
    int rank, ranks;
    double *part[RANKS_MAX]; /* buffers for the data of the other ranks */
} exchange_t;

typedef struct exchange_transport {
    void (*receive)(void *context, int peer, int tag, void *data, size_t bytes);
    void (*send)(void *context, int peer, int tag, const void *data, size_t bytes);
    void (*complete)(void *context); /* completes all sends and receives so far */
} exchange_transport_t;

static inline size_t exchange_first(const exchange_t *exchange, int rank, size_t count)
{
    return count * (size_t)rank / (size_t)exchange->ranks;
}

static inline void exchange_add(const exchange_t *exchange, double *result, const double *mine, size_t count)
{
    const void *source[RANKS_MAX];
    for (int r = 0; r < exchange->ranks; r++)
        source[r] = r == exchange->rank ? mine : exchange->part[r];
    trv_reduce(TRV_SUM, TRV_DOUBLE, result, source, exchange->ranks, count);
}

/* Each rank sends its whole vector to all others. */
static inline void exchange_whole(const exchange_t *exchange, const exchange_transport_t transport, void *context,
                                  const double *input, double *output, size_t count)
{
    for (int r = 0; r < exchange->ranks; r++)
        if (r != exchange->rank)
            transport.receive(context, r, 0, exchange->part[r], count * sizeof *input);
    for (int r = 0; r < exchange->ranks; r++)
        if (r != exchange->rank)
            transport.send(context, r, 0, input, count * sizeof *input);
    transport.complete(context);
    exchange_add(exchange, output, input, count);
}

/* Rank r reduces part r of the vector and sends it to all others. */
static inline void exchange_parts(const exchange_t *exchange, const exchange_transport_t transport, void *context,
                                  const double *input, double *output, size_t count)
{
    const int mine = exchange->rank;
    size_t first[RANKS_MAX], bytes[RANKS_MAX];
    for (int r = 0; r < exchange->ranks; r++) {
        first[r] = exchange_first(exchange, r, count);
        bytes[r] = (exchange_first(exchange, r + 1, count) - first[r]) * sizeof *input;
    }
    for (int r = 0; r < exchange->ranks; r++)
        if (r != mine)
            transport.receive(context, r, 0, exchange->part[r], bytes[mine]);
    for (int r = 0; r < exchange->ranks; r++)
        if (r != mine)
            transport.send(context, r, 0, input + first[r], bytes[r]);
    transport.complete(context);
    exchange_add(exchange, output + first[mine], input + first[mine], bytes[mine] / sizeof *input);
    for (int r = 0; r < exchange->ranks; r++)
        if (r != mine) {
            transport.receive(context, r, 1, output + first[r], bytes[r]);
            transport.send(context, r, 1, output + first[mine], bytes[mine]);
        }
    transport.complete(context);
}

/* The messages of trivance-l-grouped, or (parts) those of trivance-b. */
static inline void exchange_run(const exchange_t *exchange, const exchange_transport_t transport, void *context,
                                bool parts, const double *input, double *output, size_t count)
{
    if (parts)
        exchange_parts(exchange, transport, context, input, output, count);
    else
        exchange_whole(exchange, transport, context, input, output, count);
}

#endif
