/*
 * One plan runs with any count: successive runs with different counts give the results of new plans and send as many
 * bytes. Equal plans share a program, even with other elements. Hooks for scratch memory. The quick tier takes tori of
 * up to 12 ranks, the exhaustive tier the others, with random counts.
 */
#include <pthread.h>

#include "test_execute_world.h"

enum { COUNT_MAX = 700, ROUNDS = 12 };

static uint64_t seed = 1;

static size_t random_below(size_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(seed >> 33) % limit;
}

/* Sets the count of the world's next run. Buffers have the size of the largest count. */
static void set_count(world_t *world, size_t count)
{
    const size_t n = (size_t)world->ranks;
    world->count = count;
    world->in = world->collective == TRV_REDUCE_SCATTER ? n * count : count;
    world->out = world->collective == TRV_ALLGATHER ? n * count : count;
}

static void run_count(world_t *world, bool in_place)
{
    for (int r = 0; r < world->ranks; r++)
        if (trv_plan_start_count(world->plan[r], world->count, in_place ? world->output[r] : world->input[r],
                                 world->output[r]))
            fail_msg("%s, count %zu: %s", trv_schedule_name(world->schedule), world->count, trv_last_error());
    world_drive(world);
}

static void new_plan_sizes(const world_t *world, const trv_elements_t *elements, const trv_plan_options_t *options)
{
    world_t fresh = world_make(world->schedule, world->count, elements, options);
    for (int r = 0; r < world->ranks; r++) {
        assert_int_equal(trv_plan_bytes_sent(world->plan[r]), trv_plan_bytes_sent(fresh.plan[r]));
        assert_int_equal(trv_plan_scratch_bytes(world->plan[r]), trv_plan_scratch_bytes(fresh.plan[r]));
    }
    world_destroy(&fresh);
}

static void run_counts(const trv_schedule_t *schedule)
{
    const bool covers = trv_schedule_exactness(schedule) == TRV_COVERS;
    const trv_elements_t elements = {.type = TRV_UINT32, .op = covers ? TRV_MAX : TRV_SUM};
    const trv_plan_options_t options = {TRV_PLAN_OPTIONS,
                                        .chunk_bytes = random_below(2)
                                                           ? 0
                                                           : 40 * (size_t)trv_schedule_torus(schedule)->ranks +
                                                                 random_below(4000)};
    world_t world = world_make(schedule, COUNT_MAX, &elements, &options);
    for (int round = 0; round < (exhaustive() ? ROUNDS / 2 : ROUNDS); round++) {
        set_count(&world, round % 3 == 0 ? random_below(12) : round % 3 == 1 ? COUNT_MAX : random_below(COUNT_MAX));
        uint32_t *maximum = covers ? world_maximum(&world) : NULL;
        for (size_t runs = 1 + random_below(4); runs > 0; runs--) { /* runs from the third on use the recorded list */
            const bool in_place = random_below(2);
            world_fill(&world, in_place);
            run_count(&world, in_place);
            world_check(&world, in_place, maximum);
        }
        free(maximum);
        if (round == 3 || round == 5)
            new_plan_sizes(&world, &elements, &options);
        if (round % 4 == 0) { /* trv_plan_start uses the last count */
            maximum = covers ? world_maximum(&world) : NULL;
            world_fill(&world, false);
            world_run(&world, false);
            world_check(&world, false, maximum);
            free(maximum);
        }
    }
    world_destroy(&world);
}

static void test_counts_in_turn(void **state)
{
    (void)state;
    static const char *const tori[] = {"1",   "2",   "3",   "5",     "8",     "9",      "10",    "16",
                                       "2x2", "3x3", "2x3", "4x4",   "5x7",   "1x9",    "2x2x2", "3x9x2",
                                       "4x8", "6x4", "2x6", "3x3x3", "4x3x2", "2x3x2x2"};
    int served = 0;
    seed = sample_seed();
    for (size_t t = 0; t < sizeof tori / sizeof *tori; t++) {
        trv_torus_t torus;
        assert_int_equal(trv_torus_parse(tori[t], &torus), 0);
        if (exhaustive() == (torus.ranks <= 12))
            continue;
        for (int collective = TRV_ALLREDUCE; collective <= TRV_ALLGATHER; collective++)
            served += world_every(&torus, (trv_collective_t)collective, run_counts);
    }
    assert_true(served > 150);
}

static void test_refused_counts(void **state)
{
    (void)state;
    trv_torus_t torus;
    trv_schedule_t *schedule;
    uint32_t data[4] = {1, 2, 3, 4}, sum[4];
    assert_int_equal(trv_torus_parse("1", &torus), 0);
    assert_int_equal(trv_schedule_create(&schedule, &torus, "ring", TRV_ALLREDUCE), 0);
    const trv_elements_t elements = {.type = TRV_UINT32, .op = TRV_SUM};
    world_t world = world_make(schedule, 2, &elements, NULL);
    assert_int_equal(trv_plan_start_count(world.plan[0], SIZE_MAX / 4, data, sum), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "exceed the address space"));
    assert_int_equal(trv_plan_start_count(world.plan[0], 4, data, sum), 0);
    assert_int_equal(trv_plan_wait(world.plan[0]), 0);
    assert_memory_equal(data, sum, sizeof sum);
    world_destroy(&world);
    trv_schedule_destroy(schedule);

    trv_loopback_t *loopback;
    trv_plan_t *plan;
    const trv_explicit_options_t many = {TRV_EXPLICIT_OPTIONS, .streams = TRV_PLAN_TAGS_MAX + 1, .steps = 1,
                                         .registers = 1, .units = 1};
    assert_int_equal(trv_explicit_create(&schedule, &torus, "wide", &many), 0);
    assert_int_equal(trv_loopback_create(&loopback, 1), 0);
    assert_int_equal(trv_plan_create(&plan, schedule, 0, 1, &elements, trv_loopback_transport(loopback, 0), NULL),
                     TRV_ERR_UNSUPPORTED);
    assert_non_null(strstr(trv_last_error(), "'wide' has 65 streams; a plan has at most 64"));
    trv_schedule_destroy(schedule);
    trv_loopback_destroy(loopback);
}

/* ---- Equal plans ------------------------------------------------------------------------------------------------- */

static int add_pairs(void *context, void *destination, const void *const *source, int sources, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++) { /* an element of 8 bytes: a sum and a count */
        uint32_t sum[2] = {0, 0};
        for (int s = 0; s < sources; s++)
            for (int k = 0; k < 2; k++)
                sum[k] += ((const uint32_t *)source[s])[2 * i + (size_t)k];
        memcpy((uint32_t *)destination + 2 * i, sum, sizeof sum);
    }
    return 0;
}

/* The first plan is destroyed; the second continues to use its program. */
static void run_like(const trv_schedule_t *schedule)
{
    if (trv_schedule_exactness(schedule) == TRV_COVERS)
        return;
    enum { count = 97 };
    const trv_elements_t ints = {.type = TRV_UINT32, .op = TRV_SUM};
    const trv_elements_t pairs = {.element_size = 8, .reduce = add_pairs};
    world_t world = world_make(schedule, 31, &ints, NULL), twice = world_make(schedule, count, &pairs, NULL);
    assert_true(trv_plan_memory_bytes(world.plan[0]) > 0 || world.ranks == 1);
    for (int r = 0; r < world.ranks; r++) {
        trv_plan_destroy(twice.plan[r]);
        assert_int_equal(trv_plan_create_like(&twice.plan[r], world.plan[r], &pairs,
                                              trv_loopback_transport(twice.loopback, r)),
                         0);
        for (size_t i = 0; i < twice.in; i++)
            memcpy(twice.input[r] + 8 * i, (uint32_t[]){contribution(r, i), 1}, 8);
    }
    world_fill(&world, false);
    world_run(&world, false);
    world_check(&world, false, NULL);
    world_destroy(&world);
    run_count(&twice, false);
    uint32_t scales = 0, shifts = 0;
    for (int r = 0; r < twice.ranks; r++) {
        scales += scale(r);
        shifts += shift(r);
    }
    for (int r = 0; r < twice.ranks; r++)
        for (size_t i = 0; i < twice.out; i++) {
            const uint32_t *pair = (const uint32_t *)twice.output[r] + 2 * i;
            assert_int_equal(pair[0], world_expected(&twice, r, i, scales, shifts, NULL));
            assert_int_equal(pair[1], twice.collective == TRV_ALLGATHER ? 1 : twice.ranks);
        }
    world_destroy(&twice);
}

static void test_create_like(void **state)
{
    (void)state;
    static const char *const tori[] = {"1", "6", "3x3", "4x2"};
    for (size_t t = 0; t < sizeof tori / sizeof *tori; t++) {
        trv_torus_t torus;
        assert_int_equal(trv_torus_parse(tori[t], &torus), 0);
        for (int collective = TRV_ALLREDUCE; collective <= TRV_ALLGATHER; collective++)
            assert_true(world_every(&torus, (trv_collective_t)collective, run_like) > 0);
    }
}

/* Threads create plans that share the program of one plan and destroy them, while the main thread destroys that
 * plan. */
typedef struct maker {
    const trv_plan_t *plan;
    pthread_barrier_t *barrier;
} maker_t;

static void *create_and_destroy(void *argument)
{
    const maker_t *maker = argument;
    const trv_elements_t doubles = {.type = TRV_DOUBLE, .op = TRV_SUM};
    trv_loopback_t *loopback;
    trv_plan_t *plan[20];
    assert_int_equal(trv_loopback_create(&loopback, 9), 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(trv_plan_create_like(&plan[i], maker->plan, &doubles, trv_loopback_transport(loopback, 4)), 0);
    pthread_barrier_wait(maker->barrier);
    for (int i = 0; i < 20; i++)
        trv_plan_destroy(plan[i]);
    trv_loopback_destroy(loopback);
    return NULL;
}

static void test_create_like_threads(void **state)
{
    (void)state;
    trv_torus_t torus;
    trv_schedule_t *schedule;
    trv_loopback_t *loopback;
    trv_plan_t *plan;
    pthread_t thread[4];
    pthread_barrier_t barrier;
    const trv_elements_t ints = {.type = TRV_UINT32, .op = TRV_SUM};
    assert_int_equal(trv_torus_parse("3x3", &torus), 0);
    assert_int_equal(trv_schedule_create(&schedule, &torus, "trivance-b", TRV_ALLREDUCE), 0);
    assert_int_equal(trv_loopback_create(&loopback, 9), 0);
    assert_int_equal(trv_plan_create(&plan, schedule, 4, 100, &ints, trv_loopback_transport(loopback, 4), NULL), 0);
    pthread_barrier_init(&barrier, NULL, 5);
    maker_t maker = {plan, &barrier};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, create_and_destroy, &maker), 0);
    pthread_barrier_wait(&barrier);
    trv_plan_destroy(plan);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&barrier);
    trv_loopback_destroy(loopback);
    trv_schedule_destroy(schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts_in_turn), cmocka_unit_test(test_refused_counts),
                                       cmocka_unit_test(test_create_like), cmocka_unit_test(test_create_like_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
