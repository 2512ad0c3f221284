/*
 * Star chains of the table and the search, the promises for tori of real machines, and coverings of small tori.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/trivance.h>

#include "base/radix.h"
#include "search/stars/cover.h"
#include "search/stars/search.h"
#include "search/stars/store.h"
#include "stars_check.h"

#define TEXT_MAX 8192
static trv_star_chain_t found[TRV_STAR_FOUND_MAX], chain; /* static because they are large */

static int hops_of(const trv_star_chain_t *stars)
{
    int hops = 0;
    for (int k = 0; k < stars->steps; k++)
        hops += trv_star_hops(stars, k);
    return hops;
}

/* The maximum steps and hops of the first chain of each torus. */
static void test_targets(void **state)
{
    static const struct {
        const char *torus;
        int steps, hops;
    } target[] = {
        {"4x4", 2, 4},       {"5x5", 2, 4},    {"6x6", 3, 6},    {"8x8", 3, 10},    {"12x12", 4, 12},
        {"16x16", 4, 20},    {"4x4x4", 3, 6},  {"8x8x8", 5, 14}, {"4x8", 3, 7},     {"4x4x8", 4, 9},
        {"16x16x16", 6, 30}, {"32x32", 5, 42}, {"8x16", 4, 15},  {"8x8x16", 5, 19}, {"12x12x12", 5, 19},
        {"6x6x6", 3, 10},    {"9x9", 4, 8},    {"27x27", 6, 26}, {"3x3", 2, 2},     {"3x3x3", 3, 3},
        {"2x2", 1, 2},       {"2x2x2", 2, 3},  {"2x2x4", 2, 4},  {"3x4", 2, 3},     {"8x64", 5, 47},
        {"16x64", 5, 50},    {"8", 3, 7},      {"64", 6, 63},    {"81", 4, 40},     {"8x4x1", 3, 7},
        {"25x2", 3, 13},
    };
    (void)state;
    for (size_t i = 0; i < sizeof target / sizeof target[0]; i++) {
        const trv_torus_t torus = torus_of(target[i].torus);
        int count = trv_star_find(&torus, found);
        if (count < 1 || found[0].steps != target[i].steps || hops_of(&found[0]) > target[i].hops)
            fail_msg("%s: %d chains, %d steps, %d hops: %s", target[i].torus, count, found[0].steps, hops_of(&found[0]),
                     trv_last_error());
        for (int c = 0; c < count; c++) {
            assert_memory_equal(&found[c].torus, &torus, sizeof torus);
            assert_true(found[c].direct && trv_star_has_subgroup_tails(&found[c]));
            assert_true(found[c].steps >= found[0].steps);
            expect_ports(&found[c]);
            if (torus.ranks <= 512)
                assert_true(counts_between(&found[c], 1, 1));
        }
    }
}

/* The rows of docs/stars.md agree with the chains that are found. */
static void test_documented_chains(void **state)
{
    FILE *page = fopen(TRIVANCE_TEST_DATA "/../../docs/stars.md", "r");
    char line[512], name[64];
    int rows = 0, steps, windows, bound, hops, diameter;
    (void)state;
    assert_non_null(page);
    while (fgets(line, sizeof line, page)) {
        if (sscanf(line, "| %63s | %d | %d | %d | %d | %d |", name, &steps, &windows, &bound, &hops, &diameter) != 6)
            continue;
        const trv_torus_t torus = torus_of(name);
        assert_true(trv_star_find(&torus, found) > 0);
        if (found[0].steps != steps || hops_of(&found[0]) != hops || trv_star_steps_min(&torus) != bound)
            fail_msg("%s takes %d steps and %d hops, not as %s", name, found[0].steps, hops_of(&found[0]), line);
        for (int d = 0; d < torus.dims; d++) {
            windows -= trv_log_ceil(3, torus.size[d]);
            diameter -= torus.size[d] / 2;
        }
        assert_true(windows == 0 && diameter == 0);
        rows++;
    }
    fclose(page);
    assert_int_equal(rows, 25);
}

static void test_no_chain(void **state)
{
    trv_torus_t torus = torus_of("7x11");
    (void)state;
    assert_int_equal(trv_star_find(&torus, found), TRV_ERR_UNSUPPORTED);
    assert_non_null(
        strstr(trv_last_error(), "7x11 has no star chain: its number of ranks, 77, has the prime factor 11"));
    torus = torus_of("1x1");
    assert_int_equal(trv_star_find(&torus, found), TRV_ERR_UNSUPPORTED);
    assert_int_equal(trv_star_cover(&torus, &chain), TRV_ERR_UNSUPPORTED);
    torus = torus_of("512x512");
    assert_int_equal(trv_star_find(&torus, found), TRV_ERR_UNSUPPORTED);
    assert_non_null(strstr(trv_last_error(), "at most 65536 ranks"));
}

/* The table equals the result of the search, on tori where that takes milliseconds. */
static void test_table(void **state)
{
    int rows = 0, searched = 0;
    (void)state;
    for (const trv_star_row_t *row = trv_star_table; row->key; row++, rows++) {
        char key[TRV_STAR_KEY_MAX], text[TEXT_MAX], *all = calloc(1, TEXT_MAX);
        snprintf(key, sizeof key, "%.*s", (int)strcspn(row->key, "-"), row->key);
        const trv_torus_t torus = torus_of(key);
        if (strcmp(key, row->key) != 0) {
            assert_int_equal(trv_star_cover(&torus, &chain), 0);
            assert_false(chain.direct);
            trv_star_format(&chain, all, TEXT_MAX);
            strcat(all, "\n");
        } else {
            bool again = torus.ranks <= 256 && torus.dims <= 3;
            int count = again ? trv_star_search(&torus, INT64_MAX, (trv_span_t){0}, found)
                              : trv_star_find(&torus, found);
            searched += again;
            for (int c = 0; c < count; c++) {
                trv_star_format(&found[c], text, sizeof text);
                strcat(strcat(all, text), "\n");
            }
        }
        if (strcmp(all, row->text) != 0)
            fail_msg("%s:\n%s", row->key, all);
        free(all);
    }
    assert_true(rows > 100 && searched > 20);
}

/* Every torus up to 16x16 and 8x8x8 has a covering with the minimum number of steps, except for those that are
 * counted. */
static void expect_cover(const trv_torus_t *torus, int *more)
{
    char text[TRV_TORUS_TEXT_MAX];
    trv_torus_format(torus, text, sizeof text);
    if (trv_star_cover(torus, &chain))
        fail_msg("%s: %s", text, trv_last_error());
    assert_true(counts_between(&chain, 1, 1 << 20));
    expect_ports(&chain);
    if (chain.steps > trv_star_steps_min(torus)) {
        assert_int_equal(chain.steps, trv_star_steps_min(torus) + 1);
        (*more)++;
    }
}

static void test_coverings(void **state)
{
    int size[3], more = 0;
    trv_torus_t torus;
    (void)state;
    for (size[0] = 2; size[0] <= 16; size[0]++)
        for (size[1] = size[0]; size[1] <= 16; size[1]++) {
            assert_int_equal(trv_torus_init(&torus, 2, size), 0);
            expect_cover(&torus, &more);
        }
    for (size[0] = 2; size[0] <= 8; size[0]++)
        for (size[1] = size[0]; size[1] <= 8; size[1]++)
            for (size[2] = size[1]; size[2] <= 8; size[2]++) {
                assert_int_equal(trv_torus_init(&torus, 3, size), 0);
                expect_cover(&torus, &more);
            }
    assert_int_equal(more, 14);
    for (size[0] = 2; size[0] <= 100; size[0]++) { /* rings: overlapping windows */
        assert_int_equal(trv_torus_init(&torus, 1, size), 0);
        assert_int_equal(trv_star_cover(&torus, &chain), 0);
        assert_int_equal(chain.steps, trv_star_steps_min(&torus));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets), cmocka_unit_test(test_documented_chains), cmocka_unit_test(test_no_chain),
        cmocka_unit_test(test_table),   cmocka_unit_test(test_coverings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
