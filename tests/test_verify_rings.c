/*
 * Every algorithm on rings of up to 243 ranks, by counting every contribution: AllReduce, Reduce-Scatter, AllGather.
 * The exhaustive tier takes all sizes up to 128 that the quick tier leaves out, and draws some of the others.
 */
#include "verify_all.h"

static void test_rings(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 243; ranks++) {
        trv_torus_t torus;
        if (exhaustive() ? in_sample(ranks) || (ranks > 128 && sample_draw(12) > 0) : !in_sample(ranks))
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
