/*
 * The times at which the chunks of line-pipelined pass through the dimensions.
 */
#include "algorithms/builders/line_flow.h"

#include <stdint.h>

#include "base/error.h"

#define TIMES_MAX 64 /* maximum ratio of the numbers of chunks of two streams */

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

/* Sets the first steps of the phases. The reduce-scatter of a level begins when that of the previous level is complete.
 * The allgather of a level begins when that of the next level is complete and the level's links are free, that is, a
 * whole number of periods after its reduce-scatter has ended. Returns the number of steps of a chunk. */
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

/* Streams of the first half begin in dimension i and visit the others in ascending order, cyclically; streams of the
 * second half visit them in descending order. */
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

/* Chooses the chunks of every stream such that the steps of all streams take about equally long and no stream waits for
 * another: a stream that begins in a short dimension has more chunks, because its chunks have fewer blocks. The number
 * is limited, because along a long line all of them are in one message. */
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

/* Filling and draining the pipeline takes as long as a few chunks, and longer in more dimensions; hence the minimum per
 * dimension. */
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
