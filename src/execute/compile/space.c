/*
 * Products of sets of indices, see space.h.
 */
#include "execute/compile/space.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const int *product_at(const trv_space_t *space, int product)
{
    return space->id + (size_t)product * (size_t)space->axes;
}

int64_t trv_space_count(const trv_space_t *space, int product)
{
    const int *id = product_at(space, product);
    int64_t count = 1;
    for (int i = 0; i < space->axes; i++)
        count *= space->sets.set[id[i]].members;
    return count;
}

int64_t trv_space_first(const trv_space_t *space, int product)
{
    const int *id = product_at(space, product);
    int64_t first = 0;
    for (int i = 0; i < space->axes; i++)
        first += space->weight[i] * space->sets.bound[space->sets.set[id[i]].first];
    return first;
}

/* Whether a product is one run of positions: one range on the last axis that is not full, and single indices on the
 * axes before it. */
static bool is_run(const trv_space_t *space, const int *id)
{
    int last = space->axes - 1;
    while (last > 0 && id[last] == space->full[last])
        last--;
    for (int i = 0; i < last; i++)
        if (space->sets.set[id[i]].members != 1)
            return false;
    return space->sets.set[id[last]].ranges == 1;
}

bool trv_space_run(const trv_space_t *space, int product, int products, int64_t *first, int64_t *units)
{
    int64_t begin = INT64_MAX, end = 0;
    *units = 0;
    for (int p = product; p < product + products; p++) {
        if (!is_run(space, product_at(space, p)))
            return false;
        const int64_t at = trv_space_first(space, p), count = trv_space_count(space, p);
        begin = at < begin ? at : begin;
        end = at + count > end ? at + count : end;
        *units += count;
    }
    *first = begin;
    return *units > 0 && end - begin == *units;
}

int trv_space_add(trv_space_t *space, const int *id)
{
    const size_t axes = (size_t)space->axes;
    int copy[TRV_SPACE_AXES_MAX];
    memcpy(copy, id, axes * sizeof *copy); /* `id` may point into the pool */
    if (trv_array_reserve(&space->id, &space->product_capacity, space->products, 1, axes * sizeof *space->id))
        return TRV_ERR_MEMORY;
    memcpy(space->id + (size_t)space->products * axes, copy, axes * sizeof *copy);
    return space->products++;
}

/* The only axis in which two products differ; -1 if they differ in several. */
static int only_difference(const int *a, const int *b, int axes)
{
    int axis = -1;
    for (int i = 0; i < axes; i++)
        if (a[i] != b[i]) {
            if (axis >= 0)
                return -1;
            axis = i;
        }
    return axis;
}

int trv_space_join(trv_space_t *space, int product)
{
    for (int a = product; a < space->products; a++)
        for (int b = a + 1; b < space->products; b++) {
            int *x = space->id + (size_t)a * (size_t)space->axes, *y = space->id + (size_t)b * (size_t)space->axes;
            const int axis = only_difference(x, y, space->axes);
            if (axis < 0)
                continue;
            int joined = trv_sets_union(&space->sets, x[axis], y[axis]);
            if (joined < 0)
                return joined;
            x[axis] = joined;
            memmove(y, product_at(space, --space->products), (size_t)space->axes * sizeof *y);
            b = a; /* products that could not be joined before may be joined now */
        }
    return 0;
}

void trv_space_clear(trv_space_t *space)
{
    trv_sets_clear(&space->sets);
    free(space->id);
    memset(space, 0, sizeof *space);
}
