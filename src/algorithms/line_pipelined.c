/*
 * Pipelined lines, for long vectors: chunks follow each other so closely that every link carries a block in every step.
 *
 * A reduction along a line followed by a broadcast puts one vector on every directed link, whatever its root, and no
 * AllReduce needs less. A chunk therefore has one block for each rank of the line. Each block travels to its owner from
 * both sides, the farthest blocks first, so that all arrive in the same step, and from there outwards again. A link
 * that the reduction does not need any more is available for sums, and then for the next chunk, marked with an
 * apostrophe:
 *
 *   line of 4    step    0   1   2   3   4   5   6   7   8   9     the block that travels to the right;
 *                0 -> 1  3   2   1  (0)  3'  2'  1' (0')           in brackets it is a sum, else a part of one;
 *                1 -> 2      3   2  (1) (0)  3'  2' (1')(0')       to the left the mirror image
 *                2 -> 3          3  (2) (1) (0)  3' (2')(1')(0')
 *
 * A chunk takes a steps, and the last one a - 2 more: with many chunks the time approaches that of one vector on a
 * link. On a ring the blocks travel half way around from each side, and a chunk takes a - 1 steps. On a mesh or torus a
 * chunk is scattered along one dimension, its blocks along the next one, …, and then gathered in reverse order;
 * meanwhile the links of the first dimension carry the next chunks. Sums wait until the links that they need are free.
 * D streams begin in different dimensions, and D more visit the other dimensions in reverse order: while the links
 * carry the messages of one stream, others wait for their latencies.
 *
 * Sizes: any.   Streams: 2D.   Steps: (S-1) a + 2 * sum of (a-1) for S chunks, and those for which sums wait.
 * Exact: yes.   Consistent: yes, each block is summed up once.   Symmetry: none; on rings alone translation.
 */
#include <stdlib.h>

#include "algorithms/builders/line_pipeline.h"
#include "algorithms/line_pipelined_candidates.h"
#include "algorithms/registry.h"
#include "base/error.h"
#include "torus/torus.h"

/* Register 0 (OWN) holds the rank's own parts and all sums. */
enum { OWN, FROM_LEFT, FROM_RIGHT, REGISTERS };

/* ---- The load of a link ------------------------------------------------------------------------------------------ */

/* Whether the reduce-scatter moves a block from `position` in direction `sign` to an owner `ahead` positions away. */
static bool link_find_owner(const trv_pipeline_level_t *level, int position, int sign, int ahead, int *owner)
{
    const int size = level->size, target = position + sign * ahead;
    *owner = (target + size) % size;
    if (level->line)
        return position >= 0 && position < size && target == *owner;
    return ahead <= (sign > 0 ? size : size - 1) / 2;
}

typedef struct carried {
    int chunk, owner; /* the block's chunk and its owner's position */
    bool sum;
} carried_t;

/* Lists the blocks that leave `position` in direction `sign`: parts of sums, then sums. The allgather is the reversal
 * of the reduce-scatter: its step k moves the blocks that came from the opposite direction in step depth - 1 - k, with
 * k + 1 positions left to their owner. */
static int link_list_carried(const trv_pipeline_t *pipeline, const trv_pipeline_level_t *level, int position, int sign,
                             int step, carried_t *carried)
{
    int first, count = 0, chunks = trv_pipeline_chunks(pipeline, level, level->scatter, step, &first);
    for (int s = first; chunks-- > 0; s++) {
        const int ahead = level->depth - (step - level->scatter - s * pipeline->period);
        carried[count] = (carried_t){.chunk = s};
        count += link_find_owner(level, position, sign, ahead, &carried[count].owner);
    }
    chunks = trv_pipeline_chunks(pipeline, level, level->gather, step, &first);
    for (int s = first; chunks-- > 0; s++) {
        const int ahead = step - level->gather - s * pipeline->period + 1;
        carried[count] = (carried_t){.chunk = s, .sum = true};
        count += link_find_owner(level, position + sign, -sign, ahead, &carried[count].owner);
    }
    return count;
}

/* ---- One rank's step --------------------------------------------------------------------------------------------- */

typedef struct view {
    const trv_schedule_t *schedule;
    const trv_pipelines_t *pipelines;
    const trv_pipeline_t *pipeline;
    int rank, step;
    trv_step_t *out;
} view_t;

/* The coordinates, in the last dimension of the space, of a chunk's pieces of `count` torus coordinates from `first`
 * on. */
static int *view_list_pieces(const view_t *view, int first, int count, int chunk)
{
    const int pieces = view->pipelines->pieces, of_chunk = pieces / view->pipeline->chunks;
    int *value = trv_step_alloc(view->out, (size_t)count * (size_t)of_chunk * sizeof *value);
    for (int i = 0; value && i < count * of_chunk; i++)
        value[i] = (first + i / of_chunk) * pieces + chunk * of_chunk + i % of_chunk;
    return value;
}

/* The units of a chunk that have the rank's coordinates in the dimensions of earlier levels, and the owner's coordinate
 * in the dimension of level `l`. */
static int view_find_units(const view_t *view, int l, int chunk, int owner, trv_blocks_t *blocks)
{
    const trv_schedule_t *schedule = view->schedule;
    const trv_torus_t *torus = &schedule->torus;
    const int last = torus->dims - 1, d = view->pipeline->level[l].dimension;
    const int rank = trv_row_rank(schedule->rows, view->rank, d, owner);
    int *coordinate = trv_step_alloc(view->out, TRV_DIMS_MAX * sizeof *coordinate);
    if (!coordinate)
        return TRV_ERR_MEMORY;
    trv_blocks_all(schedule, blocks);
    trv_product_t *units = &blocks->term[0];
    trv_torus_coordinates(torus, rank, coordinate);
    units->count[last] = torus->size[last];
    for (int i = 0; i <= l; i++) {
        const int split = view->pipeline->level[i].dimension;
        units->count[split] = 1;
        units->value[split] = &coordinate[split];
    }
    units->value[last] = view_list_pieces(view, units->count[last] == 1 ? coordinate[last] : 0, units->count[last],
                                          chunk);
    units->count[last] *= view->pipelines->pieces / view->pipeline->chunks;
    return units->value[last] ? TRV_OK : TRV_ERR_MEMORY;
}

/* Adds the message that leaves the rank at a level in direction `sign`, or the one that arrives in that direction. */
static int view_add_message(const view_t *view, int l, int position, int sign, bool outgoing, carried_t *carried)
{
    const trv_pipeline_level_t *level = &view->pipeline->level[l];
    const int from = outgoing ? position : position - sign, port = trv_port(level->dimension, sign);
    const int peer = trv_torus_shift(&view->schedule->torus, view->rank, level->dimension, outgoing ? sign : -sign);
    const int count = link_list_carried(view->pipeline, level, from, sign, view->step, carried);
    if (count == 0)
        return TRV_OK;
    trv_part_t *part = outgoing ? trv_step_send(view->out, peer, port, count)
                                : trv_step_receive(view->out, peer, port, count);
    int rc = part ? TRV_OK : TRV_ERR_MEMORY;
    for (int i = 0; i < count && !rc; i++) {
        part[i].reg = outgoing || carried[i].sum ? OWN : sign > 0 ? FROM_LEFT : FROM_RIGHT;
        rc = view_find_units(view, l, carried[i].chunk, carried[i].owner, &part[i].blocks);
    }
    return rc;
}

static int view_add_sum(const view_t *view, int l, int chunk, int owner, const int *source, int sources)
{
    trv_blocks_t blocks;
    int rc = view_find_units(view, l, chunk, owner, &blocks);
    return rc ? rc : trv_step_combine(view->out, OWN, sources, source, 0, &blocks);
}

/* Adds the received parts to sums; if the rank owns the block, those from both sides in one pass. */
static int view_add_sums(const view_t *view, int l, int position)
{
    static const int source[] = {FROM_LEFT, OWN, FROM_RIGHT};
    const trv_pipeline_level_t *level = &view->pipeline->level[l];
    int s, rc = TRV_OK, chunks = trv_pipeline_chunks(view->pipeline, level, level->scatter, view->step, &s);
    for (; chunks-- > 0 && !rc; s++) {
        const int ahead = level->depth - (view->step - level->scatter - s * view->pipeline->period);
        int left, right;
        const bool from_left = link_find_owner(level, position - 1, 1, ahead, &left);
        const bool from_right = link_find_owner(level, position + 1, -1, ahead, &right);
        const bool own = from_left && from_right && ahead == 1;
        if (from_left)
            rc = view_add_sum(view, l, s, left, source, own ? 3 : 2);
        if (from_right && !own && !rc)
            rc = view_add_sum(view, l, s, right, source + 1, 2);
    }
    return rc;
}

static int view_add_level(const view_t *view, int l, carried_t *carried)
{
    const int position = trv_row_position(view->schedule->rows, view->rank, view->pipeline->level[l].dimension);
    int rc = TRV_OK;
    for (int sign = 1; sign >= -1 && !rc; sign -= 2) {
        rc = view_add_message(view, l, position, sign, true, carried);
        if (!rc)
            rc = view_add_message(view, l, position, sign, false, carried);
    }
    return rc ? rc : view_add_sums(view, l, position);
}

static int pipelined_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const trv_pipelines_t *pipelines = schedule->tables;
    const view_t view = {schedule, pipelines, &pipelines->pipeline[stream], rank, step, out};
    int chunks = 0;
    for (int l = 0; l < pipelines->levels; l++)
        chunks += trv_pipeline_chunks_max(view.pipeline, &view.pipeline->level[l]);
    carried_t *carried = trv_step_alloc(out, (size_t)chunks * sizeof *carried);
    int rc = carried ? trv_step_reserve(out, 2 * pipelines->levels, 2 * pipelines->levels, chunks) : TRV_ERR_MEMORY;
    for (int l = 0; l < pipelines->levels && !rc; l++)
        rc = view_add_level(&view, l, carried);
    return rc;
}

/* Positions in which a chunk is contiguous, and also the part of it that remains after its first level, and so on. */
static int pipelined_axes(const trv_schedule_t *schedule, int stream, trv_axis_t *axis)
{
    const trv_pipelines_t *pipelines = schedule->tables;
    const int last = schedule->torus.dims - 1;
    axis[0] = (trv_axis_t){last, 1, pipelines->pieces};
    for (int l = 0; l < pipelines->levels; l++) {
        const trv_pipeline_level_t *level = &pipelines->pipeline[stream].level[l];
        axis[1 + l] = (trv_axis_t){level->dimension, level->dimension == last ? pipelines->pieces : 1, level->size};
    }
    return 1 + pipelines->levels;
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static int chunks_max(const trv_torus_t *torus) { return TRV_PIPELINE_BLOCKS_MAX / torus->ranks; }

static int pipelined_create(trv_schedule_t *schedule)
{
    const trv_torus_t *torus = &schedule->torus;
    int chunks = schedule->parameters->value[0].number;
    trv_pipelines_t *pipelines = calloc(1, sizeof *pipelines);
    if (!pipelines)
        return trv_fail_memory();
    if (!chunks)
        chunks = trv_pipelines_choose_chunks(torus, schedule->rows->lines);
    schedule->tables = pipelines;
    schedule->destroy = free;
    int rc = trv_pipelines_make(pipelines, torus, schedule->rows->lines, schedule->collective, chunks,
                                &schedule->steps);
    if (rc)
        return rc;
    schedule->streams = pipelines->levels ? 2 * pipelines->levels : 1;
    schedule->registers = schedule->collective == TRV_ALLGATHER ? 1 : REGISTERS;
    schedule->step = pipelined_step;
    schedule->messages_per_port = 1;
    schedule->axes = schedule->collective == TRV_ALLREDUCE ? pipelined_axes : NULL;
    trv_torus_t space = *torus;
    space.size[space.dims - 1] *= pipelines->pieces;
    return trv_torus_init(&schedule->space, space.dims, space.size);
}

const trv_algorithm_t trv_line_pipelined = {
    .name = "line-pipelined",
    .family = "line",
    .title = "Lines, pipelined: every link busy all the time",
    .use = "meshes and rings with a cut link, long vectors; line-pipelined:16 sets the number of chunks",
    .source = "docs/algorithms.md",
    .sizes = "any torus or mesh",
    .parameters = "S",
    .example = "line-pipelined:16",
    .field = {{.kind = TRV_FIELD_NUMBER, .what = "a number of chunks", .limit = chunks_max, .hidden = true}},
    .lines = true,
    .steps_formula = "(S-1) a + 2 * sum of (a-1)",
    .bytes_formula = "2m (n-1)/n",
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = true,
    .create = pipelined_create,
    .candidates = trv_line_pipelined_candidates,
};
