/*
 * Walks, see walk.h. Each axis is cut into segments by the bounds of all products' sets. A cell is one segment of every
 * axis; it is contained in the products that contain all of its segments.
 */
#include "execute/compile/walk.h"
#include "base/ascending.h"

#include <stdbool.h>
#include <stdlib.h>

static const trv_set_t *set_of(const trv_walk_t *walk, int product, int axis)
{
    const trv_space_t *space = &walk->sized->program->space;
    return &space->sets.set[space->id[(size_t)walk->product[product] * (size_t)space->axes + (size_t)axis]];
}

/* The bounds of all sets on an axis, ascending, without duplicates. Returns their number. */
static int find_bounds(trv_walk_t *walk, int axis)
{
    int *bound = walk->bound, bounds = 0, unique = 0;
    for (int p = 0; p < walk->products; p++) {
        const trv_set_t *set = set_of(walk, p, axis);
        if (p > 0 && set == set_of(walk, p - 1, axis))
            continue;
        for (int i = 0; i < 2 * set->ranges; i++)
            bound[bounds++] = walk->sized->program->space.sets.bound[set->first + i];
    }
    bool sorted = true;
    for (int i = 1; i < bounds && sorted; i++)
        sorted = bound[i - 1] <= bound[i];
    if (!sorted)
        qsort(bound, (size_t)bounds, sizeof *bound, trv_compare_int);
    for (int i = 0; i < bounds; i++)
        if (unique == 0 || bound[unique - 1] != bound[i])
            bound[unique++] = bound[i];
    return unique;
}

/* Cuts an axis into segments, which are stored from index `at` on. */
static int cut_axis(trv_walk_t *walk, int axis, int at)
{
    const int bounds = find_bounds(walk, axis);
    trv_segment_t *segment = walk->segment + at;
    for (int i = 0; i + 1 < bounds; i++)
        segment[i] = (trv_segment_t){walk->bound[i], walk->bound[i + 1], 0};
    for (int p = 0; p < walk->products; p++) {
        const trv_set_t *set = set_of(walk, p, axis);
        const int *range = walk->sized->program->space.sets.bound + set->first;
        for (int i = 0, r = 0; i + 1 < bounds && r < set->ranges; i++) {
            if (segment[i].begin >= range[2 * r] && segment[i].end <= range[2 * r + 1])
                segment[i].mask |= (trv_mask_t)1 << p;
            r += segment[i].end == range[2 * r + 1];
        }
    }
    int unique = 0;
    for (int i = 0; i + 1 < bounds; i++)
        if (segment[i].mask)
            segment[unique++] = segment[i];
    walk->first[axis] = at;
    walk->segments[axis] = unique;
    return at + unique;
}

/* A part of the space: an index of each axis before the present one, as the part's first position, and its elements. */
typedef struct slab {
    int64_t position;
    size_t before, length;
} slab_t;

/* The elements before index i of an axis within a slab. */
static size_t before_index(const trv_sized_t *sized, int axis, const slab_t *slab, int i)
{
    if (sized->before)
        return trv_elements_before(sized, slab->position + i * sized->program->space.weight[axis]) - slab->before;
    return trv_before_index(sized, axis, slab->length, i);
}

/* Visits the cells of an axis and those after it, within a slab. */
static int visit_axis(const trv_walk_t *walk, int axis, const slab_t *slab, trv_mask_t mask)
{
    const trv_segment_t *segment = walk->segment + walk->first[axis];
    int rc = 0;
    for (int i = 0; !rc && i < walk->segments[axis]; i++) {
        const trv_mask_t inside = mask & segment[i].mask;
        if (!inside)
            continue;
        size_t at = before_index(walk->sized, axis, slab, segment[i].begin);
        if (axis == walk->last) {
            const size_t end = before_index(walk->sized, axis, slab, segment[i].end);
            rc = end > at ? walk->visit(walk->context, inside, slab->before + at, end - at) : 0;
            continue;
        }
        for (int index = segment[i].begin; !rc && index < segment[i].end; index++) {
            const size_t end = before_index(walk->sized, axis, slab, index + 1);
            const int64_t position = slab->position + index * walk->sized->program->space.weight[axis];
            if (end > at)
                rc = visit_axis(walk, axis + 1, &(slab_t){position, slab->before + at, end - at}, inside);
            at = end;
        }
    }
    return rc;
}

int trv_walk(trv_walk_t *walk)
{
    const trv_space_t *space = &walk->sized->program->space;
    int at = 0;
    walk->last = 0;
    for (int axis = 0; axis < space->axes; axis++) {
        at = cut_axis(walk, axis, at);
        const trv_segment_t *segment = walk->segment + walk->first[axis];
        if (walk->segments[axis] != 1 || segment->begin != 0 || segment->end != space->size[axis])
            walk->last = axis; /* the condition is false if all products contain the whole axis */
    }
    const slab_t whole = {0, 0, walk->sized->total};
    return whole.length ? visit_axis(walk, 0, &whole, ~(trv_mask_t)0) : 0;
}

/* ---- Works ------------------------------------------------------------------------------------------------------- */

typedef struct stretch_builder {
    const trv_work_t *work;
    trv_visit_stretch_t visit;
    void *context;
    trv_mask_t piece[128], walked[128]; /* per piece and per walked container: its products */
    /* The stretch under construction: its piece (-1: none) and the containers that contain it. */
    int index;
    trv_mask_t in;
    size_t first, elements;
} stretch_builder_t;

static int emit_stretch(stretch_builder_t *builder)
{
    const bool empty = builder->elements == 0 || (builder->index < 0 && !builder->in);
    int rc = empty ? 0
                   : builder->visit(builder->context, builder->index, builder->in, builder->first, builder->elements);
    builder->elements = 0;
    return rc;
}

static int add_elements(void *context, trv_mask_t mask, size_t first, size_t elements)
{
    stretch_builder_t *builder = context;
    trv_mask_t in = 0;
    int index = -1;
    for (int i = 0; i < builder->work->walks; i++)
        in |= (trv_mask_t)((mask & builder->walked[i]) != 0) << i;
    for (int i = 0; index < 0 && i < builder->work->pieces; i++)
        index = mask & builder->piece[i] ? i : -1;
    if (index == builder->index && in == builder->in && first == builder->first + builder->elements) {
        builder->elements += elements;
        return 0;
    }
    int rc = emit_stretch(builder);
    builder->index = index;
    builder->in = in;
    builder->first = first;
    builder->elements = elements;
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

int trv_walk_work(trv_walk_t *walk, const trv_work_t *work, trv_visit_stretch_t visit, void *context)
{
    const trv_program_t *program = walk->sized->program;
    stretch_builder_t builder;
    builder.work = work;
    builder.visit = visit;
    builder.context = context;
    builder.index = -1;
    builder.in = 0;
    builder.first = builder.elements = 0;
    walk->products = 0;
    walk->visit = add_elements;
    walk->context = &builder;
    for (int i = 0; i < work->pieces; i++) {
        const trv_piece_t *piece = &program->piece[work->piece + i];
        builder.piece[i] = add_products(walk, piece->product, piece->products);
    }
    for (int i = 0; i < work->walks; i++) {
        const trv_container_t *container = &program->container[program->walked[work->walk + i]];
        builder.walked[i] = add_products(walk, container->product, container->products);
    }
    int rc = trv_walk(walk);
    return rc ? rc : emit_stretch(&builder);
}
