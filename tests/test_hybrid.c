/*
 * Hybrids: exact for every divisor, row and form on every ring, and on tori with any mix of them; consistent if they
 * claim to be; g = 1 is Trivance L, g = a moves what its distances promise; names are parsed as they are printed.
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

#include "algorithms/hybrid.h"
#include "algorithms/registry.h"
#include "search/distances/distances.h"
#include "exhaustive.h"
#include "simulate_check.h"

static void check(const trv_torus_t *torus, const char *name, bool consistent)
{
    trv_schedule_t *schedule;
    trv_verdict_t verdict = {TRV_VERDICT};
    if (trv_schedule_create(&schedule, torus, name, TRV_ALLREDUCE))
        fail_msg("%s: %s", name, trv_last_error());
    const trv_verify_method_t method = torus->ranks > 1000 ? TRV_VERIFY_RANDOM : TRV_VERIFY_AUTO;
    assert_int_equal(trv_verify(schedule, method, &verdict, NULL, NULL), 0);
    if (!verdict.valid || trv_schedule_consistent(schedule) != consistent || (consistent && !verdict.consistent))
        fail_msg("%s on %d ranks: %s", name, torus->ranks, verdict.valid ? "consistency" : verdict.fault);
    assert_string_equal(trv_schedule_name(schedule), name);
    trv_schedule_destroy(schedule);
}

static void every_factor_of_every_ring_is_exact(void **state)
{
    (void)state;
    for (int a = 2; a <= 128; a++) {
        if (!try_size(a) || (a > 64 && !exhaustive()))
            continue;
        const trv_torus_t torus = {.dims = 1, .size = {a}, .ranks = a};
        for (int g = 1; g <= a; g++) {
            trv_distances_t front[TRV_DISTANCES_FRONT_MAX] = {{0}};
            int rows = a % g ? 0 : g == 1 ? 1 : trv_distances_front(g, front);
            for (int r = 0; r < rows; r++)
                for (int grouped = 0; grouped < 2; grouped++) {
                    trv_hybrid_t hybrid = {.form = grouped ? TRV_HYBRID_GROUPED : TRV_HYBRID_WINDOWS};
                    char name[TRV_ALGORITHM_NAME_MAX];
                    hybrid.dimension[0].g = g;
                    hybrid.dimension[0].steps = front[r].steps;
                    trv_hybrid_name(&hybrid, &torus, name, sizeof name);
                    check(&torus, name, grouped || g == a);
                }
        }
    }
}

static void every_mix_of_factors_on_tori(void **state)
{
    (void)state;
    static const struct {
        const char *torus, *name;
        bool consistent;
    } cases[] = {{"2x2", "hybrid:2x1", false},
                 {"2x3", "hybrid:1x3", false},
                 {"8x4", "hybrid:8/4x2", false},
                 {"8x8", "hybrid:4", false},
                 {"8x8", "hybrid:8/4", true},
                 {"8x8", "hybrid:2:grouped", true},
                 {"4x6", "hybrid:2x3", false},
                 {"4x6", "hybrid:4x2:sequential", false},
                 {"4x6", "hybrid:2x6:grouped:sequential", true},
                 {"9x9", "hybrid:3", false},
                 {"5x7", "hybrid:1x7", false},
                 {"3x4x5", "hybrid:3x2x1", false},
                 {"4x1x8", "hybrid:2x1x4", false},
                 {"6x6x6", "hybrid:3x2x6", false},
                 {"4x4x4", "hybrid:2:grouped", true},
                 {"2x2x2x2", "hybrid:2x1x2x1", false},
                 {"10x14", "hybrid:5x7", false},
                 {"25x3", "hybrid:1x1", false},
                 {"12x10", "hybrid:6/3x5", false},
                 {"4x4", "hybrid:4:own", false},
                 {"8x6", "hybrid:4x6:own", false},
                 {"9x9", "hybrid:9:own", false},
                 {"2x16", "hybrid:2x8:own", false},
                 {"4x6x3", "hybrid:4x3x3:own2", false},
                 {"9x3", "hybrid:3:own:grouped", true},
                 {"6x6x6", "hybrid:6:own", false},
                 {"8x4x4", "hybrid:8x4x4:own2:grouped:sequential", true},
                 {"16x16x16", "hybrid:8:own:grouped", true},
                 {"9m", "hybrid:3", true}, /* whole vectors of a line are added from left to right */
                 {"12m", "hybrid:4", true},
                 {"4mx4m", "hybrid:2", true},
                 {"9x4m", "hybrid:9x2", true},
                 {"9x4m", "hybrid:3x2", false},
                 {"9m", "hybrid:9:folded", true},
                 {"8m", "hybrid:8/3:folded", true},
                 {"4x8m", "hybrid:2x8/3:folded", false},
                 {"5mx6x4m", "hybrid:5x6x1:streams2:folded", true},
                 {"8mx6", "hybrid:8/4/2x6/3/2:sequential:streams3:folded:weights2/3", true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        trv_torus_t torus = torus_of(cases[i].torus);
        trv_parameters_t parameters;
        trv_hybrid_t hybrid;
        char name[TRV_ALGORITHM_NAME_MAX];
        if (torus.ranks <= 216 || exhaustive())
            check(&torus, cases[i].name, cases[i].consistent);
        assert_int_equal(trv_name_parse(&trv_hybrid, strchr(cases[i].name, ':') + 1, &torus, &parameters), 0);
        assert_int_equal(trv_hybrid_read(&parameters, &torus, TRV_ALLREDUCE, &hybrid), 0);
        trv_hybrid_name(&hybrid, &torus, name, sizeof name);
        if (strcmp(name, "hybrid:1") != 0) /* the one that has a shorter name */
            assert_string_equal(name, cases[i].name);
    }
}

/* The time on links with one queue, with the symmetry reduction or `full`. */
static uint64_t time_of(const char *name, const char *torus, uint64_t bytes, bool full)
{
    trv_schedule_t *schedule = schedule_of(name, torus);
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    options.full = full;
    const uint64_t time_fs = simulated_fs(schedule, &options, bytes);
    trv_schedule_destroy(schedule);
    return time_fs;
}

/* The symmetry reduction and the full simulation agree, and factor 1 is Trivance L. */
static void simulations_agree(void **state)
{
    (void)state;
    static const struct {
        const char *torus, *own, *grouped;
    } cases[] = {{"8", "hybrid:2:own", "hybrid:2:grouped"},          {"27", "hybrid:9:own", "hybrid:3:grouped"},
                 {"6x4", "hybrid:3x4:own", "hybrid:1x2:grouped"},    {"9x9", "hybrid:9:own", "hybrid:3:own:grouped"},
                 {"4x4x4", "hybrid:4:own2", "hybrid:4:own:grouped"}, {"36", "hybrid:4", "hybrid:2:grouped"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *torus = cases[i].torus, *name[] = {"hybrid", cases[i].own, cases[i].grouped};
        for (uint64_t bytes = 32; bytes <= 1 << 20; bytes *= 64) {
            for (int k = 0; k < 3; k++)
                assert_true(time_of(name[k], torus, bytes, false) == time_of(name[k], torus, bytes, true));
            assert_true(time_of("hybrid:1", torus, bytes, false) == time_of("trivance-l", torus, bytes, false));
        }
    }
}

/* On one ring the busiest link of each phase carries what the distances promise. */
static void links_carry_what_the_distances_promise(void **state)
{
    (void)state;
    for (int a = 2; a <= 40; a++) {
        trv_distances_t front[TRV_DISTANCES_FRONT_MAX];
        const trv_torus_t torus = {.dims = 1, .size = {a}, .ranks = a};
        for (int r = 0, rows = trv_distances_front(a, front); r < rows; r++) {
            char name[TRV_ALGORITHM_NAME_MAX];
            trv_schedule_t *schedule;
            trv_cost_t cost;
            snprintf(name, sizeof name, "hybrid:%d/%d", a, front[r].steps);
            assert_int_equal(trv_schedule_create(&schedule, &torus, name, TRV_ALLREDUCE), 0);
            assert_int_equal(trv_cost_measure(schedule, &cost), 0);
            assert_int_equal(cost.steps, 2 * front[r].steps);
            assert_true(fabs(cost.theta - 2 * trv_distances_transmission(&front[r])) < 1e-9);
            trv_cost_clear(&cost);
            trv_schedule_destroy(schedule);
        }
    }
}

static int compare_with_cost(void *torus, const char *name, const trv_model_t *model, bool always)
{
    trv_schedule_t *schedule;
    trv_cost_t cost;
    double load = 0, hops = 0;
    if (always || strstr(name, ":folded")) /* the model is for the folded ring */
        return 0;
    assert_int_equal(trv_schedule_create(&schedule, torus, name, TRV_ALLREDUCE), 0);
    assert_int_equal(trv_cost_measure(schedule, &cost), 0);
    for (int k = 0; k < cost.steps; k++) {
        load += cost.step[k].link_fraction;
        hops += cost.step[k].hops;
    }
    if (fabs(model->steps - cost.steps) > 0 || fabs(model->hops - hops) > 1e-9 || fabs(model->load - load) > 1e-9)
        fail_msg("%s on %d places: %g steps, %g hops, %g vectors, not %g, %g, %g", name, ((trv_torus_t *)torus)->ranks,
                 model->steps, model->hops, model->load, (double)cost.steps, hops, load);
    assert_true(fabs(model->messages * ((trv_torus_t *)torus)->ranks - (double)cost.messages) < 1e-6);
    trv_cost_clear(&cost);
    trv_schedule_destroy(schedule);
    return 0;
}

/* The models of hybrids on lines agree with the measured cost of their schedules. */
static void models_of_lines(void **state)
{
    (void)state;
    for (int a = 2; a <= 120; a += a < 40 ? 1 : 20) {
        trv_torus_t line = {.dims = 1, .size = {a}, .ranks = a};
        const trv_collector_t collector = {.torus = &line, .add = compare_with_cost, .list = &line};
        if (a > 2)
            assert_int_equal(trv_torus_set_lines(&line, 1), 0);
        assert_int_equal(trv_hybrid_candidates(&collector), 0);
    }
}

static void reduce_scatter_and_allgather_alone(void **state)
{
    (void)state;
    const trv_torus_t torus = torus_of("8x6");
    for (trv_collective_t collective = TRV_REDUCE_SCATTER; collective <= TRV_ALLGATHER; collective++) {
        trv_schedule_t *schedule;
        trv_verdict_t verdict = {TRV_VERDICT};
        assert_int_equal(trv_schedule_create(&schedule, &torus, "hybrid:8/4x6", collective), 0);
        assert_int_equal(trv_verify(schedule, TRV_VERIFY_EXHAUSTIVE, &verdict, NULL, NULL), 0);
        assert_true(verdict.valid);
        trv_schedule_destroy(schedule);
        assert_int_equal(trv_schedule_create(&schedule, &torus, "hybrid:4x6", collective), TRV_ERR_UNSUPPORTED);
        assert_non_null(strstr(trv_last_error(), "contains an AllReduce stage and supports only AllReduce"));
    }
}

static void rejects_bad_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int code;
        const char *sentence;
    } cases[] =
        {{"hybrid:5", TRV_ERR_UNSUPPORTED,
          "5 is not a divisor of dimension 0, whose size is 8; use a divisor, for example 2"},
         {"hybrid:2x2x2", TRV_ERR_UNSUPPORTED, "each dimension of the torus, here 2, or one for all, not 3"},
         {"hybrid:8/7", TRV_ERR_ARGUMENT,
          "takes 2 to 4 steps, one of the numbers that `trivance search 8` lists, not 7"},
         {"hybrid:1/2", TRV_ERR_ARGUMENT, "no number of steps"},
         {"hybrid:0", TRV_ERR_ARGUMENT, "is not a list of factors: whole numbers from 1, separated by x"},
         {"hybrid:4x", TRV_ERR_ARGUMENT, "is not a list of factors: whole numbers from 1, separated by x"},
         {"hybrid:-4", TRV_ERR_ARGUMENT, "is not a list of factors: whole numbers from 1, separated by x"},
         {"hybrid:4/", TRV_ERR_ARGUMENT, "is not a list of factors: whole numbers from 1, separated by x"},
         {"hybrid:99999999999999999999", TRV_ERR_ARGUMENT,
          "is not a list of factors: whole numbers from 1, separated by x"},
         {"hybrid:1x1x1x1x1x1x1x1x1", TRV_ERR_ARGUMENT,
          "is not a list of factors: whole numbers from 1, separated by x"},
         {"hybrid:4:blue", TRV_ERR_ARGUMENT, "hybrid: 'blue' is not a parameter: expected hybrid:G["},
         {"hybrid:4:own2", TRV_ERR_ARGUMENT,
          "'own2' is not own followed by a number of dimensions over which a stream scatters from 1 to 1 on 8x8; "},
         {"hybrid:4:own:own", TRV_ERR_ARGUMENT, "'own' is not a parameter"},
         {"hybrid:4:", TRV_ERR_ARGUMENT, "'' is not a parameter"},
         {"trivance-b:4", TRV_ERR_ARGUMENT, "trivance-b takes no parameters"},
         {"trivance-l:9", TRV_ERR_ARGUMENT, "is not a number of messages from each side in a step from 1 to 8"},
         {"hybri:4", TRV_ERR_ARGUMENT, "there is no algorithm 'hybri:4'"},
         {"planned", TRV_ERR_ARGUMENT, "that trv_planner_best (in Python trivance.plan) returns"},
         {"relayed:auto", TRV_ERR_ARGUMENT, "'auto' selects an algorithm for one network and size"}};
    const trv_torus_t torus = torus_of("8x8");
    trv_schedule_t *schedule;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(trv_schedule_create(&schedule, &torus, cases[i].name, TRV_ALLREDUCE), cases[i].code);
        assert_null(schedule);
        if (!strstr(trv_last_error(), cases[i].sentence))
            fail_msg("%s: %s", cases[i].name, trv_last_error());
    }
    char name[TRV_FULL_NAME_MAX + 1] = "hybrid:"; /* as long as it may be, and one more */
    memset(name + 7, '1', sizeof name - 8);
    assert_int_equal(trv_schedule_create(&schedule, &torus, name, TRV_ALLREDUCE), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "is too long"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_factor_of_every_ring_is_exact),
        cmocka_unit_test(every_mix_of_factors_on_tori),
        cmocka_unit_test(simulations_agree),
        cmocka_unit_test(links_carry_what_the_distances_promise),
        cmocka_unit_test(models_of_lines),
        cmocka_unit_test(reduce_scatter_and_allgather_alone),
        cmocka_unit_test(rejects_bad_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
