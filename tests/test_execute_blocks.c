/*
 * Reduce-Scatter and AllGather by every algorithm that supports them, on every ring of 2 to 64 ranks (a sample in the
 * quick tier); long blocks on rings of up to 9. The exhaustive tier draws two of the counts for every ring and
 * algorithm.
 */
#include "test_execute_world.h"

static void every_count(const trv_schedule_t *schedule)
{
    static const size_t counts[] = {0, 1, 2, 3, 7, 65, 1000, 4099};
    const int ranks = trv_schedule_torus(schedule)->ranks;
    const int all = ranks <= 9 ? 8 : ranks <= 18 || exhaustive() ? 6 : 4;
    if (exhaustive())
        for (int c = 0, first = sample_draw(all); c < 2; c++)
            world_try(schedule, counts[(first + 3 * c) % all], 0);
    for (int c = 0; !exhaustive() && c < all; c += ranks <= 33 ? 1 : 2)
        world_try(schedule, counts[c], 0);
}

static void test_reduce_scatter(void **state)
{
    (void)state;
    world_rings(TRV_REDUCE_SCATTER, 3, every_count);
}

static void test_allgather(void **state)
{
    (void)state;
    world_rings(TRV_ALLGATHER, 3, every_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reduce_scatter), cmocka_unit_test(test_allgather)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
