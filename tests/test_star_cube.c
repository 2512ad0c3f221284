/*
 * Stars on the 4096 ranks of 16x16x16, by random 64-bit values: two of the streams, of which the others are images.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <trivance/algorithms.h>
#include <trivance/verify.h>

static void verifies_the_cube(void **state)
{
    static const char *const names[] = {"star:b:0:2", "star:345:0:2", "star:l:0:2"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        trv_torus_t torus;
        trv_schedule_t *schedule;
        trv_verdict_t verdict = {TRV_VERDICT};
        assert_int_equal(trv_torus_parse("16x16x16", &torus), TRV_OK);
        if (trv_schedule_create(&schedule, &torus, names[i], TRV_ALLREDUCE))
            fail_msg("%s: %s", names[i], trv_last_error());
        assert_int_equal(trv_verify(schedule, TRV_VERIFY_RANDOM, &verdict, NULL, NULL), TRV_OK);
        if (!verdict.valid || !verdict.consistent)
            fail_msg("%s: %s", names[i], verdict.valid ? "consistency" : verdict.fault);
        trv_schedule_destroy(schedule);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verifies_the_cube),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
