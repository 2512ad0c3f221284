/*
 * The planner: never slower than any named algorithm, deterministic, within its constraints, and with clear errors.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/trivance.h>

#include "exhaustive.h"
#include "planner/ranking.h"

static trv_simulate_options_t paper = TRV_SIMULATE_DEFAULTS;

static trv_torus_t torus_of(const char *text)
{
    trv_torus_t torus;
    if (trv_torus_parse(text, &torus))
        fail_msg("%s", trv_last_error());
    return torus;
}

static trv_planner_choice_t best(const char *torus_text, trv_collective_t collective, uint64_t bytes,
                                 const trv_planner_constraints_t *constraints)
{
    trv_torus_t torus = torus_of(torus_text);
    trv_planner_choice_t choice;
    if (trv_planner_best(&torus, collective, 0, bytes, &paper, constraints, &choice))
        fail_msg("%s, %llu bytes: %s", torus_text, (unsigned long long)bytes, trv_last_error());
    return choice;
}

static double simulated(const trv_torus_t *torus, trv_collective_t collective, const char *algorithm, uint64_t bytes)
{
    trv_simulate_options_t options = paper;
    trv_schedule_t *schedule;
    trv_simulator_t *simulator;
    trv_simulation_t result;
    assert_int_equal(trv_schedule_create(&schedule, torus, algorithm, collective), 0);
    assert_int_equal(trv_simulator_create(&simulator, schedule), 0);
    assert_int_equal(trv_simulate(simulator, &options, bytes, &result), 0);
    double time_ns = result.time_ns;
    trv_simulation_clear(&result);
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
    return time_ns;
}

static int messages_per_port(const trv_torus_t *torus, trv_collective_t collective, const char *algorithm)
{
    trv_schedule_t *schedule;
    assert_int_equal(trv_schedule_create(&schedule, torus, algorithm, collective), 0);
    const int messages = trv_schedule_messages_per_port(schedule);
    trv_schedule_destroy(schedule);
    return messages;
}

/* Algorithms without a symmetry are not candidates on large tori, but this check includes them; not those with more
 * messages per port than the network allows. */
static void assert_never_slower_with(const char *text, trv_collective_t collective, uint32_t allowed)
{
    const trv_torus_t torus = torus_of(text);
    paper.messages_per_port = allowed;
    for (uint64_t bytes = 32; bytes <= 1 << 20; bytes *= 32) {
        trv_planner_choice_t choice = best(text, collective, bytes, NULL);
        double time_ns = simulated(&torus, collective, choice.algorithm, bytes);
        if (choice.time_ns != time_ns)
            fail_msg("%s, %llu bytes, %s: %.6f ns, simulated %.6f ns", text, (unsigned long long)bytes,
                     choice.algorithm, choice.time_ns, time_ns);
        for (int i = 0; i < trv_algorithms_count(); i++) {
            const trv_algorithm_t *algorithm = trv_algorithm_at(i);
            if (trv_algorithm_exactness(algorithm) == TRV_COVERS ||
                trv_algorithm_supports(algorithm, &torus, collective))
                continue;
            if (allowed && messages_per_port(&torus, collective, trv_algorithm_name(algorithm)) > (int)allowed)
                continue;
            double named = simulated(&torus, collective, trv_algorithm_name(algorithm), bytes);
            if (choice.time_ns > named)
                fail_msg("%s, %llu bytes: %s takes %.3f ns, %s %.3f ns", text, (unsigned long long)bytes,
                         choice.algorithm, choice.time_ns, trv_algorithm_name(algorithm), named);
        }
    }
}

static void assert_never_slower(const char *text, trv_collective_t collective)
{
    assert_never_slower_with(text, collective, 0);
    assert_never_slower_with(text, collective, 1);
}

/* No choice is slower than an algorithm with a number of ports. */
static void assert_no_ports_faster(const char *text, uint64_t bytes)
{
    static const char *const name[] = {"swing-l", "swing-b", "recdoub-l", "recdoub-b"};
    const trv_torus_t torus = torus_of(text);
    const double chosen_ns = best(text, TRV_ALLREDUCE, bytes, NULL).time_ns;
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        for (int ports = 1; ports <= 2 * torus.dims; ports++) {
            char algorithm[TRV_ALGORITHM_NAME_MAX];
            snprintf(algorithm, sizeof algorithm, "%s:%d", name[i], ports);
            const double time_ns = simulated(&torus, TRV_ALLREDUCE, algorithm, bytes);
            if (chosen_ns > time_ns)
                fail_msg("%s, %llu bytes: the choice takes %.3f ns, %s %.3f ns", text, (unsigned long long)bytes,
                         chosen_ns, algorithm, time_ns);
        }
}

/* Sets the parameters of the profile tofu-d that differ from the paper's. Returns the former network. */
static trv_simulate_options_t use_tofu(void)
{
    const trv_simulate_options_t other = paper;
    paper.delivery = TRV_DELIVERY_TAIL;
    paper.messages_per_port = 0;
    paper.bandwidth_bps = 95.5e9;
    paper.injection_bps = 50.8e9;
    paper.packet_bytes = 2048;
    paper.alpha_ns = 589;
    paper.message_overhead_ns = 1620;
    paper.part_overhead_ns = 14600;
    paper.gamma_ns = 0.02;
    paper.gamma_start_ns = 13000;
    paper.gamma_small_ns = 0.556;
    return other;
}

static void test_ports(void **state)
{
    static const char *const text[] = {"8", "5x3", "8x8", "8x4x2", "4x4x4", "5x5x5"};
    (void)state;
    const trv_simulate_options_t other = use_tofu();
    for (size_t t = 0; t < sizeof text / sizeof text[0]; t++)
        for (uint64_t bytes = 512; bytes <= 1 << 20; bytes *= t < 5 ? 8 : 32)
            assert_no_ports_faster(text[t], bytes);
    assert_no_ports_faster("8x8x8", 16 << 10);
    assert_int_equal(strncmp(best("4x4x4", TRV_ALLREDUCE, 16 << 10, NULL).algorithm, "swing-l:", 8), 0);
    paper = other;
}

/* By alpha, hops and bytes alone these schedules are ranked low, so that they would not be simulated. */
static void test_models_with_overheads(void **state)
{
    static const struct {
        const char *torus, *algorithm;
        trv_collective_t collective;
        uint64_t bytes;
    } fast[] = {{"4x4x4", "star:l:1", TRV_ALLREDUCE, 128 << 10},
                {"8x8", "star:l", TRV_ALLREDUCE, 64 << 10},
                {"6x6x6", "star:l:2", TRV_ALLREDUCE, 512 << 10},
                {"2x4x8", "star:b:1", TRV_ALLREDUCE, 4 << 20},
                {"8x8", "disjoint-trees:1:8", TRV_BROADCAST, 1 << 20}};
    (void)state;
    const trv_simulate_options_t other = use_tofu();
    for (size_t i = 0; i < sizeof fast / sizeof fast[0]; i++) {
        const trv_torus_t torus = torus_of(fast[i].torus);
        const trv_planner_choice_t choice = best(fast[i].torus, fast[i].collective, fast[i].bytes, NULL);
        const double time_ns = simulated(&torus, fast[i].collective, fast[i].algorithm, fast[i].bytes);
        if (choice.time_ns > time_ns)
            fail_msg("%s, %llu bytes: %s takes %.3f ns, %s %.3f ns", fast[i].torus, (unsigned long long)fast[i].bytes,
                     choice.algorithm, choice.time_ns, fast[i].algorithm, time_ns);
    }
    paper = other;
}

static void test_never_slower(void **state)
{
    static const char *const text[] = {"1", "2", "7", "8", "25", "64", "8x8", "6x1x5", "4x8", "4x4x4"};
    (void)state;
    for (size_t t = 0; t < sizeof text / sizeof text[0]; t++)
        for (trv_collective_t collective = TRV_ALLREDUCE; collective <= TRV_ALLGATHER; collective++)
            assert_never_slower(text[t], collective);
}

/* With large message overheads the model must account for them: by bytes and hops alone the star in one stream is
 * ranked low, so that it would not be simulated. */
static void test_overheads(void **state)
{
    static const char *const torus[] = {"3x3x3", "4x4", "9"};
    (void)state;
    const double none_ns = paper.message_overhead_ns;
    paper.message_overhead_ns = 10000;
    for (size_t t = 0; t < sizeof torus / sizeof torus[0]; t++)
        assert_never_slower(torus[t], TRV_ALLREDUCE);
    trv_planner_choice_t choice = best("3x3x3", TRV_ALLREDUCE, 1 << 20, NULL);
    trv_torus_t cube = torus_of("3x3x3");
    assert_true(choice.time_ns <= simulated(&cube, TRV_ALLREDUCE, "star:l::1", 1 << 20));
    paper.message_overhead_ns = none_ns;
}

static void test_choices_are_schedules(void **state)
{
    static const char *const text[] = {"8", "9", "12", "4x6", "8x8", "3x4x5"};
    (void)state;
    for (size_t t = 0; t < sizeof text / sizeof text[0]; t++)
        for (uint64_t bytes = 8; bytes <= 64 << 20; bytes *= 128)
            for (int consistent = 0; consistent < 2; consistent++) {
                trv_torus_t torus = torus_of(text[t]);
                const trv_planner_constraints_t constraints = {TRV_PLANNER_CONSTRAINTS, .consistent = consistent};
                trv_planner_choice_t choice = best(text[t], TRV_ALLREDUCE, bytes, &constraints);
                trv_schedule_t *schedule;
                trv_verdict_t verdict = {TRV_VERDICT};
                assert_int_equal(trv_schedule_create(&schedule, &torus, choice.algorithm, TRV_ALLREDUCE), 0);
                assert_int_equal(trv_verify(schedule, TRV_VERIFY_AUTO, &verdict, NULL, NULL), 0);
                if (!verdict.valid)
                    fail_msg("%s: %s", choice.algorithm, verdict.fault);
                assert_int_equal(trv_schedule_steps(schedule), choice.steps);
                assert_true(choice.consistent == trv_schedule_consistent(schedule));
                assert_true(trv_schedule_exactness(schedule) == TRV_EXACT);
                assert_true(!consistent || verdict.consistent);
                trv_schedule_destroy(schedule);
            }
}

/* ---- Repeated questions ------------------------------------------------------------------------------------------ */

static trv_planner_t *planner_of(const char *torus_text, const trv_planner_constraints_t *constraints)
{
    trv_torus_t torus = torus_of(torus_text);
    trv_planner_t *planner;
    assert_int_equal(trv_planner_create(&planner, &torus, TRV_ALLREDUCE, 0, &paper, constraints), 0);
    return planner;
}

static void assert_same(const trv_planner_choice_t *a, const trv_planner_choice_t *b)
{
    assert_string_equal(a->algorithm, b->algorithm);
    assert_int_equal(a->steps, b->steps);
    assert_true(a->time_ns == b->time_ns && a->alpha_ns == b->alpha_ns && a->hops_ns == b->hops_ns &&
                a->transmission_ns == b->transmission_ns && a->consistent == b->consistent);
}

/* The answer does not depend on earlier questions. */
static void test_determined(void **state)
{
    static const uint64_t sizes[] = {1 << 20, 64, 1 << 16, 1 << 20, 64};
    trv_planner_t *planner = planner_of("8x16", NULL);
    trv_planner_choice_t choice[5], other;
    (void)state;
    assert_int_equal(trv_planner_time(planner, 4096, "recdoub-b", &other), 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(trv_planner_rank(planner, sizes[i], 1, &choice[i]), 1);
        other = best("8x16", TRV_ALLREDUCE, sizes[i], NULL);
        assert_same(&choice[i], &other);
        trv_planner_t *fresh = planner_of("8x16", NULL);
        assert_int_equal(trv_planner_rank(fresh, sizes[i], 1, &other), 1);
        assert_same(&choice[i], &other);
        trv_planner_destroy(fresh);
    }
    trv_planner_destroy(planner);
}

/* More questions than the cache holds. */
static void test_cache(void **state)
{
    static const char *const text[] = {"3", "4", "5", "6", "7", "3x3"};
    (void)state;
    for (uint64_t bytes = 1; bytes < 300; bytes++) {
        const char *torus = text[bytes % 6];
        trv_planner_choice_t choice = best(torus, TRV_ALLREDUCE, bytes, NULL),
                             again = best(torus, TRV_ALLREDUCE, bytes, NULL);
        assert_same(&choice, &again);
    }
    trv_planner_choice_t fast, slow;
    trv_torus_t torus = torus_of("8x8");
    trv_simulate_options_t network = paper;
    network.bandwidth_bps /= 8;
    assert_int_equal(trv_planner_best(&torus, TRV_ALLREDUCE, 0, 1 << 20, &paper, NULL, &fast), 0);
    assert_int_equal(trv_planner_best(&torus, TRV_ALLREDUCE, 0, 1 << 20, &network, NULL, &slow), 0);
    assert_true(slow.time_ns > 1.5 * fast.time_ns);
}

static void test_rank(void **state)
{
    trv_planner_t *planner = planner_of("8x8", NULL);
    trv_planner_choice_t choice[64], again;
    (void)state;
    int choices = trv_planner_rank(planner, 1 << 16, 64, choice);
    assert_true(choices >= 5);
    for (int i = 0; i < choices; i++) {
        assert_true(i == 0 || choice[i].time_ns >= choice[i - 1].time_ns);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(choice[i].algorithm, choice[j].algorithm);
        assert_int_equal(trv_planner_time(planner, 1 << 16, choice[i].algorithm, &again), 0);
        assert_same(&choice[i], &again);
    }
    assert_int_equal(trv_planner_rank(planner, 1 << 16, 2, choice), 2);
    assert_int_equal(trv_planner_rank(planner, 1 << 16, 0, choice), TRV_ERR_ARGUMENT);
    trv_planner_destroy(planner);
}

/* ---- Sizes and link models --------------------------------------------------------------------------------------- */

/* More packets than the simulator accepts: packets are enlarged. Only bandwidth matters at this size. A petabyte takes
 * more than an hour. */
static void test_large_vectors(void **state)
{
    (void)state;
    const int bits = exhaustive() ? 35 : 31;
    trv_planner_choice_t large = best("4x4", TRV_ALLREDUCE, (uint64_t)1 << (bits - 3), NULL);
    trv_planner_choice_t larger = best("4x4", TRV_ALLREDUCE, (uint64_t)1 << bits, NULL);
    assert_true(fabs(larger.time_ns / large.time_ns - 8) < 0.1);
    trv_torus_t torus = torus_of("4x4");
    trv_planner_choice_t choice;
    assert_int_equal(trv_planner_best(&torus, TRV_ALLREDUCE, 0, (uint64_t)1 << 50, &paper, NULL, &choice),
                     TRV_ERR_UNSUPPORTED);
    assert_non_null(strstr(trv_last_error(), "exceeds the simulator's limit of one hour"));
}

/* Two channels per link are simulated as such: streams that share links are slower there. */
static void test_dateline(void **state)
{
    static const char *const named[] = {"trivance-l", "trivance-b", "swing-b", "bucket", "recdoub-b"};
    trv_torus_t torus = torus_of("4x8");
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    network.model = TRV_DATELINE;
    trv_planner_t *planner;
    (void)state;
    assert_int_equal(trv_planner_create(&planner, &torus, TRV_ALLREDUCE, 0, &network, NULL), 0);
    for (uint64_t bytes = 1 << 10; bytes <= 1 << 22; bytes *= 64) {
        trv_planner_choice_t choice[3], other;
        trv_schedule_t *schedule;
        trv_simulator_t *simulator;
        trv_simulation_t result;
        assert_int_equal(trv_planner_rank(planner, bytes, 3, choice), 3);
        assert_true(choice[0].time_ns <= choice[1].time_ns && choice[1].time_ns <= choice[2].time_ns);
        assert_int_equal(trv_schedule_create(&schedule, &torus, choice[0].algorithm, TRV_ALLREDUCE), 0);
        assert_int_equal(trv_simulator_create(&simulator, schedule), 0);
        assert_int_equal(trv_simulate(simulator, &network, bytes, &result), 0);
        assert_true(result.time_ns == choice[0].time_ns);
        trv_simulation_clear(&result);
        trv_simulator_destroy(simulator);
        trv_schedule_destroy(schedule);
        for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
            assert_int_equal(trv_planner_time(planner, bytes, named[i], &other), 0);
            assert_true(choice[0].time_ns <= other.time_ns);
        }
    }
    trv_planner_destroy(planner);
}

/* ---- Constraints ------------------------------------------------------------------------------------------------- */

typedef struct facts {
    int registers, messages_per_port;
} facts_t;

static facts_t properties_of(const char *torus_text, const char *algorithm)
{
    trv_torus_t torus = torus_of(torus_text);
    trv_schedule_t *schedule;
    assert_int_equal(trv_schedule_create(&schedule, &torus, algorithm, TRV_ALLREDUCE), 0);
    facts_t facts = {trv_schedule_registers(schedule), trv_schedule_messages_per_port(schedule)};
    trv_schedule_destroy(schedule);
    return facts;
}

static void test_constraints(void **state)
{
    (void)state;
    trv_planner_choice_t any = best("9x9", TRV_ALLREDUCE, 64, NULL);
    assert_false(any.consistent);
    trv_planner_choice_t consistent = best("9x9", TRV_ALLREDUCE, 64,
                                           &(trv_planner_constraints_t){TRV_PLANNER_CONSTRAINTS, .consistent = true});
    assert_true(consistent.consistent && consistent.time_ns >= any.time_ns);

    /* linear:2 sends two messages by each port. */
    trv_torus_t ring = torus_of("9");
    trv_planner_t *planner;
    for (uint32_t most = 0; most <= 2; most++) {
        trv_planner_choice_t choices[64];
        trv_simulate_options_t network = paper;
        network.messages_per_port = most;
        assert_int_equal(trv_planner_create(&planner, &ring, TRV_ALLREDUCE, 0, &network, NULL), 0);
        const int count = trv_planner_rank(planner, 64, 64, choices);
        int found = 0;
        assert_true(count > 0);
        for (int i = 0; i < count; i++) {
            assert_true(most == 0 || properties_of("9", choices[i].algorithm).messages_per_port <= (int)most);
            found += strcmp(choices[i].algorithm, "linear:2") == 0;
        }
        assert_int_equal(found, most != 1);
        assert_int_equal(trv_planner_time(planner, 64, "linear:2", &any), 0); /* by its name it is timed everywhere */
        trv_planner_destroy(planner);
    }

    /* The grouped form on a ring of 25 keeps 25 vectors. */
    trv_planner_constraints_t little = {TRV_PLANNER_CONSTRAINTS, .consistent = true, .memory_bytes = 4 * 64};
    assert_true(properties_of("25", best("25", TRV_ALLREDUCE, 64,
                                         &(trv_planner_constraints_t){TRV_PLANNER_CONSTRAINTS, .consistent = true})
                                        .algorithm)
                    .registers > 25);
    assert_true(properties_of("25", best("25", TRV_ALLREDUCE, 64, &little).algorithm).registers <= 5);

    /* A schedule that only covers is faster on 25, where windows need two vectors in some messages. It suits only
     * MAX. */
    trv_planner_constraints_t idempotent = {TRV_PLANNER_CONSTRAINTS, .idempotent = true};
    assert_string_equal(best("25", TRV_ALLREDUCE, 1 << 16, &idempotent).algorithm, "trivance-l-overlap");
    assert_string_not_equal(best("25", TRV_ALLREDUCE, 1 << 16, NULL).algorithm, "trivance-l-overlap");
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static void assert_message(const char *first, const char *second)
{
    if (!strstr(trv_last_error(), first) || !strstr(trv_last_error(), second))
        fail_msg("neither '%s' nor '%s' may be missing in: %s", first, second, trv_last_error());
}

static int ask(const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints)
{
    trv_torus_t torus = torus_of("9x9");
    trv_planner_choice_t choice = {.algorithm = "untouched"};
    int rc = trv_planner_best(&torus, TRV_ALLREDUCE, 0, 1 << 20, network, constraints, &choice);
    if (rc)
        assert_string_equal(choice.algorithm, "untouched");
    return rc;
}

static void test_impossible(void **state)
{
    (void)state;
    assert_int_equal(ask(&paper, &(trv_planner_constraints_t){TRV_PLANNER_CONSTRAINTS, .consistent = true,
                                                              .memory_bytes = 1024}),
                     TRV_ERR_UNSUPPORTED);
    assert_message("consistency excludes trivance-l", "memory of at most 1024 bytes excludes trivance-l");
    trv_simulate_options_t many = paper, cube = paper;
    many.messages_per_port = 2 << 20;
    assert_int_equal(ask(&many, NULL), TRV_ERR_ARGUMENT);
    assert_message("2097152 messages", "0 for no limit");
    cube.shared_paths = 4;
    assert_int_equal(ask(&cube, NULL), TRV_ERR_ARGUMENT);
    assert_message("shared paths", "its last one is 1");
}

static void test_bad_networks(void **state)
{
    (void)state;
    trv_simulate_options_t bad = paper;
    bad.bandwidth_bps = 0;
    assert_int_equal(ask(&bad, NULL), TRV_ERR_ARGUMENT);
    assert_message("0 b/s", "800 Gb/s");
    bad = paper;
    bad.link_latency_ns = -1;
    assert_int_equal(ask(&bad, NULL), TRV_ERR_ARGUMENT);
    assert_message("-1 ns", "100 ns");
    bad = paper;
    bad.alpha_ns = NAN;
    assert_int_equal(ask(&bad, NULL), TRV_ERR_ARGUMENT);
    assert_message("alpha", "100 ns");
    bad = paper;
    bad.packet_bytes = 0;
    assert_int_equal(ask(&bad, NULL), TRV_ERR_ARGUMENT);
    assert_message("packet", "8192");
}

static void test_bad_names(void **state)
{
    trv_planner_t *planner = planner_of("9x9",
                                        &(trv_planner_constraints_t){TRV_PLANNER_CONSTRAINTS, .consistent = true});
    trv_planner_choice_t choice, before;
    char long_name[400];
    (void)state;
    assert_int_equal(trv_planner_rank(planner, 4096, 1, &before), 1);
    assert_int_equal(trv_planner_time(planner, 4096, "fast", &choice), TRV_ERR_ARGUMENT);
    assert_message("'fast'", "trivance-b");
    assert_int_equal(trv_planner_time(planner, 4096, "ring", &choice), TRV_ERR_UNSUPPORTED);
    assert_int_equal(trv_planner_time(planner, 4096, "trivance-l", &choice), TRV_ERR_UNSUPPORTED);
    assert_message("trivance-l", "consistency");
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    assert_int_equal(trv_planner_time(planner, 4096, long_name, &choice), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_planner_rank(planner, 4096, 1, &choice), 1);
    assert_same(&choice, &before);
    trv_planner_destroy(planner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_slower),
        cmocka_unit_test(test_overheads),
        cmocka_unit_test(test_choices_are_schedules),
        cmocka_unit_test(test_determined),
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_large_vectors),
        cmocka_unit_test(test_dateline),
        cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_bad_networks),
        cmocka_unit_test(test_bad_names),
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_models_with_overheads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
