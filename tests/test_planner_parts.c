/*
 * The parts of a plan's time, and the fastest member of a family.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include <trivance/trivance.h>

#include "planner/ranking.h"

static const trv_simulate_options_t paper = TRV_SIMULATE_DEFAULTS;

static trv_torus_t torus_of(const char *text)
{
    trv_torus_t torus;
    if (trv_torus_parse(text, &torus))
        fail_msg("%s", trv_last_error());
    return torus;
}

/* The plan for an allreduce on 9x9. */
static trv_planner_choice_t best(const trv_simulate_options_t *network, uint64_t bytes)
{
    const trv_torus_t torus = torus_of("9x9");
    trv_planner_choice_t choice;
    if (trv_planner_best(&torus, TRV_ALLREDUCE, 0, bytes, network, NULL, &choice))
        fail_msg("%llu bytes: %s", (unsigned long long)bytes, trv_last_error());
    return choice;
}

static void test_time_parts(void **state)
{
    (void)state;
    trv_planner_choice_t choice = best(&paper, 1 << 20), empty = best(&paper, 1);
    assert_true(choice.alpha_ns == choice.steps * paper.alpha_ns);
    assert_true(fabs(choice.alpha_ns + choice.hops_ns + choice.transmission_ns - choice.time_ns) <
                1e-6 * choice.time_ns);
    assert_true(choice.hops_ns > 0 && choice.transmission_ns > 0);
    /* Trivance L: 4 steps of 1 and 3 hops, 200 ns per hop, 300 ns per step for its nodes and its last router. */
    assert_int_equal(empty.steps, 4);
    assert_true(empty.transmission_ns == 0 && fabs(empty.hops_ns - 8 * 200 - 4 * 300) < 50);
    /* 0 bytes take less than one byte, which is reduced. */
    trv_simulate_options_t reducing = paper;
    reducing.gamma_ns = 1;
    choice = best(&reducing, 0);
    assert_true(choice.transmission_ns == 0 && choice.alpha_ns + choice.hops_ns == choice.time_ns);
}

/* The fastest member of a family is that of trv_planner_time, within a limit and with one or two queues per link. */
static void test_family(void **state)
{
    static const char *const member[] = {"trivance-l", "trivance-b"};
    const trv_torus_t torus = torus_of("4x6");
    (void)state;
    for (int c = 0; c < 2; c++) {
        trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
        trv_planner_t *planner, *alone;
        int differ = 0;
        network.model = c ? TRV_DATELINE : TRV_FIFO;
        assert_int_equal(trv_planner_create(&planner, &torus, TRV_ALLREDUCE, 0, &network, NULL), TRV_OK);
        assert_int_equal(trv_planner_create(&alone, &torus, TRV_ALLREDUCE, 0, &network, NULL), TRV_OK);
        for (uint64_t bytes = 32; bytes <= 32 << 20; bytes *= 16) {
            trv_planner_choice_t choice, best = {.time_ns = INFINITY};
            for (int m = 0; m < 2; m++) {
                assert_int_equal(trv_planner_time(alone, bytes, member[m], &choice), TRV_OK);
                best = choice.time_ns < best.time_ns ? choice : best;
            }
            assert_int_equal(trv_planner_time_family(planner, bytes, "trivance", INFINITY, &choice), TRV_OK);
            assert_string_equal(choice.algorithm, best.algorithm);
            assert_true(choice.time_ns == best.time_ns && choice.alpha_ns == best.alpha_ns);
            differ |= 1 << (strcmp(best.algorithm, member[0]) == 0);
        }
        assert_int_equal(differ, 3);
        trv_planner_choice_t choice;
        assert_int_equal(trv_planner_time_family(planner, 4096, "trivance", 1, &choice), TRV_OK);
        assert_true(isinf(choice.time_ns));
        assert_int_equal(trv_planner_time_family(planner, 4096, "ring", INFINITY, &choice), TRV_ERR_UNSUPPORTED);
        trv_planner_destroy(planner);
        trv_planner_destroy(alone);
    }
}

/* Ranks are idle in some steps, so that steps * alpha exceeds the time of a vector of one byte; hops still count. */
static void test_parts_of_idle_ranks(void **state)
{
    const trv_torus_t torus = torus_of("16x16");
    trv_planner_choice_t choice;
    trv_planner_t *planner;
    (void)state;
    assert_int_equal(trv_planner_create(&planner, &torus, TRV_ALLREDUCE, 0, &paper, NULL), TRV_OK);
    assert_int_equal(trv_planner_time(planner, 64 << 10, "line-pipelined:1", &choice), TRV_OK);
    assert_true(choice.alpha_ns + choice.hops_ns < choice.steps * paper.alpha_ns);
    assert_true(choice.hops_ns > 100 * choice.steps && choice.alpha_ns > 0.5 * choice.steps * paper.alpha_ns);
    trv_planner_destroy(planner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_parts),
        cmocka_unit_test(test_family),
        cmocka_unit_test(test_parts_of_idle_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
