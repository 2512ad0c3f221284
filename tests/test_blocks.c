/*
 * Sets of units with sums of displacements: count, list and contains, and the verifier's lists, compared with sums that
 * are enumerated one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/schedule.h>

#include "verify/verifier.h"

enum { UNITS_MAX = 1024 };

/* Marks the unit at the given coordinates, moved by every sum of the lists from `list` on; returns the marks made. */
static int mark_moved(const trv_torus_t *space, const trv_product_t *product, int list, const int *at, int halves,
                      bool *marked)
{
    int marks = 0, next[TRV_DIMS_MAX];
    if (list == product->shifts) {
        for (int h = 0; h < halves; h++)
            if (product->halves >> h & 1) {
                marked[trv_torus_rank(space, at) * halves + h] = true;
                marks++;
            }
        return marks;
    }
    for (int i = 0; i < product->shift[list].count; i++) {
        for (int d = 0; d < space->dims; d++)
            next[d] = (at[d] + product->shift[list].vector[i * space->dims + d]) % space->size[d];
        marks += mark_moved(space, product, list + 1, next, halves, marked);
    }
    return marks;
}

static int64_t mark(const trv_blocks_t *blocks, bool *marked)
{
    const trv_torus_t *space = blocks->space;
    int64_t marks = 0;
    memset(marked, 0, UNITS_MAX * sizeof *marked);
    for (int t = 0; t < blocks->terms; t++)
        for (int block = 0; block < space->ranks; block++) {
            int at[TRV_DIMS_MAX];
            bool in = true;
            trv_torus_coordinates(space, block, at);
            for (int d = 0; d < space->dims; d++) {
                bool found = blocks->term[t].value[d] == NULL;
                for (int i = 0; i < blocks->term[t].count[d] && !found; i++)
                    found = blocks->term[t].value[d][i] == at[d];
                in = in && found;
            }
            if (in)
                marks += mark_moved(space, &blocks->term[t], 0, at, blocks->halves, marked);
        }
    return marks;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Compares all functions, and the verifier's lists of parts of the set, with the marks. */
static void check_set(const trv_blocks_t *blocks)
{
    static bool marked[UNITS_MAX];
    static int64_t unit[UNITS_MAX];
    static uint32_t part[UNITS_MAX];
    int64_t units = (int64_t)blocks->space->ranks * blocks->halves, count = mark(blocks, marked), listed = 0;
    assert_int_equal(trv_blocks_count(blocks), count);
    assert_true(trv_units_valid(blocks));
    trv_blocks_list(blocks, unit);
    for (int64_t u = 0; u < units; u++) {
        assert_int_equal(trv_blocks_contains(blocks, u), marked[u]);
        if (marked[u])
            assert_int_equal(unit[listed++], u);
    }
    assert_int_equal(listed, count);
    for (int64_t first = 0, in = 0; first < units; first += units / 3 + 1) {
        size_t some = trv_units_list(blocks, first, units / 3 + 1, part);
        qsort(part, some, sizeof *part, ascending);
        for (size_t i = 0; i < some; i++)
            assert_int_equal(part[i] + first, unit[in++]);
    }
}

static void sums_of_displacements(void **state)
{
    (void)state;
    trv_torus_t space;
    const trv_shifts_t star[] = {{4, (int[]){0, 0, 1, 0, 0, 1, 3, 0}}, {4, (int[]){0, 0, 2, 1, 0, 2, 2, 3}}};
    assert_int_equal(trv_torus_parse("4x4", &space), TRV_OK);
    trv_blocks_t blocks = {.space = &space, .halves = 1, .terms = 1};
    blocks.term[0] = (trv_product_t){.halves = 1, .count = {1, 1}, .value = {(int[]){3}, (int[]){2}}};
    check_set(&blocks); /* one block */
    blocks.term[0].shift = star;
    for (int lists = 1; lists <= 2; lists++) {
        blocks.term[0].shifts = lists;
        check_set(&blocks);
        assert_int_equal(trv_blocks_count(&blocks), lists == 1 ? 4 : 16);
    }
    blocks.term[0].shifts = 1;
    blocks.term[0].shift = &(trv_shifts_t){0, NULL};
    check_set(&blocks);
    assert_int_equal(trv_blocks_count(&blocks), 0);
}

/* Products of several coordinates, moved by sums; of one that is not moved; of halves. */
static void products_and_sums(void **state)
{
    (void)state;
    trv_torus_t space;
    assert_int_equal(trv_torus_parse("5x3x6", &space), TRV_OK);
    trv_blocks_t blocks = {.space = &space, .halves = 2, .terms = 2};
    blocks.term[0] = (trv_product_t){.halves = 1,
                                     .count = {2, 3, 1},
                                     .value = {(int[]){0, 3}, NULL, (int[]){5}},
                                     .shifts = 2,
                                     .shift = (trv_shifts_t[]){{2, (int[]){0, 0, 0, 4, 0, 0}},
                                                               {3, (int[]){0, 1, 0, 0, 2, 1, 0, 0, 4}}}};
    blocks.term[1] = (trv_product_t){.halves = 2, .count = {5, 1, 2}, .value = {NULL, (int[]){1}, (int[]){2, 4}}};
    check_set(&blocks);
    assert_int_equal(trv_blocks_count(&blocks), 2 * 3 * 2 * 3 + 5 * 2);
}

static void displacements_out_of_range(void **state)
{
    (void)state;
    trv_torus_t space;
    assert_int_equal(trv_torus_parse("4x4", &space), TRV_OK);
    trv_blocks_t blocks = {.space = &space, .halves = 1, .terms = 1};
    blocks.term[0] = (trv_product_t){.halves = 1, .count = {1, 1}, .value = {(int[]){0}, (int[]){0}}, .shifts = 1};
    blocks.term[0].shift = &(trv_shifts_t){2, (int[]){0, 0, 0, 4}};
    assert_false(trv_units_valid(&blocks));
    blocks.term[0].shift = &(trv_shifts_t){2, (int[]){0, 0, -1, 0}};
    assert_false(trv_units_valid(&blocks));
    blocks.term[0].shifts = TRV_SHIFTS_MAX + 1;
    assert_false(trv_units_valid(&blocks));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_displacements),
        cmocka_unit_test(products_and_sums),
        cmocka_unit_test(displacements_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
