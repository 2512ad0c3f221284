/*
 * Collectives with a root and the all-to-all: every algorithm on rings, tori and meshes, for several roots, out of
 * place and in place, also in chunks. The quick tier takes tori of up to 16 ranks; the exhaustive tier draws half of
 * the roots of every torus.
 */
#include "test_execute_world.h"

static const char *const tori[] = {"1",   "2",   "3",   "5",  "8",     "9",    "1x1",   "2x2",   "3x3",     "2x3",
                                   "4x4", "5x7", "1x9", "8m", "2x2x2", "3mx4", "5mx4m", "3x3x3", "2x3x2x2", "4x8"};

static void run(const trv_schedule_t *schedule)
{
    static const size_t count[] = {0, 1, 5, 131};
    for (size_t c = 0; c < sizeof count / sizeof *count; c++)
        world_try(schedule, count[c], 0);
}

static void run_chunks(const trv_schedule_t *schedule)
{
    const size_t n = (size_t)trv_schedule_torus(schedule)->ranks;
    world_try(schedule, 131, 4 * 17 * n);
    world_try(schedule, 5, 1); /* a chunk per element */
}

static void every_torus(void (*work)(const trv_schedule_t *schedule))
{
    for (size_t t = 0; t < sizeof tori / sizeof *tori; t++) {
        trv_torus_t torus;
        assert_int_equal(trv_torus_parse(tori[t], &torus), 0);
        if (!exhaustive() && torus.ranks > 16)
            continue;
        for (int c = TRV_BROADCAST; c <= TRV_GATHER; c++)
            for (int root = 0; root < torus.ranks; root += 1 + (exhaustive() ? sample_draw(7) : torus.ranks / 3))
                assert_true(world_every_root(&torus, (trv_collective_t)c, root, work) >= 4);
        assert_true(world_every(&torus, TRV_ALLTOALL, work) >= 5);
    }
}

static void test_whole(void **state)
{
    (void)state;
    every_torus(run);
}

static void test_chunks(void **state)
{
    (void)state;
    every_torus(run_chunks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
