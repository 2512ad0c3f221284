/*
 * Sets of units for the verifier: lists within a batch, checks, comparisons, and names in messages.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/verifier.h"

static bool product_empty(const trv_blocks_t *blocks, const trv_product_t *product)
{
    for (int d = 0; d < blocks->space->dims; d++)
        if (product->count[d] == 0)
            return true;
    return product->halves == 0;
}

/* Lists the units along the inner dimension of a product, in the row of blocks that starts at `row`. */
static size_t list_row(const trv_blocks_t *blocks, const trv_product_t *product, int64_t row, int64_t first,
                       int64_t count, uint32_t *list)
{
    int inner = blocks->space->dims - 1;
    const int *value = product->value[inner];
    size_t written = 0;
    for (int i = 0; i < product->count[inner]; i++) {
        int64_t unit = (row + (value ? value[i] : i)) * blocks->halves - first;
        if (product->halves & 1 && unit >= 0 && unit < count)
            list[written++] = (uint32_t)unit;
        if (product->halves & 2 && unit + 1 >= 0 && unit + 1 < count)
            list[written++] = (uint32_t)(unit + 1);
    }
    return written;
}

/* Moves the index of the outermost dimension to the first coordinate whose units are not all before `first`. Otherwise
 * a late batch would traverse all units before it. */
static void skip_slabs(const trv_blocks_t *blocks, const trv_product_t *product, int64_t first, int *index)
{
    const trv_torus_t *space = blocks->space;
    int64_t slab = (int64_t)space->ranks / space->size[0] * blocks->halves;
    const int *value = product->value[0];
    while (space->dims > 1 && index[0] < product->count[0] - 1 &&
           ((value ? value[index[0]] : index[0]) + 1) * slab <= first)
        index[0]++;
}

static size_t list_product(const trv_blocks_t *blocks, const trv_product_t *product, int64_t first, int64_t count,
                           uint32_t *list)
{
    const trv_torus_t *space = blocks->space;
    int outer = space->dims - 1;
    int64_t row_units = (int64_t)space->size[outer] * blocks->halves;
    int index[TRV_DIMS_MAX] = {0};
    size_t written = 0;
    if (product_empty(blocks, product))
        return 0;
    skip_slabs(blocks, product, first, index);
    for (;;) {
        int64_t row = 0;
        for (int d = 0; d < outer; d++)
            row = row * space->size[d] + (product->value[d] ? product->value[d][index[d]] : index[d]);
        if (row * row_units >= first + count)
            return written;
        if ((row + 1) * row_units > first)
            written += list_row(blocks, product, row * space->size[outer], first, count, list + written);
        int d = outer - 1;
        while (d >= 0 && ++index[d] == product->count[d])
            index[d--] = 0;
        if (d < 0)
            return written;
    }
}

/* Lists the blocks at `from` + each vector of a list. */
static size_t list_shifted(const trv_blocks_t *blocks, const trv_product_t *product, const int *from,
                           const trv_shifts_t *shifts, int64_t first, int64_t count, uint32_t *list)
{
    const trv_torus_t *space = blocks->space;
    const int *vector = shifts->vector;
    size_t written = 0;
    for (int i = 0; i < shifts->count; i++) {
        int64_t unit = 0;
        for (int d = 0; d < space->dims; d++) {
            int coordinate = from[d] + *vector++;
            unit = unit * space->size[d] + (coordinate < space->size[d] ? coordinate : coordinate - space->size[d]);
        }
        unit = unit * blocks->halves - first;
        for (int h = 0; h < blocks->halves; h++)
            if (product->halves >> h & 1 && unit + h >= 0 && unit + h < count)
                list[written++] = (uint32_t)(unit + h);
    }
    return written;
}

/* Lists a product with shifts: every block is moved by every sum of all lists except the last, and then by each vector
 * of the last. */
static size_t list_moved(const trv_blocks_t *blocks, const trv_product_t *product, int64_t first, int64_t count,
                         uint32_t *list)
{
    const trv_torus_t *space = blocks->space;
    trv_product_t outer = *product;
    trv_moves_t moves;
    size_t written = 0;
    if (product_empty(blocks, product))
        return 0;
    outer.shifts--;
    for (bool more = trv_moves_begin(&moves, space, &outer); more; more = trv_moves_next(&moves)) {
        int index[TRV_DIMS_MAX] = {0}, from[TRV_DIMS_MAX];
        for (int d = 0; d >= 0;) {
            for (d = 0; d < space->dims; d++) {
                from[d] = (product->value[d] ? product->value[d][index[d]] : index[d]) + moves.by[d];
                from[d] -= from[d] < space->size[d] ? 0 : space->size[d];
            }
            written += list_shifted(blocks, product, from, &product->shift[outer.shifts], first, count, list + written);
            for (d = space->dims - 1; d >= 0 && ++index[d] == product->count[d]; d--)
                index[d] = 0;
        }
    }
    return written;
}

size_t trv_units_list(const trv_blocks_t *blocks, int64_t first, int64_t count, uint32_t *list)
{
    size_t written = 0;
    for (int t = 0; t < blocks->terms; t++)
        written += (blocks->term[t].shifts > 0 ? list_moved : list_product)(blocks, &blocks->term[t], first, count,
                                                                            list + written);
    return written;
}

static bool shifts_valid(const trv_torus_t *space, const trv_product_t *product)
{
    if (product->shifts < 0 || product->shifts > TRV_SHIFTS_MAX)
        return false;
    for (int i = 0; i < product->shifts; i++)
        for (int c = 0; c < product->shift[i].count * space->dims; c++)
            if (product->shift[i].vector[c] < 0 || product->shift[i].vector[c] >= space->size[c % space->dims])
                return false;
    return true;
}

bool trv_units_valid(const trv_blocks_t *blocks)
{
    for (int t = 0; t < blocks->terms; t++) {
        const trv_product_t *product = &blocks->term[t];
        if (product->halves < 0 || product->halves >> blocks->halves || !shifts_valid(blocks->space, product))
            return false;
        for (int d = 0; d < blocks->space->dims; d++) {
            const int *value = product->value[d];
            int last = -1;
            if (product->count[d] < 0 || (!value && product->count[d] != blocks->space->size[d]))
                return false;
            for (int i = 0; value && i < product->count[d]; last = value[i++])
                if (value[i] <= last || value[i] >= blocks->space->size[d])
                    return false;
        }
    }
    return true;
}

static bool same_product(const trv_torus_t *space, const trv_product_t *a, const trv_product_t *b)
{
    if (a->halves != b->halves || a->shifts != b->shifts)
        return false;
    for (int d = 0; d < space->dims; d++) {
        if (a->count[d] != b->count[d])
            return false;
        /* NULL and a full list are the same set, and so are two full lists: their counts equal the size of the
         * dimension. */
        if (a->count[d] != space->size[d] && memcmp(a->value[d], b->value[d], (size_t)a->count[d] * sizeof(int)) != 0)
            return false;
    }
    for (int i = 0; i < a->shifts; i++) {
        size_t vectors = (size_t)a->shift[i].count;
        if (a->shift[i].count != b->shift[i].count ||
            memcmp(a->shift[i].vector, b->shift[i].vector, vectors * (size_t)space->dims * sizeof(int)) != 0)
            return false;
    }
    return true;
}

static int compare_unit(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

bool trv_units_equal(trv_verifier_t *v, const trv_blocks_t *a, const trv_blocks_t *b)
{
    bool same = a->terms == b->terms;
    for (int t = 0; t < a->terms && same; t++)
        same = same_product(a->space, &a->term[t], &b->term[t]);
    if (same)
        return true;
    if (trv_blocks_count(a) != trv_blocks_count(b) || trv_blocks_count(a) > v->units)
        return false;
    size_t count = trv_units_list(a, 0, v->units, v->list);
    size_t other_count = trv_units_list(b, 0, v->units, v->other_list);
    qsort(v->list, count, sizeof *v->list, compare_unit);
    qsort(v->other_list, other_count, sizeof *v->other_list, compare_unit);
    return count == other_count && memcmp(v->list, v->other_list, count * sizeof *v->list) == 0;
}

const char *trv_unit_name(const trv_schedule_t *schedule, int64_t unit, char *text)
{
    int halves = trv_schedule_halves(schedule);
    if (trv_schedule_units(schedule) == 1)
        snprintf(text, TRV_UNIT_NAME_MAX, "the whole slice");
    else if (halves == 1)
        snprintf(text, TRV_UNIT_NAME_MAX, "block %lld", (long long)unit);
    else
        snprintf(text, TRV_UNIT_NAME_MAX, "the %s half of block %lld", unit % 2 ? "second" : "first",
                 (long long)(unit / 2));
    return text;
}
