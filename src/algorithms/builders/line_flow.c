/*
 * When the chunks of line-pipelined pass the dimensions.
 */
#include "algorithms/builders/line_flow.h"

#include <stdint.h>

#include "base/error.h"

#define TIMES_MAX 64 /* as many chunks as others may a stream have */

int trv_flow_chunks(const trv_flow_t *flow, const trv_flow_level_t *level, int begin, int step, int *first)
{
    const int since = step - begin;
    if (begin == TRV_FLOW_NEVER || since < 0)
        return 0;
    *first = since < level->depth ? 0 : (since - level->depth) / flow->period + 1;
    const int last = since / flow->period;
    return (last < flow->chunks ? last + 1 : flow->chunks) - *first;
}

int trv_flow_chunks_max(const trv_flow_t *flow, const trv_flow_level_t *level)
{
    return 2 * ((level->depth - 1) / flow->period + 1);
}

/* Each level scatters when the one before has. A level gathers when the next one has, and its links are free: where a
 * gathering at once would leave them, or whole periods later. Returns the steps of a chunk. */
static int time_levels(trv_flow_t *flow, int levels, trv_collective_t collective)
{
    int step = 0;
    for (int l = 0; l < levels; l++) {
        flow->level[l].scatter = collective == TRV_ALLGATHER ? TRV_FLOW_NEVER : step;
        step += collective == TRV_ALLGATHER ? 0 : flow->level[l].depth;
    }
    for (int l = levels - 1; l >= 0; l--) {
        trv_flow_level_t *level = &flow->level[l];
        level->gather = collective == TRV_REDUCE_SCATTER ? TRV_FLOW_NEVER : step;
        if (collective == TRV_ALLREDUCE) {
            const int free = level->scatter + level->depth;
            level->gather = free + (step - free + flow->period - 1) / flow->period * flow->period;
        }
        step = collective == TRV_REDUCE_SCATTER ? step : level->gather + level->depth;
    }
    return step;
}

int trv_flow_busy_steps(const trv_flow_level_t *level, trv_collective_t collective)
{
    return collective != TRV_ALLREDUCE ? level->depth : level->line ? level->size : level->size - 1;
}

/* Stream i begins in the i-th dimension and takes the others in ascending order, from there round, or in descending one
 * in the second half of the streams. */
static void make_flow(trv_flow_t *flow, int stream, const trv_torus_t *torus, unsigned lines,
                      trv_collective_t collective)
{
    int dimension[TRV_DIMS_MAX], active = trv_torus_active(torus, dimension);
    for (int l = 0; l < active; l++) {
        const int d = dimension[(stream + (stream < active ? l : active - l)) % active], size = torus->size[d];
        const bool line = lines >> d & 1;
        flow->level[l] = (trv_flow_level_t){.dimension = d,
                                            .size = size,
                                            .line = line,
                                            .depth = line ? size - 1 : size / 2};
    }
    flow->period = trv_flow_busy_steps(&flow->level[0], collective);
}

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t divisor = a, rest = b;
    while (rest) {
        const int64_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    return a / divisor * b;
}

/* Streams whose steps are equally long do not keep each other waiting: those that begin in a short dimension, with few
 * blocks in a chunk, have more chunks. Along a long line these are all in one message, so there is a limit. */
static int divide(trv_flows_t *flows, int chunks, int ranks)
{
    int longest = 1;
    int64_t pieces = chunks;
    for (int i = 0; i < flows->levels; i++)
        longest = flows->flow[i].period > longest ? flows->flow[i].period : longest;
    for (int i = 0; i < 2 * flows->levels; i++) {
        trv_flow_t *flow = &flows->flow[i];
        const int times = (longest + flow->period / 2) / flow->period;
        flow->chunks = chunks * (chunks == 1 ? 1 : times < TIMES_MAX ? times : TIMES_MAX);
        pieces = common_multiple(pieces, flow->chunks);
        if (pieces > TRV_FLOW_BLOCKS_MAX / ranks)
            return trv_fail(TRV_ERR_ARGUMENT, "%d chunks make more than %d blocks of a vector on %d ranks: take fewer",
                            chunks, TRV_FLOW_BLOCKS_MAX, ranks);
    }
    flows->pieces = (int)pieces;
    return TRV_OK;
}

int trv_flows_arrange(trv_flows_t *flows, const trv_torus_t *torus, unsigned lines, trv_collective_t collective,
                      int chunks, int *steps)
{
    int dimension[TRV_DIMS_MAX];
    flows->levels = trv_torus_active(torus, dimension);
    for (int i = 0; i < 2 * flows->levels; i++)
        make_flow(&flows->flow[i], i, torus, lines, collective);
    int rc = divide(flows, chunks, torus->ranks);
    *steps = 0;
    for (int i = 0; i < 2 * flows->levels && !rc; i++) {
        trv_flow_t *flow = &flows->flow[i];
        const int of_stream = time_levels(flow, flows->levels, collective) + (flow->chunks - 1) * flow->period;
        *steps = of_stream > *steps ? of_stream : *steps;
    }
    return rc;
}

/* The beginning and the end are as long as some chunks, in more dimensions more of them. */
int trv_flows_choose(const trv_torus_t *torus, unsigned lines)
{
    enum { STEPS = 128, LEAST = 4, MOST = 16 };
    int longest = 0, least = 0;
    for (int d = 0; d < torus->dims; d++) {
        least += torus->size[d] > 1 ? LEAST : 0;
        if (lines >> d & 1 && torus->size[d] > longest)
            longest = torus->size[d];
    }
    if (!longest)
        return 1;
    const int chunks = STEPS / longest > least ? STEPS / longest : least;
    return chunks < MOST ? chunks : MOST;
}
