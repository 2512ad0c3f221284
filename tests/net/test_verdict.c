/*
 * trivance topology --ports: which gains of the rounds mean two paths, which one path, and which are unclear. The limit
 * is 1.5 (docs/connections.md: both directions at once take less than 2/3 of the time of one after the other).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/ports/verdict.h"

#define PATHS(shared, ...)                                                                                             \
    trv_verdict_paths((const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double), shared)

static void test_agreeing_rounds(void **state)
{
    (void)state;
    assert_int_equal(PATHS(false, 1.9, 1.98, 2.0), TRV_PATHS_TWO);
    assert_int_equal(PATHS(false, 1.5, 1.5, 1.5), TRV_PATHS_TWO);
    assert_int_equal(PATHS(false, 0.9, 1.0, 1.49), TRV_PATHS_ROUTE);
    assert_int_equal(PATHS(true, 0.9, 1.0, 1.49), TRV_PATHS_INTERFACE);
    /* An interface many times as fast as a link: the measurement takes precedence over the map. */
    assert_int_equal(PATHS(true, 1.9, 1.98, 2.0), TRV_PATHS_TWO);
}

/* Of three rounds all must agree; of seven, one at either end is ignored; of eleven, two. */
static void test_rounds_that_differ(void **state)
{
    (void)state;
    assert_int_equal(PATHS(false, 1.0, 1.9, 2.0), TRV_PATHS_UNCLEAR);
    assert_int_equal(PATHS(false, 1.0, 1.1, 2.0), TRV_PATHS_UNCLEAR);
    assert_int_equal(PATHS(false, 1.0, 1.9, 1.9, 1.9, 2.0, 2.0, 2.0), TRV_PATHS_TWO);
    assert_int_equal(PATHS(false, 1.0, 1.1, 1.9, 1.9, 2.0, 2.0, 2.0), TRV_PATHS_UNCLEAR);
    assert_int_equal(PATHS(true, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0), TRV_PATHS_INTERFACE);
    assert_int_equal(PATHS(true, 0.9, 1.0, 1.0, 1.0, 1.0, 1.9, 2.0), TRV_PATHS_UNCLEAR);
    assert_int_equal(PATHS(false, 1.0, 1.0, 1.6, 1.6, 1.7, 1.8, 1.9, 1.9, 2.0, 2.0, 2.0), TRV_PATHS_TWO);
    assert_int_equal(PATHS(false, 1.0, 1.0, 1.0, 1.6, 1.7, 1.8, 1.9, 1.9, 2.0, 2.0, 2.0), TRV_PATHS_UNCLEAR);
    assert_int_equal(PATHS(false, 1.0, 1.0, 1.0, 1.0, 1.0, 1.1, 1.2, 1.3, 1.4, 1.8, 2.0), TRV_PATHS_ROUTE);
}

/* Long messages may leave time for only one round, which then determines the verdict. */
static void test_one_round(void **state)
{
    (void)state;
    assert_int_equal(PATHS(false, 2.0), TRV_PATHS_TWO);
    assert_int_equal(PATHS(false, 1.0), TRV_PATHS_ROUTE);
    assert_int_equal(trv_verdict_paths(NULL, 0, true), TRV_PATHS_UNCLEAR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_agreeing_rounds),
                                       cmocka_unit_test(test_rounds_that_differ), cmocka_unit_test(test_one_round)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
