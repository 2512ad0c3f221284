/*
 * Copies and reductions of a program, at a count.
 *
 * Places of the user's and containers of one run are computed from positions. A container of several runs is gone through
 * along with the pieces that touch it: a cursor counts the bytes of it that have been passed.
 */
#include <string.h>

#include "execute/group.h"
#include "execute/plan.h"

typedef struct going {
    trv_plan_t *plan;
    const trv_lane_t *lane;
    const trv_work_t *work;
    trv_mask_t piece[TRV_WALK_PRODUCTS_MAX], walked[TRV_WALK_PRODUCTS_MAX]; /* the products of each */
    /* The stretch that is growing: its piece (-1: none) and the containers that it lies in. */
    int at;
    trv_mask_t in;
    size_t first, elements;
} going_t;

/* Where element e of a place is, e being `passed` bytes on from where the cursors are. */
static char *address(const trv_plan_t *plan, const trv_lane_t *lane, trv_place_t place, size_t e, size_t passed)
{
    const trv_sized_t *sized = lane->sized;
    if (place.base != TRV_AT_SCRATCH)
        return lane->base[place.base] + (trv_user_elements(sized, e) - plan->origin[place.base]) * sized->element_size;
    char *begin = lane->base[TRV_AT_SCRATCH] + sized->offset[place.container];
    if (sized->program->container[place.container].run)
        return begin + (e - sized->first[place.container]) * sized->element_size;
    return begin + plan->cursor[place.container] + passed;
}

char *trv_place_address(const trv_plan_t *plan, const trv_lane_t *lane, trv_place_t place, int64_t position)
{
    return address(plan, lane, place, trv_elements_before(lane->sized, position), 0);
}

static bool touches_user(const trv_program_t *program, const trv_piece_t *piece)
{
    bool user = piece->to.base != TRV_AT_SCRATCH;
    for (int s = 0; !user && s < piece->sources; s++)
        user = program->source[piece->source + s].base != TRV_AT_SCRATCH;
    return user;
}

/* One piece on elements that are contiguous everywhere. */
static int perform_stretch(trv_plan_t *plan, const trv_lane_t *lane, const trv_piece_t *piece, size_t first,
                           size_t count, size_t passed)
{
    const trv_elements_t *elements = &plan->elements;
    const trv_place_t *source = lane->sized->program->source + piece->source;
    char *to = address(plan, lane, piece->to, first, passed);
    if (piece->sources == 1) {
        const char *from = address(plan, lane, *source, first, passed);
        if (to != from) /* in place, a result may be there already */
            memcpy(to, from, count * plan->element_size);
        return 0;
    }
    for (int s = 0; s < piece->sources; s++)
        plan->source[s] = address(plan, lane, source[s], first, passed);
    if (!elements->reduce)
        return trv_reduce(elements->op, elements->type, to, plan->source, piece->sources, count);
    return elements->reduce(elements->reduce_context, to, plan->source, piece->sources, count);
}

/* One piece on a stretch of elements: the user's blocks lie apart. */
static int perform_run(trv_plan_t *plan, const trv_lane_t *lane, const trv_piece_t *piece, size_t first, size_t count)
{
    const trv_sized_t *sized = lane->sized;
    const size_t block = sized->length, end = first + count;
    int rc = 0;
    if (count == 0)
        return 0;
    if (!sized->blocks || first / block == (end - 1) / block || !touches_user(sized->program, piece))
        return perform_stretch(plan, lane, piece, first, count, 0);
    for (size_t at = first; !rc && at < end;) {
        const size_t left = end - at, whole = block - at % block, step = left < whole ? left : whole;
        rc = perform_stretch(plan, lane, piece, at, step, (at - first) * sized->element_size);
        at += step;
    }
    return rc;
}

/* ---- Walks ------------------------------------------------------------------------------------------------------- */

/* Does what the stretch that has grown is for, and passes it. */
static int pass(going_t *going)
{
    const trv_sized_t *sized = going->lane->sized;
    const trv_program_t *program = sized->program;
    int rc = 0;
    if (going->at >= 0)
        rc = perform_run(going->plan, going->lane, &program->piece[going->work->piece + going->at], going->first,
                         going->elements);
    for (int i = 0; going->in && i < going->work->walks; i++)
        if (going->in >> i & 1)
            going->plan->cursor[program->walked[going->work->walk + i]] += going->elements * sized->element_size;
    going->elements = 0;
    return rc;
}

static int tell(void *context, trv_mask_t mask, size_t first, size_t elements)
{
    going_t *going = context;
    trv_mask_t in = 0;
    int at = -1;
    for (int i = 0; i < going->work->walks; i++)
        in |= (trv_mask_t)((mask & going->walked[i]) != 0) << i;
    for (int i = 0; at < 0 && i < going->work->pieces; i++)
        at = mask & going->piece[i] ? i : -1;
    if (at == going->at && in == going->in && first == going->first + going->elements) {
        going->elements += elements;
        return 0;
    }
    int rc = pass(going);
    going->at = at;
    going->in = in;
    going->first = first;
    going->elements = elements;
    return rc;
}

static trv_mask_t add_products(trv_walk_t *walk, int product, int products)
{
    trv_mask_t mask = 0;
    for (int i = 0; i < products; i++) {
        mask |= (trv_mask_t)1 << walk->products;
        walk->product[walk->products++] = product + i;
    }
    return mask;
}

static int perform_walk(trv_plan_t *plan, const trv_lane_t *lane, const trv_work_t *work)
{
    const trv_program_t *program = lane->sized->program;
    trv_walk_t *walk = &plan->walk;
    going_t going = { .plan = plan, .lane = lane, .work = work, .at = -1 };
    walk->sized = lane->sized;
    walk->products = 0;
    walk->tell = tell;
    walk->context = &going;
    for (int i = 0; i < work->pieces; i++) {
        const trv_piece_t *piece = &program->piece[work->piece + i];
        going.piece[i] = add_products(walk, piece->product, piece->products);
    }
    for (int i = 0; i < work->walks; i++) {
        const int number = program->walked[work->walk + i];
        going.walked[i] = add_products(walk, program->container[number].product, program->container[number].products);
        plan->cursor[number] = 0;
    }
    int rc = trv_walk(walk);
    return rc ? rc : pass(&going);
}

int trv_perform(trv_plan_t *plan, const trv_lane_t *lane, int first, int works)
{
    const trv_sized_t *sized = lane->sized;
    const trv_program_t *program = sized->program;
    int rc = 0;
    for (int i = first; !rc && i < first + works; i++) {
        const trv_work_t *work = &program->work[i];
        const trv_piece_t *piece = &program->piece[work->piece];
        if (work->pieces == 1 && work->walks == 0 && piece->units > 0) {
            const size_t begin = trv_elements_before(sized, piece->first);
            rc = perform_run(plan, lane, piece, begin, trv_elements_before(sized, piece->first + piece->units) - begin);
        } else {
            rc = perform_walk(plan, lane, work);
        }
    }
    return rc;
}
