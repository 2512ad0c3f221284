/*
 * Writer of MSCCL++ execution plans in JSON.
 *
 * A stream is a sequence of *segments*, consecutive steps that fit into one threadblock; all GPUs cut at the same
 * steps. A segment's threadblock has a memory channel to every peer with which it exchanges messages. Both sides signal
 * once at the launch: the signal means that the peer has finished the previous launch, so its memory may be written.
 * Barriers order the segments of a stream.
 *
 * A step puts its messages into the peers' memory, signals, waits for the signals of the peers that send to it, and
 * reduces: one `re` has all sources, own and received, in the schedule's order. `nop` synchronises the threads of a
 * threadblock; it precedes an operation that uses cells which earlier operations have read or written.
 */
#include "formats/mscclpp.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "formats/lower.h"
#include "formats/names.h"

#define OPS_MAX      64 /* of a threadblock */
#define CHANNELS_MAX 16 /* of a threadblock; remote buffers likewise */
#define PER_OP_MAX   8  /* channels or buffers in one operation */
#define BARRIERS_MAX 16
/* Operations of a segment besides its steps: two barriers, the entry handshake and a nop. */
#define FRAME_OPS (2 + 2 * (CHANNELS_MAX / PER_OP_MAX) + 1)

typedef struct segment {
    int stream, first_step, end_step;
} segment_t;

typedef struct buffer { /* of a peer */
    int peer;
    bool scratch;
} buffer_t;

typedef struct writer {
    const trv_schedule_t *schedule;
    trv_lowered_t lowered;
    segment_t *segment;
    int segments;
    int32_t *temporary; /* [rank][stream]: cells in which a sum of more than eight sources may be accumulated */
    bool failed;        /* out of memory */
    int rank;           /* the rank whose program is being written */
    char *touched;      /* [cell]: bit 0 read, bit 1 written since the last nop */
    bool dirty;         /* whether any cell is touched */
    /* Of the threadblock being written. */
    json_t *ops;
    int peer[CHANNELS_MAX], peers;
    buffer_t buffer[CHANNELS_MAX];
    int buffers;
} writer_t;

/* ---- Operations -------------------------------------------------------------------------------------------------- */

static void append(writer_t *w, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value))
        w->failed = true;
}

static void add_nop(writer_t *w)
{
    append(w, w->ops, json_pack("{s:s}", "name", "nop"));
    memset(w->touched, 0, (size_t)w->lowered.rank[w->rank].cells);
    w->dirty = false;
}

/* Whether an operation that reads or writes these cells needs a nop after the operations since the last one. */
static bool conflicts(const writer_t *w, int32_t first, int64_t count, bool write)
{
    for (int64_t i = first; i < first + count; i++)
        if (w->touched[i] & (write ? 3 : 2))
            return true;
    return false;
}

static void touch(writer_t *w, int32_t first, int64_t count, bool write)
{
    for (int64_t i = first; i < first + count; i++)
        w->touched[i] = (char)(w->touched[i] | (write ? 2 : 1));
    w->dirty = true;
}

/* Returns the name of the buffer that contains a cell, and its index there. The vector is the input, or for
 * allgather the output, in place. */
static const char *buffer_of(const writer_t *w, int32_t cell, json_int_t *index)
{
    bool scratch = cell >= w->lowered.chunks;
    *index = cell - (scratch ? w->lowered.chunks : 0);
    return scratch ? "s" : trv_schedule_collective(w->schedule) == TRV_ALLGATHER ? "o" : "i";
}

static json_t *local_chunks(const writer_t *w, int32_t cell, int64_t count)
{
    json_int_t index;
    const char *type = buffer_of(w, cell, &index);
    return json_pack("{s:s, s:I, s:I}", "type", type, "index", index, "size", (json_int_t)count);
}

static json_t *remote_chunks(const writer_t *w, int peer, int32_t cell, int64_t count)
{
    json_int_t index;
    bool scratch = *buffer_of(w, cell, &index) == 's';
    int id = 0;
    while (w->buffer[id].peer != peer || w->buffer[id].scratch != scratch)
        id++;
    return json_pack("{s:i, s:I, s:I}", "buffer_id", id, "index", index, "size", (json_int_t)count);
}

static int channel_to(const writer_t *w, int peer)
{
    int c = 0;
    while (w->peer[c] != peer)
        c++;
    return c;
}

/* Adds signal, wait, rlxsignal or rlxwait on the marked channels. */
static void add_on_channels(writer_t *w, const char *name, const bool *marked)
{
    json_t *ids = NULL;
    for (int c = 0; c < w->peers; c++) {
        if (!marked[c])
            continue;
        if (!ids || json_array_size(ids) == PER_OP_MAX) {
            ids = json_array();
            append(w, w->ops, json_pack("{s:s, s:o, s:s}", "name", name, "channel_ids", ids, "channel_type", "memory"));
        }
        append(w, ids, json_integer(c));
    }
}

/* Returns the number of cells that are contiguous from `first` on in the destination and in all sources. */
static int64_t contiguous(const trv_lowered_t *lowered, const trv_low_op_t *op, int64_t first)
{
    int64_t count = 1;
    for (; first + count < op->count; count++)
        for (int s = -1; s < op->sources; s++) {
            const int32_t *cell = trv_low_cells(lowered, op, s) + first;
            if (cell[count] != cell[0] + count)
                return count;
        }
    return count;
}

/* Adds a message. The sources in one `put` are either all in the vector or all in scratch. */
static void add_put(writer_t *w, const trv_low_op_t *op)
{
    json_t *src = NULL, *dst = NULL;
    bool scratch = false;
    for (int64_t i = 0, count; i < op->count; i += count) {
        int32_t from = trv_low_cells(&w->lowered, op, 0)[i], to = trv_low_cells(&w->lowered, op, -1)[i];
        count = contiguous(&w->lowered, op, i);
        if (!src || json_array_size(src) == PER_OP_MAX || (from >= w->lowered.chunks) != scratch) {
            src = json_array();
            dst = json_array();
            scratch = from >= w->lowered.chunks;
            append(w, w->ops,
                   json_pack("{s:s, s:o, s:o, s:[i], s:s}", "name", "put", "src_buff", src, "dst_buff", dst,
                             "channel_ids", channel_to(w, op->peer), "channel_type", "memory"));
        }
        append(w, src, local_chunks(w, from, count));
        append(w, dst, remote_chunks(w, op->peer, to, count));
    }
}

/* Adds an operation that sets dst to the sum of up to eight runs of cells, or to a copy of one. */
static void add_sum(writer_t *w, const int32_t *src, int sources, int32_t dst, int64_t count)
{
    bool conflict = conflicts(w, dst, count, true);
    for (int s = 0; s < sources; s++)
        conflict = conflict || conflicts(w, src[s], count, false);
    if (conflict)
        add_nop(w);
    json_t *from = json_array();
    for (int s = 0; s < sources; s++)
        append(w, from, local_chunks(w, src[s], count));
    json_t *to = local_chunks(w, dst, count);
    append(w, w->ops,
           sources > 1
               ? json_pack("{s:s, s:o, s:[o], s:s}", "name", "re", "src_buff", from, "dst_buff", to, "reduce_op", "sum")
               : json_pack("{s:s, s:o, s:[o]}", "name", "copy", "src_buff", from, "dst_buff", to));
    for (int s = 0; s < sources; s++)
        touch(w, src[s], count, false);
    touch(w, dst, count, true);
}

/* Whether a sum in several passes needs temporary cells because its destination is a source of a later pass. */
static bool needs_temporary(const writer_t *w, const trv_low_op_t *op)
{
    for (int s = PER_OP_MAX; s < op->sources; s++)
        for (int64_t i = 0; i < op->count; i++)
            if (trv_low_cells(&w->lowered, op, s)[i] == trv_low_cells(&w->lowered, op, -1)[i])
                return true;
    return false;
}

static void add_reduction(writer_t *w, const trv_low_op_t *op)
{
    bool elsewhere = needs_temporary(w, op);
    for (int64_t i = 0, count; i < op->count; i += count) {
        int32_t dst = trv_low_cells(&w->lowered, op, -1)[i], src[PER_OP_MAX];
        int32_t sum = elsewhere ? w->temporary[w->rank * w->lowered.streams + op->stream] + (int32_t)i : dst;
        count = contiguous(&w->lowered, op, i);
        for (int next = 0, sources = 0; next < op->sources; sources = 1) {
            if (next > 0)
                src[0] = sum;
            while (next < op->sources && sources < PER_OP_MAX)
                src[sources++] = trv_low_cells(&w->lowered, op, next++)[i];
            if (sources > 1 || src[0] != dst)
                add_sum(w, src, sources, next == op->sources ? dst : sum, count);
        }
    }
}

/* ---- Threadblocks ------------------------------------------------------------------------------------------------ */

/* Returns the operations of a rank in one step of a stream, and their number in *ops. */
static const trv_low_op_t *find_step(const writer_t *w, int rank, int stream, int step, int64_t *ops)
{
    const trv_low_rank_t *program = &w->lowered.rank[rank];
    int64_t low = 0, high = program->ops, first;
    while (low < high) { /* the first operation that is not before the step */
        int64_t middle = (low + high) / 2;
        const trv_low_op_t *op = &program->op[middle];
        if (op->stream < stream || (op->stream == stream && op->step < step))
            low = middle + 1;
        else
            high = middle;
    }
    for (first = low; low < program->ops && program->op[low].stream == stream && program->op[low].step == step;)
        low++;
    *ops = low - first;
    return &program->op[first];
}

static void add_step(writer_t *w, int stream, int step)
{
    int64_t ops;
    const trv_low_op_t *op = find_step(w, w->rank, stream, step, &ops);
    bool to[CHANNELS_MAX] = {false}, from[CHANNELS_MAX] = {false}, puts = false, waits = false;
    for (int64_t i = 0; i < ops; i++) {
        if (op[i].kind == TRV_LOW_SEND) {
            add_put(w, &op[i]);
            puts = to[channel_to(w, op[i].peer)] = true;
        } else if (op[i].kind == TRV_LOW_RECEIVE) {
            waits = from[channel_to(w, op[i].peer)] = true;
        }
    }
    if (puts)
        add_nop(w);
    add_on_channels(w, "signal", to);
    add_on_channels(w, "wait", from);
    if (waits)
        add_nop(w);
    for (int64_t i = 0; i < ops; i++)
        if (op[i].kind == TRV_LOW_REDUCE)
            add_reduction(w, &op[i]);
    if (w->dirty)
        add_nop(w);
}

/* Lists the peers and their buffers that a rank uses in a segment. Returns false if there are too many. */
static bool list_peers(writer_t *w, const segment_t *segment)
{
    w->peers = w->buffers = 0;
    for (int step = segment->first_step; step < segment->end_step; step++) {
        int64_t ops;
        const trv_low_op_t *op = find_step(w, w->rank, segment->stream, step, &ops);
        for (; ops > 0; ops--, op++) {
            int c = 0, b = 0;
            if (op->kind == TRV_LOW_REDUCE)
                continue;
            while (c < w->peers && w->peer[c] != op->peer)
                c++;
            if (c == CHANNELS_MAX)
                return false;
            w->peer[c] = op->peer;
            w->peers += c == w->peers;
            for (int64_t i = 0; i < op->count && op->kind == TRV_LOW_SEND; i++) {
                bool scratch = trv_low_cells(&w->lowered, op, -1)[i] >= w->lowered.chunks;
                for (b = 0; b < w->buffers && (w->buffer[b].peer != op->peer || w->buffer[b].scratch != scratch);)
                    b++;
                if (b == CHANNELS_MAX)
                    return false;
                w->buffer[b] = (buffer_t){op->peer, scratch};
                w->buffers += b == w->buffers;
            }
        }
    }
    return true;
}

/* ---- Segments ---------------------------------------------------------------------------------------------------- */

/* Returns the number of operations of a step in a separate threadblock; -1 if it has too many peers. */
static int count_ops(writer_t *w, int rank, int stream, int step)
{
    w->rank = rank;
    if (!list_peers(w, &(segment_t){stream, step, step + 1}))
        return -1;
    w->ops = json_array();
    add_step(w, stream, step);
    int count = (int)json_array_size(w->ops);
    json_decref(w->ops);
    return count;
}

/* Whether the steps of a segment fit into one threadblock on every rank; `count` is the number of operations of each
 * [rank][step]. */
static bool fits(writer_t *w, const segment_t *segment, const int *count)
{
    for (w->rank = 0; w->rank < w->lowered.ranks; w->rank++) {
        int ops = FRAME_OPS;
        for (int step = segment->first_step; step < segment->end_step; step++)
            ops += count[w->rank * (w->lowered.steps + 1) + step];
        if (ops > OPS_MAX || !list_peers(w, segment))
            return false;
    }
    return true;
}

static int cut_stream(writer_t *w, int stream, int *count)
{
    int steps = w->lowered.steps + 1;
    for (int rank = 0; rank < w->lowered.ranks; rank++)
        for (int step = 0; step < steps; step++) {
            int ops = count_ops(w, rank, stream, step);
            if (ops < 0 || ops + FRAME_OPS > OPS_MAX)
                return trv_fail(TRV_ERR_UNSUPPORTED,
                                "step %d of rank %d needs more than %d operations or %d channels, the "
                                "maximum of a threadblock for MSCCL++",
                                step, rank, OPS_MAX, CHANNELS_MAX);
            count[rank * steps + step] = ops;
        }
    segment_t *last = &w->segment[w->segments++];
    *last = (segment_t){stream, 0, 0};
    for (int step = 0; step < steps; step++) {
        last->end_step++;
        if (fits(w, last, count))
            continue;
        last->end_step--;
        last = &w->segment[w->segments++];
        *last = (segment_t){stream, step, step + 1};
    }
    return TRV_OK;
}

static int cut(writer_t *w)
{
    int streams = w->lowered.streams, steps = w->lowered.steps + 1, rc = TRV_OK;
    w->segment = calloc((size_t)streams * (size_t)steps, sizeof *w->segment);
    int *count = malloc((size_t)w->lowered.ranks * (size_t)steps * sizeof *count);
    if (!w->segment || !count)
        rc = trv_fail_memory();
    for (int stream = 0; stream < streams && !rc; stream++)
        rc = cut_stream(w, stream, count);
    free(count);
    if (!rc && w->segments - streams > BARRIERS_MAX)
        rc = trv_fail(TRV_ERR_UNSUPPORTED,
                      "the schedule is too long for MSCCL++: its %d streams need %d consecutive "
                      "threadblocks, with more than %d barriers between them",
                      streams, w->segments, BARRIERS_MAX);
    return rc;
}

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

static void add_barrier(writer_t *w, int id)
{
    append(w, w->ops, json_pack("{s:s, s:i, s:i}", "name", "barrier", "barrier_id", id, "num_threadblocks", 2));
}

/* Adds the operations of a segment. Barrier i is between segment i + stream and the next one; the segments of a
 * stream are consecutive. */
static void add_operations(writer_t *w, int number)
{
    const segment_t *s = &w->segment[number];
    bool all[CHANNELS_MAX];
    memset(all, true, sizeof all);
    add_on_channels(w, "rlxsignal", all);
    add_on_channels(w, "rlxwait", all);
    if (w->peers > 0)
        add_nop(w);
    if (number > 0 && s[-1].stream == s->stream)
        add_barrier(w, number - 1 - s->stream);
    for (int step = s->first_step; step < s->end_step; step++)
        add_step(w, s->stream, step);
    if (number + 1 < w->segments && s[1].stream == s->stream)
        add_barrier(w, number - s->stream);
}

/* Creates one threadblock, and appends its channels and remote buffers to those of the GPU. */
static json_t *threadblock(writer_t *w, int number, json_t *connected_to, json_t *remote_buffers)
{
    json_t *channels = json_array(), *refs = json_array();
    list_peers(w, &w->segment[number]);
    w->ops = json_array();
    add_operations(w, number);
    for (int c = 0; c < w->peers; c++) {
        append(w, channels, json_integer((json_int_t)json_array_size(connected_to)));
        append(w, connected_to, json_integer(w->peer[c]));
    }
    for (int b = 0; b < w->buffers; b++) {
        json_int_t index;
        append(w, refs, json_integer((json_int_t)json_array_size(remote_buffers)));
        append(w, remote_buffers,
               json_pack("{s:i, s:s, s:[s]}", "rank", w->buffer[b].peer, "type",
                         w->buffer[b].scratch ? "s" : buffer_of(w, 0, &index), "access_channel_types", "memory"));
    }
    return json_pack("{s:i, s:o, s:[{s:s, s:o}], s:[{s:s, s:o}]}", "id", number, "ops", w->ops, "channels",
                     "channel_type", "memory", "channel_ids", channels, "remote_buffer_refs", "access_channel_type",
                     "memory", "remote_buffer_ids", refs);
}

static json_t *gpu(writer_t *w)
{
    json_t *blocks = json_array(), *connected_to = json_array(), *remote_buffers = json_array();
    for (int i = 0; i < w->segments; i++)
        append(w, blocks, threadblock(w, i, connected_to, remote_buffers));
    return json_pack("{s:i, s:I, s:I, s:I, s:o, s:[{s:s, s:o}], s:o, s:[]}", "id", w->rank, "input_chunks",
                     (json_int_t)w->lowered.input, "output_chunks", (json_int_t)w->lowered.output, "scratch_chunks",
                     (json_int_t)(w->lowered.rank[w->rank].cells - w->lowered.chunks), "threadblocks", blocks,
                     "channels", "channel_type", "memory", "connected_to", connected_to, "remote_buffers",
                     remote_buffers, "semaphores");
}

static int write_plan(writer_t *w, FILE *out)
{
    static const char *const collective[] = {"allreduce", "reducescatter", "allgather"};
    char name[64];
    json_t *gpus = json_array();
    for (w->rank = 0; w->rank < w->lowered.ranks; w->rank++)
        append(w, gpus, gpu(w));
    json_t *plan = json_pack("{s:s, s:s, s:s, s:b, s:b, s:o, s:i, s:b, s:i, s:I, s:I}", "name",
                             trv_plain_name(w->schedule, name), "collective",
                             collective[trv_schedule_collective(w->schedule)], "protocol", "Simple", "inplace", 1,
                             "reuse_resources", 0, "gpus", gpus, "num_threads_per_block", 1024,
                             "use_double_scratch_buffer", 0, "buffer_alignment", TRV_MSCCLPP_ALIGNMENT,
                             "min_message_size", TRV_MSCCLPP_ALIGNMENT * (json_int_t)w->lowered.chunks,
                             "max_message_size", (json_int_t)INT64_MAX);
    int rc = plan && !w->failed ? TRV_OK : trv_fail_memory();
    if (!rc)
        json_dumpf(plan, out, JSON_INDENT(1));
    if (!rc)
        fputc('\n', out);
    json_decref(plan);
    return rc;
}

/* Allocates temporary cells for sums that cannot be accumulated in their destination, and `touched`. */
static int allocate(writer_t *w)
{
    int streams = w->lowered.streams;
    int64_t cells = 0;
    w->temporary = malloc((size_t)w->lowered.ranks * (size_t)streams * sizeof *w->temporary);
    if (!w->temporary)
        return trv_fail_memory();
    for (int rank = 0; rank < w->lowered.ranks; rank++)
        for (int stream = 0; stream < streams; stream++) {
            const trv_low_rank_t *program = &w->lowered.rank[rank];
            int64_t count_max = 0;
            for (int64_t i = 0; i < program->ops; i++)
                if (program->op[i].stream == stream && program->op[i].count > count_max &&
                    needs_temporary(w, &program->op[i]))
                    count_max = program->op[i].count;
            w->temporary[rank * streams + stream] = (int32_t)trv_low_scratch(&w->lowered, rank, count_max);
            cells = program->cells > cells ? program->cells : cells;
        }
    w->touched = calloc((size_t)cells, 1);
    return w->touched ? TRV_OK : trv_fail_memory();
}

int trv_mscclpp_write(const trv_schedule_t *schedule, FILE *out)
{
    writer_t w = {.schedule = schedule};
    int rc = trv_lower(schedule, &w.lowered);
    if (rc)
        return rc;
    rc = allocate(&w);
    if (!rc)
        rc = cut(&w);
    if (!rc)
        rc = write_plan(&w, out);
    free(w.segment);
    free(w.temporary);
    free(w.touched);
    trv_lowered_clear(&w.lowered);
    return rc;
}
