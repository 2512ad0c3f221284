/*
 * Streams with weights: every element arrives, at any count; slices are proportional to the weights; exactly the
 * necessary bytes are sent, evenly on all links; and tori with unequal sides come close to the lower bound of
 * AllReduce.
 */
#include <math.h>

#include "test_execute_world.h"

static const struct {
    const char *torus, *name;
} cases[] = {
    {"2x3", "bucket:9/7"},
    {"2x4", "bucket:1/3"},
    {"3x5", "hybrid:3x5/2:weights5/3"},
    {"2x4", "hybrid:2x4/2/2:sequential:streams3:weights3/2"},
    {"4x9", "hybrid:4x9/4/2:sequential:streams2:weights11/7"},
    {"3x8", "hybrid:3x8/4/2:streams2:weights1/1"},
    {"4x6", "hybrid:2x6/3/2:grouped:weights2/3"},
    {"2x3x5", "hybrid:2x3x5/2:streams2:weights1/2/4"},
    {"3x9", "hybrid:3x9:streams2:weights4/3"},
    {"1x6", "bucket:7"},
};

static trv_schedule_t *make(int i, trv_collective_t collective)
{
    trv_schedule_t *schedule;
    trv_torus_t torus;
    assert_int_equal(trv_torus_parse(cases[i].torus, &torus), 0);
    if (trv_schedule_create(&schedule, &torus, cases[i].name, collective))
        fail_msg("%s on %s: %s", cases[i].name, cases[i].torus, trv_last_error());
    return schedule;
}

/* Whether the case supports the collective: a hybrid that is not entirely B supports only AllReduce. */
static bool supports(int i, int collective)
{
    return collective == TRV_ALLREDUCE || strncmp(cases[i].name, "hybrid:2x6", 10) != 0;
}

static void every_case(void (*work)(const trv_schedule_t *schedule))
{
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++)
        for (int collective = TRV_ALLREDUCE; collective <= TRV_ALLGATHER; collective++)
            if (supports(i, collective)) {
                trv_schedule_t *schedule = make(i, (trv_collective_t)collective);
                work(schedule);
                trv_schedule_destroy(schedule);
            }
}

static void move_data(const trv_schedule_t *schedule)
{
    const bool vector = trv_schedule_collective(schedule) == TRV_ALLREDUCE;
    const size_t step = vector ? 1 : 3, most = vector || exhaustive() ? 4099 : 509;
    for (size_t count = 0; count <= 200; count += count < 10     ? step
                                                  : exhaustive() ? (size_t)(1 + sample_draw(5)) * step
                                                                 : 23 * step)
        world_try(schedule, count, 0);
    world_try(schedule, most, 0);
    world_try(schedule, most, 1600); /* in chunks */
}

static void every_count_arrives(void **state)
{
    (void)state;
    every_case(move_data);
}

static void prove(const trv_schedule_t *schedule)
{
    trv_verdict_t verdict = {TRV_VERDICT};
    assert_int_equal(trv_verify(schedule, TRV_VERIFY_EXHAUSTIVE, &verdict, NULL, NULL), TRV_OK);
    if (!verdict.valid || !verdict.consistent)
        fail_msg("%s: %s", trv_schedule_name(schedule), verdict.valid ? "not consistent" : verdict.fault);
}

static void verifier_agrees(void **state)
{
    (void)state;
    every_case(prove);
}

/* B sends each of the other n - 1 blocks once per phase, whatever the weights and the steps: Delta = (n - 1) / n. */
static void measure(const trv_schedule_t *schedule)
{
    const double n = trv_schedule_torus(schedule)->ranks;
    trv_cost_t cost;
    if (trv_schedule_collective(schedule) != TRV_ALLREDUCE || trv_schedule_owner(schedule, 0) < 0)
        return;
    assert_int_equal(trv_cost_measure(schedule, &cost), TRV_OK);
    if (fabs(cost.delta - (n - 1) / n) > 1e-9)
        fail_msg("%s has a Delta of %.6f", trv_schedule_name(schedule), cost.delta);
    trv_cost_clear(&cost);
}

static void nothing_is_sent_twice(void **state)
{
    (void)state;
    every_case(measure);
}

/* A message of all units of a stream has the bytes of its slice; the slices add up to the vector. */
static void slices_follow_weights(void **state)
{
    (void)state;
    trv_schedule_t *schedule = make(0, TRV_ALLREDUCE), *copy, *embedded;
    const int node[] = {5, 4, 3, 2, 1, 0};
    const trv_network_t network = {TRV_NETWORK, .torus = *trv_schedule_torus(schedule)};
    assert_int_equal(trv_schedule_streams(schedule), 4); /* 9, 7, and their mirrors */
    assert_int_equal(trv_explicit_copy(&copy, schedule), TRV_OK);
    assert_int_equal(trv_schedule_embed(&embedded, schedule, &network, node), TRV_OK);
    const trv_schedule_t *form[] = {embedded, copy};
    for (int i = 0; i < 2; i++) {
        const int64_t units = trv_schedule_units(form[i]);
        assert_int_equal(trv_schedule_shares(form[i]), 32 * units);
        for (int s = 0; s < 4; s++) {
            assert_int_equal(trv_schedule_weight(form[i], s), s % 2 ? 7 : 9);
            assert_int_equal(trv_units_bytes(form[i], s, units, 3200), s % 2 ? 700 : 900);
        }
    }
    trv_schedule_destroy(copy);
    trv_schedule_destroy(embedded); /* also destroys the embedded schedule */
}

static void equal_weights_change_nothing(void **state)
{
    (void)state;
    trv_torus_t torus;
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    static const char *const names[] = {"bucket", "bucket:1/1", "bucket:5/5"};
    uint64_t time_fs[3];
    assert_int_equal(trv_torus_parse("3x4", &torus), 0);
    for (int i = 0; i < 3; i++) {
        trv_schedule_t *schedule;
        trv_simulator_t *simulator;
        trv_simulation_t result;
        assert_int_equal(trv_schedule_create(&schedule, &torus, names[i], TRV_ALLREDUCE), 0);
        assert_int_equal(trv_simulator_create(&simulator, schedule), 0);
        assert_int_equal(trv_simulate(simulator, &options, 1000003, &result), 0);
        time_fs[i] = result.time_fs;
        trv_simulator_destroy(simulator);
        trv_schedule_destroy(schedule);
    }
    assert_true(time_fs[0] == time_fs[1] && time_fs[0] == time_fs[2]);
}

/* The symmetry reduction gives the time of the full simulation. */
static void reduction_is_exact(void **state)
{
    (void)state;
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        trv_schedule_t *schedule = make(i, TRV_ALLREDUCE);
        trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
        trv_simulator_t *simulator;
        trv_simulation_t folded, full;
        assert_int_equal(trv_simulator_create(&simulator, schedule), 0);
        assert_int_equal(trv_simulate(simulator, &options, 300000, &folded), 0);
        options.full = true;
        assert_int_equal(trv_simulate(simulator, &options, 300000, &full), 0);
        assert_true(folded.time_fs == full.time_fs);
        assert_true(folded.simulated_ranks < full.simulated_ranks);
        trv_simulator_destroy(simulator);
        trv_schedule_destroy(schedule);
    }
}

/* Lower bound: every byte crosses n - 1 links to be added and n - 1 to be distributed, and there are 2 D n of them. */
static double limit_ns(const trv_torus_t *torus, double bytes, double bandwidth_bps)
{
    const double n = torus->ranks;
    return 2 * bytes * 8e9 * (n - 1) / (2 * torus->dims * n * bandwidth_bps);
}

static void long_vectors_approach_the_limit(void **state)
{
    (void)state;
    static const char *const tori[] = {"8x64", "4x4x16", "16x64"};
    const uint64_t bytes = UINT64_C(512) << 20;
    for (int i = 0; i < (exhaustive() ? 3 : 1); i++) {
        trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
        trv_planner_t *planner;
        trv_planner_choice_t plan;
        trv_torus_t torus;
        assert_int_equal(trv_torus_parse(tori[i], &torus), 0);
        assert_int_equal(trv_planner_create(&planner, &torus, TRV_ALLREDUCE, 0, &network, NULL), 0);
        assert_int_equal(trv_planner_rank(planner, bytes, 1, &plan), 1);
        const double ratio = plan.time_ns / limit_ns(&torus, (double)bytes, network.bandwidth_bps);
        print_message("%s: %s, %.3f of the limit\n", tori[i], plan.algorithm, ratio);
        assert_true(ratio >= 1 && ratio <= 1.10);
        assert_non_null(strstr(plan.algorithm, ":weights"));
        trv_planner_destroy(planner);
    }
}

static void rejects_bad_weights(void **state)
{
    (void)state;
    static const struct {
        const char *torus, *name, *why;
    } wrong[] = {
        {"4x8", "bucket:", "has a colon but no parameters: expected bucket:W[/W...], for example bucket:9/7"},
        {"4x8", "bucket:9/", "whole numbers from 1 to 1024"},
        {"4x8", "bucket:9/7x", "whole numbers from 1 to 1024"},
        {"4x8", "bucket:9/0", "'9/0' is not a list of weights separated by /, whole numbers from 1 to 1024"},
        {"4x8", "bucket:9/1025", "'9/1025' is not a list of weights"},
        {"4x8", "bucket:9/99999", "whole numbers from 1 to 1024"},
        {"4x8", "bucket:9", "2 weights are needed, one per dimension larger than 1; 1 was given"},
        {"4x8", "bucket:1/2/3", "2 weights are needed, one per dimension larger than 1; 3 were given"},
        {"4x8", "hybrid:4x8:weights", "'weights' is not weights followed by a list of weights"},
        {"4x8", "hybrid:4x8:weights1/2/3", "2 weights are needed, one per dimension larger than 1; 3 were given"},
        {"4x8", "hybrid:4x8:streams0",
         "'streams0' is not streams followed by a number of streams that begin in each dimension from 1 to 16"},
        {"4x8", "hybrid:4x8:streams17",
         "'streams17' is not streams followed by a number of streams that begin in each dimension from 1 to 16"},
        {"4x8", "hybrid:4x8/4/9", "lists, not 9"},
        {"2x128", "hybrid:2x128/40", "lists, not 40"},
        {"2x128", "hybrid:2x128/64", "lists, not 64"},
        {"4x8", "hybrid:4x8/4/", "'4x8/4/' is not a list of factors"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        trv_torus_t torus;
        trv_schedule_t *schedule;
        assert_int_equal(trv_torus_parse(wrong[i].torus, &torus), 0);
        assert_true(trv_schedule_create(&schedule, &torus, wrong[i].name, TRV_ALLREDUCE) < 0);
        if (!strstr(trv_last_error(), wrong[i].why))
            fail_msg("%s: '%s', not '%s'", wrong[i].name, trv_last_error(), wrong[i].why);
    }
    const trv_torus_t ring = {.dims = 1, .size = {2}, .ranks = 2};
    trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS, .streams = 2, .registers = 1, .units = 2};
    trv_schedule_t *schedule;
    options.weight = (const int[]){3, 0};
    assert_int_equal(trv_explicit_create(&schedule, &ring, "mine", &options), TRV_ERR_ARGUMENT);
    assert_null(schedule);
    assert_string_equal(trv_last_error(), "the weight of stream 1 of 'mine' is 0; weights are 1 to 1024");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_count_arrives),
        cmocka_unit_test(verifier_agrees),
        cmocka_unit_test(nothing_is_sent_twice),
        cmocka_unit_test(slices_follow_weights),
        cmocka_unit_test(equal_weights_change_nothing),
        cmocka_unit_test(reduction_is_exact),
        cmocka_unit_test(long_vectors_approach_the_limit),
        cmocka_unit_test(rejects_bad_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
