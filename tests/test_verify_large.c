/*
 * Thousands of ranks, by random 64-bit values: all collectives by every algorithm on the 2048 ranks of 8x16x16, and
 * stars on the 4096 ranks of 16x16x16.
 *
 * Only the exhaustive tier runs this program, one test at a time: the first argument is a pattern for the tests' names.
 * tests/CMakeLists.txt lists the patterns; a new test needs one.
 */
#include "verify_all.h"

static trv_torus_t box, cube;

static int parse_tori(void **state)
{
    (void)state;
    int rc = trv_torus_parse("8x16x16", &box);
    return rc ? rc : trv_torus_parse("16x16x16", &cube);
}

static void test_allreduce(void **state)
{
    int verified = 0;
    (void)state;
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if (has_parameters(algorithm) || trv_algorithm_supports(algorithm, &box, TRV_ALLREDUCE))
            continue;
        verify_one(algorithm, &box, TRV_ALLREDUCE, TRV_VERIFY_RANDOM);
        verified++;
    }
    assert_true(verified >= 10);
}

static void test_reduce_scatter_and_allgather(void **state)
{
    (void)state;
    verify_text("8x16x16", TRV_VERIFY_RANDOM, TRV_REDUCE_SCATTER, TRV_ALLGATHER);
}

static void test_random_method(void **state)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    trv_verdict_t verdict = {TRV_VERDICT};
    (void)state;
    assert_int_equal(trv_torus_parse("12x12x16", &torus), TRV_OK);
    assert_int_equal(trv_schedule_create(&schedule, &torus, "trivance-b", TRV_ALLREDUCE), TRV_OK);
    assert_int_equal(trv_verify(schedule, TRV_VERIFY_AUTO, &verdict, NULL, NULL), TRV_OK);
    assert_int_equal(verdict.method, TRV_VERIFY_RANDOM);
    assert_true(verdict.valid);
    trv_schedule_destroy(schedule);
}

/* Two of the streams; the others are images of them. */
static void test_stars(void **state)
{
    static const char *const names[] = {"star:b:0:2", "star:345:0:2", "star:l:0:2"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        trv_schedule_t *schedule;
        trv_verdict_t verdict = {TRV_VERDICT};
        if (trv_schedule_create(&schedule, &cube, names[i], TRV_ALLREDUCE))
            fail_msg("%s: %s", names[i], trv_last_error());
        assert_int_equal(trv_verify(schedule, TRV_VERIFY_RANDOM, &verdict, NULL, NULL), TRV_OK);
        if (!verdict.valid || !verdict.consistent)
            fail_msg("%s: %s", names[i], verdict.valid ? "consistency" : verdict.fault);
        trv_schedule_destroy(schedule);
    }
}

int main(int count, char **argument)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allreduce),
        cmocka_unit_test(test_reduce_scatter_and_allgather),
        cmocka_unit_test(test_random_method),
        cmocka_unit_test(test_stars),
    };
    if (count > 1)
        cmocka_set_test_filter(argument[1]);
    return cmocka_run_group_tests(tests, parse_tori, NULL);
}
