/*
 * Long vectors on lines: chunks follow each other so closely that every link carries a block in every step.
 *
 * Whatever its root, a reduction and a broadcast along a line together put one vector on every directed link, and no
 * AllReduce does with less. So a chunk has a block per place, which goes to its owner from both sides, the farthest
 * blocks first, so that all arrive in the same step, and from there out again. A link of which the reduction needs no
 * more is free for sums, and then for the next chunk ('):
 *
 *   line of 4    step    0   1   2   3   4   5   6   7   8   9     the block that goes to the right;
 *                0 -> 1  3   2   1  (0)  3'  2'  1' (0')           in brackets it is a sum, else a part of one;
 *                1 -> 2      3   2  (1) (0)  3'  2' (1')(0')       to the left the mirror image
 *                2 -> 3          3  (2) (1) (0)  3' (2')(1')(0')
 *
 * A chunk takes a steps, and the last one a - 2 more: with many chunks the time goes to that of one vector on a link. On
 * a ring the blocks come half way round from each side, and a chunk takes a - 1 steps.
 * On a mesh or torus a chunk is scattered along one dimension, its blocks along the next one, …, and then gathered
 * backwards; meanwhile the links of the first dimension carry the next chunks. Sums wait until their links are free. D
 * streams begin in different dimensions, D more take the others in reverse order: while the messages of one are on the
 * links, those of another pay their latencies.
 *
 * Sizes: any.   Streams: 2D.   Steps: (S-1) a + 2 * sum of (a-1) for S chunks, and those that sums wait.
 * Exact: yes.   Consistent: yes, each block is summed up once.   Symmetry: none; on rings alone translation.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/registry.h"
#include "common/error.h"
#include "torus/torus.h"

#define BLOCKS_MAX (1 << 30) /* of a slice */

/* Register 0 has the rank's own parts and all sums. */
enum { OWN, FROM_LEFT, FROM_RIGHT, REGISTERS };

/* What a stream does in one dimension. Places are counted from the beginning of a row. */
typedef struct level {
    int dimension, size;
    bool line;
    int depth;           /* steps of the reduce-scatter, and of the allgather */
    int scatter, gather; /* in which step of a chunk they begin; NEVER: they do not */
} level_t;
enum { NEVER = -1 };

typedef struct flow {
    int chunks, period; /* chunk s begins in step s * period */
    level_t level[TRV_DIMS_MAX];
} flow_t;

typedef struct tables {
    int pieces;                    /* of a slice: chunks of any stream are so many of them, all equally many */
    int levels;                    /* dimensions with more than one rank */
    flow_t flow[2 * TRV_DIMS_MAX]; /* of each stream */
} tables_t;

/* ---- What a link carries ----------------------------------------------------------------------------------------- */

/* Whether the reduce-scatter moves a block from `place` in direction `sign` to its owner, so many places ahead. */
static bool find_owner(const level_t *level, int place, int sign, int ahead, int *owner)
{
    const int size = level->size, target = place + sign * ahead;
    *owner = (target + size) % size;
    if (level->line)
        return place >= 0 && place < size && target == *owner;
    return ahead <= (sign > 0 ? size : size - 1) / 2;
}

typedef struct cargo {
    int chunk, owner; /* the block's */
    bool sum;
} cargo_t;

/* The chunks that are in a phase, which begins so many steps after the chunk does: from *first, as many as returned. */
static int find_chunks(const flow_t *flow, const level_t *level, int begin, int step, int *first)
{
    const int since = step - begin;
    if (begin == NEVER || since < 0)
        return 0;
    *first = since < level->depth ? 0 : (since - level->depth) / flow->period + 1;
    const int last = since / flow->period;
    return (last < flow->chunks ? last + 1 : flow->chunks) - *first;
}

/* An upper bound on the chunks of both phases. */
static int chunks_max(const flow_t *flow, const level_t *level) { return 2 * ((level->depth - 1) / flow->period + 1); }

/* What leaves `place` in direction `sign`: parts, then sums. The allgather is the reduce-scatter backwards: its step k
 * moves what came from there in step depth - 1 - k, with k + 1 places to go. */
static int list_cargo(const flow_t *flow, const level_t *level, int place, int sign, int step, cargo_t *cargo)
{
    int first, count = 0, chunks = find_chunks(flow, level, level->scatter, step, &first);
    for (int s = first; chunks-- > 0; s++) {
        const int ahead = level->depth - (step - level->scatter - s * flow->period);
        cargo[count] = (cargo_t){.chunk = s};
        count += find_owner(level, place, sign, ahead, &cargo[count].owner);
    }
    chunks = find_chunks(flow, level, level->gather, step, &first);
    for (int s = first; chunks-- > 0; s++) {
        const int ahead = step - level->gather - s * flow->period + 1;
        cargo[count] = (cargo_t){.chunk = s, .sum = true};
        count += find_owner(level, place + sign, -sign, ahead, &cargo[count].owner);
    }
    return count;
}

/* ---- One rank's step --------------------------------------------------------------------------------------------- */

typedef struct work {
    const trv_schedule_t *schedule;
    const tables_t *tables;
    const flow_t *flow;
    int rank, step;
    trv_step_t *out;
} work_t;

/* Coordinates of the last dimension of the space, `count` of the torus's from `first`, each with a chunk's pieces. */
static int *list_pieces(const work_t *work, int first, int count, int chunk)
{
    const int pieces = work->tables->pieces, of_chunk = pieces / work->flow->chunks;
    int *value = trv_step_alloc(work->out, (size_t)count * (size_t)of_chunk * sizeof *value);
    for (int i = 0; value && i < count * of_chunk; i++)
        value[i] = (first + i / of_chunk) * pieces + chunk * of_chunk + i % of_chunk;
    return value;
}

/* Of a chunk what has the rank's coordinates in the dimensions before the level's, and in that one its owner's. */
static int find_units(const work_t *work, int l, int chunk, int owner, trv_blocks_t *blocks)
{
    const trv_schedule_t *schedule = work->schedule;
    const trv_torus_t *torus = &schedule->torus;
    const int last = torus->dims - 1, d = work->flow->level[l].dimension;
    const int rank = trv_row_rank(schedule->rows, work->rank, d, owner);
    int *coordinate = trv_step_alloc(work->out, TRV_DIMS_MAX * sizeof *coordinate);
    if (!coordinate)
        return TRV_ERR_MEMORY;
    trv_blocks_all(schedule, blocks);
    trv_product_t *units = &blocks->term[0];
    trv_torus_coordinates(torus, rank, coordinate);
    units->count[last] = torus->size[last];
    for (int i = 0; i <= l; i++) {
        const int split = work->flow->level[i].dimension;
        units->count[split] = 1;
        units->value[split] = &coordinate[split];
    }
    units->value[last] = list_pieces(work, units->count[last] == 1 ? coordinate[last] : 0, units->count[last], chunk);
    units->count[last] *= work->tables->pieces / work->flow->chunks;
    return units->value[last] ? TRV_OK : TRV_ERR_MEMORY;
}

/* What leaves the rank at a level in one direction, or arrives there in that direction. */
static int add_message(const work_t *work, int l, int place, int sign, bool outgoing, cargo_t *cargo)
{
    const level_t *level = &work->flow->level[l];
    const int from = outgoing ? place : place - sign, port = trv_port(level->dimension, sign);
    const int peer = trv_torus_shift(&work->schedule->torus, work->rank, level->dimension, outgoing ? sign : -sign);
    const int count = list_cargo(work->flow, level, from, sign, work->step, cargo);
    if (count == 0)
        return TRV_OK;
    trv_part_t *part = outgoing ? trv_step_send(work->out, peer, port, count)
                                : trv_step_receive(work->out, peer, port, count);
    int rc = part ? TRV_OK : TRV_ERR_MEMORY;
    for (int i = 0; i < count && !rc; i++) {
        part[i].reg = outgoing || cargo[i].sum ? OWN : sign > 0 ? FROM_LEFT : FROM_RIGHT;
        rc = find_units(work, l, cargo[i].chunk, cargo[i].owner, &part[i].blocks);
    }
    return rc;
}

static int add_sum(const work_t *work, int l, int chunk, int owner, const int *source, int sources)
{
    trv_blocks_t blocks;
    int rc = find_units(work, l, chunk, owner, &blocks);
    return rc ? rc : trv_step_combine(work->out, OWN, sources, source, 0, &blocks);
}

/* The parts that have arrived: from both sides where the rank owns the block, in one pass. */
static int add_sums(const work_t *work, int l, int place)
{
    static const int source[] = {FROM_LEFT, OWN, FROM_RIGHT};
    const level_t *level = &work->flow->level[l];
    int s, rc = TRV_OK, chunks = find_chunks(work->flow, level, level->scatter, work->step, &s);
    for (; chunks-- > 0 && !rc; s++) {
        const int ahead = level->depth - (work->step - level->scatter - s * work->flow->period);
        int left, right;
        const bool from_left = find_owner(level, place - 1, 1, ahead, &left);
        const bool from_right = find_owner(level, place + 1, -1, ahead, &right);
        const bool own = from_left && from_right && ahead == 1;
        if (from_left)
            rc = add_sum(work, l, s, left, source, own ? 3 : 2);
        if (from_right && !own && !rc)
            rc = add_sum(work, l, s, right, source + 1, 2);
    }
    return rc;
}

static int add_level(const work_t *work, int l, cargo_t *cargo)
{
    const int place = trv_row_place(work->schedule->rows, work->rank, work->flow->level[l].dimension);
    int rc = TRV_OK;
    for (int sign = 1; sign >= -1 && !rc; sign -= 2) {
        rc = add_message(work, l, place, sign, true, cargo);
        if (!rc)
            rc = add_message(work, l, place, sign, false, cargo);
    }
    return rc ? rc : add_sums(work, l, place);
}

static int pipelined_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const tables_t *tables = schedule->tables;
    const work_t work = {schedule, tables, &tables->flow[stream], rank, step, out};
    int chunks = 0;
    for (int l = 0; l < tables->levels; l++)
        chunks += chunks_max(work.flow, &work.flow->level[l]);
    cargo_t *cargo = trv_step_alloc(out, (size_t)chunks * sizeof *cargo);
    int rc = cargo ? trv_step_reserve(out, 2 * tables->levels, 2 * tables->levels, chunks) : TRV_ERR_MEMORY;
    for (int l = 0; l < tables->levels && !rc; l++)
        rc = add_level(&work, l, cargo);
    return rc;
}

/* A chunk is contiguous, and so is what its first level makes of it, … */
static int pipelined_axes(const trv_schedule_t *schedule, int stream, trv_axis_t *axis)
{
    const tables_t *tables = schedule->tables;
    const int last = schedule->torus.dims - 1;
    axis[0] = (trv_axis_t){last, 1, tables->pieces};
    for (int l = 0; l < tables->levels; l++) {
        const level_t *level = &tables->flow[stream].level[l];
        axis[1 + l] = (trv_axis_t){level->dimension, level->dimension == last ? tables->pieces : 1, level->size};
    }
    return 1 + tables->levels;
}

/* ---- When phases begin ------------------------------------------------------------------------------------------- */

/* Each level scatters when the one before has. A level gathers when the next one has, and its links are free: where a
 * gathering at once would leave them, or whole periods later. Returns the steps of a chunk. */
static int time_levels(flow_t *flow, int levels, trv_collective_t collective)
{
    int step = 0;
    for (int l = 0; l < levels; l++) {
        flow->level[l].scatter = collective == TRV_ALLGATHER ? NEVER : step;
        step += collective == TRV_ALLGATHER ? 0 : flow->level[l].depth;
    }
    for (int l = levels - 1; l >= 0; l--) {
        level_t *level = &flow->level[l];
        level->gather = collective == TRV_REDUCE_SCATTER ? NEVER : step;
        if (collective == TRV_ALLREDUCE) {
            const int free = level->scatter + level->depth;
            level->gather = free + (step - free + flow->period - 1) / flow->period * flow->period;
        }
        step = collective == TRV_REDUCE_SCATTER ? step : level->gather + level->depth;
    }
    return step;
}

/* The steps in which the busiest link of the level carries a block of a chunk, one at a time. */
static int busy_steps(const level_t *level, trv_collective_t collective)
{
    return collective != TRV_ALLREDUCE ? level->depth : level->line ? level->size : level->size - 1;
}

/* Stream i begins in the i-th dimension and takes the others in ascending order, from there round, or in descending one
 * in the second half of the streams. */
static void make_flow(flow_t *flow, int stream, const trv_torus_t *torus, unsigned lines, trv_collective_t collective)
{
    int dimension[TRV_DIMS_MAX], active = trv_torus_active(torus, dimension);
    for (int l = 0; l < active; l++) {
        const int d = dimension[(stream + (stream < active ? l : active - l)) % active], size = torus->size[d];
        const bool line = lines >> d & 1;
        flow->level[l] = (level_t){.dimension = d, .size = size, .line = line, .depth = line ? size - 1 : size / 2};
    }
    flow->period = busy_steps(&flow->level[0], collective);
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
 * blocks in a chunk, have more chunks. */
static int divide(tables_t *tables, int chunks, int ranks)
{
    int longest = 1;
    int64_t pieces = chunks;
    for (int i = 0; i < tables->levels; i++)
        longest = tables->flow[i].period > longest ? tables->flow[i].period : longest;
    for (int i = 0; i < 2 * tables->levels; i++) {
        flow_t *flow = &tables->flow[i];
        const int times = chunks > 1 ? (longest + flow->period / 2) / flow->period : 1;
        flow->chunks = chunks * times;
        pieces = common_multiple(pieces, flow->chunks);
        if (pieces > BLOCKS_MAX / ranks)
            return trv_fail(TRV_ERR_ARGUMENT, "%d chunks make more than %d blocks of a vector on %d ranks: take fewer",
                            chunks, BLOCKS_MAX, ranks);
    }
    tables->pieces = (int)pieces;
    return TRV_OK;
}

/* Fills the tables; *steps are those of the longest stream. */
static int arrange(tables_t *tables, const trv_torus_t *torus, unsigned lines, trv_collective_t collective, int chunks,
                   int *steps)
{
    int dimension[TRV_DIMS_MAX];
    tables->levels = trv_torus_active(torus, dimension);
    for (int i = 0; i < 2 * tables->levels; i++)
        make_flow(&tables->flow[i], i, torus, lines, collective);
    int rc = divide(tables, chunks, torus->ranks);
    *steps = 0;
    for (int i = 0; i < 2 * tables->levels && !rc; i++) {
        flow_t *flow = &tables->flow[i];
        const int of_stream = time_levels(flow, tables->levels, collective) + (flow->chunks - 1) * flow->period;
        *steps = of_stream > *steps ? of_stream : *steps;
    }
    return rc;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* So many that the beginning and the end, where links wait, do not weigh much; on rings none wait. They are as long as
 * some chunks, in more dimensions more of them. */
static int choose_chunks(const trv_torus_t *torus, unsigned lines)
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

static int parse(const char *parameters, const trv_torus_t *torus, int *chunks)
{
    char *end = NULL;
    errno = 0;
    const long number = *parameters >= '0' && *parameters <= '9' ? strtol(parameters, &end, 10) : 0;
    const int most = BLOCKS_MAX / torus->ranks;
    if (errno || number < 1 || *end || number > most)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "line-pipelined cuts the vector into 1 to %d chunks on %d ranks, for example "
                        "line-pipelined:16, not into '%.40s'",
                        most, torus->ranks, parameters);
    *chunks = (int)number;
    return TRV_OK;
}

static int spell(const char *parameters, const trv_torus_t *torus, trv_collective_t collective, char *text, size_t size)
{
    int chunks, rc = parameters ? parse(parameters, torus, &chunks) : TRV_OK;
    (void)collective;
    if (rc)
        return rc;
    return parameters ? snprintf(text, size, "line-pipelined:%d", chunks) : snprintf(text, size, "line-pipelined");
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static int create(trv_schedule_t *schedule)
{
    const trv_torus_t *torus = &schedule->torus;
    int rc = TRV_OK, chunks = choose_chunks(torus, schedule->rows->lines);
    if (schedule->parameters)
        rc = parse(schedule->parameters, torus, &chunks);
    tables_t *tables = rc ? NULL : calloc(1, sizeof *tables);
    if (!tables)
        return rc ? rc : trv_fail_memory();
    schedule->tables = tables;
    schedule->destroy = free;
    rc = arrange(tables, torus, schedule->rows->lines, schedule->collective, chunks, &schedule->steps);
    if (rc)
        return rc;
    schedule->streams = tables->levels ? 2 * tables->levels : 1;
    schedule->registers = schedule->collective == TRV_ALLGATHER ? 1 : REGISTERS;
    schedule->step = pipelined_step;
    schedule->axes = schedule->collective == TRV_ALLREDUCE ? pipelined_axes : NULL;
    trv_torus_t space = *torus;
    space.size[space.dims - 1] *= tables->pieces;
    return trv_torus_init(&schedule->space, space.dims, space.size);
}

/* ---- Candidates -------------------------------------------------------------------------------------------------- */

#define SPAN_CHUNKS 8   /* of a phase: where more are under way, some stand for all */
#define MODEL_WORK  4e6 /* comparisons of spans: where all steps take more, so many stand for all */

/* A block on the links of a dimension, from the first of these places to the last. */
typedef struct span {
    int first, last, stream;
    double share; /* of the vector; of list_spans: in blocks */
} span_t;

/* The blocks that a level moves in a step in the direction in which there are more, or as many: of a ring's links all
 * carry the same, of a line's those near the beginning the parts, and those near the end the sums. */
static int list_spans(const flow_t *flow, const level_t *level, int step, span_t *span)
{
    const int size = level->size, way = level->line ? size - 1 : size / 2, end = level->line ? size - 1 : 0;
    int count = 0;
    for (int phase = 0; phase < 2; phase++) {
        const int begin = phase ? level->gather : level->scatter;
        int s, left = find_chunks(flow, level, begin, step, &s);
        for (int each = (left + SPAN_CHUNKS - 1) / SPAN_CHUNKS; left > 0; s += each, left -= each) {
            const int blocks = each < left ? each : left, since = step - begin - (s + blocks / 2) * flow->period;
            const int ahead = phase ? since + 1 : level->depth - since;
            if (ahead <= way)
                span[count++] = (span_t){.first = phase && end ? ahead - 1 : 0,
                                         .share = blocks,
                                         .last = end - (end ? phase ? 1 : ahead : 0)};
        }
    }
    return count;
}

/* What the busiest link of a dimension carries in a step: of one stream at most, and of all. It is where a span ends. */
static void find_busiest(const span_t *span, int spans, int streams, double *own, double *all)
{
    for (int i = 0; i < 2 * spans; i++) {
        const int place = i % 2 ? span[i / 2].last : span[i / 2].first;
        double sum = 0;
        for (int stream = 0, s = 0; stream < streams; stream++) {
            double of_stream = 0;
            for (; s < spans && span[s].stream == stream; s++)
                of_stream += span[s].first <= place && place <= span[s].last ? span[s].share : 0;
            sum += of_stream;
            *own = fmax(*own, of_stream);
        }
        *all = fmax(*all, sum);
    }
}

/* The spans of a dimension's links in a step, stream by stream. */
static int list_dimension(const tables_t *tables, int dimension, int step, span_t *span)
{
    int spans = 0;
    for (int i = 0; i < 2 * tables->levels; i++) {
        const flow_t *flow = &tables->flow[i];
        double share = 1.0 / (2 * tables->levels) / flow->chunks;
        for (int l = 0; l < tables->levels; l++) {
            share /= flow->level[l].size;
            if (flow->level[l].dimension != dimension)
                continue;
            const int count = list_spans(flow, &flow->level[l], step, span + spans);
            for (int s = spans; s < spans + count; s++) {
                span[s].stream = i;
                span[s].share *= share;
            }
            spans += count;
        }
    }
    return spans;
}

/* Step by step: a stream pays its latencies and its message, while the others' are on the links. In several dimensions
 * streams get out of step where the pipeline fills and empties, by as much as simulations say. */
static int find_model(const tables_t *tables, const trv_collector_t *collector, int steps, trv_model_t *model)
{
    const int streams = 2 * tables->levels;
    int most = 0;
    double messages = 0;
    for (int i = 0; i < streams; i++)
        for (int l = 0; l < tables->levels; l++) {
            const flow_t *flow = &tables->flow[i];
            most += (int)fmin(chunks_max(flow, &flow->level[l]), 2 * SPAN_CHUNKS);
            messages += fmin(2.0 * steps, 2.0 * flow->chunks * busy_steps(&flow->level[l], collector->collective)) /
                        streams;
        }
    span_t *span = malloc((size_t)most * sizeof *span);
    if (!span)
        return trv_fail_memory();
    *model = (trv_model_t){.steps = steps, .hops = steps};
    /* Where there are too many steps, the middle one of each part of them stands for it. */
    const int parts = (int)fmin(steps, fmax(SPAN_CHUNKS, MODEL_WORK * tables->levels / (2.0 * most * most)));
    for (int part = 0; part < parts; part++) {
        const int step = (int)((2 * (int64_t)part + 1) * steps / (2 * (int64_t)parts));
        double own = 0, all = 0;
        for (int d = 0; d < collector->torus->dims; d++) {
            const int spans = list_dimension(tables, d, step, span);
            find_busiest(span, spans, streams, &own, &all);
        }
        model->load += own * steps / parts;
        model->busy += all * steps / parts;
    }
    free(span);
    const double fill = tables->levels > 1 ? 1 + 0.5 / (2 + tables->flow[0].chunks) : 1;
    model->load *= fill;
    model->busy *= fill;
    trv_model_messages(model, messages, streams);
    return TRV_OK;
}

/* One of the candidates; none where there would be too many blocks. */
static int add_candidate(const trv_collector_t *collector, int chunks, bool always)
{
    const trv_torus_t *torus = collector->torus;
    char name[TRV_ALGORITHM_NAME_MAX];
    tables_t tables;
    trv_model_t model;
    int steps;
    if (arrange(&tables, torus, torus->lines, collector->collective, chunks, &steps))
        return TRV_OK;
    int rc = find_model(&tables, collector, steps, &model);
    snprintf(name, sizeof name, "line-pipelined:%d", chunks);
    return rc ? rc : collector->add(collector->list, name, &model, always);
}

/* The choice of the algorithm that is just called line-pipelined, and others. */
static int candidates(const trv_collector_t *collector)
{
    static const int tried[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64};
    const int chosen = choose_chunks(collector->torus, collector->torus->lines);
    int rc = add_candidate(collector, chosen, true);
    for (size_t i = 0; i < sizeof tried / sizeof *tried && !rc; i++)
        if (tried[i] != chosen)
            rc = add_candidate(collector, tried[i], false);
    return rc;
}

const trv_algorithm_t trv_line_pipelined = {
    .name = "line-pipelined",
    .family = "line",
    .title = "Lines, pipelined: every link busy all the time",
    .use = "meshes and opened rings, long vectors; line-pipelined:16 names its chunks",
    .source = "docs/algorithms.md",
    .sizes = "any torus or mesh",
    .parameters = "S",
    .lines = true,
    .steps_formula = "(S-1) a + 2 * sum of (a-1)",
    .bytes_formula = "2m (n-1)/n",
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = true,
    .create = create,
    .spell = spell,
    .candidates = candidates,
};
