/*
 * Sets of units: unions of disjoint products of coordinates, moved by sums of displacements.
 */
#include <stdlib.h>
#include <string.h>

#include "schedule/schedule.h"
#include "torus/torus.h"
#include "base/ascending.h"

#define MAPPED_MAX 32768 /* units of a space whose bit map is used to sort */

static int halves_count(int mask) { return (mask & 1) + (mask >> 1 & 1); }

int64_t trv_blocks_count(const trv_blocks_t *blocks)
{
    int64_t total = 0;
    for (int t = 0; t < blocks->terms; t++) {
        int64_t count = halves_count(blocks->term[t].halves);
        for (int d = 0; d < blocks->space->dims; d++)
            count *= blocks->term[t].count[d];
        for (int i = 0; i < blocks->term[t].shifts; i++)
            count *= blocks->term[t].shift[i].count;
        total += count;
    }
    return total;
}

/* ---- Sums of displacements --------------------------------------------------------------------------------------- */

/* Adds two coordinates around a ring. Both must be at least 0 and less than `size`. */
static int shifted(int coordinate, int by, int size)
{
    int sum = coordinate + by;
    return sum < size ? sum : sum - size;
}

/* Recomputes the sums of displacements from list `first` on, the first list whose index has changed. */
static void update_sums(trv_moves_t *moves, int first)
{
    const int dims = moves->space->dims;
    for (int i = first; i < moves->product->shifts; i++) {
        const int *vector = moves->product->shift[i].vector + moves->index[i] * dims;
        for (int d = 0; d < dims; d++)
            moves->sum[i + 1][d] = shifted(moves->sum[i][d], vector[d], moves->space->size[d]);
    }
}

bool trv_moves_begin(trv_moves_t *moves, const trv_torus_t *space, const trv_product_t *product)
{
    moves->space = space;
    moves->product = product;
    moves->by = moves->sum[product->shifts];
    memset(moves->sum[0], 0, sizeof moves->sum[0]);
    for (int i = 0; i < product->shifts; i++) {
        moves->index[i] = 0;
        if (product->shift[i].count == 0)
            return false;
    }
    update_sums(moves, 0);
    return true;
}

bool trv_moves_next(trv_moves_t *moves)
{
    int i = moves->product->shifts - 1;
    while (i >= 0 && ++moves->index[i] == moves->product->shift[i].count)
        moves->index[i--] = 0;
    if (i < 0)
        return false;
    update_sums(moves, i);
    return true;
}

/* ---- Members ----------------------------------------------------------------------------------------------------- */

/* Whether the product, moved by `by`, contains the block. */
static bool product_contains(const trv_torus_t *space, const trv_product_t *product, const int *by, int block)
{
    for (int d = space->dims - 1; d >= 0; d--) {
        int coordinate = shifted(block % space->size[d], by[d] ? space->size[d] - by[d] : 0, space->size[d]);
        block /= space->size[d];
        if (product->value[d] &&
            !bsearch(&coordinate, product->value[d], (size_t)product->count[d], sizeof(int), trv_compare_int))
            return false;
    }
    return true;
}

bool trv_blocks_contains(const trv_blocks_t *blocks, int64_t unit)
{
    trv_moves_t moves;
    for (int t = 0; t < blocks->terms; t++) {
        const trv_product_t *product = &blocks->term[t];
        if (!(product->halves >> unit % blocks->halves & 1))
            continue;
        for (bool more = trv_moves_begin(&moves, blocks->space, product); more; more = trv_moves_next(&moves))
            if (product_contains(blocks->space, product, moves.by, (int)(unit / blocks->halves)))
                return true;
    }
    return false;
}

/* Writes the units of one product, moved by `by`, and returns their number. The units of a product that is not moved
 * are in ascending order. */
static int64_t product_list(const trv_blocks_t *blocks, const trv_product_t *product, const int *by, int64_t *unit)
{
    const trv_torus_t *space = blocks->space;
    int index[TRV_DIMS_MAX] = {0};
    int64_t written = 0;
    for (int d = 0; d < space->dims; d++)
        if (product->count[d] == 0)
            return 0;
    for (;;) {
        int64_t block = 0;
        for (int d = 0; d < space->dims; d++) {
            int coordinate = product->value[d] ? product->value[d][index[d]] : index[d];
            block = block * space->size[d] + shifted(coordinate, by[d], space->size[d]);
        }
        for (int h = 0; h < blocks->halves; h++)
            if (product->halves >> h & 1)
                unit[written++] = block * blocks->halves + h;
        int d = space->dims - 1;
        while (d >= 0 && ++index[d] == product->count[d])
            index[d--] = 0;
        if (d < 0)
            return written;
    }
}

/* Sorts units, of which no two are equal. Those of most spaces are marked in a bit map, which is faster. */
static void sort_units(const trv_blocks_t *blocks, int64_t *unit, int64_t count)
{
    uint64_t marked[MAPPED_MAX / 64];
    const int64_t units = (int64_t)blocks->space->ranks * blocks->halves, words = (units + 63) / 64;
    int64_t sorted = 0;
    if (units > MAPPED_MAX || words > count) {
        qsort(unit, (size_t)count, sizeof *unit, trv_compare_int64);
        return;
    }
    memset(marked, 0, (size_t)words * sizeof *marked);
    for (int64_t i = 0; i < count; i++)
        marked[unit[i] / 64] |= UINT64_C(1) << unit[i] % 64;
    for (int64_t w = 0; w < words; w++)
        for (uint64_t left = marked[w]; left; left &= left - 1)
            unit[sorted++] = 64 * w + __builtin_ctzll(left);
}

void trv_blocks_list(const trv_blocks_t *blocks, int64_t *unit)
{
    trv_moves_t moves;
    int64_t written = 0;
    bool ascending = blocks->terms <= 1; /* each product ascends, their union and their sums do not */
    for (int t = 0; t < blocks->terms; t++) {
        const trv_product_t *product = &blocks->term[t];
        ascending = ascending && product->shifts == 0;
        for (bool more = trv_moves_begin(&moves, blocks->space, product); more; more = trv_moves_next(&moves))
            written += product_list(blocks, product, moves.by, unit + written);
    }
    if (!ascending)
        sort_units(blocks, unit, written);
}

void trv_blocks_whole(const trv_torus_t *space, int halves, trv_blocks_t *blocks)
{
    trv_blocks_begin(blocks, space, halves);
    trv_product_t *product = trv_blocks_add(blocks, (1 << halves) - 1);
    for (int d = 0; d < space->dims; d++)
        product->count[d] = space->size[d];
}

void trv_blocks_all(const trv_schedule_t *schedule, trv_blocks_t *blocks)
{
    trv_blocks_whole(&schedule->space, schedule->halves, blocks);
}
