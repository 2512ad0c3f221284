/*
 * The candidates of line-pipelined: numbers of chunks, each with a model of its time.
 */
#include "algorithms/line_pipelined_candidates.h"

#include <math.h>
#include <stdlib.h>

#include "algorithms/builders/line_pipeline.h"
#include "algorithms/registry.h"
#include "base/error.h"

#define SPAN_CHUNKS 8   /* chunks per phase in the model; if more are in flight, each represents several */
#define MODEL_WORK  4e6 /* comparisons of spans; if all steps would take more, only a sample of the steps is modelled */

/* A block that loads the links of a dimension from position `first` to position `last`. Positions are those on a
 * row. */
typedef struct span {
    int first, last, stream;
    double share; /* of the vector; list_spans sets it in blocks */
} span_t;

/* Lists the blocks that a level moves in a step, in the direction with the higher load. On a ring all links carry the
 * same; on a line the links near the beginning carry the parts, and those near the end the sums. */
static int level_list_spans(const trv_pipeline_t *pipeline, const trv_pipeline_level_t *level, int step, span_t *span)
{
    const int size = level->size, route_length = level->line ? size - 1 : size / 2, end = level->line ? size - 1 : 0;
    int count = 0;
    for (int phase = 0; phase < 2; phase++) {
        const int begin = phase ? level->gather : level->scatter;
        int s, left = trv_pipeline_chunks(pipeline, level, begin, step, &s);
        for (int each = (left + SPAN_CHUNKS - 1) / SPAN_CHUNKS; left > 0; s += each, left -= each) {
            const int blocks = each < left ? each : left, since = step - begin - (s + blocks / 2) * pipeline->period;
            const int ahead = phase ? since + 1 : level->depth - since;
            if (ahead <= route_length)
                span[count++] = (span_t){.first = phase && end ? ahead - 1 : 0,
                                         .share = blocks,
                                         .last = end - (end ? phase ? 1 : ahead : 0)};
        }
    }
    return count;
}

/* The load of the busiest link of a dimension in a step: of one stream at most, and of all. The maximum is at an end of
 * a span. */
static void spans_busiest(const span_t *span, int spans, int streams, double *own, double *all)
{
    for (int i = 0; i < 2 * spans; i++) {
        const int position = i % 2 ? span[i / 2].last : span[i / 2].first;
        double sum = 0;
        for (int stream = 0, s = 0; stream < streams; stream++) {
            double of_stream = 0;
            for (; s < spans && span[s].stream == stream; s++)
                of_stream += span[s].first <= position && position <= span[s].last ? span[s].share : 0;
            sum += of_stream;
            *own = fmax(*own, of_stream);
        }
        *all = fmax(*all, sum);
    }
}

/* Lists the spans on a dimension's links in a step, stream by stream. */
static int dimension_list_spans(const trv_pipelines_t *pipelines, int dimension, int step, span_t *span)
{
    int spans = 0;
    for (int i = 0; i < 2 * pipelines->levels; i++) {
        const trv_pipeline_t *pipeline = &pipelines->pipeline[i];
        double share = 1.0 / (2 * pipelines->levels) / pipeline->chunks;
        for (int l = 0; l < pipelines->levels; l++) {
            share /= pipeline->level[l].size;
            if (pipeline->level[l].dimension != dimension)
                continue;
            const int count = level_list_spans(pipeline, &pipeline->level[l], step, span + spans);
            for (int s = spans; s < spans + count; s++) {
                span[s].stream = i;
                span[s].share *= share;
            }
            spans += count;
        }
    }
    return spans;
}

/* Computes the model step by step: a stream waits for its latencies and its own message while the links carry the
 * messages of the others. In several dimensions the streams get out of step while the pipeline fills and empties; the
 * factor `fill` is fitted to simulations. */
static int pipelines_model(const trv_pipelines_t *pipelines, const trv_collector_t *collector, int steps,
                           trv_model_t *model)
{
    const int streams = 2 * pipelines->levels;
    int spans_max = 0;
    double messages = 0;
    for (int i = 0; i < streams; i++)
        for (int l = 0; l < pipelines->levels; l++) {
            const trv_pipeline_t *pipeline = &pipelines->pipeline[i];
            spans_max += (int)fmin(trv_pipeline_chunks_max(pipeline, &pipeline->level[l]), 2 * SPAN_CHUNKS);
            messages += fmin(2.0 * steps, 2.0 * pipeline->chunks *
                                              trv_pipeline_busy_steps(&pipeline->level[l], collector->collective)) /
                        streams;
        }
    span_t *span = malloc((size_t)spans_max * sizeof *span);
    if (!span)
        return trv_fail_memory();
    *model = (trv_model_t){.steps = steps, .hops = steps};
    /* If there are too many steps they are divided into equal parts, and the middle step of each part represents it. */
    const int parts = (int)fmin(steps,
                                fmax(SPAN_CHUNKS, MODEL_WORK * pipelines->levels / (2.0 * spans_max * spans_max)));
    for (int part = 0; part < parts; part++) {
        const int step = (int)((2 * (int64_t)part + 1) * steps / (2 * (int64_t)parts));
        double own = 0, all = 0;
        for (int d = 0; d < collector->torus->dims; d++) {
            const int spans = dimension_list_spans(pipelines, d, step, span);
            spans_busiest(span, spans, streams, &own, &all);
        }
        model->load += own * steps / parts;
        model->busy += all * steps / parts;
    }
    free(span);
    const double fill = pipelines->levels > 1 ? 1 + 0.5 / (2 + pipelines->pipeline[0].chunks) : 1;
    model->load *= fill;
    model->busy *= fill;
    trv_model_messages(model, messages, streams);
    model->parts = (double)streams * pipelines->levels; /* one successor in each dimension */
    if (collector->collective != TRV_ALLGATHER) {
        model->reductions = collector->collective == TRV_ALLREDUCE ? steps / 2.0 : steps;
        model->reduced = 2;
    }
    return TRV_OK;
}

/* Adds a candidate, unless it would have too many blocks. */
static int pipelined_add_candidate(const trv_collector_t *collector, int chunks, bool always)
{
    const trv_torus_t *torus = collector->torus;
    char name[TRV_ALGORITHM_NAME_MAX];
    trv_pipelines_t pipelines;
    trv_model_t model;
    int steps;
    if (trv_pipelines_make(&pipelines, torus, torus->lines, collector->collective, chunks, &steps))
        return TRV_OK;
    int rc = pipelines_model(&pipelines, collector, steps, &model);
    trv_name_of_numbers(&trv_line_pipelined, &chunks, name);
    return rc ? rc : collector->add(collector->list, name, &model, always);
}

/* Adds the number of chunks that the name line-pipelined alone selects, and other numbers. */
int trv_line_pipelined_candidates(const trv_collector_t *collector)
{
    static const int tried[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64};
    const int chosen = trv_pipelines_choose_chunks(collector->torus, collector->torus->lines);
    int rc = pipelined_add_candidate(collector, chosen, true);
    for (size_t i = 0; i < sizeof tried / sizeof *tried && !rc; i++)
        if (tried[i] != chosen)
            rc = pipelined_add_candidate(collector, tried[i], false);
    return rc;
}
