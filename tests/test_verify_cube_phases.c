/*
 * Every algorithm on the 4096 ranks of 16x16x16 by random 64-bit values: Reduce-Scatter and AllGather.
 */
#include "verify_all.h"

static void verifies_the_cube(void **state)
{
    (void)state;
    verify_text(SANITIZED ? "6x6x6" : "16x16x16", TRV_VERIFY_RANDOM, TRV_REDUCE_SCATTER, TRV_ALLGATHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verifies_the_cube),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
