/*
 * The executor's edge cases: error messages, the life of a plan, callbacks, unusual element sizes, the check between
 * ranks, the status text of a plan, and the loopback transport by itself.
 */
#include "test_execute_world.h"

#include "execute/compile/size.h"

static trv_schedule_t *schedule_of(const char *torus_text, const char *algorithm, trv_collective_t collective)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    assert_int_equal(trv_torus_parse(torus_text, &torus), 0);
    if (trv_schedule_create(&schedule, &torus, algorithm, collective))
        fail_msg("%s", trv_last_error());
    return schedule;
}

static const trv_elements_t ints = {.type = TRV_UINT32, .op = TRV_SUM};

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static void refuse_plan(const trv_schedule_t *schedule, int rank, size_t count, const trv_elements_t *elements,
                        int code, const char *words)
{
    trv_loopback_t *loopback;
    trv_plan_t *plan;
    assert_int_equal(trv_loopback_create(&loopback, 9), 0);
    assert_int_equal(trv_plan_create(&plan, schedule, rank, count, elements, trv_loopback_transport(loopback, 0), NULL),
                     code);
    assert_null(plan);
    if (!strstr(trv_last_error(), words))
        fail_msg("'%s' does not say '%s'", trv_last_error(), words);
    trv_loopback_destroy(loopback);
}

static void test_refused_plans(void **state)
{
    (void)state;
    trv_schedule_t *schedule = schedule_of("9", "trivance-b", TRV_ALLREDUCE);
    const trv_elements_t bits = {.type = TRV_DOUBLE, .op = TRV_BAND}, none = {.type = TRV_TYPES};
    refuse_plan(schedule, 9, 1, &ints, TRV_ERR_ARGUMENT, "rank 9 is not on the torus; its ranks are 0 … 8");
    refuse_plan(schedule, -1, 1, &ints, TRV_ERR_ARGUMENT, "rank -1");
    refuse_plan(schedule, 0, SIZE_MAX / 4, &ints, TRV_ERR_ARGUMENT, "exceed the address space");
    refuse_plan(schedule, 0, 1, &bits, TRV_ERR_UNSUPPORTED, "band is not defined on elements of type double");
    refuse_plan(schedule, 0, 1, &none, TRV_ERR_ARGUMENT, "element type 17 does not exist");
    refuse_plan(schedule, 0, 1, NULL, TRV_ERR_ARGUMENT, "NULL");
    trv_plan_t *plan;
    assert_int_equal(trv_plan_create(&plan, schedule, 0, 1, &ints, &(trv_transport_t){0}, NULL), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "TRV_TRANSPORT"));
    trv_schedule_destroy(schedule);

    schedule = schedule_of("10", "trivance-l-overlap", TRV_ALLREDUCE);
    refuse_plan(schedule, 0, 1, &ints, TRV_ERR_INVALID, "may add a contribution twice");
    trv_schedule_destroy(schedule);
}

/* Schedules that use data that does not exist, for example an empty register. */
static void test_refused_schedules(void **state)
{
    (void)state;
    trv_torus_t torus;
    trv_schedule_t *schedule;
    const int64_t unit = 0;
    const int sources[] = {0, 1};
    const trv_explicit_part_t part = {.from_reg = 1, .count = 1, .unit = &unit};
    assert_int_equal(trv_torus_parse("9", &torus), 0);

    trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 2, .registers = 2, .units = 1};
    assert_int_equal(trv_explicit_create(&schedule, &torus, "mine", &options), 0);
    assert_int_equal(trv_explicit_message(schedule, 0, 1, 0, 1, 0, -1, TRV_SEND, 1, &part), 0);
    refuse_plan(schedule, 0, 5, &ints, TRV_ERR_INVALID,
                "'mine': in step 1 of stream 0, rank 0 uses unit 0 of register 1, which is empty");
    trv_schedule_destroy(schedule);

    assert_int_equal(trv_explicit_create(&schedule, &torus, "mine", &options), 0);
    assert_int_equal(trv_explicit_combine(schedule, 0, 0, 0, 0, 2, sources, 1, &unit), 0);
    refuse_plan(schedule, 0, 5, &ints, TRV_ERR_INVALID, "which is empty");
    trv_schedule_destroy(schedule);

    options.collective = TRV_ALLGATHER;
    options.units = 9;
    assert_int_equal(trv_explicit_create(&schedule, &torus, "mine", &options), 0);
    refuse_plan(schedule, 0, 5, &ints, TRV_ERR_INVALID, "leaves rank 0 without a result in unit 1");
    trv_schedule_destroy(schedule);

    options.units = 10;
    assert_int_equal(trv_explicit_create(&schedule, &torus, "mine", &options), 0);
    refuse_plan(schedule, 0, 5, &ints, TRV_ERR_INVALID, "not a multiple of its 9 ranks");
    trv_schedule_destroy(schedule);
}

static void test_refused_buffers(void **state)
{
    (void)state;
    trv_schedule_t *schedule = schedule_of("1", "ring", TRV_ALLREDUCE);
    world_t world = world_make(schedule, 8, &ints, NULL);
    uint32_t data[12] = {0};
    assert_int_equal(trv_plan_start(world.plan[0], data, data + 4), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "input and output overlap"));
    assert_int_equal(trv_plan_start(world.plan[0], NULL, data), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "the input buffer is NULL"));
    assert_int_equal(trv_plan_start(world.plan[0], data, NULL), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "the output buffer is NULL"));
    assert_int_equal(trv_plan_run(world.plan[0], data, data), 0);
    world_destroy(&world);
    trv_schedule_destroy(schedule);
}

/* ---- The life of a plan ------------------------------------------------------------------------------------------ */

static void test_states(void **state)
{
    (void)state;
    trv_schedule_t *schedule = schedule_of("3", "trivance-l", TRV_ALLREDUCE);
    world_t world = world_make(schedule, 100, &ints, NULL);
    char text[200];
    assert_int_equal(trv_plan_test(world.plan[0]), TRV_ERR_STATE);
    assert_non_null(strstr(trv_last_error(), "was not started"));
    trv_plan_describe(world.plan[0], text, sizeof text);
    assert_string_equal(text, "rank 0: never started");

    world_fill(&world, false);
    assert_int_equal(trv_plan_start(world.plan[0], world.input[0], world.output[0]), 0);
    assert_int_equal(trv_plan_test(world.plan[0]), 0);
    assert_int_equal(trv_plan_start(world.plan[0], world.input[0], world.output[0]), TRV_ERR_STATE);
    assert_non_null(strstr(trv_last_error(), "is running"));
    trv_plan_describe(world.plan[0], text, sizeof text);
    assert_string_equal(text,
                        "rank 0: lane 0 of 1, step 0 of 1, waits for ranks 2, 1 and for 1, 2 to receive its data");
    for (size_t size = 0; size < sizeof text; size++) { /* never writes beyond the buffer */
        memset(text, 'x', sizeof text);
        trv_plan_describe(world.plan[0], text, size);
        for (size_t i = size; i < sizeof text; i++)
            assert_int_equal(text[i], 'x');
    }
    for (int r = 1; r < 3; r++)
        assert_int_equal(trv_plan_start(world.plan[r], world.input[r], world.output[r]), 0);
    world_drive(&world);
    world_check(&world, false, NULL);
    assert_int_equal(trv_plan_test(world.plan[0]), 1);
    trv_plan_describe(world.plan[0], text, sizeof text);
    assert_string_equal(text, "rank 0: complete");

    /* Destroying one plan in the middle of a run does not disturb the others. */
    assert_int_equal(trv_plan_start(world.plan[1], world.input[1], world.output[1]), 0);
    trv_plan_destroy(world.plan[1]);
    world.plan[1] = NULL;
    trv_plan_destroy(NULL);
    assert_int_equal(trv_plan_wait(NULL), TRV_ERR_ARGUMENT);
    world_destroy(&world);
    trv_schedule_destroy(schedule);
}

/* The bytes sent, as counted by the executor: B moves exactly 2 (n-1)/n of the vector at any size. */
static void test_sizes(void **state)
{
    (void)state;
    trv_schedule_t *schedule = schedule_of("9", "trivance-b", TRV_ALLREDUCE);
    world_t world = world_make(schedule, 9 * 1000, &ints, NULL);
    for (int r = 0; r < 9; r++)
        assert_int_equal(trv_plan_bytes_sent(world.plan[r]), 2 * 8 * 1000 * 4);
    /* Scratch memory holds only what is posted early: the first step's two receives of a third of the vector, and the
     * second's of a ninth. */
    assert_true(trv_plan_scratch_bytes(world.plan[0]) <= (6000 + 2000) * 4 + 4 * 64);
    world_destroy(&world);
    const trv_plan_options_t chunks = {TRV_PLAN_OPTIONS, .chunk_bytes = 9 * 100 * 4};
    world = world_make(schedule, 9 * 1000, &ints, &chunks);
    assert_int_equal(trv_plan_bytes_sent(world.plan[4]), 2 * 8 * 1000 * 4);
    world_destroy(&world);
    trv_schedule_destroy(schedule);
}

/* More than 2^31 elements. They are only compiled, because a run needs too much memory. */
static void test_large(void **state)
{
    (void)state;
    const size_t count = ((size_t)1 << 33) + 5;
    trv_schedule_t *schedule = schedule_of("9", "trivance-b", TRV_ALLREDUCE);
    trv_loopback_t *loopback;
    trv_plan_t *plan;
    assert_int_equal(trv_loopback_create(&loopback, 9), 0);
    size_t sent = 0;
    for (int r = 0; r < 9; r++) {
        assert_int_equal(trv_plan_create(&plan, schedule, r, count, &ints, trv_loopback_transport(loopback, r), NULL),
                         0);
        sent += trv_plan_bytes_sent(plan);
        trv_plan_destroy(plan);
    }
    assert_true(sent == 2 * 8 * count * 4); /* every element crosses 8 edges in each phase */
    for (size_t parts = 1; parts < 1000; parts += 37) {
        const size_t many = SIZE_MAX / 3;
        assert_true(trv_part_begin(many, parts, 0) == 0 && trv_part_begin(many, parts, parts) == many);
        for (size_t i = 0; i < parts; i++) {
            size_t part = trv_part_begin(many, parts, i + 1) - trv_part_begin(many, parts, i);
            assert_true(part == many / parts || part == many / parts + 1);
        }
    }
    trv_loopback_destroy(loopback);
    trv_schedule_destroy(schedule);
}

/* ---- User-defined elements --------------------------------------------------------------------------------------- */

typedef struct pixel {
    unsigned char red, green, blue;
} pixel_t;

static int add_pixels(void *context, void *destination, const void *const *source, int sources, size_t count)
{
    pixel_t *to = destination;
    for (size_t i = 0; i < count; i++) {
        pixel_t sum = {0, 0, 0};
        for (int s = 0; s < sources; s++) {
            const pixel_t *from = source[s];
            sum.red = (unsigned char)(sum.red + from[i].red);
            sum.green = (unsigned char)(sum.green + from[i].green);
            sum.blue = (unsigned char)(sum.blue + from[i].blue);
        }
        to[i] = sum;
    }
    *(long *)context += (long)count;
    return 0;
}

static int reduce_fails(void *context, void *destination, const void *const *source, int sources, size_t count)
{
    (void)context, (void)destination, (void)source, (void)sources, (void)count;
    return TRV_ERR_UNSUPPORTED;
}

static void test_callback(void **state)
{
    (void)state;
    enum { count = 1000 };
    trv_schedule_t *schedule = schedule_of("3x3", "trivance-b", TRV_ALLREDUCE);
    long reduced = 0;
    trv_elements_t elements = {.element_size = sizeof(pixel_t), .reduce = add_pixels, .reduce_context = &reduced};
    world_t world = world_make(schedule, count, &elements, NULL);
    for (int r = 0; r < world.ranks; r++)
        for (int i = 0; i < count; i++)
            ((pixel_t *)world.input[r])[i] = (pixel_t){(unsigned char)i, (unsigned char)r, 1};
    world_run(&world, false);
    for (int r = 0; r < world.ranks; r++)
        for (int i = 0; i < count; i++) {
            const pixel_t *pixel = &((pixel_t *)world.output[r])[i];
            assert_int_equal(pixel->red, 9 * i % 256);
            assert_int_equal(pixel->green, 36);
            assert_int_equal(pixel->blue, 9);
        }
    assert_true(reduced > 0);
    world_destroy(&world);

    /* A callback that fails: the run fails with its code, and every later call on the plan reports that. */
    elements.reduce = reduce_fails;
    world = world_make(schedule, count, &elements, NULL);
    int rc = 0;
    for (int r = 0; r < world.ranks; r++) {
        memset(world.input[r], 0, count * sizeof(pixel_t));
        assert_int_equal(trv_plan_start(world.plan[r], world.input[r], world.output[r]), 0);
    }
    while (!(rc = trv_plan_test(world.plan[4])))
        for (int r = 0; r < world.ranks; r++)
            if (r != 4)
                trv_plan_test(world.plan[r]);
    assert_int_equal(rc, TRV_ERR_UNSUPPORTED);
    assert_int_equal(trv_plan_start(world.plan[4], world.input[4], world.output[4]), TRV_ERR_STATE);
    assert_non_null(strstr(trv_last_error(), "failed earlier"));
    world_destroy(&world);
    elements.element_size = 0;
    refuse_plan(schedule, 0, 1, &elements, TRV_ERR_ARGUMENT, "0 bytes");
    trv_schedule_destroy(schedule);
}

/* ---- Inconsistent ranks ------------------------------------------------------------------------------------------ */

/* Of seven ranks one has other arguments. All must report that, with the same message, and be able to continue. */
static void check_differing_rank(const trv_schedule_t *schedule, const trv_schedule_t *other, size_t count,
                                 const trv_elements_t *elements, const char *words)
{
    enum { ranks = 7, odd = 5 };
    const trv_plan_options_t options = {TRV_PLAN_OPTIONS, .check = true};
    trv_loopback_t *loopback;
    trv_plan_t *plan[ranks];
    static uint32_t input[ranks][100], output[ranks][100];
    assert_int_equal(trv_loopback_create(&loopback, ranks), 0);
    for (int r = 0; r < ranks; r++)
        assert_int_equal(trv_plan_create(&plan[r], r == odd ? other : schedule, r, r == odd ? count : 100,
                                         r == odd ? elements : &ints, trv_loopback_transport(loopback, r), &options),
                         0);
    for (int round = 0; round < 2; round++) {
        int verdict[ranks] = {0}, left = ranks;
        for (int r = 0; r < ranks; r++)
            assert_int_equal(trv_plan_start(plan[r], input[r], output[r]), 0);
        for (int turns = 0; left > 0; turns++) {
            assert_true(turns < 1000);
            for (int r = 0; r < ranks; r++)
                if (!verdict[r] && (verdict[r] = trv_plan_test(plan[r]))) {
                    left--;
                    assert_int_equal(verdict[r], TRV_ERR_INVALID);
                    if (!strstr(trv_last_error(), words))
                        fail_msg("'%s' does not say '%s'", trv_last_error(), words);
                }
        }
    }
    for (int r = 0; r < ranks; r++)
        trv_plan_destroy(plan[r]);
    trv_loopback_destroy(loopback);
}

static void test_check(void **state)
{
    (void)state;
    trv_schedule_t *schedule = schedule_of("7", "trivance-b", TRV_ALLREDUCE);
    trv_schedule_t *ring = schedule_of("7", "ring", TRV_ALLREDUCE);
    const trv_elements_t doubles = {.type = TRV_DOUBLE, .op = TRV_SUM}, floats = {.type = TRV_FLOAT, .op = TRV_SUM};
    check_differing_rank(schedule, schedule, 99, &ints, "the number of elements (from 99 to 100)");
    check_differing_rank(schedule, schedule, 100, &floats, "the element type or operation");
    check_differing_rank(schedule, schedule, 50, &doubles, "the number of elements");
    check_differing_rank(schedule, ring, 100, &ints, "the schedule");

    const trv_plan_options_t options = {TRV_PLAN_OPTIONS, .check = true};
    world_t world = world_make(schedule, 100, &ints, &options);
    for (int round = 0; round < 2; round++) {
        world_fill(&world, false);
        world_run(&world, false);
        world_check(&world, false, NULL);
    }
    world_destroy(&world);
    trv_schedule_destroy(schedule);
    trv_schedule_destroy(ring);
}

/* Schedules of one rank have no steps, but may have several blocks, and vectors of several chunks. */
static void test_one_rank(void **state)
{
    (void)state;
    const trv_elements_t largest = {.type = TRV_UINT32, .op = TRV_MAX}; /* which all algorithms compute */
    trv_torus_t torus;
    assert_int_equal(trv_torus_parse("1", &torus), 0);
    for (int i = 0; i < trv_algorithms_count(); i++) {
        trv_schedule_t *schedule;
        if (trv_schedule_create(&schedule, &torus, trv_algorithm_name(trv_algorithm_at(i)), TRV_ALLREDUCE))
            continue;
        world_t world = world_make(schedule, 1 << 20, &largest, NULL);
        world_fill(&world, false);
        world_run(&world, false);
        world_check(&world, false, NULL);
        world_destroy(&world);
        trv_schedule_destroy(schedule);
    }
}

/* Without the check, the loopback transport detects different lengths. */
static void test_mismatched_lengths(void **state)
{
    (void)state;
    trv_schedule_t *schedule = schedule_of("3", "trivance-l", TRV_ALLREDUCE);
    trv_loopback_t *loopback;
    trv_plan_t *plan[3];
    uint32_t input[3][10] = {{0}}, output[3][10];
    int failed = 0;
    assert_int_equal(trv_loopback_create(&loopback, 3), 0);
    for (int r = 0; r < 3; r++) {
        assert_int_equal(trv_plan_create(&plan[r], schedule, r, r ? 10 : 9, &ints, trv_loopback_transport(loopback, r),
                                         NULL),
                         0);
        assert_int_equal(trv_plan_start(plan[r], input[r], output[r]), 0);
    }
    for (int r = 0; r < 3; r++)
        if (trv_plan_test(plan[r]) == TRV_ERR_TRANSPORT) {
            assert_non_null(strstr(trv_last_error(), "all ranks must use the same count"));
            failed++;
        }
    assert_int_equal(failed, 3);
    for (int r = 0; r < 3; r++)
        trv_plan_destroy(plan[r]);
    trv_loopback_destroy(loopback);
    trv_schedule_destroy(schedule);
}

/* ---- The loopback transport -------------------------------------------------------------------------------------- */

static void test_loopback(void **state)
{
    (void)state;
    trv_loopback_t *loopback;
    int first, second, other;
    char a[4] = "abc", b[4] = "xyz", got[2][4] = {"", ""};
    assert_int_equal(trv_loopback_create(&loopback, 0), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_loopback_create(&loopback, 2), 0);
    assert_null(trv_loopback_transport(loopback, 2));
    const trv_transport_t *t = trv_loopback_transport(loopback, 0), *u = trv_loopback_transport(loopback, 1);
    assert_int_equal(t->open(t->context, 4, 2, &first), 0);
    assert_int_equal(u->open(u->context, 4, 2, &second), 0);
    assert_int_equal(u->open(u->context, 4, 2, &other), 0);
    assert_int_equal(first, second);

    /* Same sender and tag match in order, whichever side comes first; another tag and another handle do not
     * interfere. */
    assert_int_equal(t->send(t->context, first, 0, 1, 1, a, 4), 0);
    assert_int_equal(t->send(t->context, first, 1, 1, 1, b, 4), 0);
    assert_int_equal(t->test(t->context, first, 0), 0);
    assert_int_equal(u->receive(u->context, other, 0, 0, 1, got[0], 4), 0);
    assert_int_equal(u->receive(u->context, second, 2, 0, 0, got[0], 4), 0);
    assert_int_equal(u->test(u->context, other, 0), 0);
    assert_int_equal(u->test(u->context, second, 2), 0);
    assert_int_equal(u->receive(u->context, second, 0, 0, 1, got[0], 4), 0);
    assert_int_equal(u->receive(u->context, second, 1, 0, 1, got[1], 4), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(u->test(u->context, second, i), 1);
        assert_int_equal(t->test(t->context, first, i), 1);
    }
    assert_string_equal(got[0], "abc");
    assert_string_equal(got[1], "xyz");

    /* A cancelled operation is not matched any more. */
    assert_int_equal(u->cancel(u->context, second, 2), 0);
    assert_int_equal(u->cancel(u->context, other, 0), 0);
    assert_int_equal(t->send(t->context, first, 0, 1, 0, b, 4), 0);
    assert_int_equal(t->test(t->context, first, 0), 0);
    assert_int_equal(t->cancel(t->context, first, 0), 0);
    assert_int_equal(t->send(t->context, first, 0, 7, 0, b, 4), TRV_ERR_TRANSPORT);
    t->close(t->context, first);
    trv_loopback_destroy(loopback);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_plans),   cmocka_unit_test(test_refused_schedules),
        cmocka_unit_test(test_refused_buffers), cmocka_unit_test(test_states),
        cmocka_unit_test(test_sizes),           cmocka_unit_test(test_large),
        cmocka_unit_test(test_callback),        cmocka_unit_test(test_check),
        cmocka_unit_test(test_loopback),        cmocka_unit_test(test_mismatched_lengths),
        cmocka_unit_test(test_one_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
