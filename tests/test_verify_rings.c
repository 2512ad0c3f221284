/*
 * Every algorithm on rings of up to 243 ranks, by counting every contribution: AllReduce, Reduce-Scatter, AllGather.
 * The exhaustive tier takes all sizes up to 128 and every third of the others, besides the sample of the quick tier.
 */
#include "verify_all.h"

static void test_rings(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 243; ranks++) {
        trv_torus_t torus;
        if (!in_sample(ranks) && !(exhaustive() && (ranks <= 128 || ranks % 3 == 0)))
            continue;
        assert_int_equal(trv_torus_init(&torus, 1, &ranks), TRV_OK);
        assert_true(verify_torus(&torus, TRV_VERIFY_EXHAUSTIVE, TRV_ALLREDUCE, TRV_ALLGATHER) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
