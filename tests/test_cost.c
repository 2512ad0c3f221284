/*
 * The cost model: costs measured by routing, compared with the paper's exact sums, with numbers calculated by hand,
 * with the full routing where symmetry shortens it, and with the messages of the paper's simulator.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include <trivance/trivance.h>

#include "cost/measure.h"
#include "schedule/schedule.h"

#define CLOSE        1e-9
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static trv_schedule_t *make(const char *algorithm, const char *text)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    assert_int_equal(trv_torus_parse(text, &torus), TRV_OK);
    if (trv_schedule_create(&schedule, &torus, algorithm, TRV_ALLREDUCE))
        fail_msg("%s on %s: %s", algorithm, text, trv_last_error());
    return schedule;
}

static trv_cost_t measure(const char *algorithm, const char *text)
{
    trv_schedule_t *schedule = make(algorithm, text);
    trv_cost_t cost;
    if (trv_cost_measure(schedule, &cost))
        fail_msg("%s on %s: %s", algorithm, text, trv_last_error());
    trv_schedule_destroy(schedule);
    return cost;
}

static trv_paper_cost_t paper(const char *algorithm, const char *text)
{
    trv_torus_t torus;
    trv_paper_cost_t cost;
    assert_int_equal(trv_torus_parse(text, &torus), TRV_OK);
    trv_algorithm_paper_cost(trv_algorithm_find(algorithm), &torus, &cost);
    return cost;
}

static void assert_close(double measured, double expected, const char *what, const char *algorithm, const char *text)
{
    if (!(fabs(measured - expected) <= CLOSE * (1 + fabs(expected))))
        fail_msg("%s of %s on %s is %.12g, expected %.12g", what, algorithm, text, measured, expected);
}

static const char *const threes[] = {"3", "9", "27", "81", "9x9", "27x27", "9x9x9"};
static const char *const twos[] = {"8", "16", "64", "8x8", "16x16", "8x8x8"};

/* ---- The paper ------------------------------------------------------------------------------------------------- */

static void assert_all_as_in_paper(const char *algorithm, const char *const *tori, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        trv_cost_t cost = measure(algorithm, tori[i]);
        trv_paper_cost_t expected = paper(algorithm, tori[i]);
        assert_close(cost.lambda, expected.lambda, "Lambda", algorithm, tori[i]);
        assert_close(cost.delta, expected.delta, "Delta", algorithm, tori[i]);
        assert_close(cost.theta, expected.theta, "Theta", algorithm, tori[i]);
        trv_cost_clear(&cost);
    }
}

static void equals_the_exact_sums_of_appendix_b(void **state)
{
    (void)state;
    assert_all_as_in_paper("trivance-l", threes, COUNT(threes));
    assert_all_as_in_paper("trivance-b", threes, COUNT(threes));
    assert_all_as_in_paper("bucket", threes, COUNT(threes));
    assert_all_as_in_paper("bucket", twos, COUNT(twos));
    assert_all_as_in_paper("ring", twos, 3);
    assert_all_as_in_paper("swing-b", twos, COUNT(twos));
    assert_all_as_in_paper("swing-l", twos, COUNT(twos));
    assert_all_as_in_paper("recdoub-l", twos, COUNT(twos));
}

static void lambda_and_delta_equal_the_paper(void **state)
{
    static const char *const names[] = {"trivance-l", "trivance-b", "bruck-l", "bruck-b",
                                        "recdoub-l",  "recdoub-b",  "swing-l", "swing-b"};
    (void)state;
    for (size_t a = 0; a < COUNT(names); a++) {
        bool three = a < 4;
        for (size_t i = 0; i < (three ? COUNT(threes) : COUNT(twos)); i++) {
            const char *text = three ? threes[i] : twos[i];
            trv_cost_t cost = measure(names[a], text);
            trv_paper_cost_t expected = paper(names[a], text);
            assert_close(cost.lambda, expected.lambda, "Lambda", names[a], text);
            assert_close(cost.delta, expected.delta, "Delta", names[a], text);
            trv_cost_clear(&cost);
        }
    }
    /* Table 1 in numbers: Lambda 1, 2, log2 3, 2 log2 3; Delta log3 n and log2 n / 2. */
    assert_close(paper("trivance-l", "81").lambda, 1, "Lambda", "trivance-l", "81");
    assert_close(paper("bruck-b", "81").lambda, 2, "Lambda", "bruck-b", "81");
    assert_close(paper("swing-l", "64").lambda, log2(3), "Lambda", "swing-l", "64");
    assert_close(paper("recdoub-b", "8x8").lambda, 2 * log2(3), "Lambda", "recdoub-b", "8x8");
    assert_close(paper("trivance-l", "9x9").delta, 4, "Delta", "trivance-l", "9x9");
    assert_close(paper("recdoub-l", "8x8").delta, 3, "Delta", "recdoub-l", "8x8");
}

typedef struct row {
    const char *algorithm, *torus;
    double paper, measured;
} row_t;

/* Differences between the appendix and the routed schedules. Bruck: the appendix sends over distance 2 * 3^k in one
 * direction, so that 3 * 3^k messages share a link; routed the shorter way, the last step along a dimension has 3^k in
 * either direction. Recursive Doubling: the appendix has 2^k messages on a link. The messages of the mirrored stream
 * and of the other one share one link in every step, 2^(k+1) - 1 messages. In a dimension's last step, half way round,
 * both streams use +, which makes 2^(k+1); the split variant sends the mirrored stream the other way there. */
static void differences_between_routing_and_appendix(void **state)
{
    static const row_t rows[] = {
        {"bruck-b", "3", 2, 2.0 / 3},
        {"bruck-b", "9", 4, 8.0 / 3},
        {"bruck-b", "27", 6, 14.0 / 3},
        {"bruck-b", "81", 8, 20.0 / 3},
        {"bruck-b", "9x9", 32.0 / 9, 80.0 / 27},
        {"bruck-l", "3", 3, 1},
        {"bruck-l", "9", 12, 6},
        {"bruck-l", "27", 39, 21},
        {"bruck-l", "9x9", 24, 12},
        {"recdoub-b", "8", 1.5, 2.25},
        {"recdoub-b", "16", 2, 3.125},
        {"recdoub-b", "64", 3, 5.03125},
        {"recdoub-b", "8x8", 1.3125, 1.6875},
        {"recdoub-b-split", "8", 1.5, 1.75},
        {"recdoub-b-split", "16", 2, 2.625},
        {"recdoub-b-split", "8x8", 1.3125, 1.5},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        trv_cost_t cost = measure(rows[i].algorithm, rows[i].torus);
        assert_close(cost.theta, rows[i].measured, "measured Theta", rows[i].algorithm, rows[i].torus);
        assert_close(paper(rows[i].algorithm, rows[i].torus).theta, rows[i].paper, "the paper's Theta",
                     rows[i].algorithm, rows[i].torus);
        trv_cost_clear(&cost);
    }
}

static void exact_sums_by_hand(void **state)
{
    /* Calculated by hand from appendix B. */
    static const row_t rows[] = {
        {"trivance-l", "27", 13, 13},
        {"trivance-l", "9x9", 8, 8},
        {"trivance-b", "81", 8.0 / 3, 8.0 / 3},
        {"trivance-b", "9x9", 32.0 / 27, 32.0 / 27}, /* 2 (1/3 + 3/27 + 1/9 + 3/81) */
        {"swing-b", "16", 1.4375, 1.4375},           /* 1/2 + 1/4 + 3/8 + 5/16 */
        {"swing-b", "8x8", 1.078125, 1.078125},      /* 1/2 + 1/4 + 1/8 + 1/16 + 3/32 + 3/64 */
        {"ring", "16", 15.0 / 16, 15.0 / 16},
        {"bucket", "8x8x8", 511.0 / 512, 511.0 / 512},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        trv_cost_t cost = measure(rows[i].algorithm, rows[i].torus);
        assert_close(cost.theta, rows[i].measured, "measured Theta", rows[i].algorithm, rows[i].torus);
        assert_close(paper(rows[i].algorithm, rows[i].torus).theta, rows[i].paper, "the paper's Theta",
                     rows[i].algorithm, rows[i].torus);
        trv_cost_clear(&cost);
    }
}

static void limits_are_those_of_tables_1_and_2(void **state)
{
    static const row_t rows[] = {
        {"ring", "27", 1, 0},
        {"recdoub-b", "64", 3, 0},
        {"swing-b", "64", 2, 0},
        {"bruck-b", "27", 6, 0},
        {"trivance-b", "27", 2, 0},
        {"recdoub-l", "64", 64, 0},
        {"swing-l", "27", 9, 0},
        {"bruck-l", "64", 96, 0},
        {"trivance-l", "64", 32, 0},
        {"recdoub-l", "8x8", 32, 0},
        {"swing-l", "9x9", 12, 0},
        {"bruck-l", "8x8x8", 36, 0},
        {"trivance-l", "8x8x8", 12, 0},
        {"bucket", "8x8", 1, 0},
        {"swing-b", "8x8", 1.2, 0},
        {"trivance-b", "8x8", 8.0 / 6, 0},
        {"recdoub-b", "8x8", 1.5, 0},
        {"bruck-b", "8x8", 4, 0},
        {"swing-b", "8x8x8", 56.0 / 54, 0},
        {"trivance-b", "8x8x8", 26.0 / 24, 0},
        {"bruck-b", "8x8x8", 3.25, 0},
        {"recdoub-b", "4x4x4x4", 15.0 / 14, 0},
        {"trivance-b", "4x4x4x4", 80.0 / 78, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_close(paper(rows[i].algorithm, rows[i].torus).theta_limit, rows[i].paper, "the limit of Theta",
                     rows[i].algorithm, rows[i].torus);
}

static void no_closed_form_where_the_paper_has_none(void **state)
{
    (void)state;
    assert_true(isnan(paper("trivance-b", "8").theta));        /* not a power of three */
    assert_false(isnan(paper("trivance-b", "8").theta_limit)); /* but table 1 holds for every ring */
    assert_true(isnan(paper("swing-b", "9").theta));
    assert_true(isnan(paper("trivance-b", "3x9").theta));
    assert_true(isnan(paper("trivance-b", "3x9").theta_limit));
    assert_true(isnan(paper("ring", "8x8").theta));
    assert_true(isnan(paper("trivance-l-grouped", "9").theta));
    assert_true(isnan(paper("trivance-l", "1").lambda));
    assert_close(paper("trivance-b", "9x1x9").theta, 32.0 / 27, "Theta", "trivance-b",
                 "9x1x9"); /* a side of 1 does not count as a dimension */
}

/* ---- Routing --------------------------------------------------------------------------------------------------- */

static void assert_same_cost(const trv_cost_t *a, const trv_cost_t *b)
{
    assert_int_equal(a->steps, b->steps);
    assert_int_equal(a->messages, b->messages);
    assert_true(a->theta == b->theta && a->delta == b->delta && a->lambda == b->lambda);
    for (int k = 0; k < a->steps; k++) {
        assert_int_equal(a->step[k].messages, b->step[k].messages);
        assert_int_equal(a->step[k].hops, b->step[k].hops);
        assert_true(a->step[k].link_fraction == b->step[k].link_fraction);
        assert_true(a->step[k].port_fraction == b->step[k].port_fraction);
    }
}

static void symmetry_equals_full_routing(void **state)
{
    static const char *const tori[] = {"5", "8", "12", "27", "2x2", "4x6", "8x8", "5x7", "4x1x3", "3x4x5", "4x4x4"};
    static const trv_hockney_t network = {800e9, 1500, 200, 0};
    int compared = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(tori); i++)
        for (int a = 0; a < trv_algorithms_count(); a++) {
            trv_torus_t torus;
            trv_schedule_t *schedule;
            trv_cost_t reduced, full;
            double reduced_ns, full_ns;
            trv_torus_parse(tori[i], &torus);
            if (trv_algorithm_supports(trv_algorithm_at(a), &torus, TRV_ALLREDUCE))
                continue;
            schedule = make(trv_algorithm_name(trv_algorithm_at(a)), tori[i]);
            compared += schedule->symmetry != TRV_SYMMETRY_NONE;
            assert_int_equal(trv_cost_measure(schedule, &reduced), TRV_OK);
            assert_int_equal(trv_cost_time_ns(schedule, &network, 100003, &reduced_ns), TRV_OK);
            schedule->symmetry = TRV_SYMMETRY_NONE;
            assert_int_equal(trv_cost_measure(schedule, &full), TRV_OK);
            assert_int_equal(trv_cost_time_ns(schedule, &network, 100003, &full_ns), TRV_OK);
            assert_same_cost(&reduced, &full);
            assert_true(reduced_ns == full_ns);
            trv_cost_clear(&reduced);
            trv_cost_clear(&full);
            trv_schedule_destroy(schedule);
        }
    assert_true(compared > 50);
}

/* A message that turns: it leaves by port 0, along dimension 0 first, and then takes the shorter way in dimension 1. */
static void bent_routes(void **state)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    trv_cost_t cost;
    trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 1, .registers = 2, .units = 2};
    trv_explicit_part_t part = {.from_reg = 0, .to_reg = 1, .count = 1, .unit = (int64_t[]){0}};
    (void)state;
    trv_torus_parse("4x5", &torus);
    assert_int_equal(trv_explicit_create(&schedule, &torus, "bent", &options), TRV_OK);
    /* (0,0) to (2,3), (1,0) to (2,3), (2,0) to (2,4) */
    trv_explicit_message(schedule, 0, 0, 0, 13, trv_port(0, +1), -1, TRV_SEND | TRV_RECEIVE, 1, &part);
    trv_explicit_message(schedule, 0, 0, 5, 13, trv_port(1, -1), -1, TRV_SEND | TRV_RECEIVE, 1, &part);
    trv_explicit_message(schedule, 0, 0, 10, 14, trv_port(1, -1), -1, TRV_SEND | TRV_RECEIVE, 1, &part);
    assert_int_equal(trv_cost_measure(schedule, &cost), TRV_OK);
    /* 0 -> 5 -> 10 -> 14 -> 13;  5 -> 9 -> 8 -> 13;  10 -> 14: two on the link from 10 by -1. */
    assert_int_equal(cost.step[0].messages, 2);
    assert_int_equal(cost.step[0].hops, 4);
    assert_true(cost.step[0].link_fraction == 1.0 && cost.step[0].port_fraction == 0.5);
    assert_true(cost.delta == 0.25 && cost.theta == 2.0);
    assert_int_equal(cost.messages, 3);
    trv_cost_clear(&cost);
    trv_schedule_destroy(schedule);
}

static void rejects_messages_without_a_route(void **state)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    trv_cost_t cost;
    trv_explicit_options_t options = {TRV_EXPLICIT_OPTIONS, .streams = 1, .steps = 1, .registers = 2, .units = 3};
    trv_explicit_part_t part = {.from_reg = 0, .to_reg = 1, .count = 1, .unit = (int64_t[]){0}};
    (void)state;
    trv_torus_parse("3", &torus);
    assert_int_equal(trv_explicit_create(&schedule, &torus, "astray", &options), TRV_OK);
    trv_explicit_message(schedule, 0, 0, 1, 7, 0, -1, TRV_SEND, 1, &part);
    assert_int_equal(trv_cost_measure(schedule, &cost), TRV_ERR_INVALID);
    assert_non_null(strstr(trv_last_error(), "rank 1 sends to rank 7"));
    trv_schedule_destroy(schedule);
}

/* ---- Time ------------------------------------------------------------------------------------------------------ */

static double time_of(const char *algorithm, const char *text, uint64_t bytes, trv_hockney_t network)
{
    trv_schedule_t *schedule = make(algorithm, text);
    double time_ns;
    assert_int_equal(trv_cost_time_ns(schedule, &network, bytes, &time_ns), TRV_OK);
    trv_schedule_destroy(schedule);
    return time_ns;
}

static int keep_share(void *context, double fraction)
{
    *(double *)context = fraction;
    return 0;
}

static int cancel(void *context, double fraction) { return ++*(int *)context && fraction >= 0; }

/* Measuring all sizes at once gives the results of measuring each alone, with and without a progress callback. Reported
 * fractions never exceed the whole. */
static void sizes_at_once(void **state)
{
    static const uint64_t bytes[] = {1, 1000, 100003};
    static const trv_hockney_t network = {800e9, 1500, 200, 0};
    trv_schedule_t *schedule = make("recdoub-b", "12x20");
    trv_cost_t alone, cost;
    double time_ns[COUNT(bytes)], share = 0, alone_ns;
    int calls = 0;
    (void)state;
    assert_int_equal(trv_cost_measure(schedule, &alone), TRV_OK);
    assert_int_equal(trv_cost_sizes(schedule, NULL, &network, bytes, COUNT(bytes),
                                    (trv_span_t){keep_share, &share, 0, 1}, &cost, time_ns),
                     TRV_OK);
    assert_same_cost(&alone, &cost);
    for (size_t i = 0; i < COUNT(bytes); i++) {
        assert_int_equal(trv_cost_time_ns(schedule, &network, bytes[i], &alone_ns), TRV_OK);
        assert_true(time_ns[i] == alone_ns);
    }
    assert_true(share > 0 && share < 1 + 1e-9);
    trv_cost_clear(&alone);
    trv_cost_clear(&cost);
    assert_int_equal(trv_cost_sizes(schedule, NULL, &network, bytes, COUNT(bytes), (trv_span_t){cancel, &calls, 0, 1},
                                    &cost, time_ns),
                     TRV_ERR_CANCELLED);
    assert_int_equal(calls, 1);
    assert_null(cost.step);
    trv_schedule_destroy(schedule);
}

static void times_by_hand(void **state)
{
    trv_hockney_t plain = {800e9, 1500, 0, 0}, hops = {800e9, 1500, 200, 0};
    (void)state;
    /* Trivance B on 9: 3 blocks over distance 1, 1 over distance 3, and back: 4 * 3 blocks on the busiest link. */
    assert_close(time_of("trivance-b", "9", 9000, plain), 4 * 1500 + 4 * 3000 * 0.01, "time", "trivance-b", "9");
    assert_close(time_of("trivance-b", "9", 9000, hops), 6120 + 200 * (1 + 3 + 3 + 1), "time", "trivance-b", "9");
    /* Rounded up per message: 3/9 of 10 bytes are 4, 1/9 is 2. */
    assert_close(time_of("trivance-b", "9", 10, plain), 4 * 1500 + (4 + 6 + 6 + 4) * 0.01, "time", "trivance-b", "9");
    /* Never less than a byte. */
    assert_close(time_of("ring", "4", 1, plain), 6 * (1500 + 0.01), "time", "ring", "4");
    assert_close(time_of("trivance-b", "1", 4096, plain), 0, "time", "trivance-b", "1");
}

static void rejects_invalid_networks(void **state)
{
    trv_hockney_t networks[] = {{0, 1500, 0, 0},
                                {-1, 1500, 0, 0},
                                {800e9, -1, 0, 0},
                                {800e9, 1500, -1, 0},
                                {NAN, 1500, 0, 0}};
    trv_schedule_t *schedule = make("trivance-b", "9");
    double time_ns;
    (void)state;
    for (size_t i = 0; i < COUNT(networks); i++)
        assert_int_equal(trv_cost_time_ns(schedule, &networks[i], 1024, &time_ns), TRV_ERR_ARGUMENT);
    trv_schedule_destroy(schedule);
}

/* ---- The reference simulator's messages ------------------------------------------------------------------------ */

/* The next of the values that '|' separates, a fraction or a whole number; false at the end. */
static bool next_value(char **text, double *value)
{
    char *end;
    if (**text == '\0')
        return false;
    *value = strtod(*text, &end);
    if (*end == '/')
        *value /= strtod(end + 1, &end);
    *text = *end == '|' ? end + 1 : end;
    return true;
}

/* For a block half way round, this project's schedule takes half of it from each side, the reference all of it from
 * both. */
static bool halved(const char *algorithm, const char *torus)
{
    return strcmp(algorithm, "trivance-b") == 0 && torus[0] == '8';
}

static void steps_are_those_of_the_reference(void **state)
{
    FILE *file = fopen(TRIVANCE_TEST_DATA "/reference-steps.csv", "r");
    char line[1024], torus[32], algorithm[32], bytes[512], messages[256];
    int rows = 0, steps;
    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || strstr(line, "8x8,trivance-l,") == line)
            continue; /* windows complete one dimension before the next, so the reference's steps have another order */
        assert_int_equal(sscanf(line, "%31[^,],%31[^,],%d,%511[^,],%255[^,\n]", torus, algorithm, &steps, bytes,
                                messages),
                         5);
        trv_cost_t cost = measure(algorithm, torus);
        char *b = bytes, *m = messages;
        double fraction, count;
        assert_int_equal(cost.steps, steps);
        for (int k = 0; k < steps; k++) {
            assert_true(next_value(&b, &fraction) && next_value(&m, &count));
            if (halved(algorithm, torus))
                assert_true(cost.step[k].port_fraction <= fraction);
            else
                assert_close(cost.step[k].port_fraction, fraction, "a message's fraction of the vector", algorithm,
                             torus);
            assert_close(cost.step[k].messages, count, "messages on the busiest link", algorithm, torus);
        }
        assert_false(next_value(&b, &fraction) || next_value(&m, &count));
        trv_cost_clear(&cost);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_exact_sums_of_appendix_b),
        cmocka_unit_test(lambda_and_delta_equal_the_paper),
        cmocka_unit_test(differences_between_routing_and_appendix),
        cmocka_unit_test(exact_sums_by_hand),
        cmocka_unit_test(limits_are_those_of_tables_1_and_2),
        cmocka_unit_test(no_closed_form_where_the_paper_has_none),
        cmocka_unit_test(symmetry_equals_full_routing),
        cmocka_unit_test(bent_routes),
        cmocka_unit_test(rejects_messages_without_a_route),
        cmocka_unit_test(times_by_hand),
        cmocka_unit_test(sizes_at_once),
        cmocka_unit_test(rejects_invalid_networks),
        cmocka_unit_test(steps_are_those_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
