/*
 * Every algorithm and collective on tori, also in chunks; floating point on consistent schedules (identical bits on
 * every rank); 16-bit floating point. The quick tier takes tori of up to 16 ranks, the exhaustive tier the others: two
 * of the counts, drawn for every torus and algorithm.
 */
#include "test_execute_world.h"

static const char *const tori[] = {"1",      "1x1",   "2x2",     "3x3",   "2x3",
                                   "4x4",    "5x7",   "1x9",     "2x2x2", "5x1x4",
                                   "3x9x2",  "3x3x3", "2x3x2x2", "4x8",   "1x2x1x3",
                                   "9m",     "8m",    "3mx4",    "5mx4m", "1x2x1x1x2x1x1x2",
                                   "2x2x2x2"};

static void whole(const trv_schedule_t *schedule)
{
    const size_t n = (size_t)trv_schedule_torus(schedule)->ranks;
    const size_t allreduce[] = {0, 1, n, n + 1, 4099}, blocks[] = {0, 1, 5, 131};
    bool vector = trv_schedule_collective(schedule) == TRV_ALLREDUCE;
    const int all = vector && (n <= 16 || exhaustive()) ? 5 : 4;
    const int tried = exhaustive() ? 2 : all, step = !exhaustive() && n > 9 ? 2 : 1;
    for (int c = 0, first = exhaustive() ? sample_draw(all) : (int)n % 2; c < tried; c += step) {
        const int i = (first + c) % all;
        world_try(schedule, vector ? allreduce[i] : blocks[i], 0);
    }
}

/* More chunks than lanes, with lengths that leave an odd last one. */
static void chunked(const trv_schedule_t *schedule)
{
    const size_t n = (size_t)trv_schedule_torus(schedule)->ranks;
    bool vector = trv_schedule_collective(schedule) == TRV_ALLREDUCE;
    if (n <= 16 || exhaustive())
        world_try(schedule, vector ? 4099 : 131, 4 * (vector ? 400 : 17 * n));
    world_try(schedule, 11, 4 * (vector ? 3 : 3 * n));
    world_try(schedule, 5, 1); /* a chunk per element */
}

static void every_torus(void (*work)(const trv_schedule_t *schedule))
{
    for (size_t t = 0; t < sizeof tori / sizeof *tori; t++) {
        trv_torus_t torus;
        assert_int_equal(trv_torus_parse(tori[t], &torus), 0);
        if (exhaustive() == (torus.ranks <= 16))
            continue;
        for (int collective = TRV_ALLREDUCE; collective <= TRV_ALLGATHER; collective++)
            assert_true(world_every(&torus, (trv_collective_t)collective, work) >= 2);
    }
}

static void test_tori(void **state)
{
    (void)state;
    every_torus(whole);
}

static void test_chunks(void **state)
{
    (void)state;
    every_torus(chunked);
}

/* Floats whose sum is rounded: all ranks must have identical bits, close to the sum in double precision. */
static void consistent(const trv_schedule_t *schedule)
{
    enum { count = 257 };
    if (!trv_schedule_consistent(schedule))
        return;
    const trv_elements_t elements = {.type = TRV_FLOAT, .op = TRV_SUM};
    world_t world = world_make(schedule, count, &elements, NULL);
    double sum[count] = {0};
    for (int r = 0; r < world.ranks; r++)
        for (int i = 0; i < count; i++) {
            float value = (float)(contribution(r, (size_t)i) % 99991) / 7.0f;
            ((float *)world.input[r])[i] = value;
            sum[i] += value;
        }
    world_run(&world, false);
    for (int r = 1; r < world.ranks; r++)
        if (memcmp(world.output[r], world.output[0], count * sizeof(float)))
            fail_msg("%s: rank %d differs from rank 0", trv_schedule_name(schedule), r);
    for (int i = 0; i < count; i++) {
        double ratio = ((float *)world.output[0])[i] / sum[i];
        assert_true(ratio > 0.99999 && ratio < 1.00001);
    }
    world_destroy(&world);
}

static void test_consistent(void **state)
{
    (void)state;
    int served = 0;
    for (size_t t = 0; t < sizeof tori / sizeof *tori; t++) {
        trv_torus_t torus;
        assert_int_equal(trv_torus_parse(tori[t], &torus), 0);
        served += world_every(&torus, TRV_ALLREDUCE, consistent);
    }
    assert_true(served > 50);
}

/* Small integers are exact in 16-bit floating point as long as their sum is: up to 2048 in half, 256 in bfloat16. */
static void shorts(const trv_schedule_t *schedule)
{
    enum { count = 77 };
    if (trv_schedule_exactness(schedule) == TRV_COVERS)
        return;
    for (int type = TRV_FLOAT16; type <= TRV_BFLOAT16; type++) {
        const uint16_t one = type == TRV_FLOAT16 ? 0x3c00 : 0x3f80;
        const trv_elements_t elements = {.type = (trv_type_t)type, .op = TRV_SUM};
        world_t world = world_make(schedule, count, &elements, NULL);
        for (int r = 0; r < world.ranks; r++)
            for (int i = 0; i < count; i++)
                ((uint16_t *)world.input[r])[i] = (i + r) % 2 ? one : 0;
        world_run(&world, false);
        for (int r = 0; r < world.ranks; r++)
            for (int i = 0; i < count; i++) {
                int ones = i % 2 ? (world.ranks + 1) / 2 : world.ranks / 2;
                uint16_t bits = ((uint16_t *)world.output[r])[i];
                float value;
                uint32_t wide = (uint32_t)bits << 16;
                memcpy(&value, &wide, sizeof value);
                if (type == TRV_FLOAT16) /* a normal number, or 0 */
                    value = bits ? (float)(0x400 | (bits & 0x3ff)) / 1024.0f * (float)(1 << ((bits >> 10) - 15)) : 0;
                assert_true(value == (float)ones);
            }
        world_destroy(&world);
    }
}

static void test_short_floats(void **state)
{
    (void)state;
    trv_torus_t torus;
    assert_int_equal(trv_torus_parse("3x5", &torus), 0);
    assert_true(world_every(&torus, TRV_ALLREDUCE, shorts) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tori),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_consistent),
        cmocka_unit_test(test_short_floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
