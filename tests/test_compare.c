/*
 * Comparisons: rows equal those of a loop over all candidates and sizes with trv_simulate, for any number of threads;
 * plans and own schedules; errors, cancellation and further runs. ThreadSanitizer must find nothing here
 * (build with -fsanitize=thread).
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

enum { POINTS = 160, NAMES_MAX = 8 };

static uint64_t random_state = 52;

static int random_below(int limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((random_state >> 33) % (uint64_t)limit);
}

/* ---- The naive comparison ---------------------------------------------------------------------------------------- */

static const struct {
    const char *text, *name[NAMES_MAX];
} lists[] = {{"trivance-b", {"trivance-b"}},
             {"hybrid:3", {"hybrid:3"}},
             {"ring", {"ring"}},
             {"swing", {"swing-l", "swing-b"}},
             {"bruck", {"bruck-l", "bruck-b"}},
             {"recdoub,bucket", {"recdoub-l", "recdoub-b", "bucket"}},
             {"bucket,swing-l,swing", {"bucket", "swing-l", "swing-b"}}};
enum { LISTS = sizeof lists / sizeof lists[0] };

typedef struct naive {
    const char *name;
    double time_ns, bound_ns;
    uint64_t packet_hops;
} naive_t;

/* Whether the candidate precedes the best one: by time, then by bound; equal ones keep their order. */
static bool is_faster(const naive_t *candidate, const naive_t *best)
{
    if (!best->name || candidate->time_ns != best->time_ns)
        return !best->name || candidate->time_ns < best->time_ns;
    return candidate->bound_ns < best->bound_ns;
}

static naive_t naive_fastest(const trv_compare_point_t *point, const char *const *name)
{
    const trv_network_t on = {TRV_NETWORK, .torus = point->torus, .slow_links = point->network->slow_links,
                              .slow_link = point->network->slow_link};
    naive_t best = {0};
    for (int i = 0; i < NAMES_MAX && name[i]; i++) {
        naive_t one = {.name = name[i]};
        trv_schedule_t *schedule;
        trv_simulator_t *simulator;
        trv_simulation_t result;
        if (trv_schedule_create_on(&schedule, &on, name[i], point->collective, point->root))
            continue;
        assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
        trv_schedule_destroy(schedule);
        if (trv_simulate(simulator, point->network, point->vector_bytes, &result) == TRV_OK) {
            assert_int_equal(trv_simulate_bound_ns(simulator, point->network, point->vector_bytes, &one.bound_ns), 0);
            one.time_ns = result.time_ns;
            one.packet_hops = result.packet_hops;
            best = is_faster(&one, &best) ? one : best;
        }
        trv_simulator_destroy(simulator);
    }
    return best;
}

/* ---- Random grids ------------------------------------------------------------------------------------------------ */

static const trv_slow_link_t slow_link = {0, 0, 3};
static const trv_slow_rank_t slow_rank = {1, 2};

typedef struct grid {
    trv_compare_point_t point[POINTS];
    trv_simulate_options_t network[POINTS];
    int list[POINTS];
} grid_t;

static void grid_fill(grid_t *grid)
{
    static const char *const torus[] = {"1", "2", "6", "8", "9", "3x3", "2x4", "4m", "3x3m"};
    static const trv_collective_t collective[] = {TRV_ALLREDUCE, TRV_ALLREDUCE, TRV_REDUCE_SCATTER, TRV_BROADCAST};
    for (int i = 0; i < POINTS; i++) {
        trv_simulate_options_t *network = &grid->network[i];
        *network = (trv_simulate_options_t)TRV_SIMULATE_DEFAULTS;
        network->model = random_below(2) ? TRV_FIFO : TRV_DATELINE;
        network->alpha_ns = random_below(2) ? 1500 : 100;
        grid->list[i] = random_below(LISTS);
        grid->point[i] = (trv_compare_point_t){TRV_COMPARE_POINT, .network = network,
                                               .collective = collective[random_below(4)],
                                               .algorithms = lists[grid->list[i]].text,
                                               .vector_bytes = UINT64_C(1) << random_below(20)};
        assert_int_equal(trv_torus_parse(torus[random_below(9)], &grid->point[i].torus), TRV_OK);
        if (random_below(4) == 0 && grid->point[i].torus.ranks > 2) {
            network->slow_links = network->slow_ranks = 1;
            network->slow_link = &slow_link;
            network->slow_rank = &slow_rank;
        }
    }
}

static trv_compare_t *compare_of(const grid_t *grid)
{
    trv_compare_t *compare;
    assert_int_equal(trv_compare_create(&compare), TRV_OK);
    for (int i = 0; i < POINTS; i++)
        assert_int_equal(trv_compare_add(compare, &grid->point[i]), i);
    assert_null(trv_compare_row(compare, POINTS));
    assert_null(trv_compare_row(compare, -1));
    return compare;
}

typedef struct observed {
    const trv_compare_t *compare;
    int rows, stop_after;
    bool seen[POINTS];
    uint64_t hops, first_hops;
} observed_t;

static int observe(void *context, int64_t index, const trv_compare_row_t *row)
{
    observed_t *observed = context;
    assert_true(row == trv_compare_row(observed->compare, index) && !observed->seen[index]);
    observed->seen[index] = true;
    observed->first_hops = observed->rows++ ? observed->first_hops : row->packet_hops;
    observed->hops += row->packet_hops;
    return observed->rows == observed->stop_after ? 7 : 0;
}

static void test_naive(void **state)
{
    static grid_t grid;
    int unsupported = 0, several = 0;
    (void)state;
    grid_fill(&grid);
    trv_compare_t *one = compare_of(&grid), *many = compare_of(&grid);
    observed_t observed = {.compare = one};
    assert_int_equal(trv_compare_run(one, &(trv_compare_options_t){TRV_COMPARE_OPTIONS, .workers = 1, .done = observe,
                                                                   .done_context = &observed}),
                     TRV_OK);
    assert_int_equal(observed.rows, POINTS);
    assert_true(observed.first_hops < observed.hops / POINTS); /* a cheap point is run first: rows are done early */
    assert_int_equal(trv_compare_run(many, &(trv_compare_options_t){TRV_COMPARE_OPTIONS, .workers = 4}), TRV_OK);
    for (int i = 0; i < POINTS; i++) {
        const trv_compare_row_t *row = trv_compare_row(one, i), *other = trv_compare_row(many, i);
        const naive_t best = naive_fastest(&grid.point[i], lists[grid.list[i]].name);
        assert_int_equal(row->code, best.name ? TRV_OK : TRV_ERR_UNSUPPORTED);
        assert_string_equal(row->algorithm, best.name ? best.name : "");
        assert_true(row->time_ns == best.time_ns && row->packet_hops == best.packet_hops);
        assert_true(other->time_ns == row->time_ns && other->packet_hops == row->packet_hops);
        assert_string_equal(other->algorithm, row->algorithm);
        assert_true(row->code ? row->reason && strcmp(row->reason, other->reason) == 0 : !row->reason);
        unsupported += row->code != TRV_OK;
        several += best.name && best.name != lists[grid.list[i]].name[0];
    }
    assert_true(unsupported > 10 && several > 10 && unsupported < POINTS / 2);
    trv_compare_destroy(one);
    trv_compare_destroy(many);
}

/* ---- Other candidates -------------------------------------------------------------------------------------------- */

static const trv_compare_row_t *run_one(trv_compare_t **compare, const trv_compare_point_t *point)
{
    assert_int_equal(trv_compare_create(compare), TRV_OK);
    assert_int_equal(trv_compare_add(*compare, point), 0);
    assert_int_equal(trv_compare_run(*compare, NULL), TRV_OK);
    return trv_compare_row(*compare, 0);
}

static trv_torus_t torus_of(const char *text)
{
    trv_torus_t torus;
    assert_int_equal(trv_torus_parse(text, &torus), TRV_OK);
    return torus;
}

/* A plan is that of trv_planner_best, but its time is simulated with the point's own options; and the limit. */
static void test_planned(void **state)
{
    const trv_torus_t torus = torus_of("4x6");
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    (void)state;
    for (int c = 0; c < 2; c++) {
        trv_compare_t *compare;
        trv_planner_choice_t choice;
        trv_limit_t limit;
        network.jitter = c;
        const trv_compare_row_t *row = run_one(&compare,
                                               &(trv_compare_point_t){TRV_COMPARE_POINT, .torus = torus,
                                                                      .network = &network, .vector_bytes = 65536,
                                                                      .algorithms = "planned", .with_limit = true});
        assert_int_equal(trv_planner_best(&torus, TRV_ALLREDUCE, 0, 65536, &network, NULL, &choice), TRV_OK);
        assert_string_equal(row->algorithm, choice.algorithm);
        assert_true(c ? row->time_ns > choice.time_ns : row->time_ns == choice.time_ns);
        assert_int_equal(trv_compare_limit(&torus, &network, TRV_ALLREDUCE, 0, 65536, &limit), TRV_OK);
        assert_true(row->limit.time_ns == limit.time_ns && row->limit.reference_ns == limit.reference_ns);
        assert_true(row->ratio == row->time_ns / limit.time_ns && row->ratio >= 1);
        trv_compare_destroy(compare);
    }
}

/* Plans are the same with any number of threads, and as_planned has the planner's time. */
static void test_planned_in_threads(void **state)
{
    static const char *const torus[] = {"9", "4x4", "3x4m"};
    enum { PLANS = 24 };
    trv_compare_t *compare[2];
    (void)state;
    for (int c = 0; c < 2; c++) {
        assert_int_equal(trv_compare_create(&compare[c]), TRV_OK);
        for (int i = 0; i < PLANS; i++)
            assert_int_equal(trv_compare_add(compare[c],
                                             &(trv_compare_point_t){TRV_COMPARE_POINT, .torus = torus_of(torus[i % 3]),
                                                                    .vector_bytes = UINT64_C(32) << 4 * (i / 6),
                                                                    .algorithms = "planned", .as_planned = i / 3 % 2}),
                             i);
        assert_int_equal(trv_compare_run(compare[c],
                                         &(trv_compare_options_t){TRV_COMPARE_OPTIONS, .workers = 1 + 3 * c}),
                         TRV_OK);
    }
    for (int i = 0; i < PLANS; i++) {
        const trv_compare_row_t *row = trv_compare_row(compare[0], i), *other = trv_compare_row(compare[1], i);
        const trv_torus_t planned = torus_of(torus[i % 3]);
        const trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
        trv_planner_choice_t choice;
        assert_int_equal(trv_planner_best(&planned, TRV_ALLREDUCE, 0, UINT64_C(32) << 4 * (i / 6), &network, NULL,
                                          &choice),
                         TRV_OK);
        assert_string_equal(row->algorithm, choice.algorithm);
        assert_string_equal(other->algorithm, choice.algorithm);
        assert_true(row->time_ns == other->time_ns && row->packet_hops == other->packet_hops);
        assert_true(i / 3 % 2 == 0 || (row->time_ns == choice.time_ns && row->approximate == choice.approximate));
    }
    trv_compare_destroy(compare[0]);
    trv_compare_destroy(compare[1]);
}

/* The caller's schedule, alone and beside names. */
static void test_schedule(void **state)
{
    const trv_torus_t torus = torus_of("9");
    trv_schedule_t *own;
    trv_compare_t *compare;
    (void)state;
    assert_int_equal(trv_schedule_create(&own, &torus, "trivance-b", TRV_ALLREDUCE), TRV_OK);
    trv_compare_point_t point = {TRV_COMPARE_POINT, .vector_bytes = 1 << 20, .schedule = own};
    const trv_compare_row_t *row = run_one(&compare, &point);
    const double time_ns = row->time_ns;
    assert_string_equal(row->algorithm, "trivance-b");
    assert_true(time_ns > 0 && row->messages > 0 && row->packets > 0 && row->simulated_hops > 0 && isnan(row->ratio));
    trv_compare_destroy(compare);
    point.torus = torus;
    point.algorithms = "trivance-l,ring"; /* slower for this size */
    row = run_one(&compare, &point);
    assert_string_equal(row->algorithm, "trivance-b");
    assert_true(row->time_ns == time_ns);
    trv_compare_destroy(compare);
    trv_schedule_destroy(own);
}

/* ---- Ends of runs ------------------------------------------------------------------------------------------------ */

typedef struct reports {
    int calls, cancel_at; /* 0: never */
    double last;
} reports_t;

static int report(void *context, double fraction)
{
    reports_t *reports = context;
    assert_true(fraction >= reports->last && fraction <= 1);
    reports->last = fraction;
    return ++reports->calls == reports->cancel_at;
}

/* A further run of a comparison fills in the rows of a whole run. */
static void repeat(trv_compare_t *compare, const trv_compare_t *whole)
{
    assert_int_equal(trv_compare_run(compare, NULL), TRV_OK);
    for (int i = 0; i < POINTS; i++)
        assert_true(trv_compare_row(compare, i)->code == trv_compare_row(whole, i)->code &&
                    trv_compare_row(compare, i)->time_ns == trv_compare_row(whole, i)->time_ns);
    trv_compare_destroy(compare);
}

/* Progress is reported up to the end; a run that either callback ends can be repeated. */
static void test_ends(void **state)
{
    static grid_t grid;
    (void)state;
    grid_fill(&grid);
    for (int workers = 1; workers <= 3; workers += 2) {
        trv_compare_t *whole = compare_of(&grid), *cancelled = compare_of(&grid), *stopped = compare_of(&grid);
        reports_t reports = {.cancel_at = 0};
        observed_t observed = {.compare = stopped, .stop_after = 3};
        trv_compare_options_t options = {TRV_COMPARE_OPTIONS, .workers = workers, .progress = report,
                                         .progress_context = &reports};
        assert_int_equal(trv_compare_run(whole, &options), TRV_OK);
        assert_true(reports.calls > 0 && reports.last > 1 - 1e-9);
        reports = (reports_t){.cancel_at = 1};
        assert_int_equal(trv_compare_run(cancelled, &options), TRV_ERR_CANCELLED);
        assert_int_equal(reports.calls, 1);
        options.progress = NULL;
        options.done = observe;
        options.done_context = &observed;
        assert_int_equal(trv_compare_run(stopped, &options), 7);
        assert_int_equal(observed.rows, 3);
        repeat(cancelled, whole);
        repeat(stopped, whole);
        trv_compare_destroy(whole);
    }
}

static void test_errors(void **state)
{
    const trv_torus_t torus = torus_of("9");
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    trv_compare_t *compare;
    static const struct {
        const char *algorithms, *words;
    } bad[] = {{NULL, "no candidate"},
               {"", "no candidate"},
               {"trivanse", "there is no algorithm 'trivanse'"},
               {"trivance,swong", "there is no algorithm 'swong'"},
               {"trivance,planned", "planned"},
               {"trivance,,swing", "there is no algorithm ''"}};
    (void)state;
    assert_int_equal(trv_compare_create(&compare), TRV_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const trv_compare_point_t point = {TRV_COMPARE_POINT, .torus = torus, .algorithms = bad[i].algorithms};
        assert_int_equal(trv_compare_add(compare, &point), TRV_ERR_ARGUMENT);
        if (!strstr(trv_last_error(), bad[i].words))
            fail_msg("'%s' has no '%s'", trv_last_error(), bad[i].words);
    }
    assert_int_equal(trv_compare_add(compare, &(trv_compare_point_t){.algorithms = "ring"}), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_compare_run(compare, NULL), TRV_OK); /* no points */
    /* An invalid network is an error on whichever thread runs it. */
    for (int i = 0; i < 20; i++) {
        network.packet_bytes = i == 19 ? 1 : 8192;
        assert_int_equal(trv_compare_add(compare,
                                         &(trv_compare_point_t){TRV_COMPARE_POINT, .torus = torus, .network = &network,
                                                                .algorithms = "trivance", .vector_bytes = 4096}),
                         i);
    }
    assert_int_equal(trv_compare_run(compare, &(trv_compare_options_t){TRV_COMPARE_OPTIONS, .workers = 3}),
                     TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "packet"));
    trv_compare_destroy(compare);
    /* A vector that takes too long is a reason. */
    const trv_compare_row_t *row = run_one(&compare, &(trv_compare_point_t){TRV_COMPARE_POINT, .torus = torus,
                                                                            .algorithms = "trivance-l",
                                                                            .vector_bytes = UINT64_C(1) << 50});
    assert_int_equal(row->code, TRV_ERR_UNSUPPORTED);
    assert_non_null(strstr(row->reason, "choose a shorter vector"));
    trv_compare_destroy(compare);
    /* Of a single point the reason is the error, and so are those of its options. */
    trv_compare_point_t point = {TRV_COMPARE_POINT, .torus = torus, .algorithms = "swing", .vector_bytes = 64};
    trv_compare_row_t one;
    assert_int_equal(trv_compare_one(&point, &one), TRV_OK);
    assert_true(one.time_ns > 0 && strcmp(one.algorithm, "swing-l") == 0);
    point.torus = torus_of("3x3");
    point.algorithms = "ring";
    assert_int_equal(trv_compare_one(&point, &one), TRV_ERR_UNSUPPORTED);
    assert_true(strstr(trv_last_error(), "only rings") && !one.reason);
    point.network = &network;
    assert_int_equal(trv_compare_one(&point, &one), TRV_ERR_UNSUPPORTED);
    point.algorithms = "trivance";
    assert_int_equal(trv_compare_one(&point, &one), TRV_ERR_ARGUMENT);
    trv_compare_destroy(NULL);
}

/* A planner that is kept for the next call reports to that call, and so do the planners that it uses. */
static void test_later_progress(void **state)
{
    const trv_torus_t torus = torus_of("4x4m");
    (void)state;
    for (uint64_t bytes = 1 << 16; bytes <= 1 << 20; bytes *= 4) {
        reports_t *reports = calloc(1, sizeof *reports);
        trv_planner_choice_t choice;
        trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
        network.progress = report;
        network.progress_context = reports;
        assert_int_equal(trv_planner_best(&torus, TRV_BROADCAST, 0, bytes, &network, NULL, &choice), TRV_OK);
        assert_true(reports->calls > 0);
        memset(reports, 0xff, sizeof *reports); /* a later report to it would fail */
        free(reports);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_naive),
                                       cmocka_unit_test(test_planned),
                                       cmocka_unit_test(test_planned_in_threads),
                                       cmocka_unit_test(test_schedule),
                                       cmocka_unit_test(test_ends),
                                       cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_later_progress)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
