/*
 * Every algorithm on rings of up to 243 ranks, by counting every contribution: AllReduce, Reduce-Scatter, AllGather.
 * The quick tier takes a sample up to 82. The exhaustive tier takes all other sizes up to 128, and draws some of the
 * larger ones.
 */
#include "verify_all.h"

static void test_rings(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 243; ranks++) {
        trv_torus_t torus;
        const bool quick = in_sample(ranks) && ranks <= 82;
        if (exhaustive() ? quick || (ranks > 128 && !in_sample(ranks) && sample_draw(12) > 0) : !quick)
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
