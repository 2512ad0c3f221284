/*
 * Thousands of ranks, by random 64-bit values: AllReduce by every algorithm on the 4096 ranks of 16x16x16, Reduce-Scatter
 * and AllGather, of which those AllReduces are made, on the 2048 ranks of 8x16x16, and stars on 16x16x16.
 *
 * The exhaustive tier alone runs this program, one test at a time: the first argument is the pattern of the tests' names.
 * tests/CMakeLists.txt lists the patterns; a new test needs one.
 */
#include "verify_all.h"

static trv_torus_t cube;

static int parse_cube(void **state)
{
    (void)state;
    return trv_torus_parse("16x16x16", &cube);
}

/* Every second algorithm of the table, from `first` on: all of them together take a minute. */
static void verify_every_second(int first)
{
    int verified = 0;
    for (int i = first; i < trv_algorithms_count(); i += 2) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if (trv_algorithm_parameters(algorithm) || trv_algorithm_supports(algorithm, &cube, TRV_ALLREDUCE))
            continue;
        verify_one(algorithm, &cube, TRV_ALLREDUCE, TRV_VERIFY_RANDOM);
        verified++;
    }
    assert_true(verified >= 4);
}

static void allreduce_by_even_algorithms(void **state)
{
    (void)state;
    verify_every_second(0);
}

static void allreduce_by_odd_algorithms(void **state)
{
    (void)state;
    verify_every_second(1);
}

static void phases(void **state)
{
    (void)state;
    verify_text("8x16x16", TRV_VERIFY_RANDOM, TRV_REDUCE_SCATTER, TRV_ALLGATHER);
}

static void random_values_are_chosen_where_counts_are_expensive(void **state)
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

/* Two of the streams, of which the others are images. */
static void stars(void **state)
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
        cmocka_unit_test(allreduce_by_even_algorithms),
        cmocka_unit_test(allreduce_by_odd_algorithms),
        cmocka_unit_test(phases),
        cmocka_unit_test(random_values_are_chosen_where_counts_are_expensive),
        cmocka_unit_test(stars),
    };
    if (count > 1)
        cmocka_set_test_filter(argument[1]);
    return cmocka_run_group_tests(tests, parse_cube, NULL);
}
