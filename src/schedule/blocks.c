/*
 * Sets of units: unions of disjoint products of coordinates.
 */
#include <stdlib.h>

#include "schedule/schedule.h"
#include "torus/torus.h"

static int halves_in(int mask)
{
    return (mask & 1) + (mask >> 1 & 1);
}

int64_t trv_blocks_count(const trv_blocks_t *blocks)
{
    int64_t total = 0;
    for (int t = 0; t < blocks->terms; t++) {
        int64_t count = halves_in(blocks->term[t].halves);
        for (int d = 0; d < blocks->space->dims; d++)
            count *= blocks->term[t].count[d];
        total += count;
    }
    return total;
}

static int compare_int(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static bool product_contains(const trv_blocks_t *blocks, const trv_product_t *product, int block, int half)
{
    if (!(product->halves >> half & 1))
        return false;
    for (int d = blocks->space->dims - 1; d >= 0; d--) {
        int coordinate = block % blocks->space->size[d];
        block /= blocks->space->size[d];
        if (product->value[d] &&
            !bsearch(&coordinate, product->value[d], (size_t)product->count[d], sizeof(int), compare_int))
            return false;
    }
    return true;
}

bool trv_blocks_contains(const trv_blocks_t *blocks, int64_t unit)
{
    for (int t = 0; t < blocks->terms; t++)
        if (product_contains(blocks, &blocks->term[t], (int)(unit / blocks->halves), (int)(unit % blocks->halves)))
            return true;
    return false;
}

/* Writes the units of one product, ascending; returns how many. */
static int64_t product_list(const trv_blocks_t *blocks, const trv_product_t *product, int64_t *unit)
{
    const trv_torus_t *space = blocks->space;
    int index[TRV_DIMS_MAX] = {0};
    int64_t written = 0;
    for (int d = 0; d < space->dims; d++)
        if (product->count[d] == 0)
            return 0;
    for (;;) {
        int64_t block = 0;
        for (int d = 0; d < space->dims; d++)
            block = block * space->size[d] + (product->value[d] ? product->value[d][index[d]] : index[d]);
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

static int compare_unit(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void trv_blocks_list(const trv_blocks_t *blocks, int64_t *unit)
{
    int64_t written = 0;
    for (int t = 0; t < blocks->terms; t++)
        written += product_list(blocks, &blocks->term[t], unit + written);
    if (blocks->terms > 1) /* each product is ascending already, their union is not */
        qsort(unit, (size_t)written, sizeof *unit, compare_unit);
}

trv_blocks_t trv_blocks_whole(const trv_torus_t *space, int halves)
{
    trv_blocks_t blocks = {.space = space, .halves = halves, .terms = 1};
    blocks.term[0].halves = (1 << halves) - 1;
    for (int d = 0; d < space->dims; d++)
        blocks.term[0].count[d] = space->size[d];
    return blocks;
}

trv_blocks_t trv_blocks_all(const trv_schedule_t *schedule)
{
    return trv_blocks_whole(&schedule->space, schedule->halves);
}
