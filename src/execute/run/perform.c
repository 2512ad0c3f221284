/*
 * Executes the copies and reductions of a program, for a count.
 *
 * Places in the user's buffers and in containers of one run are computed from positions. A container of several runs is
 * visited along with the pieces that access it: a cursor counts the bytes of it that have been visited.
 *
 * These computations take longer than a copy of a few hundred bytes. Therefore, when a count is used for the second
 * time in succession, the moves of all works are listed, as far as the list has capacity, and later runs execute the
 * list.
 */
#include <string.h>

#include "execute/run/plan.h"

typedef struct walk_context {
    trv_plan_t *plan;
    const trv_lane_t *lane;
    const trv_work_t *work;
} walk_context_t;

/* The offset of element e in a buffer of the user. In an All-to-All, blocks are in the order of the ranks there, and in
 * that of displacements everywhere else. */
static inline size_t user_elements(const trv_plan_t *plan, const trv_sized_t *sized, trv_base_t base, size_t e)
{
    size_t elements = trv_user_elements(sized, e) - plan->origin[base];
    if (plan->block[base]) {
        const size_t block = e / sized->length;
        elements += ((size_t)plan->block[base][block] - block) * plan->count;
    }
    return elements;
}

/* The address of element e of a location. In a container of several runs it is `cursor_offset` bytes after the
 * cursor. */
static inline char *address(const trv_plan_t *plan, const trv_lane_t *lane, trv_location_t location, size_t e,
                            size_t cursor_offset)
{
    const trv_sized_t *sized = lane->sized;
    if (location.base != TRV_AT_SCRATCH)
        return lane->base[location.base] + user_elements(plan, sized, location.base, e) * sized->element_size;
    char *begin = lane->base[TRV_AT_SCRATCH] + sized->offset[location.container];
    if (sized->program->container[location.container].run)
        return begin + (e - sized->first[location.container]) * sized->element_size;
    return begin + plan->cursor[location.container] + cursor_offset;
}

char *trv_location_address(const trv_plan_t *plan, const trv_lane_t *lane, trv_location_t location, int64_t position)
{
    return address(plan, lane, location, trv_elements_before(lane->sized, position), 0);
}

static bool touches_user(const trv_program_t *program, const trv_piece_t *piece)
{
    bool user = piece->to.base != TRV_AT_SCRATCH;
    for (int s = 0; !user && s < piece->sources; s++)
        user = program->source[piece->source + s].base != TRV_AT_SCRATCH;
    return user;
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* An address as an offset from the base of its location. */
static size_t offset_of(const trv_lane_t *lane, trv_location_t location, const char *address)
{
    return (size_t)(address - lane->base[location.base]);
}

/* Lists a copy or a reduction. When the list is full, listing ends. */
static void list_move(trv_plan_t *plan, const trv_lane_t *lane, const trv_piece_t *piece, size_t amount, const char *to)
{
    trv_sized_t *sized = lane->sized;
    const trv_location_t *source = sized->program->source + piece->source;
    if (sized->moves + piece->sources > sized->moves_max) {
        plan->listing = false;
        return;
    }
    for (int s = 0; s < piece->sources; s++)
        sized->move[sized->moves++] = (trv_move_t){.to = offset_of(lane, piece->to, to),
                                                   .from = offset_of(lane, source[s], plan->source[s]),
                                                   .amount = amount,
                                                   .sources = piece->sources,
                                                   .to_base = (unsigned char)piece->to.base,
                                                   .from_base = (unsigned char)source[s].base};
}

static int perform_reduce(trv_plan_t *plan, char *to, int sources, size_t count)
{
    const trv_elements_t *elements = &plan->elements;
    if (elements->reduce)
        return elements->reduce(elements->reduce_context, to, plan->source, sources, count);
    if (!plan->reduction.kernel) /* a schedule that adds, of a collective that does not: reports the operation */
        return trv_reduce(elements->op, elements->type, to, plan->source, sources, count);
    trv_reduction_run(&plan->reduction, to, plan->source, sources, count);
    return 0;
}

static int perform_list(trv_plan_t *plan, const trv_lane_t *lane, const trv_listed_t *listed)
{
    const trv_move_t *move = lane->sized->move + listed->first, *end = move + listed->moves;
    int rc = 0;
    while (!rc && move < end) {
        const int sources = move->sources;
        char *to = lane->base[move->to_base] + move->to;
        if (sources == 1) {
            const char *from = lane->base[move->from_base] + move->from;
            if (to != from)
                memcpy(to, from, move->amount);
        } else {
            for (int s = 0; s < sources; s++)
                plan->source[s] = lane->base[move[s].from_base] + move[s].from;
            rc = perform_reduce(plan, to, sources, move->amount);
        }
        move += sources;
    }
    return rc;
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

/* Executes one piece on elements that are contiguous in all of its locations. */
static int perform_stretch(trv_plan_t *plan, const trv_lane_t *lane, const trv_piece_t *piece, size_t first,
                           size_t count, size_t cursor_offset)
{
    const trv_location_t *source = lane->sized->program->source + piece->source;
    char *to = address(plan, lane, piece->to, first, cursor_offset);
    for (int s = 0; s < piece->sources; s++)
        plan->source[s] = address(plan, lane, source[s], first, cursor_offset);
    if (plan->listing)
        list_move(plan, lane, piece, piece->sources == 1 ? count * plan->element_size : count, to);
    if (piece->sources > 1)
        return perform_reduce(plan, to, piece->sources, count);
    if (to != plan->source[0]) /* in place, a result may already be at its destination */
        memcpy(to, plan->source[0], count * plan->element_size);
    return 0;
}

/* Executes one piece on a range of elements, block by block if it accesses the user's buffers, in which there are gaps
 * between blocks. */
static int perform_run(trv_plan_t *plan, const trv_lane_t *lane, const trv_piece_t *piece, size_t first, size_t count)
{
    const trv_sized_t *sized = lane->sized;
    const size_t end = first + count;
    int rc = 0;
    if (count == 0)
        return 0;
    if (!sized->blocks || end <= trv_block_end(sized, first) || !touches_user(sized->program, piece))
        return perform_stretch(plan, lane, piece, first, count, 0);
    for (size_t at = first; !rc && at < end;) {
        const size_t block_end = trv_block_end(sized, at), step = (block_end < end ? block_end : end) - at;
        rc = perform_stretch(plan, lane, piece, at, step, (at - first) * sized->element_size);
        at += step;
    }
    return rc;
}

/* ---- Walks ------------------------------------------------------------------------------------------------------- */

/* Executes the piece of a stretch, and advances the cursors. */
static int visit_stretch(void *context, int at, trv_mask_t in, size_t first, size_t elements)
{
    const walk_context_t *walk = context;
    const trv_sized_t *sized = walk->lane->sized;
    const trv_program_t *program = sized->program;
    int rc = at < 0 ? 0 : perform_run(walk->plan, walk->lane, &program->piece[walk->work->piece + at], first, elements);
    for (int i = 0; in; i++, in >>= 1)
        if (in & 1)
            walk->plan->cursor[program->walked[walk->work->walk + i]] += elements * sized->element_size;
    return rc;
}

static int perform_walk(trv_plan_t *plan, const trv_lane_t *lane, const trv_work_t *work)
{
    const trv_sized_t *sized = lane->sized;
    const trv_stretch_t *stretch = sized->program->stretch;
    walk_context_t context = {plan, lane, work};
    int rc = 0;
    for (int i = 0; i < work->walks; i++)
        plan->cursor[sized->program->walked[work->walk + i]] = 0;
    if (work->stretches == 0) {
        plan->walk.sized = sized;
        return trv_walk_work(&plan->walk, work, visit_stretch, &context);
    }
    const trv_piece_t *piece = sized->program->piece + work->piece;
    const int *walked = sized->program->walked;
    for (int i = work->stretch; !rc && i < work->stretch + work->stretches; i++) {
        const size_t first = sized->table[stretch[i].first], end = sized->table[stretch[i].end];
        if (first == end)
            continue;
        if (stretch[i].piece >= 0)
            rc = perform_run(plan, lane, &piece[stretch[i].piece], first, end - first);
        for (uint32_t in = stretch[i].in; in; in &= in - 1)
            plan->cursor[walked[work->walk + __builtin_ctz(in)]] += (end - first) * sized->element_size;
    }
    return rc;
}

static int perform_work(trv_plan_t *plan, const trv_lane_t *lane, const trv_work_t *work)
{
    const trv_sized_t *sized = lane->sized;
    const trv_piece_t *piece = &sized->program->piece[work->piece];
    if (work->pieces > 1 || work->walks > 0 || piece->units == 0)
        return perform_walk(plan, lane, work);
    const size_t begin = trv_elements_before(sized, piece->first);
    return perform_run(plan, lane, piece, begin, trv_elements_before(sized, piece->first + piece->units) - begin);
}

int trv_perform(trv_plan_t *plan, const trv_lane_t *lane, int first, int works)
{
    trv_sized_t *sized = lane->sized;
    int rc = 0;
    for (int i = first; !rc && i < first + works; i++) {
        trv_listed_t *listed = &sized->listed[i];
        if (listed->moves > 0) {
            rc = perform_list(plan, lane, listed);
            continue;
        }
        const int before = sized->moves;
        const bool tried = plan->listing = plan->starts > 1 && listed->moves == 0;
        rc = perform_work(plan, lane, &sized->program->work[i]);
        if (plan->listing && !rc)
            *listed = (trv_listed_t){before, sized->moves - before};
        else
            sized->moves = before;
        if (tried && !plan->listing)
            listed->moves = -1;
    }
    return rc;
}
