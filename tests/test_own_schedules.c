/*
 * A user's own schedule as a candidate of the planner.
 */
#include "simulate_check.h"

static const trv_simulate_options_t paper = TRV_SIMULATE_DEFAULTS;

static void assert_refused(trv_planner_t *planner, const trv_schedule_t *schedule, const char *name, int code,
                           const char *words)
{
    assert_int_equal(trv_planner_add(planner, schedule, name), code);
    if (!strstr(trv_last_error(), words))
        fail_msg("'%s' does not contain '%s'", trv_last_error(), words);
}

/* A user's schedule is chosen if and only if it is the fastest, and has its own time, also after other calls. */
static void test_own_schedules(void **state)
{
    static const struct {
        const char *torus, *algorithm;
        trv_collective_t collective;
        trv_link_model_t model;
        int slow_links;
        bool wins;
    } own[] = {{"40", "linear:9", TRV_BROADCAST, TRV_FIFO, 0, true}, /* the planner considers linear:8 and :16 */
               {"40", "linear:9", TRV_BROADCAST, TRV_DATELINE, 0, true},
               {"4x4", "bucket", TRV_ALLREDUCE, TRV_FIFO, 0, false},
               {"4x4", "bucket", TRV_ALLREDUCE, TRV_FIFO, 1, false},
               {"4x4", "binomial", TRV_BROADCAST, TRV_FIFO, 0, false}};
    const trv_slow_link_t slow = {.rank = 3, .port = 0, .factor = 2};
    (void)state;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        const trv_torus_t torus = torus_of(own[i].torus);
        trv_simulate_options_t network = paper;
        trv_planner_choice_t before, after[64], mine, named;
        trv_planner_t *planner;
        trv_schedule_t *schedule;
        network.model = own[i].model;
        network.messages_per_port = 0;
        network.slow_links = own[i].slow_links;
        network.slow_link = &slow;
        assert_int_equal(trv_planner_create(&planner, &torus, own[i].collective, 0, &network, NULL), TRV_OK);
        assert_int_equal(trv_schedule_create(&schedule, &torus, own[i].algorithm, own[i].collective), TRV_OK);
        assert_int_equal(trv_planner_rank(planner, 64, 1, &before), 1);
        assert_int_equal(trv_planner_add(planner, schedule, "mine"), TRV_OK);
        assert_refused(planner, schedule, "mine", TRV_ERR_ARGUMENT, "is that of another candidate");
        assert_refused(planner, schedule, "swing-b", TRV_ERR_ARGUMENT, "is that of another candidate");
        assert_refused(planner, schedule, "", TRV_ERR_ARGUMENT, "the name '' does not have 1 to 127 characters");
        trv_schedule_destroy(schedule);
        assert_true(trv_planner_rank(planner, 64, 64, after) > 0);
        assert_string_equal(after->algorithm, own[i].wins ? "mine" : before.algorithm);
        assert_int_equal(trv_planner_time(planner, 64, "mine", &mine), TRV_OK);
        assert_int_equal(trv_planner_time(planner, 64, own[i].algorithm, &named), TRV_OK);
        assert_true(mine.time_ns == named.time_ns && mine.steps == named.steps);
        assert_true(own[i].wins == (mine.time_ns < before.time_ns));
        assert_true(!own[i].wins || after->time_ns == mine.time_ns);
        trv_planner_destroy(planner);
    }
}

/* A large schedule of the caller is kept between calls: it cannot be created again by its name. */
static void test_large_own_schedule(void **state)
{
    const trv_torus_t torus = torus_of("4x4");
    trv_planner_choice_t choice[64];
    trv_planner_t *planner;
    trv_schedule_t *schedule;
    (void)state;
    assert_int_equal(trv_planner_create(&planner, &torus, TRV_ALLREDUCE, 0, &paper, NULL), TRV_OK);
    assert_int_equal(trv_schedule_create(&schedule, &torus, "spanning-trees:512:64", TRV_ALLREDUCE), TRV_OK);
    assert_int_equal(trv_planner_add(planner, schedule, "mine"), TRV_OK);
    trv_schedule_destroy(schedule);
    for (int i = 0; i < 2; i++) {
        bool found = false;
        const int choices = trv_planner_rank(planner, 1 << 20, 64, choice);
        for (int k = 0; k < choices; k++)
            found = found || strcmp(choice[k].algorithm, "mine") == 0;
        assert_true(found);
    }
    assert_int_equal(trv_planner_time(planner, 1 << 20, "mine", choice), TRV_OK);
    trv_planner_destroy(planner);
}

/* Schedules for other purposes, and those that violate constraints or cannot run, are refused. */
static void test_own_schedules_refused(void **state)
{
    const trv_planner_constraints_t consistent = {TRV_PLANNER_CONSTRAINTS, .consistent = true};
    const trv_torus_t torus = torus_of("9"), other = torus_of("8");
    const trv_slow_link_t cut = {.rank = 2, .port = 0, .factor = INFINITY};
    trv_simulate_options_t network = paper;
    trv_schedule_t *schedule, *rooted;
    trv_planner_t *planner;
    (void)state;
    network.slow_links = 1;
    network.slow_link = &cut;
    assert_int_equal(trv_planner_create(&planner, &torus, TRV_ALLREDUCE, 0, &network, &consistent), TRV_OK);
    assert_int_equal(trv_schedule_create(&schedule, &other, "ring", TRV_ALLREDUCE), TRV_OK);
    assert_refused(planner, schedule, "mine", TRV_ERR_ARGUMENT,
                   "mine is a schedule for allreduce on 8; the plan is for allreduce on 9");
    trv_schedule_destroy(schedule);
    assert_int_equal(trv_schedule_create(&schedule, &torus, "ring", TRV_ALLGATHER), TRV_OK);
    assert_refused(planner, schedule, "mine", TRV_ERR_ARGUMENT, "mine is a schedule for allgather on 9");
    trv_schedule_destroy(schedule);
    assert_int_equal(trv_schedule_create(&schedule, &torus, "ring", TRV_ALLREDUCE), TRV_OK);
    assert_refused(planner, schedule, "mine", TRV_ERR_UNSUPPORTED, "mine cannot run: a message of rank ");
    trv_schedule_destroy(schedule);
    assert_int_equal(trv_schedule_create(&schedule, &torus, "trivance-l", TRV_ALLREDUCE), TRV_OK);
    assert_refused(planner, schedule, "mine", TRV_ERR_UNSUPPORTED, "mine violates the constraints: consistency");
    trv_schedule_destroy(schedule);
    trv_planner_destroy(planner);
    assert_int_equal(trv_planner_create(&planner, &torus, TRV_BROADCAST, 4, &paper, NULL), TRV_OK);
    assert_int_equal(trv_schedule_create(&rooted, &torus, "binomial", TRV_BROADCAST), TRV_OK);
    assert_refused(planner, rooted, "mine", TRV_ERR_ARGUMENT,
                   "on 9 with the root 0; the plan is for broadcast on 9 with the root 4");
    trv_schedule_destroy(rooted);
    trv_planner_destroy(planner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_own_schedules), cmocka_unit_test(test_large_own_schedule),
                                       cmocka_unit_test(test_own_schedules_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
