/*
 * False claims, cyclic waits, and other faults that only small schedules made by hand show.
 */
#include "verify_expect.h"

enum { BOTH = TRV_SEND | TRV_RECEIVE };

static trv_schedule_t *empty(const char *torus_text, trv_explicit_options_t options)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    assert_int_equal(trv_torus_parse(torus_text, &torus), TRV_OK);
    assert_int_equal(trv_explicit_create(&schedule, &torus, "by hand", &options), TRV_OK);
    return schedule;
}

/* Sends unit 0 of register `from_reg` to register `to_reg`. */
static void message(trv_schedule_t *schedule, int step, int from, int to, int port, int sides, int from_reg, int to_reg)
{
    trv_explicit_part_t part = {.from_reg = from_reg, .to_reg = to_reg, .count = 1, .unit = (int64_t[]){0}};
    assert_int_equal(trv_explicit_message(schedule, 0, step, from, to, port, -1, sides, 1, &part), TRV_OK);
}

static void combine(trv_schedule_t *schedule, int step, int rank, int sources, const int *source)
{
    assert_int_equal(trv_explicit_combine(schedule, 0, step, rank, 0, sources, source, 1, (int64_t[]){0}), TRV_OK);
}

/* AllReduce on a ring of 3 in one step. If not `complete`, rank 2 sends nothing to rank 0, which adds one source
 * less. */
static trv_schedule_t *ring_of_3(trv_explicit_options_t options, bool complete)
{
    options.streams = options.steps = options.units = 1;
    options.registers = 3;
    trv_schedule_t *schedule = empty("3", options);
    for (int rank = 0; rank < 3; rank++) {
        message(schedule, 0, rank, (rank + 2) % 3, trv_port(0, -1), BOTH, 0, 1);
        if (complete || rank != 2)
            message(schedule, 0, rank, (rank + 1) % 3, trv_port(0, +1), BOTH, 0, 2);
        combine(schedule, 0, rank, complete || rank != 0 ? 3 : 2, (int[]){0, 1, 2});
    }
    return schedule;
}

static trv_schedule_t *made(const char *algorithm, const char *torus_text, trv_collective_t collective)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    assert_int_equal(trv_torus_parse(torus_text, &torus), TRV_OK);
    assert_int_equal(trv_schedule_create(&schedule, &torus, algorithm, collective), TRV_OK);
    return schedule;
}

static trv_verdict_t verdict_of(const trv_schedule_t *schedule, trv_verify_method_t method)
{
    trv_verdict_t verdict = {TRV_VERDICT};
    assert_int_equal(trv_verify(schedule, method, &verdict, NULL, NULL), TRV_OK);
    return verdict;
}

/* ---- Waiting --------------------------------------------------------------------------------------------------- */

static void test_cyclic_wait(void **state)
{
    trv_schedule_t *schedule = empty("3", (trv_explicit_options_t){TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 2,
                                                                   .registers = 2, .units = 1});
    (void)state;
    for (int rank = 0; rank < 3; rank++) { /* every rank sends before it receives */
        message(schedule, 0, rank, (rank + 1) % 3, trv_port(0, +1), TRV_SEND, 0, 1);
        message(schedule, 1, rank, (rank + 1) % 3, trv_port(0, +1), TRV_RECEIVE, 0, 1);
    }
    expect(schedule, (expected_t){0,
                                  0,
                                  -1,
                                  {"step 0 of stream 0: rank 0 sends a message to rank 1", "receives it in step 1 only",
                                   "in a cycle: 0 -> 1 -> 2 -> 0"}});
}

static void test_sides_in_different_steps(void **state)
{
    trv_schedule_t *schedule = empty("3", (trv_explicit_options_t){TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 3,
                                                                   .registers = 2, .units = 1});
    (void)state;
    message(schedule, 0, 0, 1, trv_port(0, +1), TRV_SEND, 0, 1);
    message(schedule, 2, 0, 1, trv_port(0, +1), TRV_RECEIVE, 0, 1);
    expect(schedule, (expected_t){0,
                                  0,
                                  -1,
                                  {"step 0 of stream 0: rank 0 sends a message to rank 1, which receives it in step 2",
                                   "the same step"}});
}

static void test_first_of_several_faults(void **state)
{
    trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS, .streams = 2, .steps = 2, .registers = 2, .units = 1};
    trv_schedule_t *schedule = empty("5", options);
    trv_explicit_part_t part = {.from_reg = 0, .to_reg = 1, .count = 1, .unit = (int64_t[]){0}};
    (void)state;
    /* Stream 0 fails in step 1, stream 1 already in step 0, at ranks 3 and 2. */
    assert_int_equal(trv_explicit_message(schedule, 0, 1, 0, 1, 0, -1, TRV_SEND, 1, &part), TRV_OK);
    assert_int_equal(trv_explicit_message(schedule, 1, 0, 3, 4, 0, -1, TRV_SEND, 1, &part), TRV_OK);
    assert_int_equal(trv_explicit_message(schedule, 1, 0, 2, 1, 1, -1, TRV_SEND, 1, &part), TRV_OK);
    expect(schedule, (expected_t){0, 2, -1, {"step 0 of stream 1: rank 2 sends rank 1"}});
}

/* ---- Registers ------------------------------------------------------------------------------------------------- */

static void test_overwritten_register(void **state)
{
    trv_schedule_t *schedule = empty("2", (trv_explicit_options_t){TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 1,
                                                                   .registers = 2, .units = 1});
    (void)state;
    message(schedule, 0, 0, 1, trv_port(0, +1), BOTH, 0, 1);
    message(schedule, 0, 1, 0, trv_port(0, +1), BOTH, 0, 0);
    expect(schedule,
           (expected_t){0, 0, 0, {"step 0", "rank 0 receives the whole slice of register 0 while it sends it"}});
}

static void test_empty_register(void **state)
{
    trv_schedule_t *schedule = empty("2", (trv_explicit_options_t){TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 1,
                                                                   .registers = 2, .units = 1});
    (void)state;
    message(schedule, 0, 1, 0, trv_port(0, +1), BOTH, 1, 1);
    expect(schedule, (expected_t){0, 1, 0, {"step 0", "rank 1 sends the whole slice of register 1", "is empty"}});
}

static void test_parts_and_empty_messages(void **state)
{
    trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 1, .registers = 2, .units = 4};
    trv_explicit_part_t two[2] = {{.to_reg = 1, .count = 1, .unit = (int64_t[]){1}},
                                  {.to_reg = 1, .count = 1, .unit = (int64_t[]){3}}};
    trv_explicit_part_t one = {.to_reg = 1, .count = 2, .unit = (int64_t[]){1, 3}};
    trv_explicit_part_t none = {.to_reg = 1, .count = 0, .unit = (int64_t[]){0}};
    trv_schedule_t *schedule = empty("4", options);
    (void)state;
    trv_explicit_message(schedule, 0, 0, 0, 1, 0, -1, TRV_SEND, 2, two);
    trv_explicit_message(schedule, 0, 0, 0, 1, 0, -1, TRV_RECEIVE, 1, &one);
    expect(schedule, (expected_t){0, 1, -1, {"rank 1 receives a message from rank 0 in other parts than it is sent"}});
    schedule = empty("4", options);
    trv_explicit_message(schedule, 0, 0, 0, 1, 0, -1, BOTH, 1, &none);
    expect(schedule, (expected_t){0, 0, -1, {"step 0", "rank 0 sends an empty message"}});
}

static void test_contribution_by_two_paths(void **state)
{
    trv_schedule_t *schedule = empty("4", (trv_explicit_options_t){TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 2,
                                                                   .registers = 2, .units = 1});
    (void)state;
    for (int step = 0; step < 2;
         step++) /* rank 0 gets rank 1's contribution in both steps, the second time with its own */
        for (int rank = 0; rank < 4; rank++) {
            message(schedule, step, rank, rank ^ 1, trv_port(0, rank % 2 ? -1 : +1), BOTH, 0, 1);
            combine(schedule, step, rank, 2, (int[]){0, 1});
        }
    expect(schedule,
           (expected_t){1,
                        0,
                        0,
                        {"rank 0 has the contribution of rank 0 twice in the whole slice",
                         "rank 0 adds it a second time in step 1", "once its own", "once from rank 1 in step 1"}});
}

/* ---- Claims ---------------------------------------------------------------------------------------------------- */

static void test_claims_exact_but_overlaps(void **state)
{
    trv_schedule_t *schedule = made("trivance-l-overlap", "8", TRV_ALLREDUCE);
    (void)state;
    assert_true(verdict_of(schedule, TRV_VERIFY_AUTO).valid);
    schedule->exactness = TRV_EXACT;
    expect(schedule, (expected_t){1, 0, 0, {"twice in the whole slice", "a second time in step 1"}});
}

static void test_covers_but_not_all(void **state)
{
    trv_schedule_t *schedule = ring_of_3((trv_explicit_options_t){TRV_EXPLICIT_OPTIONS, .exactness = TRV_COVERS}, true);
    (void)state;
    assert_true(verdict_of(schedule, TRV_VERIFY_RANDOM).valid);
    assert_int_equal(verdict_of(schedule, TRV_VERIFY_RANDOM).method, TRV_VERIFY_EXHAUSTIVE); /* there are no sums */
    trv_schedule_destroy(schedule);
    expect(ring_of_3((trv_explicit_options_t){TRV_EXPLICIT_OPTIONS, .exactness = TRV_COVERS}, false),
           (expected_t){-1,
                        0,
                        0,
                        {"after the last step", "rank 0 lacks the contribution of rank 2 in the whole slice"}});
}

static void test_missing_contribution(void **state)
{
    (void)state;
    expect(ring_of_3((trv_explicit_options_t){TRV_EXPLICIT_OPTIONS, .consistent = false}, false),
           (expected_t){-1,
                        0,
                        0,
                        {"after the last step of stream 0, rank 0 lacks the contribution of rank 2",
                         "2 of 3 ranks end with it", "rank 0 receives no data of this slice after step 0"}});
}

static void test_claims_consistent_but_is_not(void **state)
{
    trv_schedule_t *schedule = ring_of_3((trv_explicit_options_t){TRV_EXPLICIT_OPTIONS, .consistent = false}, true);
    (void)state;
    trv_verdict_t verdict = verdict_of(schedule, TRV_VERIFY_EXHAUSTIVE);
    assert_true(verdict.valid && !verdict.consistent); /* it does not claim to be */
    schedule->consistent = true;
    expect(schedule,
           (expected_t){-1,
                        1,
                        0,
                        {"ranks 0 and 1 have added the whole slice in different orders", "claims to be consistent"}});
    schedule = made("trivance-l", "9", TRV_ALLREDUCE);
    assert_false(verdict_of(schedule, TRV_VERIFY_EXHAUSTIVE).consistent);
    schedule->consistent = true;
    expect(schedule, (expected_t){-1, 1, 0, {"ranks 0 and 1 have added the whole slice in different orders"}});
}

/* a + b = b + a: two ranks exchange, and each adds its own contribution first. */
static void test_sums_commute(void **state)
{
    trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 1,
                                      .registers = 2,       .units = 1,   .consistent = true};
    trv_schedule_t *schedule = empty("2", options);
    (void)state;
    for (int rank = 0; rank < 2; rank++) {
        message(schedule, 0, rank, 1 - rank, trv_port(0, +1), BOTH, 0, 1);
        combine(schedule, 0, rank, 2, (int[]){0, 1});
    }
    assert_true(verdict_of(schedule, TRV_VERIFY_EXHAUSTIVE).valid);
    trv_schedule_destroy(schedule);
}

/* In half precision, (1 + 0) + 2 rounds once in one combine, and twice in two. */
static void test_joint_combine_differs(void **state)
{
    trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 1,
                                      .registers = 3,       .units = 1,   .consistent = true};
    (void)state;
    for (int joint = 0; joint < 2; joint++) {
        trv_schedule_t *schedule = empty("3", options);
        for (int rank = 0; rank < 3; rank++) {
            message(schedule, 0, rank, (rank + 1) % 3, trv_port(0, +1), BOTH, 0, 1);
            message(schedule, 0, rank, (rank + 2) % 3, trv_port(0, -1), BOTH, 0, 2);
        }
        combine(schedule, 0, 0, 3, (int[]){0, 2, 1}); /* 0 + 1 + 2 */
        combine(schedule, 0, 1, 3, (int[]){0, 1, 2}); /* 1 + 0 + 2 */
        if (joint) {
            combine(schedule, 0, 2, 3, (int[]){1, 2, 0}); /* 1 + 0 + 2 */
            assert_true(verdict_of(schedule, TRV_VERIFY_EXHAUSTIVE).valid);
            trv_schedule_destroy(schedule);
        } else {
            int64_t all[] = {0};
            trv_explicit_combine(schedule, 0, 0, 2, 1, 2, (int[]){1, 2}, 1, all); /* 1 + 0 */
            trv_explicit_combine(schedule, 0, 0, 2, 0, 2, (int[]){1, 0}, 1, all); /* … + 2 */
            expect(schedule, (expected_t){-1, 2, 0, {"ranks 0 and 2 have added the whole slice in different orders"}});
        }
    }
}

static void test_false_symmetry(void **state)
{
    trv_schedule_t *schedule = made("recdoub-l", "8", TRV_ALLREDUCE);
    (void)state;
    schedule->symmetry = TRV_SYMMETRY_TRANSLATION;
    expect(schedule,
           (expected_t){0,
                        1,
                        -1,
                        {"step 0", "rank 1 does not send the translated messages of rank 0", "every translation"}});
    schedule = made("recdoub-l", "8", TRV_ALLREDUCE);
    schedule->symmetry = TRV_SYMMETRY_PARITY;
    expect(schedule,
           (expected_t){1,
                        2,
                        -1,
                        {"step 1", "rank 2 does not send the translated messages of rank 0", "translation by 2"}});
}

static void test_owners(void **state)
{
    trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS, .collective = TRV_REDUCE_SCATTER,
                                      .streams = 1,         .steps = 0,
                                      .registers = 1,       .units = 4};
    (void)state;
    expect(empty("3", options), (expected_t){0, -1, -1, {"reduce-scatter", "4 units have no owners among 3 ranks"}});
}

/* ---- The verdict ----------------------------------------------------------------------------------------------- */

static double last_fraction;

static int note_progress(void *context, double fraction)
{
    assert_true(fraction >= last_fraction && fraction <= 1.0 + 1e-12);
    last_fraction = fraction;
    ++*(int *)context;
    return 0;
}

static int cancel(void *context, double fraction) { return ++*(int *)context && fraction >= 0; }

static void test_progress_and_numbers(void **state)
{
    trv_schedule_t *schedule = made("trivance-b", "4x4", TRV_ALLREDUCE);
    trv_verdict_t verdict = {TRV_VERDICT};
    int calls = 0;
    (void)state;
    last_fraction = 0;
    assert_int_equal(trv_verify(schedule, TRV_VERIFY_AUTO, &(trv_verdict_t){0}, NULL, NULL), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "TRV_VERDICT"));
    assert_int_equal(trv_verify(schedule, TRV_VERIFY_AUTO, &verdict, note_progress, &calls), TRV_OK);
    assert_true(calls > 0 && last_fraction > 0.99);
    assert_true(verdict.valid && verdict.consistent && verdict.seconds > 0);
    assert_int_equal(verdict.method, TRV_VERIFY_EXHAUSTIVE);
    assert_int_equal(verdict.ranks, 16);
    assert_int_equal(verdict.units, trv_schedule_units(schedule) * trv_schedule_streams(schedule));
    assert_int_equal(verdict.fault_rank, -1);
    calls = 0;
    assert_int_equal(trv_verify(schedule, TRV_VERIFY_AUTO, &verdict, cancel, &calls), TRV_ERR_CANCELLED);
    assert_int_equal(calls, 1);
    trv_schedule_destroy(schedule);
}

static void test_random_method(void **state)
{
    trv_schedule_t *schedule = made("trivance-b", "12x12x16", TRV_ALLREDUCE);
    (void)state;
    schedule->registers = 1; /* fails in the first step; test_verify_large has a valid schedule */
    trv_verdict_t verdict = verdict_of(schedule, TRV_VERIFY_AUTO);
    assert_int_equal(verdict.method, TRV_VERIFY_RANDOM);
    assert_false(verdict.valid);
    trv_schedule_destroy(schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cyclic_wait),
        cmocka_unit_test(test_sides_in_different_steps),
        cmocka_unit_test(test_first_of_several_faults),
        cmocka_unit_test(test_overwritten_register),
        cmocka_unit_test(test_empty_register),
        cmocka_unit_test(test_parts_and_empty_messages),
        cmocka_unit_test(test_contribution_by_two_paths),
        cmocka_unit_test(test_claims_exact_but_overlaps),
        cmocka_unit_test(test_covers_but_not_all),
        cmocka_unit_test(test_missing_contribution),
        cmocka_unit_test(test_claims_consistent_but_is_not),
        cmocka_unit_test(test_sums_commute),
        cmocka_unit_test(test_joint_combine_differs),
        cmocka_unit_test(test_false_symmetry),
        cmocka_unit_test(test_owners),
        cmocka_unit_test(test_progress_and_numbers),
        cmocka_unit_test(test_random_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
