/*
 * Neighbour: every rank exchanges messages with its neighbours only, for networks that do not forward
 * (docs/networks.md).
 *
 * AllReduce: whole vectors travel from neighbour to neighbour, in both directions. In step t a rank receives the
 * vectors of the ranks at distance t + 1, adds both to its sum in one joint reduction, and sends each on in the next
 * step:
 *
 *   ring of 5, what rank 2 has added   step 0   . 1 2 3 .   it sends its own vector both ways
 *                                      step 1   0 1 2 3 4   it sends 1, from the left, to the right, and 3 to the left
 *
 * With an even number of ranks, half of the last vector arrives from each side. A link carries one vector per step:
 * (a-1)/2 in all, as in Trivance L, but there is a step for every hop. On a line a vector travels to both ends.
 *
 * Ranks add in different orders. With neighbour:gathered they collect the vectors, which are the same messages, and add
 * them in the order of coordinates, so that all ranks have the same bits.
 *
 * Other collectives: trees of such paths, in which a coordinate at distance k of the root is reached in step k - 1. An
 * all-to-all around the ends of a line is not one of neighbours.
 *
 * Several streams in each dimension hide the start-up of each other's steps.
 * Name: neighbour[:gathered][:STREAMS], by default 1 stream in each dimension.   Sizes: any.
 * Streams: STREAMS * D; stream i begins in dimension i mod D (trees: D, or 2D if a ring is even).
 * Steps: sum of floor(a/2), on lines a-1: the diameter.   Exact: yes.   Consistent: gathered.   Symmetry: translation.
 */
#include <stdlib.h>
#include <string.h>

#include "algorithms/builders/dimension_tree.h"
#include "algorithms/builders/visit.h"
#include "algorithms/registry.h"
#include "base/error.h"
#include "torus/torus.h"

#define SLOTS 1 /* gathered: the register of the vector of coordinate 0; otherwise the first one of arrivals */

typedef struct tables {
    bool gathered;
    int active, dimension[TRV_DIMS_MAX], levels[TRV_DIMS_MAX];
} tables_t;

/* One rank's step: it exchanges vectors of the ranks at distance `level` along a row of `size` ranks. */
typedef struct view {
    const trv_schedule_t *schedule;
    trv_step_t *out;
    int rank, dimension, level;
    int size, position; /* in its row */
    bool line;
} view_t;

/* ---- The vectors of a step --------------------------------------------------------------------------------------- */

/* The coordinate of the rank that is `distance` positions away; -1 if the line ends before. */
static int coordinate_at(const view_t *view, int distance)
{
    const int position = view->position + distance;
    if (view->line && (position < 0 || position >= view->size))
        return -1;
    return trv_torus_coordinate(&view->schedule->torus,
                                trv_row_rank(view->schedule->rows, view->rank, view->dimension,
                                             (position + view->size) % view->size),
                                view->dimension);
}

/* The mask of the halves that travel in direction `sign` in a step: both, unless the two directions meet. */
static int halves_of(const view_t *view, int sign)
{
    const bool meet = !view->line && 2 * (view->level + 1) == view->size;
    return !meet ? (1 << view->schedule->halves) - 1 : sign > 0 ? 1 : 2;
}

/* The register of the vector of `origin`, which arrives from the side `sign` in step `level`. */
static int register_of(const view_t *view, int origin, int sign, int level)
{
    const tables_t *tables = view->schedule->tables;
    return SLOTS + (tables->gathered ? origin : level % 2 * 2 + (sign > 0));
}

static trv_blocks_t blocks_of(const view_t *view, int halves)
{
    trv_blocks_t blocks;
    trv_blocks_begin(&blocks, &view->schedule->space, view->schedule->halves);
    trv_blocks_add(&blocks, halves);
    return blocks;
}

/* Sends on, in direction `sign`, what arrived from the other side in the step before, or in step 0 the own vector. */
static int add_send(const view_t *view, int sign)
{
    const int origin = coordinate_at(view, -sign * view->level);
    if (origin < 0 || coordinate_at(view, sign) < 0)
        return TRV_OK;
    trv_part_t *part = trv_step_send(view->out,
                                     trv_torus_shift(&view->schedule->torus, view->rank, view->dimension, sign),
                                     trv_port(view->dimension, sign), 1);
    if (!part)
        return TRV_ERR_MEMORY;
    part->reg = view->level == 0 ? 0 : register_of(view, origin, -sign, view->level - 1);
    part->blocks = blocks_of(view, halves_of(view, sign));
    return TRV_OK;
}

/* Receives from the side `sign`; *reg is the register, or -1 if nothing arrives. */
static int add_receive(const view_t *view, int sign, int *reg)
{
    const int origin = coordinate_at(view, sign * (view->level + 1));
    *reg = -1;
    if (origin < 0)
        return TRV_OK;
    trv_part_t *part = trv_step_receive(view->out,
                                        trv_torus_shift(&view->schedule->torus, view->rank, view->dimension, sign),
                                        trv_port(view->dimension, -sign), 1);
    if (!part)
        return TRV_ERR_MEMORY;
    part->reg = *reg = register_of(view, origin, sign, view->level);
    part->blocks = blocks_of(view, halves_of(view, -sign));
    return TRV_OK;
}

/* ---- Combines ---------------------------------------------------------------------------------------------------- */

/* Adds the arrivals from the left and from the right (-1: none) to the sum, jointly if they are of the same halves. */
static int add_arrivals(const view_t *view, int left, int right)
{
    const int source[3] = {left, 0, right};
    const trv_blocks_t from_left = blocks_of(view, halves_of(view, 1)),
                       from_right = blocks_of(view, halves_of(view, -1));
    if (left >= 0 && right >= 0 && halves_of(view, 1) == halves_of(view, -1))
        return trv_step_combine(view->out, 0, 3, source, 0, &from_left);
    int rc = left >= 0 ? trv_step_combine(view->out, 0, 2, source, 0, &from_left) : TRV_OK;
    return rc || right < 0 ? rc : trv_step_combine(view->out, 0, 2, source + 1, 0, &from_right);
}

/* Copies the own vector to its place before the first step, and adds all vectors after the last one. */
static int add_gathered(const view_t *view, int levels)
{
    const trv_blocks_t all = blocks_of(view, (1 << view->schedule->halves) - 1);
    int rc = TRV_OK;
    if (view->level == 0)
        rc = trv_step_combine(view->out, SLOTS + coordinate_at(view, 0), 1, NULL, 0, &all);
    return rc || view->level < levels - 1 ? rc : trv_step_combine(view->out, 0, view->size, NULL, SLOTS, &all);
}

static int neighbour_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const tables_t *tables = schedule->tables;
    const trv_turn_t turn = trv_visit_turn(TRV_SEQUENTIAL, tables->active, tables->levels, stream, step);
    const int d = tables->dimension[turn.index];
    const view_t view = {.schedule = schedule,
                         .out = out,
                         .rank = rank,
                         .dimension = d,
                         .level = turn.level,
                         .size = schedule->torus.size[d],
                         .position = trv_row_position(schedule->rows, rank, d),
                         .line = trv_rows_are_lines(schedule->rows, d)};
    int left, right, rc = trv_step_reserve(out, 2, 2, 2);
    out->dimension = d;
    /* In the order of their directions, because on two ranks both messages are between the same ranks. */
    if (!rc)
        rc = add_send(&view, -1);
    if (!rc)
        rc = add_send(&view, 1);
    if (!rc)
        rc = add_receive(&view, 1, &right);
    if (!rc)
        rc = add_receive(&view, -1, &left);
    if (rc)
        return rc;
    return tables->gathered ? add_gathered(&view, tables->levels[turn.index]) : add_arrivals(&view, left, right);
}

/* ---- Trees ------------------------------------------------------------------------------------------------------- */

/* Paths from the root in both directions. The coordinate on the opposite side of a ring is reached in direction +, or
 * with `mirrored` in direction -. */
static int neighbour_row(int size, bool line, int root, bool mirrored, trv_row_edge_t *edge)
{
    const int last = line ? size - 1 : size / 2;
    int levels = 0;
    for (int x = 0; x < size; x++)
        edge[x].parent = -1;
    for (int distance = 1; distance <= last; distance++)
        for (int side = 0; side < 2; side++) {
            const int sign = (side == 0) == mirrored ? -1 : 1, at = root + sign * distance;
            const int to = line ? at : (at + size) % size;
            if (to < 0 || to >= size || to == root || edge[to].parent >= 0)
                continue;
            edge[to] = (trv_row_edge_t){(to - sign + size) % size, distance - 1, sign};
            levels = distance;
        }
    return levels;
}

static bool has_even_ring(const trv_schedule_t *schedule)
{
    for (int d = 0; d < schedule->torus.dims; d++)
        if (schedule->torus.size[d] % 2 == 0 && !trv_rows_are_lines(schedule->rows, d))
            return true;
    return false;
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static int neighbour_create(trv_schedule_t *schedule)
{
    const bool gathered = schedule->parameters->value[0].number;
    if (schedule->collective != TRV_ALLREDUCE) {
        if (schedule->parameters->given)
            return trv_fail(TRV_ERR_ARGUMENT, "%.60s is a form of AllReduce only; use neighbour", schedule->name);
        schedule->symmetry = TRV_SYMMETRY_NONE; /* an all-to-all has one, which trv_dimension_trees_create states */
        schedule->consistent = true;
        return trv_dimension_trees_create(schedule, neighbour_row, has_even_ring(schedule), 0);
    }
    tables_t *tables = calloc(1, sizeof *tables);
    if (!tables)
        return trv_fail_memory();
    schedule->tables = tables;
    schedule->destroy = free;
    schedule->step = neighbour_step;
    tables->gathered = gathered;
    tables->active = trv_torus_active(&schedule->torus, tables->dimension);
    int slots = 4;
    for (int i = 0; i < tables->active; i++) {
        const int d = tables->dimension[i], size = schedule->torus.size[d];
        tables->levels[i] = trv_rows_are_lines(schedule->rows, d) ? size - 1 : size / 2;
        schedule->steps += tables->levels[i];
        slots = gathered && size > slots ? size : slots;
    }
    schedule->streams = tables->active > 0 ? schedule->parameters->value[1].number * tables->active : 1;
    schedule->registers = SLOTS + slots;
    schedule->halves = has_even_ring(schedule) ? 2 : 1;
    schedule->consistent = gathered;
    schedule->messages_per_port = 1;
    return TRV_OK;
}

/* Where messages are forwarded, algorithms with fewer steps or more streams are faster than several streams of this
 * one. */
static int neighbour_candidates(const trv_collector_t *collector)
{
    const int streams_max = collector->network->no_forwarding ? 4 : 1;
    const int forms = collector->collective == TRV_ALLREDUCE ? 2 : 1;
    int rc = TRV_OK;
    for (int streams = 1; streams <= (forms > 1 ? streams_max : 1); streams *= 2)
        for (int gathered = 0; gathered < forms && !rc; gathered++) {
            char name[TRV_ALGORITHM_NAME_MAX];
            trv_name_of_numbers(&trv_neighbour, (const int[]){gathered, streams}, name);
            rc = collector->add(collector->list, name, NULL, true);
        }
    return rc;
}

const trv_algorithm_t trv_neighbour = {
    .name = "neighbour",
    .family = "neighbour",
    .title = "Neighbour: whole vectors from neighbour to neighbour",
    .use = "short vectors on networks that do not forward",
    .source = "folklore; joint reductions after Juerss, Addanki, Schmid: Trivance",
    .sizes = "any torus or mesh",
    .parameters = "[gathered][:STREAMS]",
    .example = "neighbour:gathered:2",
    .field = {{.kind = TRV_FIELD_WORD, .word = "gathered"},
              {.kind = TRV_FIELD_NUMBER,
               .what = "the word gathered or a number of streams",
               .max = 16,
               .value = 1,
               .hidden = true}},
    .steps_formula = "sum of floor(a/2), on lines a-1",
    .bytes_formula = "m (n-1) on rings",
    .collectives = 1U << TRV_ALLREDUCE | TRV_TREE_COLLECTIVES,
    .latency_optimal = true,
    .lines = true,
    .symmetry = TRV_SYMMETRY_TRANSLATION,
    .exactness = TRV_EXACT,
    .consistent = false,
    .create = neighbour_create,
    .candidates = neighbour_candidates,
};
