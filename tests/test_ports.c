/*
 * Algorithms with a number of ports (swing-l:3): proofs, data, one message of a stream per step, ports that are used
 * evenly, and symmetry.
 */
#include <math.h>

#include "test_execute_world.h"

#include <trivance/cost.h>
#include <trivance/simulate.h>
#include <trivance/verify.h>

static const char *const algorithms[] = {"recdoub-l", "recdoub-b", "swing-l", "swing-b"};

static trv_schedule_t *make(const char *torus_name, const char *algorithm, int ports, trv_collective_t collective)
{
    char name[32];
    trv_torus_t torus;
    trv_schedule_t *schedule;
    snprintf(name, sizeof name, "%s:%d", algorithm, ports);
    assert_int_equal(trv_torus_parse(torus_name, &torus), 0);
    if (trv_schedule_create(&schedule, &torus, name, collective))
        fail_msg("%s on %s: %s", name, torus_name, trv_last_error());
    assert_int_equal(trv_schedule_streams(schedule), ports);
    return schedule;
}

static void expect_proof(const trv_schedule_t *schedule)
{
    trv_verdict_t verdict = {TRV_VERDICT};
    assert_int_equal(trv_verify(schedule, TRV_VERIFY_AUTO, &verdict, NULL, NULL), 0);
    if (!verdict.valid)
        fail_msg("%s: %s", trv_schedule_name(schedule), verdict.fault);
}

/* Every rank sends and receives at most one message of a stream in a step. */
static void expect_one_port(const trv_schedule_t *schedule)
{
    trv_step_t step = TRV_STEP_INIT;
    for (int rank = 0; rank < trv_schedule_torus(schedule)->ranks; rank++)
        for (int stream = 0; stream < trv_schedule_streams(schedule); stream++)
            for (int k = 0; k < trv_schedule_steps(schedule); k++) {
                assert_int_equal(trv_schedule_step(schedule, rank, stream, k, &step), 0);
                assert_true(step.sends <= 1 && step.receives <= 1);
            }
    trv_step_clear(&step);
}

static void every_number_of_ports_is_exact(void **state)
{
    static const struct {
        const char *torus;
        int ports;
    } cases[] = {{"2", 2},   {"5", 2},   {"8", 2},     {"12", 1},  {"2x2x2", 6},
                 {"4x4", 3}, {"3x4", 4}, {"4x2x3", 5}, {"1x8", 2}, {"4x8m", 4}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++)
            for (int ports = 1; ports <= cases[i].ports; ports++) {
                trv_schedule_t *schedule = make(cases[i].torus, algorithms[a], ports, TRV_ALLREDUCE);
                expect_proof(schedule);
                expect_one_port(schedule);
                world_try(schedule, 509, 0);
                trv_schedule_destroy(schedule);
            }
    for (int collective = TRV_REDUCE_SCATTER; collective <= TRV_ALLGATHER; collective++) {
        trv_schedule_t *schedule = make("4x4", "swing-b", 2, (trv_collective_t)collective);
        expect_proof(schedule);
        trv_schedule_destroy(schedule);
    }
    for (int collective = TRV_BROADCAST; collective <= TRV_ALLTOALL; collective++) {
        trv_schedule_t *schedule = make("4x8", "bine", 3, (trv_collective_t)collective);
        expect_proof(schedule);
        trv_schedule_destroy(schedule);
    }
}

/* With all ports Swing B sends the messages of swing-b, which has no messages half way round on these tori. */
static void all_ports_are_the_algorithm_itself(void **state)
{
    static const char *const tori[] = {"8", "4x4", "8x4x4"};
    (void)state;
    for (size_t i = 0; i < sizeof tori / sizeof *tori; i++) {
        trv_torus_t torus;
        trv_schedule_t *plain;
        trv_cost_t cost, other;
        assert_int_equal(trv_torus_parse(tori[i], &torus), 0);
        assert_int_equal(trv_schedule_create(&plain, &torus, "swing-b", TRV_ALLREDUCE), 0);
        trv_schedule_t *ported = make(tori[i], "swing-b", 2 * torus.dims, TRV_ALLREDUCE);
        assert_int_equal(trv_cost_measure(plain, &cost), 0);
        assert_int_equal(trv_cost_measure(ported, &other), 0);
        assert_true(fabs(cost.theta - other.theta) < 1e-12 && cost.steps == other.steps);
        trv_cost_clear(&cost);
        trv_cost_clear(&other);
        trv_schedule_destroy(ported);
        trv_schedule_destroy(plain);
    }
}

/* Messages half way round use both directions: on a ring of 8 the links carry 1 + 2 + 2 vectors, not 1 + 2 + 4. The
 * mirrored stream crosses other links in the second step. */
static void ties_use_both_directions(void **state)
{
    (void)state;
    for (int ports = 1; ports <= 2; ports++) {
        trv_cost_t cost;
        trv_schedule_t *schedule = make("8", "recdoub-l", ports, TRV_ALLREDUCE);
        assert_int_equal(trv_cost_measure(schedule, &cost), 0);
        assert_true(cost.steps == 3);
        assert_true(fabs(cost.theta - (ports == 1 ? 5 : 4)) < 1e-12);
        trv_cost_clear(&cost);
        trv_schedule_destroy(schedule);
    }
}

/* Swing is simulated with as many ranks as its symmetry needs, in the same time as with all. */
static void symmetry_is_kept(void **state)
{
    (void)state;
    for (size_t a = 2; a < 4; a++)
        for (int ports = 1; ports <= 4; ports++) {
            trv_schedule_t *schedule = make("8x4", algorithms[a], ports, TRV_ALLREDUCE);
            trv_simulator_t *simulator;
            trv_simulation_t folded, full;
            trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
            options.part_overhead_ns = 1000;
            options.message_overhead_ns = 100;
            options.injection_bps = 400e9;
            assert_int_equal(trv_simulator_create(&simulator, schedule), 0);
            assert_int_equal(trv_simulate(simulator, &options, 1 << 20, &folded), 0);
            options.full = true;
            assert_int_equal(trv_simulate(simulator, &options, 1 << 20, &full), 0);
            assert_true(folded.simulated_ranks == 4 && full.simulated_ranks == 32);
            assert_true(folded.time_fs == full.time_fs);
            trv_simulator_destroy(simulator);
            trv_schedule_destroy(schedule);
        }
}

static void wrong_numbers_are_errors(void **state)
{
    static const char *const names[] = {"swing-l:0", "swing-l:5", "recdoub-b:x", "bine:", "recdoub-l:-1"};
    static const char expected[] = "is not a number of ports from 1 to 4 on 4x4; for example ";
    trv_torus_t torus;
    trv_schedule_t *schedule;
    (void)state;
    assert_int_equal(trv_torus_parse("4x4", &torus), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(trv_schedule_create(&schedule, &torus, names[i],
                                             strncmp(names[i], "bine", 4) ? TRV_ALLREDUCE : TRV_BROADCAST),
                         TRV_ERR_ARGUMENT);
        assert_non_null(
            strstr(trv_last_error(), strchr(names[i], ':')[1] ? expected : "has a colon but no parameters"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_ports_is_exact), cmocka_unit_test(all_ports_are_the_algorithm_itself),
        cmocka_unit_test(ties_use_both_directions),       cmocka_unit_test(symmetry_is_kept),
        cmocka_unit_test(wrong_numbers_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
