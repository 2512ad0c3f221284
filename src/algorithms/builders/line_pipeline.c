/*
 * Computes in which steps the chunks of line-pipelined pass through the dimensions.
 */
#include "algorithms/builders/line_pipeline.h"

#include <stdint.h>

#include "base/error.h"

#define TIMES_MAX 64 /* maximum ratio of the numbers of chunks of two streams */

int trv_pipeline_chunks(const trv_pipeline_t *pipeline, const trv_pipeline_level_t *level, int begin, int step,
                        int *first)
{
    const int since = step - begin;
    if (begin == TRV_PIPELINE_NEVER || since < 0)
        return 0;
    *first = since < level->depth ? 0 : (since - level->depth) / pipeline->period + 1;
    const int last = since / pipeline->period;
    return (last < pipeline->chunks ? last + 1 : pipeline->chunks) - *first;
}

int trv_pipeline_chunks_max(const trv_pipeline_t *pipeline, const trv_pipeline_level_t *level)
{
    return 2 * ((level->depth - 1) / pipeline->period + 1);
}

/* Sets the first steps of the phases. The reduce-scatter of a level begins when that of the previous level is complete.
 * The allgather of a level begins when that of the next level is complete and the level's links are free, that is, a
 * whole number of periods after its reduce-scatter has ended. Returns the number of steps of a chunk. */
static int pipeline_time_levels(trv_pipeline_t *pipeline, int levels, trv_collective_t collective)
{
    int step = 0;
    for (int l = 0; l < levels; l++) {
        pipeline->level[l].scatter = collective == TRV_ALLGATHER ? TRV_PIPELINE_NEVER : step;
        step += collective == TRV_ALLGATHER ? 0 : pipeline->level[l].depth;
    }
    for (int l = levels - 1; l >= 0; l--) {
        trv_pipeline_level_t *level = &pipeline->level[l];
        level->gather = collective == TRV_REDUCE_SCATTER ? TRV_PIPELINE_NEVER : step;
        if (collective == TRV_ALLREDUCE) {
            const int free = level->scatter + level->depth;
            level->gather = free + (step - free + pipeline->period - 1) / pipeline->period * pipeline->period;
        }
        step = collective == TRV_REDUCE_SCATTER ? step : level->gather + level->depth;
    }
    return step;
}

int trv_pipeline_busy_steps(const trv_pipeline_level_t *level, trv_collective_t collective)
{
    return collective != TRV_ALLREDUCE ? level->depth : level->line ? level->size : level->size - 1;
}

/* Streams of the first half begin in dimension i and visit the others in ascending order, cyclically; streams of the
 * second half visit them in descending order. */
static void pipeline_make(trv_pipeline_t *pipeline, int stream, const trv_torus_t *torus, unsigned lines,
                          trv_collective_t collective)
{
    int dimension[TRV_DIMS_MAX], active = trv_torus_active(torus, dimension);
    for (int l = 0; l < active; l++) {
        const int d = dimension[(stream + (stream < active ? l : active - l)) % active], size = torus->size[d];
        const bool line = lines >> d & 1;
        pipeline->level[l] = (trv_pipeline_level_t){.dimension = d,
                                                    .size = size,
                                                    .line = line,
                                                    .depth = line ? size - 1 : size / 2};
    }
    pipeline->period = trv_pipeline_busy_steps(&pipeline->level[0], collective);
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
 * is limited, because on a long line all chunks of a stream may be in one message. */
static int pipelines_divide(trv_pipelines_t *pipelines, int chunks, int ranks)
{
    int longest = 1;
    int64_t pieces = chunks;
    for (int i = 0; i < pipelines->levels; i++)
        longest = pipelines->pipeline[i].period > longest ? pipelines->pipeline[i].period : longest;
    for (int i = 0; i < 2 * pipelines->levels; i++) {
        trv_pipeline_t *pipeline = &pipelines->pipeline[i];
        const int times = (longest + pipeline->period / 2) / pipeline->period;
        pipeline->chunks = chunks * (chunks == 1 ? 1 : times < TIMES_MAX ? times : TIMES_MAX);
        pieces = common_multiple(pieces, pipeline->chunks);
        if (pieces > TRV_PIPELINE_BLOCKS_MAX / ranks)
            return trv_fail(
                TRV_ERR_ARGUMENT,
                "%d chunks make more than %d blocks on %d ranks; use fewer chunks, for example line-pipelined:4",
                chunks, TRV_PIPELINE_BLOCKS_MAX, ranks);
    }
    pipelines->pieces = (int)pieces;
    return TRV_OK;
}

int trv_pipelines_make(trv_pipelines_t *pipelines, const trv_torus_t *torus, unsigned lines,
                       trv_collective_t collective, int chunks, int *steps)
{
    int dimension[TRV_DIMS_MAX];
    pipelines->levels = trv_torus_active(torus, dimension);
    for (int i = 0; i < 2 * pipelines->levels; i++)
        pipeline_make(&pipelines->pipeline[i], i, torus, lines, collective);
    int rc = pipelines_divide(pipelines, chunks, torus->ranks);
    *steps = 0;
    for (int i = 0; i < 2 * pipelines->levels && !rc; i++) {
        trv_pipeline_t *pipeline = &pipelines->pipeline[i];
        const int of_stream = pipeline_time_levels(pipeline, pipelines->levels, collective) +
                              (pipeline->chunks - 1) * pipeline->period;
        *steps = of_stream > *steps ? of_stream : *steps;
    }
    return rc;
}

/* Filling and draining the pipeline takes as long as a few chunks, and longer in more dimensions; hence the minimum per
 * dimension. */
int trv_pipelines_choose_chunks(const trv_torus_t *torus, unsigned lines)
{
    enum { STEPS = 128, MIN_PER_DIMENSION = 4, MAX = 16 };
    int longest = 0, min = 0;
    for (int d = 0; d < torus->dims; d++) {
        min += torus->size[d] > 1 ? MIN_PER_DIMENSION : 0;
        if (lines >> d & 1 && torus->size[d] > longest)
            longest = torus->size[d];
    }
    if (!longest)
        return 1;
    const int chunks = STEPS / longest > min ? STEPS / longest : min;
    return chunks < MAX ? chunks : MAX;
}
