/*
 * Runs with streamed input: they access only input that is available, report how many elements of the result are final,
 * and return exactly the bits of a run that has all input from the start.
 */
#include "test_execute_world.h"

enum { CHUNK_BYTES = 256, FLOATS = CHUNK_BYTES / sizeof(float) };

static uint64_t seed;

static size_t random_up_to(size_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(seed >> 33) % (limit + 1);
}

/* Values whose sum depends on the order of addition. */
static float value(int rank, size_t i)
{
    return (float)((i * 7919 + (size_t)rank * 104729) % 100003) * ((i + (size_t)rank) % 3 ? 1e-3f : 1e5f);
}

static float *input_of(const world_t *world, int rank, bool in_place)
{
    return (float *)(in_place ? world->output[rank] : world->input[rank]);
}

/* The result, for rank r at r * count, of a run that has all input from the start. */
static float *reference(world_t *world)
{
    float *result = malloc((size_t)world->ranks * world->count * sizeof *result + 1);
    assert_non_null(result);
    for (int r = 0; r < world->ranks; r++)
        for (size_t i = 0; i < world->count; i++)
            input_of(world, r, false)[i] = value(r, i);
    world_run(world, false);
    for (int r = 0; r < world->ranks; r++)
        if (world->count)
            memcpy(result + (size_t)r * world->count, world->output[r], world->count * sizeof *result);
    return result;
}

typedef struct stream {
    size_t available, ready; /* elements of the input; final elements of the result */
} stream_t;

/* Makes some more of rank r's input available. */
static void provide_input(world_t *world, int r, bool in_place, stream_t *stream, size_t limit)
{
    size_t to = stream->available + random_up_to(CHUNK_BYTES / 2);
    to = to < limit ? to : limit;
    for (size_t i = stream->available; i < to; i++)
        input_of(world, r, in_place)[i] = value(r, i);
    stream->available = to > stream->available ? to : stream->available;
    trv_plan_input_ready(world->plan[r], stream->available);
}

/* Checks that elements reported as final are correct and do not change. */
static void check_ready(world_t *world, int r, stream_t *stream, const float *right)
{
    size_t ready = trv_plan_output_ready(world->plan[r]);
    const float *mine = right + (size_t)r * world->count;
    assert_true(ready >= stream->ready && ready <= world->count && ready <= stream->available);
    for (size_t i = stream->ready; i < ready; i++)
        if (memcmp((const float *)(const void *)world->output[r] + i, mine + i, sizeof *mine) != 0)
            fail_msg("%s, count %zu: element %zu of rank %d is not final", trv_schedule_name(world->schedule),
                     world->count, i, r);
    stream->ready = ready;
}

/* The input of the ranks whose bit in `slow` is set becomes available in parts; the others have all of it at the
 * start. */
static void run_streamed(world_t *world, unsigned slow, bool in_place, const float *right)
{
    stream_t stream[16] = {{0, 0}};
    int running = world->ranks;
    for (int r = 0; r < world->ranks; r++) {
        bool is_slow = slow >> r & 1;
        float *input = input_of(world, r, in_place);
        memset(world->output[r], 0xff, world->count * sizeof(float));
        memset(input, 0xff, world->count * sizeof(float)); /* NaN */
        for (size_t i = 0; !is_slow && i < world->count; i++)
            input[i] = value(r, i);
        stream[r].available = is_slow ? 0 : world->count;
        assert_int_equal((is_slow ? trv_plan_start_streamed : trv_plan_start_count)(world->plan[r], world->count, input,
                                                                                    world->output[r]),
                         0);
    }
    for (long turn = 0; running > 0; turn++) {
        assert_true(turn < 1000000);
        running = 0;
        for (int r = 0; r < world->ranks; r++) {
            if (slow >> r & 1)
                provide_input(world, r, in_place, &stream[r], world->count);
            int rc = trv_plan_test(world->plan[r]);
            assert_true(rc >= 0 && (rc == 0 || stream[r].available == world->count));
            running += rc == 0;
            check_ready(world, r, &stream[r], right);
        }
    }
    for (int r = 0; r < world->ranks; r++) {
        assert_int_equal(stream[r].ready, world->count);
        if (world->count)
            assert_memory_equal(world->output[r], right + (size_t)r * world->count, world->count * sizeof(float));
    }
}

static void try_schedule(const trv_schedule_t *schedule)
{
    static const size_t counts[] = {0, 1, FLOATS - 1, FLOATS, FLOATS + 1, 2 * FLOATS, 5 * FLOATS - 1, 9 * FLOATS + 7};
    bool covers = trv_schedule_exactness(schedule) == TRV_COVERS;
    trv_elements_t elements = {.type = TRV_FLOAT, .op = covers ? TRV_MAX : TRV_SUM};
    trv_plan_options_t options = {TRV_PLAN_OPTIONS, .chunk_bytes = CHUNK_BYTES};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        world_t world = world_make(schedule, counts[c], &elements, &options);
        float *right = reference(&world);
        run_streamed(&world, ~0u, false, right);
        run_streamed(&world, 1, true, right);
        run_streamed(&world, 0xaaaaaaaau, true, right);
        run_streamed(&world, 0, false, right);
        free(right);
        world_destroy(&world);
    }
}

static void test_every_algorithm(void **state)
{
    static const char *const tori[] = {"1", "2", "4", "9", "2x3", "2x2x2"};
    (void)state;
    for (size_t t = 0; t < sizeof tori / sizeof tori[0]; t++) {
        trv_torus_t torus;
        assert_int_equal(trv_torus_parse(tori[t], &torus), 0);
        assert_true(world_every(&torus, TRV_ALLREDUCE, try_schedule) > 0);
    }
}

/* With half of the input on every rank, exactly half of the result becomes final. */
static void test_output_follows_input(void **state)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    trv_elements_t elements = {.type = TRV_UINT32, .op = TRV_SUM};
    trv_plan_options_t options = {TRV_PLAN_OPTIONS, .chunk_bytes = 1024};
    (void)state;
    assert_int_equal(trv_torus_parse("4", &torus), 0);
    assert_int_equal(trv_schedule_create(&schedule, &torus, "trivance-b", TRV_ALLREDUCE), 0);
    world_t world = world_make(schedule, 16 * 256, &elements, &options);
    world_fill(&world, false);
    for (int r = 0; r < 4; r++)
        assert_int_equal(trv_plan_start_streamed(world.plan[r], world.count, world.input[r], world.output[r]), 0);
    for (int half = 0; half < 2; half++) {
        size_t available = half ? world.count : world.count / 2 + 5;
        for (int r = 0; r < 4; r++)
            trv_plan_input_ready(world.plan[r], available);
        for (int turn = 0; turn < 1000; turn++)
            for (int r = 0; r < 4; r++)
                assert_true(trv_plan_test(world.plan[r]) >= 0);
        for (int r = 0; r < 4; r++) {
            assert_int_equal(trv_plan_test(world.plan[r]), half);
            assert_int_equal(trv_plan_output_ready(world.plan[r]), half ? world.count : world.count / 2);
        }
        trv_plan_input_ready(world.plan[0], 1); /* a smaller count does not withdraw input */
    }
    world_check(&world, false, NULL);
    world_destroy(&world);
    trv_schedule_destroy(schedule);
}

static void test_other_collectives(void **state)
{
    static const trv_collective_t others[] = {TRV_REDUCE_SCATTER, TRV_ALLGATHER};
    trv_torus_t torus;
    trv_elements_t elements = {.type = TRV_UINT32, .op = TRV_SUM};
    (void)state;
    assert_int_equal(trv_torus_parse("4", &torus), 0);
    for (int c = 0; c < 2; c++) {
        trv_schedule_t *schedule;
        assert_int_equal(trv_schedule_create(&schedule, &torus, "ring", others[c]), 0);
        world_t world = world_make(schedule, 8, &elements, NULL);
        assert_int_equal(trv_plan_start_streamed(world.plan[0], 8, world.input[0], world.output[0]),
                         TRV_ERR_UNSUPPORTED);
        assert_int_equal(trv_plan_output_ready(world.plan[0]), 0);
        world_destroy(&world);
        trv_schedule_destroy(schedule);
    }
    assert_int_equal(trv_plan_start_streamed(NULL, 8, NULL, NULL), TRV_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_algorithm),
        cmocka_unit_test(test_output_follows_input),
        cmocka_unit_test(test_other_collectives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
