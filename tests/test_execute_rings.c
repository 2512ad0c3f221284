/*
 * AllReduce by every algorithm on every ring of 2 to 64 ranks, with counts around everything that can go wrong: none,
 * one, fewer than ranks, as many, one more, divisible by nothing.
 */
#include "test_execute_world.h"

static void every_count(const trv_schedule_t *schedule)
{
    const size_t n = (size_t)trv_schedule_torus(schedule)->ranks;
    const size_t counts[] = {0, 1, 2, n - 1, n, n + 1, 1000, 4099};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        world_try(schedule, counts[c], 0);
}

static void test_every_ring(void **state)
{
    (void)state;
    for (int n = 2; n <= 64; n++) {
        trv_torus_t torus;
        assert_int_equal(trv_torus_init(&torus, 1, &n), 0);
        assert_true(world_every(&torus, TRV_ALLREDUCE, every_count) >= 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_ring)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
