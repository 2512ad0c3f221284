/*
 * Every algorithm on every ring of 1 to 243 ranks, by counting every contribution: AllReduce, Reduce-Scatter, AllGather.
 * The quick tier takes a sample of the sizes.
 */
#include "verify_all.h"

static void verifies_every_ring(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 243; ranks++) {
        trv_torus_t torus;
        if (!try_size(ranks))
            continue;
        assert_int_equal(trv_torus_init(&torus, 1, &ranks), TRV_OK);
        assert_true(verify_torus(&torus, TRV_VERIFY_EXHAUSTIVE, TRV_ALLREDUCE, TRV_ALLGATHER) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verifies_every_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
