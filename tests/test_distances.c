/*
 * The distances of bandwidth-optimal phases: they are no worse than the reference's exhaustive search, the paper's and
 * Swing's; the table is correct, complete and no worse than a search in any order of the steps; schedules made of them
 * are exact and have the promised transmission.
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

#include "algorithms/builders/distances_pattern.h"
#include "search/distances/distances.h"
#include "schedule/schedule.h"

#define ROUNDING 1e-6 /* rounding of the reference's decimals */
#define WORK_MAX (INT64_C(1) << 24)

static int find_front(int size, trv_distances_t *front)
{
    int rows = trv_distances_front(size, front);
    if (rows < 1)
        fail_msg("ring of %d: %d rows, %s", size, rows, trv_last_error());
    return rows;
}

/* The minimum transmission on the front in at most `steps` steps. */
static double best_of(int size, int steps)
{
    trv_distances_t front[TRV_DISTANCES_FRONT_MAX];
    int rows = find_front(size, front);
    double best = INFINITY;
    for (int r = 0; r < rows && front[r].steps <= steps; r++)
        best = trv_distances_transmission(&front[r]);
    return best;
}

/* ---- References -------------------------------------------------------------------------------------------------- */

static void test_reference(void **state)
{
    FILE *file = fopen(TRIVANCE_TEST_DATA "/ring-bandwidth-distances.csv", "r");
    char line[256];
    int rows = 0;
    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        int size, steps, used = 0;
        double transmission, paper_transmission, bound;
        trv_distances_t paper;
        if (sscanf(line, "%d,%d,%lf,%n", &size, &steps, &transmission, &used) != 3)
            continue;
        const char *rest = strchr(line + used, ',');
        rows++;
        assert_non_null(rest);
        if (best_of(size, steps) > transmission + ROUNDING)
            fail_msg("ring of %d in %d steps: %f, the reference has %f", size, steps, best_of(size, steps),
                     transmission);
        assert_int_equal(sscanf(strrchr(rest, ',') + 1, "%lf", &bound), 1);
        assert_true(fabs(bound - trv_distances_bound(size)) < ROUNDING);
        if (sscanf(rest, ",%lf,", &paper_transmission) != 1 || rest[1] == ',')
            continue;
        assert_int_equal(trv_distances_paper(size, &paper), 0);
        assert_int_equal(paper.steps, steps);
        assert_true(fabs(trv_distances_transmission(&paper) - paper_transmission) < ROUNDING);
    }
    fclose(file);
    assert_int_equal(rows, 67);
}

/* The transmission per phase, measured on the named algorithm's schedule. */
static double measured(const char *algorithm, int size, int *steps)
{
    trv_schedule_t *schedule;
    trv_cost_t cost;
    trv_torus_t ring;
    assert_int_equal(trv_torus_init(&ring, 1, &size), 0);
    assert_int_equal(trv_schedule_create(&schedule, &ring, algorithm, TRV_ALLREDUCE), 0);
    assert_int_equal(trv_cost_measure(schedule, &cost), 0);
    double transmission = cost.theta / 2;
    *steps = cost.steps / 2;
    trv_cost_clear(&cost);
    trv_schedule_destroy(schedule);
    return transmission;
}

static void test_others(void **state)
{
    static const char *const algorithm[] = {"trivance-b", "swing-b", "recdoub-b", "bruck-b"};
    (void)state;
    for (int a = 0; a < 4; a++)
        for (int size = 8; size <= 512; size = size < 128 ? size + 5 : size * 2)
            for (int power = 0; power < 2; power++) {
                int ranks = size, steps;
                while (power && (ranks & (ranks - 1)) != 0)
                    ranks &= ranks - 1; /* the power of two below */
                double other = measured(algorithm[a], ranks, &steps);
                if (best_of(ranks, steps) > other + 1e-9)
                    fail_msg("ring of %d in %d steps: %f, %s has %f", ranks, steps, best_of(ranks, steps), algorithm[a],
                             other);
            }
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* Finds the minimum number of hops over all sequences of distances, by recursion, without deferring any displacement.
 * `set` has displacements as bits. */
static void try_all(int size, int left, uint32_t set, int64_t hops, int64_t *best)
{
    uint32_t all = size == 32 ? UINT32_MAX : (UINT32_C(1) << size) - 1;
    int count = __builtin_popcount(set);
    if (hops + size - count >= *best)
        return;
    if (set == all)
        *best = hops;
    for (int d = 1; d <= size / 2 && left > 0 && set != all; d++) {
        uint32_t grown = (set | set << d | set >> (size - d) | set >> d | set << (size - d)) & all;
        try_all(size, left - 1, grown, hops + (int64_t)(__builtin_popcount(grown) - count) * d, best);
    }
}

/* No order of the steps is better than the table, whose trees may in addition defer displacements. */
static void test_all_orders(void **state)
{
    int deferred = 0;
    (void)state;
    for (int size = 2; size <= 32; size++) {
        trv_distances_t front[TRV_DISTANCES_FRONT_MAX];
        int first, last, rows = find_front(size, front), r = 0;
        trv_distances_front_steps(size, &first, &last);
        for (int steps = first; steps <= last; steps++) {
            int64_t best = INT64_MAX;
            try_all(size, steps, 1, 0, &best);
            while (r + 1 < rows && front[r + 1].steps <= steps)
                r++;
            assert_true(front[r].hops <= best);
            deferred += front[r].hops < best;
        }
    }
    assert_true(deferred > 0 && deferred < 15);
}

/* Tries every step for displacements x, x + 1, … up to half way round; *best is the minimum number of hops of a
 * tree. */
static void try_steps(const trv_distances_t *distances, int *step, int x, int64_t hops, int64_t *best)
{
    int size = distances->size, missing = 2 * x <= size ? size + 1 - 2 * x : 0;
    if (hops + missing >= *best)
        return;
    for (int k = 1; 2 * x <= size && k <= distances->steps; k++) {
        step[x] = step[size - x] = k;
        try_steps(distances, step, x + 1, hops + (2 * x == size ? 1 : 2) * distances->distance[k - 1], best);
    }
    for (int y = 1; y < x && 2 * x > size; y++) {
        int d = distances->distance[step[y] - 1];
        if (step[(y + d) % size] >= step[y] && step[(y + size - d) % size] >= step[y])
            return;
    }
    if (2 * x > size)
        *best = hops;
}

static void try_distances(trv_distances_t *distances, int k, int64_t *best)
{
    int step[32] = {0};
    if (k == distances->steps)
        try_steps(distances, step, 1, 0, best);
    for (int d = 1; k < distances->steps && d <= (k ? distances->distance[k - 1] : distances->size / 2); d++) {
        distances->distance[k] = d;
        try_distances(distances, k + 1, best);
    }
}

/* No symmetric tree is better than the table. */
static void test_all_trees(void **state)
{
    (void)state;
    for (int size = 2; size <= 17; size++) {
        trv_distances_t front[TRV_DISTANCES_FRONT_MAX];
        int rows = find_front(size, front);
        for (int r = 0; r < rows && front[r].steps <= 3; r++) {
            trv_distances_t any = {.size = size, .steps = front[r].steps};
            int64_t best = INT64_MAX;
            try_distances(&any, 0, &best);
            assert_int_equal(front[r].hops, best);
        }
    }
}

static void check_front(int size)
{
    trv_distances_t front[TRV_DISTANCES_FRONT_MAX];
    int first, last, rows = find_front(size, front);
    trv_distances_front_steps(size, &first, &last);
    assert_int_equal(front[0].steps, first);
    for (int r = 0; r < rows; r++) {
        trv_distances_t again = front[r];
        assert_int_equal(front[r].size, size);
        assert_in_range(front[r].steps, r ? front[r - 1].steps + 1 : first, last);
        assert_true(r == 0 || front[r].hops < front[r - 1].hops);
        assert_true(trv_distances_transmission(&front[r]) >= trv_distances_bound(size) - 1e-12);
        if (trv_distances_evaluate(&again, true))
            fail_msg("%s", trv_last_error());
        assert_int_equal(again.hops, front[r].hops);
    }
}

static void test_fronts(void **state)
{
    static const int large[] = {129, 200, 257, 625, 1000, 1021, 4096, 6561, 10000, 65536, 1000000, 1000003};
    (void)state;
    for (int size = 2; size <= TRV_DISTANCES_TABLE_MAX; size++)
        check_front(size);
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        check_front(large[i]);
}

/* The table equals the result of a complete search. Tested up to 40; larger rings take too long here. */
static void test_table(void **state)
{
    (void)state;
    for (int size = 2; size <= 40; size++) {
        trv_distances_t front[TRV_DISTANCES_FRONT_MAX], found;
        int rows = find_front(size, front);
        for (int r = 0; r < rows; r++) {
            assert_int_equal(trv_distances_search(size, front[r].steps, WORK_MAX, (trv_span_t){0}, &found, NULL), 0);
            assert_true(found.exact && front[r].exact);
            assert_int_equal(found.hops, front[r].hops);
        }
    }
}

static void test_bad_arguments(void **state)
{
    trv_distances_t found, front[TRV_DISTANCES_FRONT_MAX];
    trv_distances_t gaps = {.size = 9, .steps = 2, .distance = {1, 1}};
    (void)state;
    assert_int_equal(trv_distances_search(1, 1, WORK_MAX, (trv_span_t){0}, &found, NULL), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_distances_search(30, 3, WORK_MAX, (trv_span_t){0}, &found, NULL), TRV_ERR_ARGUMENT);
    assert_string_equal(trv_last_error(), "a phase on a ring of 30 takes at least 4 steps and at most 15, not 3");
    assert_int_equal(trv_distances_search(30, 16, WORK_MAX, (trv_span_t){0}, &found, NULL), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_distances_front(1, front), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_distances_evaluate(&gaps, true), TRV_ERR_ARGUMENT);
}

/* ---- Schedules --------------------------------------------------------------------------------------------------- */

static trv_distances_t chosen[TRV_DIMS_MAX]; /* arguments of make_pattern: one per size of the torus */

static trv_pattern_t *make_pattern(int size, trv_collective_t collective)
{
    (void)collective;
    for (int d = 0; d < TRV_DIMS_MAX; d++)
        if (chosen[d].size == size)
            return trv_distances_pattern(&chosen[d]);
    return NULL;
}

static trv_schedule_t *make_schedule(const trv_torus_t *torus, trv_collective_t collective)
{
    trv_schedule_t *schedule = trv_schedule_allocate(torus, "distances", collective, 0);
    assert_non_null(schedule);
    schedule->symmetry = TRV_SYMMETRY_TRANSLATION;
    schedule->exactness = TRV_EXACT;
    schedule->consistent = true;
    schedule->owned = true;
    assert_int_equal(trv_scatter_create(schedule,
                                        &(trv_scatter_options_t){.visit = TRV_INTERLEAVED, .pattern = make_pattern}),
                     0);
    return schedule;
}

static void expect_valid(const trv_torus_t *torus, trv_collective_t collective)
{
    trv_schedule_t *schedule = make_schedule(torus, collective);
    trv_verdict_t verdict = {TRV_VERDICT};
    char text[TRV_TORUS_TEXT_MAX];
    assert_int_equal(trv_verify(schedule, TRV_VERIFY_AUTO, &verdict, NULL, NULL), 0);
    if (!verdict.valid)
        fail_msg("%s, %d steps: %s", trv_torus_format(torus, text, sizeof text), schedule->steps, verdict.fault);
    trv_schedule_destroy(schedule);
}

/* The busiest link of every step carries exactly what the distances promise: halves are units. */
static void expect_transmission(const trv_torus_t *ring, const trv_distances_t *distances)
{
    trv_schedule_t *schedule = make_schedule(ring, TRV_ALLREDUCE);
    trv_cost_t cost;
    assert_int_equal(trv_cost_measure(schedule, &cost), 0);
    assert_int_equal(cost.steps, 2 * distances->steps);
    assert_true(fabs(cost.theta - 2 * trv_distances_transmission(distances)) < 1e-9);
    trv_cost_clear(&cost);
    trv_schedule_destroy(schedule);
}

static void test_rings(void **state)
{
    (void)state;
    for (int size = 2; size <= TRV_DISTANCES_TABLE_MAX; size = size < 36 ? size + 1 : size + 23) {
        trv_distances_t front[TRV_DISTANCES_FRONT_MAX];
        trv_torus_t ring;
        int rows = find_front(size, front);
        assert_int_equal(trv_torus_init(&ring, 1, &size), 0);
        for (int r = 0; r < rows; r++) {
            chosen[0] = front[r];
            expect_transmission(&ring, &front[r]);
            for (int c = TRV_ALLREDUCE; c <= TRV_ALLGATHER; c++)
                expect_valid(&ring, (trv_collective_t)c);
        }
    }
}

static void test_tori(void **state)
{
    static const struct {
        int dims, size[3];
    } shape[] = {{2, {8, 8}}, {2, {6, 10}}, {2, {16, 5}}, {3, {4, 6, 7}}};
    (void)state;
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
        trv_torus_t torus;
        assert_int_equal(trv_torus_init(&torus, shape[i].dims, shape[i].size), 0);
        for (int last = 0; last < 2; last++) { /* the fewest steps, and the least transmission */
            for (int d = 0; d < shape[i].dims; d++) {
                trv_distances_t front[TRV_DISTANCES_FRONT_MAX];
                int rows = find_front(shape[i].size[d], front);
                chosen[d] = front[last ? rows - 1 : 0];
            }
            for (int c = TRV_ALLREDUCE; c <= TRV_ALLGATHER; c++)
                expect_valid(&torus, (trv_collective_t)c);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),     cmocka_unit_test(test_others), cmocka_unit_test(test_all_orders),
        cmocka_unit_test(test_all_trees),     cmocka_unit_test(test_fronts), cmocka_unit_test(test_table),
        cmocka_unit_test(test_bad_arguments), cmocka_unit_test(test_rings),  cmocka_unit_test(test_tori),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
