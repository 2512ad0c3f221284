/*
 * Reduce-scatter and allgather on a torus, composed of one pattern per dimension, see scatter.h.
 *
 * A step of a rank is computed as follows: find the dimension and level of the step; take the messages from the
 * dimension's pattern; multiply each message's set of blocks by the sets that the rank holds along the other
 * dimensions; in a reduce-scatter, add the received data to the rank's own partial sums, jointly where both messages
 * have a block.
 */
#include "algorithms/builders/scatter.h"

#include <stdlib.h>

#include "algorithms/builders/weights.h"
#include "base/error.h"
#include "torus/torus.h"

typedef struct tables {
    trv_visit_t visit;
    bool ties_split, ties_mirrored;
    int active, dimension[TRV_DIMS_MAX];  /* the dimensions with more than one rank */
    trv_pattern_t *pattern[TRV_DIMS_MAX]; /* the pattern of dimension[i] */
    /* the pattern of dimension[i] for streams that do not begin there; NULL: the same */
    trv_pattern_t *later[TRV_DIMS_MAX];
    int own;         /* number of dimensions over which a stream scatters */
    int streams;     /* number of streams that are not mirrored */
    bool share_port; /* two messages of a step may leave through one port */
    bool digits;     /* the patterns of all dimensions distinguish blocks by digits */
    struct {         /* the streams that begin in dimension[i] */
        /* levels of dimension[i]'s pattern; 0 if the stream does not scatter over it */
        int levels[TRV_DIMS_MAX];
        int steps;          /* steps of one phase: the sum of the levels of all dimensions */
        trv_stage_t *stage; /* the stage between the phases, or NULL */
    } stream[TRV_DIMS_MAX];
} tables_t;

/* The data of one rank's step: its coordinates in the space of the blocks, and what it holds along every dimension. */
typedef struct view {
    const trv_schedule_t *schedule;
    const tables_t *tables;
    trv_step_t *out;
    int rank, coordinate[TRV_DIMS_MAX]; /* coordinates modulo the sizes of the patterns */
    int stream;                         /* the first stream that begins in the same dimension */
    bool mirrored;
    trv_turn_t turn;
    int start[TRV_DIMS_MAX]; /* the class of the rank at which the row along dimension[i] begins; 0 on a ring */
    trv_residues_t held[TRV_DIMS_MAX][2]; /* per half, and per active dimension other than the step's */
} view_t;

/* The order in which the stream visits the dimensions. Of the streams that begin in one dimension every second one
 * visits the others backwards. */
static trv_visit_t visit_of(const tables_t *tables, int stream)
{
    const bool second = stream < tables->streams && stream / tables->active % 2;
    return second && tables->own == tables->active ? tables->visit | TRV_BACKWARDS : tables->visit;
}

/* Whether the stream scatters over dimension[i]. */
static bool is_scattered(const tables_t *tables, int stream, int i)
{
    return (i - stream + tables->active) % tables->active < tables->own;
}

/* The pattern of stream `stream`, which is not mirrored, along dimension[i]. */
static const trv_pattern_t *pattern_of(const tables_t *tables, int stream, int i)
{
    return tables->later[i] && i != stream ? tables->later[i] : tables->pattern[i];
}

/* ---- Mirrored streams: every coordinate negated ------------------------------------------------------------------ */

static int negate(int coordinate, int size) { return coordinate ? size - coordinate : 0; }

static int residues_negate(trv_residues_t *residues, int size, trv_step_t *memory)
{
    int *value = trv_step_alloc(memory, (size_t)residues->count * sizeof *value);
    if (!value)
        return TRV_ERR_MEMORY;
    int count = residues->count;
    bool zero = count > 0 && residues->value[0] == 0; /* 0 stays first, the order of the others is reversed */
    if (zero)
        value[0] = 0;
    for (int i = zero; i < count; i++)
        value[i] = size - residues->value[count - 1 - (i - zero)];
    residues->value = value;
    return TRV_OK;
}

static int edge_negate(const view_t *view, trv_edge_t *edge, const trv_pattern_t *pattern)
{
    int size = pattern->size;
    int distance = abs(edge->to - edge->from);
    const bool tie = 2 * distance == size && !view->tables->ties_mirrored;
    const int tie_sign = view->tables->ties_split ? -1 : 1;
    edge->from = negate(edge->from, size);
    edge->to = negate(edge->to, size);
    edge->sign = tie ? tie_sign : -edge->sign;
    edge->reverse_sign = tie ? tie_sign : -edge->reverse_sign;
    int rc = TRV_OK;
    for (int h = 0; h < pattern->halves && !rc; h++)
        rc = residues_negate(&edge->blocks[h], size, view->out);
    return rc;
}

/* ---- Rows that begin elsewhere: every coordinate counted from there ---------------------------------------------- */

static int row_position(int coordinate, int start, int size) { return (coordinate - start + size) % size; }

static int residues_shift(trv_residues_t *residues, int start, int size, trv_step_t *memory)
{
    int *value = trv_step_alloc(memory, (size_t)residues->count * sizeof *value);
    if (!value)
        return TRV_ERR_MEMORY;
    int first = 0; /* first of the coordinates that wrap around and so precede the others */
    while (first < residues->count && residues->value[first] + start < size)
        first++;
    for (int i = 0; i < residues->count; i++)
        value[i] = (residues->value[(first + i) % residues->count] + start) % size;
    residues->value = value;
    return TRV_OK;
}

/* ---- The rank's messages and blocks in a pattern ----------------------------------------------------------------- */

static int view_held(const view_t *view, int i, int level, int half, trv_residues_t *blocks)
{
    const trv_pattern_t *pattern = pattern_of(view->tables, view->stream, i);
    int coordinate = row_position(view->coordinate[view->tables->dimension[i]], view->start[i], pattern->size);
    if (view->mirrored)
        coordinate = negate(coordinate, pattern->size);
    int rc = pattern->held(pattern, coordinate, level, half, blocks, view->out);
    if (!rc && view->mirrored)
        rc = residues_negate(blocks, pattern->size, view->out);
    return rc || view->start[i] == 0 ? rc : residues_shift(blocks, view->start[i], pattern->size, view->out);
}

static int view_edges(const view_t *view, bool outgoing, trv_edge_t *edge)
{
    const int i = view->turn.index, start = view->start[i];
    const trv_pattern_t *pattern = pattern_of(view->tables, view->stream, i);
    int coordinate = row_position(view->coordinate[view->tables->dimension[i]], start, pattern->size);
    if (view->mirrored)
        coordinate = negate(coordinate, pattern->size);
    int edges = pattern->edges(pattern, coordinate, view->turn.level, outgoing, edge, view->out);
    for (int e = 0; e < edges; e++) {
        int rc = view->mirrored ? edge_negate(view, &edge[e], pattern) : TRV_OK;
        for (int h = 0; h < pattern->halves && start > 0 && !rc; h++)
            rc = residues_shift(&edge[e].blocks[h], start, pattern->size, view->out);
        if (rc)
            return rc;
    }
    return edges;
}

/* ---- Block sets of the torus ------------------------------------------------------------------------------------- */

/* The product of `along` (per half) in the step's dimension and of the rank's blocks in the other dimensions. */
static void view_blocks(const view_t *view, const trv_residues_t *along, trv_blocks_t *blocks)
{
    const trv_schedule_t *schedule = view->schedule;
    const tables_t *tables = view->tables;
    trv_blocks_begin(blocks, &schedule->space, schedule->halves);
    for (int h = 0; h < schedule->halves; h++) {
        trv_product_t *product = trv_blocks_add(blocks, 1 << h);
        bool empty = false;
        for (int i = 0; i < tables->active; i++) {
            const trv_residues_t *set = i == view->turn.index ? &along[h] : &view->held[i][h];
            product->count[tables->dimension[i]] = set->count;
            product->value[tables->dimension[i]] = set->value;
            empty = empty || set->count == 0;
        }
        blocks->terms -= empty;
    }
}

/* A pattern without halves gives one set of blocks, which applies to both halves of a schedule with halves. */
static void copy_halves(const view_t *view, const trv_pattern_t *pattern, trv_edge_t *edge)
{
    if (view->schedule->halves > pattern->halves)
        edge->blocks[1] = edge->blocks[0];
}

static int view_begin(view_t *view, const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const tables_t *tables = schedule->tables;
    *view = (view_t){.schedule = schedule,
                     .tables = tables,
                     .out = out,
                     .rank = rank,
                     .stream = stream % tables->active,
                     .mirrored = trv_stream_is_mirrored(schedule, stream)};
    view->turn = trv_visit_turn(visit_of(tables, stream), tables->active, tables->stream[view->stream].levels, stream,
                                step);
    trv_torus_coordinates(&schedule->torus, rank, view->coordinate);
    for (int d = 0; d < schedule->torus.dims; d++)
        view->coordinate[d] %= schedule->space.size[d];
    for (int i = 0; i < tables->active; i++) {
        const trv_pattern_t *pattern = pattern_of(tables, view->stream, i);
        if (pattern->line)
            view->start[i] = trv_row_start(schedule->rows, rank, tables->dimension[i]) % pattern->size;
        for (int h = 0; h < schedule->halves && i != view->turn.index; h++) {
            int rc = TRV_OK;
            if (!is_scattered(tables, view->stream, i))
                view->held[i][h] = (trv_residues_t){pattern->size, NULL};
            else if (h < pattern->halves)
                rc = view_held(view, i, view->turn.done[i], h, &view->held[i][h]);
            else
                view->held[i][h] = view->held[i][0];
            if (rc)
                return rc;
        }
    }
    out->dimension = tables->dimension[view->turn.index];
    return TRV_OK;
}

/* ---- Messages and combines --------------------------------------------------------------------------------------- */

typedef struct arrival {
    trv_residues_t along[2];
    int reg;
} arrival_t;

/* The network interface that injects message `e` of a step, chosen so that no two of a rank's messages share one.
 * Mirrored streams use the interface of their dimension's - port, the others that of its + port. Of two messages that
 * may leave through one port (Bruck), the second uses the interface of the - port. */
static int nic_of(const view_t *view, int e)
{
    int dimension = view->out->dimension;
    if (trv_schedule_streams(view->schedule) > view->tables->streams)
        return trv_port(dimension, view->mirrored ? -1 : 1);
    return view->tables->share_port ? trv_port(dimension, e > 0 ? -1 : 1) : -1;
}

/* The displacement from the edge's sender to its receiver in the direction of travel; its absolute value is less than
 * the size of the pattern's ring. */
static int edge_displacement(const trv_edge_t *edge, int size)
{
    int distance = edge->sign * (edge->to - edge->from) % size;
    return edge->sign * (distance < 0 ? distance + size : distance);
}

/* Adds message `e` of the step, to or from the rank at displacement `delta` along the dimension. A message without
 * blocks is omitted. Returns 1 if the message was added, 0 if it was omitted, or an error. */
static int view_add_message(const view_t *view, bool send, int e, int delta, int sign, int reg,
                            const trv_residues_t *along)
{
    trv_blocks_t blocks;
    view_blocks(view, along, &blocks);
    if (blocks.terms == 0)
        return 0;
    int dimension = view->out->dimension;
    int peer = trv_torus_shift(&view->schedule->torus, view->rank, dimension, delta);
    trv_part_t *part = (send ? trv_step_send_by : trv_step_receive_by)(view->out, peer, trv_port(dimension, sign),
                                                                       nic_of(view, e), 1);
    if (!part)
        return TRV_ERR_MEMORY;
    part->reg = reg;
    part->blocks = blocks;
    return 1;
}

static int view_add_combine(const view_t *view, const trv_residues_t *along, int sources, const int *source)
{
    trv_blocks_t blocks;
    view_blocks(view, along, &blocks);
    return blocks.terms == 0 ? TRV_OK : trv_step_combine(view->out, 0, sources, source, 0, &blocks);
}

/* Splits the blocks of two messages into those of both messages (part[0]), only of the first (part[1]) and only of the
 * second (part[2]). */
static int arrivals_split(const view_t *view, const arrival_t *a, const arrival_t *b, trv_residues_t part[3][2])
{
    for (int h = 0; h < view->schedule->halves; h++) {
        const trv_residues_t *x = &a->along[h], *y = &b->along[h];
        size_t bytes = (size_t)(x->count + y->count) * sizeof(int);
        int *list[3], count[3] = {0, 0, 0};
        for (int k = 0; k < 3; k++)
            if (!(list[k] = trv_step_alloc(view->out, bytes)))
                return TRV_ERR_MEMORY;
        for (int i = 0, j = 0; i < x->count || j < y->count;) {
            bool take_x = j == y->count || (i < x->count && x->value[i] <= y->value[j]);
            bool take_y = i == x->count || (j < y->count && y->value[j] <= x->value[i]);
            int k = take_x && take_y ? 0 : take_x ? 1 : 2;
            list[k][count[k]++] = take_x ? x->value[i] : y->value[j];
            i += take_x;
            j += take_y;
        }
        for (int k = 0; k < 3; k++)
            part[k][h] = (trv_residues_t){count[k], list[k]};
    }
    return TRV_OK;
}

static int view_add_combines(const view_t *view, const arrival_t *arrival, int arrivals)
{
    if (arrivals == 0)
        return TRV_OK;
    if (arrivals == 1)
        return view_add_combine(view, arrival[0].along, 2, (int[]){0, arrival[0].reg});
    trv_residues_t part[3][2];
    int rc = arrivals_split(view, &arrival[0], &arrival[1], part);
    if (!rc)
        rc = view_add_combine(view, part[0], 3, (int[]){0, arrival[0].reg, arrival[1].reg});
    if (!rc)
        rc = view_add_combine(view, part[1], 2, (int[]){0, arrival[0].reg});
    if (!rc)
        rc = view_add_combine(view, part[2], 2, (int[]){0, arrival[1].reg});
    return rc;
}

static int reduce_scatter_step(view_t *view)
{
    const trv_pattern_t *pattern = pattern_of(view->tables, view->stream, view->turn.index);
    trv_edge_t edge[TRV_EDGES_MAX];
    arrival_t arrival[TRV_ARRIVALS_MAX];
    int arrivals = 0;
    int edges = view_edges(view, true, edge);
    for (int e = 0; e < edges; e++) {
        copy_halves(view, pattern, &edge[e]);
        int rc = view_add_message(view, true, e, edge_displacement(&edge[e], pattern->size), edge[e].sign, 0,
                                  edge[e].blocks);
        if (rc < 0)
            return rc;
    }
    if (edges < 0 || (edges = view_edges(view, false, edge)) < 0)
        return edges;
    for (int e = 0; e < edges; e++) {
        copy_halves(view, pattern, &edge[e]);
        int reg = edge[e].move ? 0 : 1 + e;
        int added = view_add_message(view, false, e, -edge_displacement(&edge[e], pattern->size), edge[e].sign, reg,
                                     edge[e].blocks);
        if (added < 0)
            return added;
        if (added && !edge[e].move)
            arrival[arrivals++] = (arrival_t){{edge[e].blocks[0], edge[e].blocks[1]}, reg};
    }
    return view_add_combines(view, arrival, arrivals);
}

/* The reversal of a reduce-scatter step: receivers become senders. Data is sent from and received into register 0. */
static int allgather_step(view_t *view)
{
    const trv_pattern_t *pattern = pattern_of(view->tables, view->stream, view->turn.index);
    trv_edge_t edge[TRV_EDGES_MAX];
    for (int pass = 0; pass < 2; pass++) {
        bool send = pass == 0;
        int edges = view_edges(view, !send, edge);
        for (int e = 0; e < edges; e++) {
            copy_halves(view, pattern, &edge[e]);
            int delta = edge_displacement(&edge[e], pattern->size);
            int rc = view_add_message(view, send, e, send ? -delta : delta, edge[e].reverse_sign, 0, edge[e].blocks);
            if (rc < 0)
                return rc;
        }
        if (edges < 0)
            return edges;
    }
    return TRV_OK;
}

/* A step of the stage, on the blocks that the rank holds after the stream's reduce-scatter. */
static int stage_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const tables_t *tables = schedule->tables;
    const trv_stage_t *stage = tables->stream[stream].stage;
    trv_blocks_t blocks;
    trv_blocks_all(schedule, &blocks);
    int *own = trv_step_alloc(out, TRV_DIMS_MAX * sizeof *own);
    if (!own)
        return TRV_ERR_MEMORY;
    trv_torus_coordinates(&schedule->torus, rank, own);
    for (int i = 0; i < tables->active; i++) {
        const int d = tables->dimension[i];
        own[d] %= schedule->space.size[d];
        if (is_scattered(tables, stream, i)) {
            blocks.term[0].count[d] = 1;
            blocks.term[0].value[d] = &own[d];
        }
    }
    return stage->step(stage, schedule, rank, stream, step, &blocks, out);
}

static int scatter_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const tables_t *tables = schedule->tables;
    const int i = stream % tables->active, phase = tables->stream[i].steps;
    const int middle = tables->stream[i].stage ? tables->stream[i].stage->steps : 0;
    const int scatter = schedule->collective == TRV_ALLGATHER ? 0 : phase;
    const int gather = schedule->collective == TRV_REDUCE_SCATTER ? 0 : phase;
    if (step >= scatter && step < scatter + middle)
        return stage_step(schedule, rank, i, step - scatter, out);
    const bool back = step >= scatter + middle;
    const int left = scatter + middle + gather - 1 - step;
    if (left < 0)
        return TRV_OK; /* another stream has more steps */
    view_t view;
    int rc = view_begin(&view, schedule, rank, stream, back ? left : step, out);
    if (!rc)
        rc = trv_step_reserve(out, TRV_EDGES_MAX, TRV_EDGES_MAX, 3);
    if (rc)
        return rc;
    return back ? allgather_step(&view) : reduce_scatter_step(&view);
}

/* ---- Positions --------------------------------------------------------------------------------------------------- */

/* The digits of block coordinates, in the order in which the stream's steps split the blocks. */
static int digit_axes(const tables_t *tables, int stream, trv_axis_t *axis)
{
    int done[TRV_DIMS_MAX] = {0}, divisor[TRV_DIMS_MAX], begin = stream % tables->active, turn = begin, axes = 0;
    const trv_visit_t visit = visit_of(tables, stream);
    for (int i = 0; i < tables->active; i++)
        divisor[i] = 1;
    for (int step = 0; step < tables->stream[begin].steps; turn = trv_visit_next(visit, tables->active, turn)) {
        const trv_pattern_t *pattern = pattern_of(tables, begin, turn);
        while (done[turn] < tables->stream[begin].levels[turn]) {
            axis[axes++] = (trv_axis_t){tables->dimension[turn], divisor[turn], pattern->radix};
            divisor[turn] *= pattern->radix;
            done[turn]++;
            step++;
            if (tables->visit == TRV_INTERLEAVED)
                break;
        }
    }
    return axes;
}

/* Orders blocks as the steps split them, the digit of the first step most significant, so that every message is one
 * contiguous range. Without digits blocks are ordered by their coordinates, in the stream's order of dimensions, so
 * that ranges of consecutive blocks and dimensions that are never split stay contiguous. */
static int split_axes(const trv_schedule_t *schedule, int stream, trv_axis_t *axis)
{
    const tables_t *tables = schedule->tables;
    const trv_visit_t visit = visit_of(tables, stream);
    int axes = tables->digits ? digit_axes(tables, stream, axis) : 0;
    for (int k = 0, i = stream % tables->active; k < tables->active; k++) {
        const int d = tables->dimension[i];
        if (!tables->digits || !is_scattered(tables, stream % tables->active, i))
            axis[axes++] = (trv_axis_t){d, 1, schedule->space.size[d]};
        i = trv_visit_next(visit, tables->active, i);
    }
    return axes;
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static void tables_destroy(void *memory)
{
    tables_t *tables = memory;
    for (int i = 0; i < tables->active; i++) {
        if (tables->pattern[i])
            tables->pattern[i]->destroy(tables->pattern[i]);
        if (tables->later[i])
            tables->later[i]->destroy(tables->later[i]);
        if (tables->stream[i].stage)
            tables->stream[i].stage->destroy(tables->stream[i].stage);
    }
    free(tables);
}

/* Sets the space of blocks, in which the coordinates are the classes of all patterns, and the levels of all streams. */
static int tables_add_patterns(trv_schedule_t *schedule, tables_t *tables, bool later)
{
    trv_torus_t space = schedule->torus;
    tables->digits = true;
    for (int i = 0; i < tables->active; i++) {
        if (!tables->pattern[i] || (later && !tables->later[i]))
            return trv_fail_memory();
        space.size[tables->dimension[i]] = tables->pattern[i]->size;
        for (int k = 0; k < tables->active; k++) {
            const trv_pattern_t *pattern = pattern_of(tables, k, i);
            schedule->halves = pattern->halves > schedule->halves ? pattern->halves : schedule->halves;
            tables->digits = tables->digits && pattern->radix > 0;
            if (is_scattered(tables, k, i)) {
                tables->stream[k].levels[i] = pattern->levels;
                tables->stream[k].steps += pattern->levels;
            }
        }
    }
    tables->digits = tables->digits && schedule->halves == 1;
    if (tables->active > 0 && schedule->collective == TRV_ALLREDUCE && (tables->digits || tables->own < tables->active))
        schedule->axes = split_axes;
    return trv_torus_init(&schedule->space, space.dims, space.size);
}

/* Raises the steps and registers of the schedule to those of stream `i`, so that they suffice for the longest
 * stream. */
static void schedule_add_stream(trv_schedule_t *schedule, const tables_t *tables, int i)
{
    const trv_stage_t *stage = tables->stream[i].stage;
    int steps = (schedule->collective == TRV_ALLREDUCE ? 2 : 1) * tables->stream[i].steps;
    if (stage) {
        steps += stage->steps;
        schedule->registers = stage->registers > schedule->registers ? stage->registers : schedule->registers;
    }
    schedule->steps = steps > schedule->steps ? steps : schedule->steps;
}

/* Destroys the patterns and stages of which trv_scatter_create takes ownership. */
static void destroy_patterns(const trv_schedule_t *schedule, const trv_scatter_options_t *options)
{
    int dimension[TRV_DIMS_MAX];
    for (int i = 0, active = trv_torus_active(&schedule->torus, dimension); i < active; i++) {
        if (!options->pattern && options->patterns[i])
            options->patterns[i]->destroy(options->patterns[i]);
        if (options->later && options->later[i])
            options->later[i]->destroy(options->later[i]);
        if (options->stage)
            options->stage[i]->destroy(options->stage[i]);
    }
}

int trv_scatter_create(trv_schedule_t *schedule, const trv_scatter_options_t *options)
{
    tables_t *tables = calloc(1, sizeof *tables);
    if (!tables) {
        destroy_patterns(schedule, options);
        return trv_fail_memory();
    }
    schedule->tables = tables;
    schedule->destroy = tables_destroy;
    schedule->step = scatter_step;
    schedule->registers = 1 + TRV_ARRIVALS_MAX;
    tables->visit = options->visit;
    tables->ties_split = options->ties_split;
    tables->ties_mirrored = options->ties_mirrored;
    tables->share_port = options->share_port;
    tables->active = trv_torus_active(&schedule->torus, tables->dimension);
    tables->own = options->own ? options->own : tables->active;
    tables->streams = options->streams ? options->streams * tables->active : tables->active;
    for (int i = 0; i < tables->active; i++) {
        tables->pattern[i] = options->pattern
                                 ? options->pattern(schedule->torus.size[tables->dimension[i]], schedule->collective)
                                 : options->patterns[i];
        tables->later[i] = options->later ? options->later[i] : NULL;
        tables->stream[i].stage = options->stage ? options->stage[i] : NULL;
    }
    int rc = tables_add_patterns(schedule, tables, options->later);
    for (int i = 0; i < tables->active && !rc; i++)
        schedule_add_stream(schedule, tables, i);
    if (tables->active > 0) {
        schedule->streams = options->mirrored ? 2 * tables->streams : tables->streams;
        if (options->ports > 0 && options->ports < schedule->streams)
            schedule->streams = options->ports;
        schedule->mirrored_from = schedule->streams < tables->streams ? schedule->streams : tables->streams;
    }
    return rc || !options->weight ? rc : trv_weights_apply(schedule, options->weight, tables->active);
}
