/*
 * AllReduce by every algorithm on every ring of 2 to 64 ranks (a sample in the quick tier), with counts around the
 * boundary cases: none, one, fewer than ranks, as many, one more, not divisible. The exhaustive tier draws three of the
 * counts for every ring and algorithm.
 */
#include "test_execute_world.h"

static void every_count(const trv_schedule_t *schedule)
{
    const size_t n = (size_t)trv_schedule_torus(schedule)->ranks;
    const size_t counts[] = {0, 1, 2, n - 1, n, n + 1, 1000, 4099};
    const int all = sizeof counts / sizeof *counts;
    if (exhaustive())
        for (int c = 0, first = sample_draw(all); c < 3; c++)
            world_try(schedule, counts[(first + 3 * c) % all], 0);
    for (int c = 0; !exhaustive() && c < (n <= 18 ? all : all - 2); c += n <= 18 ? 2 : 3)
        world_try(schedule, counts[c], 0);
}

static void test_every_ring(void **state)
{
    (void)state;
    world_rings(TRV_ALLREDUCE, 4, every_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_ring)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
