/*
 * Stars: algorithms that use all ports of a torus at once (docs/stars.md explains the mathematics, star_name.h the
 * names).
 *
 * In step k every rank r receives from r + v for each displacement v in S_k, at most 2D of them, and adds the data.
 * With A_k = S_k and 0, all sums a_0 + a_1 + … are different and reach every rank: 3 steps on 4x4x4 instead of 6.
 *
 *     4x4, step 0: 1.0/0.1/-1.0      step 1: 2.1/0.2/2.-1      (received by rank r; routes bend)
 *            .  o  .  .                     .  .  .  .
 *            .  r  o  .                     .  r  .  o
 *            .  o  .  .                     .  .  .  .
 *            .  .  .  .                     o  .  o  .
 *
 * L: every step sends the whole vector.   B: reduce-scatter and allgather. In the reduce-scatter's step k, rank r sends
 * to r - v the sums of the blocks r - v - T, where T is the set of displacements that the A of the later steps reach;
 * the allgather is the reverse. Both can be combined: the steps executed as L reach a subgroup H, blocks are its
 * cosets, and at the end of the reduce-scatter the ranks of one coset hold parts of one block.
 * Streams: S and -S, and the same with cyclic permutations of the dimensions of one size, so that all links carry the
 * same load (star_streams.c).
 *
 * Steps: s (L), 2s (B), at least log_(2D+1) n.   Exact: yes.   Symmetry: translation.
 * Consistent: B; and L if its steps can be ordered so that the first, the first two, … reach subgroups: then all ranks
 * of a coset have the same sum, and all ranks add the sums of the cosets in the same order.
 */
#include <stdlib.h>
#include <string.h>

#include "algorithms/star_name.h"
#include "algorithms/builders/star_streams.h"
#include "algorithms/registry.h"
#include "base/error.h"

enum { ARRIVALS = 1 /* the register of the first vector's message */ };

typedef struct tables {
    trv_arena_t *arena; /* memory of all streams */
    trv_star_streams_t streams;
} tables_t;

/* ---- One rank's step --------------------------------------------------------------------------------------------- */

typedef struct view {
    const trv_schedule_t *schedule;
    const trv_star_streams_t *streams;
    const trv_star_stream_t *stream;
    const trv_star_step_t *star;
    int index; /* the step's index in the stream */
    trv_step_t *out;
} view_t;

/* The blocks that `rank` receives in this step of the reduction, and sends in the allgather: its own block, moved by
 * all displacements that the reduce-scatter's later steps reach. */
static int star_blocks(const view_t *view, int rank, trv_blocks_t *blocks)
{
    const int dims = view->schedule->torus.dims, later = view->streams->layout.scatter - view->index - 1;
    int *own = trv_step_alloc(view->out, (size_t)dims * sizeof *own);
    if (!own)
        return TRV_ERR_MEMORY;
    trv_torus_coordinates(&view->schedule->torus, rank, own);
    trv_quotient_map(&view->stream->blocks, own, own);
    *blocks = (trv_blocks_t){.space = &view->schedule->space, .halves = 1, .terms = 1};
    trv_product_t *product = &blocks->term[0];
    product->halves = 1;
    for (int d = 0; d < dims; d++) {
        product->count[d] = 1;
        product->value[d] = &own[d];
    }
    if (later > 0) {
        product->shifts = later;
        product->shift = &view->stream->shift[view->index + 1];
    }
    return TRV_OK;
}

static int star_add_message(const view_t *view, bool send, int peer, int port, int reg, const trv_blocks_t *blocks)
{
    trv_part_t *part = (send ? trv_step_send : trv_step_receive)(view->out, peer, port, 1);
    if (!part)
        return TRV_ERR_MEMORY;
    part->reg = reg;
    part->blocks = *blocks;
    return TRV_OK;
}

/* Adds the combine of a reduction: the own sum and all received messages. If the L steps reach subgroups, the registers
 * are in the order of the cosets whose sums they hold, so that every rank adds them in the same order. */
static int star_add_combine(const view_t *view, int rank, const trv_blocks_t *blocks)
{
    const trv_torus_t *torus = &view->schedule->torus;
    const trv_quotient_t *group = &view->stream->group[view->index];
    const bool sorted = view->streams->layout.ordered && view->index >= view->streams->layout.scatter;
    int source[TRV_PORTS_MAX + 1], coset[TRV_PORTS_MAX + 1];
    for (int i = 0; i <= view->star->vectors; i++) {
        int at[TRV_DIMS_MAX], position = i, key = i;
        if (sorted) {
            trv_torus_coordinates(torus, i ? trv_star_peer(torus, rank, &view->star->vector[i - 1], false) : rank, at);
            trv_quotient_map(group, at, at);
            key = trv_torus_rank(&group->space, at);
        }
        for (; position > 0 && coset[position - 1] > key; position--) {
            coset[position] = coset[position - 1];
            source[position] = source[position - 1];
        }
        coset[position] = key;
        source[position] = i ? ARRIVALS + i - 1 : 0;
    }
    return trv_step_combine(view->out, 0, view->star->vectors + 1, source, 0, blocks);
}

/* A step of the reduce-scatter or with whole vectors: rank r sends to r - v the blocks that r - v receives in this
 * step. */
static int star_reduce(const view_t *view, int rank)
{
    const trv_torus_t *torus = &view->schedule->torus;
    trv_blocks_t own, theirs;
    int rc = star_blocks(view, rank, &own);
    for (int i = 0; i < view->star->vectors && !rc; i++) {
        const trv_star_vector_t *vector = &view->star->vector[i];
        const int to = trv_star_peer(torus, rank, vector, true);
        rc = star_blocks(view, to, &theirs);
        if (!rc)
            rc = star_add_message(view, true, to, vector->port, 0, &theirs);
        if (!rc)
            rc = star_add_message(view, false, trv_star_peer(torus, rank, vector, false), vector->port, ARRIVALS + i,
                                  &own);
    }
    return rc ? rc : star_add_combine(view, rank, &own);
}

/* The reversal of a reduce-scatter step. */
static int star_gather(const view_t *view, int rank)
{
    const trv_torus_t *torus = &view->schedule->torus;
    trv_blocks_t own, theirs;
    int rc = star_blocks(view, rank, &own);
    for (int i = 0; i < view->star->vectors && !rc; i++) {
        const trv_star_vector_t *vector = &view->star->vector[i];
        const int from = trv_star_peer(torus, rank, vector, true), port = trv_port_opposite(vector->port);
        rc = star_blocks(view, from, &theirs);
        if (!rc)
            rc = star_add_message(view, true, trv_star_peer(torus, rank, vector, false), port, 0, &own);
        if (!rc)
            rc = star_add_message(view, false, from, port, 0, &theirs);
    }
    return rc;
}

static int star_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const trv_star_streams_t *streams = &((const tables_t *)schedule->tables)->streams;
    const trv_star_stream_t *own = &streams->stream[stream];
    const bool gathers = schedule->collective == TRV_ALLGATHER || step >= streams->steps;
    const int index = gathers ? schedule->steps - 1 - step : step;
    const view_t view = {schedule, streams, own, &own->star[index], index, out};
    int rc = trv_step_reserve(out, view.star->vectors, view.star->vectors, 1);
    if (rc)
        return rc;
    return gathers ? star_gather(&view, rank) : star_reduce(&view, rank);
}

/* ---- Positions --------------------------------------------------------------------------------------------------- */

/* The position of a unit. Blocks are in the order in which the reduce-scatter splits them, the first step's part most
 * significant. */
static int64_t star_position(const trv_schedule_t *schedule, int stream, int64_t unit)
{
    const trv_star_streams_t *streams = &((const tables_t *)schedule->tables)->streams;
    const trv_torus_t *space = &schedule->space;
    const size_t bytes = (size_t)space->dims * sizeof(int);
    int at[TRV_DIMS_MAX], coset[TRV_DIMS_MAX], other[TRV_DIMS_MAX];
    int64_t position = 0;
    trv_torus_coordinates(space, (int)unit, at);
    for (int i = 0; i < streams->layout.scatter; i++) {
        const trv_shifts_t *shift = &streams->stream[stream].shift[i];
        const trv_quotient_t *group = &streams->stream[stream].group[i];
        int digit = 0;
        trv_quotient_map(group, at, coset);
        for (; digit < shift->count - 1; digit++) {
            trv_quotient_map(group, shift->vector + digit * space->dims, other);
            if (memcmp(other, coset, bytes) == 0)
                break;
        }
        for (int d = 0; d < space->dims; d++) {
            at[d] -= shift->vector[digit * space->dims + d];
            at[d] += at[d] < 0 ? space->size[d] : 0;
        }
        position = position * shift->count + digit;
    }
    return position;
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static void star_destroy(void *memory)
{
    tables_t *tables = memory;
    trv_arena_destroy(tables->arena);
    free(tables);
}

static int star_fill(trv_schedule_t *schedule, tables_t *tables, const trv_star_t *star)
{
    const trv_star_streams_t *streams = &tables->streams;
    int rc = trv_star_streams_make(&tables->streams, star, tables->arena);
    if (rc)
        return rc;
    schedule->step = star_step;
    schedule->space = streams->stream[0].blocks.space;
    schedule->streams = streams->layout.streams;
    schedule->mirrored_from = streams->layout.plain;
    schedule->steps = schedule->collective == TRV_ALLREDUCE ? streams->steps + streams->layout.scatter : streams->steps;
    schedule->registers = ARRIVALS + streams->vectors_max;
    schedule->exactness = star->chain.direct ? TRV_EXACT : TRV_COVERS;
    schedule->consistent = streams->layout.ordered;
    schedule->owned = streams->layout.scatter == streams->steps;
    if (streams->layout.contiguous && schedule->collective == TRV_ALLREDUCE)
        schedule->position = star_position;
    return TRV_OK;
}

static int star_supports(const trv_torus_t *torus, trv_collective_t collective)
{
    (void)collective;
    static const trv_value_t omitted[] = {{.text = ""}, {.text = ""}};
    trv_star_t star;
    return trv_star_choose("", omitted, torus, &star);
}

static int star_create(trv_schedule_t *schedule)
{
    const trv_value_t *value = schedule->parameters->value;
    trv_star_t star;
    int rc = trv_star_choose(value[0].text, value + 1, &schedule->torus, &star);
    if (rc)
        return rc;
    if (star.whole && schedule->collective != TRV_ALLREDUCE)
        return trv_fail(
            TRV_ERR_UNSUPPORTED,
            "'%.60s' sends whole vectors and supports only AllReduce; for Reduce-Scatter and AllGather use star:b",
            schedule->name);
    if (star.form == TRV_STAR_GATHERED)
        return trv_star_gathered_create(schedule, &star.chain);
    tables_t *tables = calloc(1, sizeof *tables);
    if (!tables || !(tables->arena = trv_arena_create())) {
        free(tables);
        return trv_fail_memory();
    }
    schedule->tables = tables;
    schedule->destroy = star_destroy;
    return star_fill(schedule, tables, &star);
}

const trv_algorithm_t trv_star = {
    .name = "star",
    .family = "star",
    .title = "Stars: all ports of a torus at once",
    .use = "all ports of a torus in every step: the fewest steps; star:l for short vectors",
    .source = "docs/stars.md; direct sums of sets of displacements",
    .parameters = "[STEPS][:CHAIN][:STREAMS]",
    .example = "star:b:1:2",
    .field = {{.kind = TRV_FIELD_TEXT, .never = "./_-"}, {.kind = TRV_FIELD_TEXT}, {.kind = TRV_FIELD_TEXT}},
    .sizes = "tori with a star chain",
    .steps_formula = "2s or, star:l, s; s at least log_(2D+1) n",
    .bytes_formula = "2m (n-1)/n or, star:l, (q-1) m in every step",
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = true,
    .supports = star_supports,
    .create = star_create,
    .complete = trv_star_complete_name,
    .candidates = trv_star_candidates,
};
