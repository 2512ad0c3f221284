/*
 * Plans for networks in which the ports of a dimension, or of all dimensions, share one path.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <trivance/trivance.h>

static const trv_simulate_options_t paper = TRV_SIMULATE_DEFAULTS;

static trv_torus_t torus_of(const char *text)
{
    trv_torus_t torus;
    if (trv_torus_parse(text, &torus))
        fail_msg("%s", trv_last_error());
    return torus;
}

/* If both ports of a dimension share a path, no named algorithm is faster than the choice, and the choice for separate
 * paths is slower in some case. */
static void test_shared_paths(void **state)
{
    static const char *const tori[] = {"3", "9", "8", "3x3", "4x8"};
    static const uint64_t sizes[] = {8, 2048, 32768, 1 << 20};
    int better = 0;
    (void)state;
    for (size_t i = 0; i < 2 * (sizeof tori / sizeof *tori) * (sizeof sizes / sizeof *sizes); i++) {
        const trv_torus_t torus = torus_of(tori[i / 2 % (sizeof tori / sizeof *tori)]);
        const uint64_t bytes = sizes[i / 2 / (sizeof tori / sizeof *tori)];
        trv_simulate_options_t shared = paper;
        trv_planner_choice_t choice, wide, named;
        trv_planner_t *planner;
        shared.shared_paths = i % 2 ? 1u << (torus.dims - 1) : (1u << torus.dims) - 1;
        shared.one_path = i % 2 == 0;
        assert_int_equal(trv_planner_create(&planner, &torus, TRV_ALLREDUCE, 0, &shared, NULL), 0);
        assert_int_equal(trv_planner_best(&torus, TRV_ALLREDUCE, 0, bytes, &shared, NULL, &choice), 0);
        assert_int_equal(trv_planner_best(&torus, TRV_ALLREDUCE, 0, bytes, &paper, NULL, &wide), 0);
        assert_int_equal(trv_planner_time(planner, bytes, wide.algorithm, &named), 0);
        assert_true(choice.time_ns <= named.time_ns);
        better += choice.time_ns < named.time_ns;
        for (int a = 0; a < trv_algorithms_count(); a++)
            if (trv_planner_time(planner, bytes, trv_algorithm_name(trv_algorithm_at(a)), &named) == 0)
                if (choice.time_ns > named.time_ns)
                    fail_msg("%s, %llu bytes, shared paths %#x: %s takes %g ns, %s %g",
                             tori[i / 2 % (sizeof tori / sizeof *tori)], (unsigned long long)bytes, shared.shared_paths,
                             choice.algorithm, choice.time_ns, named.algorithm, named.time_ns);
        trv_planner_destroy(planner);
    }
    assert_true(better > 0);
}

/* On a ring with a shared path both directions at once take as long as one after the other; one byte hardly matters. */
static void test_shared_paths_times(void **state)
{
    const trv_torus_t ring = torus_of("9");
    trv_simulate_options_t shared = paper;
    trv_planner_choice_t wide_choice, choice;
    trv_planner_t *wide, *planner;
    (void)state;
    shared.shared_paths = 1;
    assert_int_equal(trv_planner_create(&wide, &ring, TRV_ALLREDUCE, 0, &paper, NULL), 0);
    assert_int_equal(trv_planner_create(&planner, &ring, TRV_ALLREDUCE, 0, &shared, NULL), 0);
    for (uint64_t bytes = 9; bytes <= 9u << 24; bytes <<= 24) {
        assert_int_equal(trv_planner_time(wide, bytes, "bucket", &wide_choice), 0);
        assert_int_equal(trv_planner_time(planner, bytes, "bucket", &choice), 0);
        const double ratio = choice.time_ns / wide_choice.time_ns;
        assert_true(bytes == 9 ? ratio >= 1 && ratio < 1.01 : ratio > 1.9 && ratio < 2.01);
    }
    trv_planner_destroy(wide);
    trv_planner_destroy(planner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shared_paths), cmocka_unit_test(test_shared_paths_times)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
