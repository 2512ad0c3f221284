/*
 * Star schedules: exact in every form, consistent if they claim to be, with as few steps as promised; and the errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/algorithms.h>
#include <trivance/schedule.h>
#include <trivance/simulate.h>
#include <trivance/verify.h>

#include "algorithms/registry.h"
#include "algorithms/star_name.h"

enum { NAME_MAX = 160 };

static trv_torus_t torus_of(const char *text)
{
    trv_torus_t torus;
    assert_int_equal(trv_torus_parse(text, &torus), TRV_OK);
    return torus;
}

static trv_schedule_t *make(const trv_torus_t *torus, const char *name, trv_collective_t collective)
{
    trv_schedule_t *schedule;
    if (trv_schedule_create(&schedule, torus, name, collective))
        fail_msg("%s: %s", name, trv_last_error());
    return schedule;
}

/* Proves what the schedule claims, and returns whether all ranks compute identical results. */
static bool prove(const trv_torus_t *torus, const char *name, trv_collective_t collective, int steps)
{
    trv_schedule_t *schedule = make(torus, name, collective);
    trv_verdict_t verdict = {TRV_VERDICT};
    assert_int_equal(trv_verify(schedule, TRV_VERIFY_AUTO, &verdict, NULL, NULL), TRV_OK);
    if (!verdict.valid)
        fail_msg("%s, collective %d: %s", name, collective, verdict.fault);
    assert_int_equal(trv_schedule_steps(schedule), steps);
    assert_int_equal(verdict.consistent, trv_schedule_consistent(schedule));
    trv_schedule_destroy(schedule);
    return verdict.consistent;
}

/* Proves the schedules for every set of steps that may send whole vectors; returns their number. */
static int prove_mixtures(const trv_star_chain_t *chain, int number)
{
    int mixtures = 0;
    for (unsigned whole = 1; whole < 1U << chain->steps; whole++) {
        char name[NAME_MAX], digits[TRV_STAR_STEPS_MAX + 1] = "";
        int count = 0;
        for (int k = 0; k < chain->steps; k++)
            if (whole >> k & 1)
                digits[count++] = (char)('0' + k);
        snprintf(name, sizeof name, "star:%s:%d", digits, number);
        trv_schedule_t *rejected;
        if (trv_star_is_subgroup(chain, whole)) {
            prove(&chain->torus, name, TRV_ALLREDUCE, 2 * chain->steps - count);
            mixtures++;
        } else {
            assert_int_equal(trv_schedule_create(&rejected, &chain->torus, name, TRV_ALLREDUCE), TRV_ERR_UNSUPPORTED);
            assert_non_null(strstr(trv_last_error(), "not a subgroup"));
        }
    }
    return mixtures;
}

static void prove_chain(const trv_star_chain_t *chain, int number)
{
    char name[NAME_MAX];
    snprintf(name, sizeof name, "star:b:%d", number);
    assert_true(prove(&chain->torus, name, TRV_ALLREDUCE, 2 * chain->steps));
    prove(&chain->torus, name, TRV_REDUCE_SCATTER, chain->steps);
    prove(&chain->torus, name, TRV_ALLGATHER, chain->steps);
    snprintf(name, sizeof name, "star:l:%d", number);
    const bool consistent = prove(&chain->torus, name, TRV_ALLREDUCE, chain->steps);
    snprintf(name, sizeof name, "star:gathered:%d", number);
    assert_true(prove(&chain->torus, name, TRV_ALLREDUCE, chain->steps));
    const int mixtures = prove_mixtures(chain, number);
    assert_true(mixtures >= 1);
    if (trv_star_has_subgroup_tails(chain)) {
        assert_true(consistent);
        assert_true(mixtures >= chain->steps);
    }
}

static void every_chain_in_every_form(void **state)
{
    (void)state;
    static const char *const tori[] = {"2",   "9",   "12",  "4x4",   "3x4",   "5x5",   "2x2x2", "2x2x4",
                                       "6x6", "8x8", "4x8", "4x4x4", "3x3x3", "12x12", "1x4x4"};
    for (size_t t = 0; t < sizeof tori / sizeof tori[0]; t++) {
        trv_torus_t torus = torus_of(tori[t]);
        static trv_star_chain_t chain[TRV_STAR_FOUND_MAX];
        int chains = trv_star_find(&torus, chain);
        if (chains < 1)
            fail_msg("%s: %s", tori[t], trv_last_error());
        for (int i = 0; i < chains; i++)
            prove_chain(&chain[i], i);
    }
}

/* Chains in names, and numbers of streams that differ from the default; `steps` are those of each. */
static void chains_and_streams_by_name(void **state)
{
    static const struct {
        const char *torus, *name;
        int steps, streams;
    } star[] = {
        {"4x4", "star:l:1.0/0.1/-1.0_2.1/0.2/2.-1", 2, 4},
        {"4x4", "star:1.0/0.1/-1.0_2.1/0.2/2.-1", 4, 4},
        {"4x4", "star:1:1.0/0.1/-1.0_2.1/0.2/2.-1:1", 3, 1},
        {"4x4", "star::1.0/0.1/-1.0_2.1/0.2/2.-1:2", 4, 2},
        {"4x4", "star:l::1", 2, 1},
        {"9", "star:l:1/-1_3/-3", 2, 1}, /* its own mirror image */
        {"3x4", "star:2:1.0/-1.0_0.1_0.2", 5, 2},
        {"9", "star:l:0:2", 2, 2},
        {"3x3", "star:0:0:4", 3, 4},
        {"4x4x4", "star:b:0:6", 6, 6},
        {"4x4x8", "star:l", 4, 4},
        {"2x2x4", "star", 4, 4},
        {"1x4x4", "star:l", 2, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof star / sizeof star[0]; i++) {
        trv_torus_t torus = torus_of(star[i].torus);
        trv_schedule_t *schedule;
        prove(&torus, star[i].name, TRV_ALLREDUCE, star[i].steps);
        schedule = make(&torus, star[i].name, TRV_ALLREDUCE);
        assert_int_equal(trv_schedule_streams(schedule), star[i].streams);
        trv_schedule_destroy(schedule);
    }
}

/* Coverings: sufficient for idempotent operations and for AllGather, in fewer steps than direct sums. */
static void coverings(void **state)
{
    static const char *const tori[] = {"7x7", "3x5", "9x9", "5", "7x11", "2x3x5"};
    (void)state;
    for (size_t t = 0; t < sizeof tori / sizeof tori[0]; t++) {
        trv_torus_t torus = torus_of(tori[t]);
        static trv_star_chain_t chain;
        if (trv_star_cover(&torus, &chain))
            fail_msg("%s: %s", tori[t], trv_last_error());
        prove(&torus, "star:gathered", TRV_ALLREDUCE, chain.steps);
        trv_schedule_t *schedule = make(&torus, "star:gathered", TRV_ALLREDUCE);
        assert_true(trv_schedule_consistent(schedule) && trv_schedule_exactness(schedule) == TRV_EXACT);
        trv_schedule_destroy(schedule);
        prove(&torus, "star:overlap", TRV_ALLREDUCE, chain.steps);
        schedule = make(&torus, "star:overlap", TRV_ALLREDUCE);
        assert_int_equal(trv_schedule_exactness(schedule), chain.direct ? TRV_EXACT : TRV_COVERS);
        trv_schedule_destroy(schedule);
    }
}

/* A simulation with the symmetry reduction takes as long as the full one, also if routes bend. */
static void one_rank_represents_all(void **state)
{
    static const char *const star[][2] = {{"4x4", "star:l"},
                                          {"4x4x4", "star:12"},
                                          {"4x8", "star"},
                                          {"6x6", "star:l::1"}};
    (void)state;
    for (size_t i = 0; i < sizeof star / sizeof star[0]; i++) {
        trv_torus_t torus = torus_of(star[i][0]);
        trv_schedule_t *schedule = make(&torus, star[i][1], TRV_ALLREDUCE);
        trv_simulator_t *simulator;
        trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
        trv_simulation_t few, all;
        assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
        assert_int_equal(trv_simulate(simulator, &options, 100000, &few), TRV_OK);
        options.full = true;
        assert_int_equal(trv_simulate(simulator, &options, 100000, &all), TRV_OK);
        assert_int_equal(few.simulated_ranks, 1);
        assert_int_equal(all.simulated_ranks, torus.ranks);
        assert_int_equal(few.time_fs, all.time_fs);
        trv_simulation_clear(&few);
        trv_simulation_clear(&all);
        trv_simulator_destroy(simulator);
        trv_schedule_destroy(schedule);
    }
}

/* Names are parsed as they are printed; the shortest name of a star is "star". */
static void names_round_trip(void **state)
{
    static const char *const names[] = {"star", "star:l", "star:0", "star:b:1", "star:12:3", "star:l::1", "star:b::2"};
    static trv_star_t star;
    trv_torus_t torus = torus_of("4x4x4");
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[NAME_MAX];
        const char *parameters = strchr(names[i], ':');
        const char *chain = parameters ? strchr(parameters + 1, ':') : NULL;
        trv_parameters_t values;
        assert_int_equal(trv_name_parse(&trv_star, parameters ? parameters + 1 : NULL, &torus, &values), 0);
        int rc = trv_star_choose(values.value[0].text, values.value + 1, &torus, &star);
        if (rc == TRV_ERR_UNSUPPORTED) /* no subgroup */
            continue;
        assert_int_equal(rc, TRV_OK);
        trv_star_name(&star, chain ? atoi(chain + 1) : 0, name, sizeof name);
        assert_string_equal(name, names[i]);
    }
}

static void rejected_names(void **state)
{
    static const struct {
        const char *torus, *name;
        int error;
        const char *words;
    } bad[] = {
        {"4x4", "star:m", TRV_ERR_ARGUMENT, "star:l"},
        {"4x4", "star:l:0:3", TRV_ERR_UNSUPPORTED, "has 1, 2 or 4 streams"},
        {"4x4", "star:l:0:1:1", TRV_ERR_ARGUMENT,
         "star: '1' is not a parameter: expected star:[STEPS][:CHAIN][:STREAMS], for example star:"},
        {"4x4", "star:l:9", TRV_ERR_UNSUPPORTED, "no star chain 9 for the torus 4x4"},
        {"4x4", "star:5", TRV_ERR_UNSUPPORTED, "2 steps"},
        {"4x4", "star:0:1.0/0.1/-1.0_2.1/0.2/2.-1", TRV_ERR_UNSUPPORTED, "not a subgroup"},
        {"4x4", "star:l:1.0/0.1/-1.0", TRV_ERR_UNSUPPORTED, "16"},
        {"4x4", "star:l:1.0/0.1/-1.0_1.0/0.2/2.-1", TRV_ERR_UNSUPPORTED, "1.0 and 1.0 both"},
        {"4x4", "star:l:1.0/0.1/-1.0_2.1/0.2/huh", TRV_ERR_ARGUMENT, "huh"},
        {"7x11", "star", TRV_ERR_UNSUPPORTED, "11"},
        {"7x11", "star:l", TRV_ERR_UNSUPPORTED, "11"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        trv_torus_t torus = torus_of(bad[i].torus);
        trv_schedule_t *schedule;
        int rc = trv_schedule_create(&schedule, &torus, bad[i].name, TRV_ALLREDUCE);
        if (rc != bad[i].error || !strstr(trv_last_error(), bad[i].words))
            fail_msg("%s on %s: %d, '%s' does not contain '%s'", bad[i].name, bad[i].torus, rc, trv_last_error(),
                     bad[i].words);
    }
    trv_torus_t torus = torus_of("4x4");
    trv_schedule_t *schedule;
    assert_int_equal(trv_schedule_create(&schedule, &torus, "star:l", TRV_ALLGATHER), TRV_ERR_UNSUPPORTED);
    assert_non_null(strstr(trv_last_error(), "supports only AllReduce"));
}

static void single_rank(void **state)
{
    (void)state;
    static const char *const names[] = {"star", "star:b", "star:l", "star:overlap", "star:gathered", "star::0:1"};
    trv_torus_t torus = torus_of("1x1");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        prove(&torus, names[i], TRV_ALLREDUCE, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chain_in_every_form),
        cmocka_unit_test(chains_and_streams_by_name),
        cmocka_unit_test(coverings),
        cmocka_unit_test(one_rank_represents_all),
        cmocka_unit_test(names_round_trip),
        cmocka_unit_test(rejected_names),
        cmocka_unit_test(single_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
