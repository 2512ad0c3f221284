/*
 * The rules of trivance figures, on results made here: how claims are decided, which colours and claims there are, what
 * lies beyond the paper, and what its algorithms transmit and reduce.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/figures/figures.h"
#include "written.h"

/* Figure 6 with one curve, `advantage` at 1, 2, 4 and 8 KiB; L below 4 KiB, B from there on. */
static const fig_result_t *synthetic(const double advantage[4])
{
    static fig_result_t result;
    memset(&result, 0, sizeof result);
    result.figures = 1;
    result.sizes = 4;
    fig_figure_t *figure = &result.figure[0];
    figure->spec = &fig_spec[0];
    figure->points = result.sizes;
    figure->curves = 1;
    figure->curve[0].key = "swing";
    for (int i = 0; i < 4; i++) {
        result.bytes[i] = UINT64_C(1024) << i;
        fig_value_t *other = &figure->curve[0].other[i], *own = &figure->curve[0].own[i];
        other->time_ns = 1000;
        own->time_ns = 1000 - 10 * advantage[i];
        strcpy(other->member, i < 2 ? "swing-l" : "swing-b");
        strcpy(own->member, i < 2 ? "trivance-l" : "trivance-b");
    }
    return &result;
}

static void assert_break_even(const double advantage[4], const char *expected)
{
    char text[FIG_BREAK_EVEN_TEXT_MAX];
    const fig_result_t *result = synthetic(advantage);
    assert_string_equal(fig_break_even_text(fig_break_even(result, &result->figure[0], NULL), text), expected);
}

static void test_measures(void **state)
{
    (void)state;
    const fig_result_t *result = synthetic((double[]){10, 30, 20, -20});
    const fig_figure_t *figure = &result->figure[0];
    assert_true(fabs(fig_advantage(&figure->curve[0], 1) - 30) < 1e-9);
    /* 20 to -20 from 4 to 8 KiB: half an octave above 4 KiB. */
    fig_break_even_t even = fig_break_even(result, figure, NULL);
    assert_true(fabs(even.first - 4096 * sqrt(2)) < 1e-6);
    assert_true(even.first == even.last);
    assert_int_equal(fig_switch(figure->curve[0].other, 4), 2);
    assert_break_even((double[]){10, 5, 5, 1}, "none");
    assert_break_even((double[]){-10, -5, 0, -1}, "0 B");
    assert_break_even((double[]){10, 10, -10, -1}, "2.8 KiB");
    assert_break_even((double[]){10, -10, 10, 1}, "1.4 KiB/none"); /* positive again */
    assert_break_even((double[]){10, -10, 10, -10}, "1.4 KiB/5.7 KiB");
    assert_break_even((double[]){-10, 10, 10, -10}, "0 B/5.7 KiB");
    char text[FIG_TEXT_MAX];
    assert_string_equal(fig_bytes(1.5 * 1024 * 1024, text), "1.5 MiB");
    assert_string_equal(fig_bytes(524288, text), "512 KiB");
    assert_string_equal(fig_bytes(32, text), "32 B");
    assert_string_equal(fig_percent(-99.96, text), "-100.0 %");
    assert_string_equal(fig_percent(100, text), "100.0 %");
    assert_string_equal(fig_percent(104.8, text), "2.0x");
    assert_string_equal(fig_percent(-146.5, text), "2.5x as long");
}

/* The kinds of tests on the advantages 10, 30, 20, -20 %, most of them held and broken. */
static void test_rules(void **state)
{
    static const struct {
        fig_claim_t claim;
        fig_verdict_t verdict;
    } rule[] = {
        /* clang-format off */
        { { "", "", {6}, FIG_WITHIN, "swing", NULL, 1024, 4096, 10, 30, NULL }, FIG_AGREES },
        { { "", "", {6}, FIG_WITHIN, NULL, NULL, 1024, 4096, 11, INFINITY, NULL }, FIG_DIFFERS },
        { { "", "", {6}, FIG_WITHIN, NULL, NULL, 8192, 0, -INFINITY, 0, NULL }, FIG_AGREES },
        { { "", "", {6}, FIG_WITHIN, NULL, NULL, 65536, 0, 0, 0, NULL }, FIG_NOT_MEASURED },
        { { "", "", {6}, FIG_WITHIN, "bucket", NULL, 1024, 4096, 0, 99, NULL }, FIG_NOT_MEASURED },
        { { "", "", {7}, FIG_WITHIN, NULL, NULL, 1024, 4096, 0, 99, NULL }, FIG_NOT_MEASURED },
        { { "", "", {6}, FIG_PEAK, NULL, NULL, 1024, 8192, 25, 35, NULL }, FIG_AGREES },
        { { "", "", {6}, FIG_PEAK, NULL, NULL, 4096, 8192, 25, 35, NULL }, FIG_DIFFERS },
        { { "", "", {6}, FIG_PEAK_AT, NULL, NULL, 2048, 4096, 0, 0, NULL }, FIG_AGREES },
        { { "", "", {6}, FIG_PEAK_AT, NULL, NULL, 4096, 8192, 0, 0, NULL }, FIG_DIFFERS },
        { { "", "", {6}, FIG_BREAK_EVEN, "swing", NULL, 4096, 8192, 0, 0, NULL }, FIG_AGREES },
        { { "", "", {6}, FIG_BREAK_EVEN, "swing", NULL, 1024, 4096, 0, 0, NULL }, FIG_DIFFERS },
        { { "", "", {6}, FIG_FASTEST_FROM, "swing", NULL, 8192, 8192, 0, 0, NULL }, FIG_AGREES },
        { { "", "", {6}, FIG_FASTEST_FROM, "swing", NULL, 1024, 4096, 0, 0, NULL }, FIG_DIFFERS },
        { { "", "", {6}, FIG_SWITCH, NULL, NULL, 4096, 4096, 0, 0, NULL }, FIG_AGREES },
        { { "", "", {6}, FIG_SWITCH, "swing", NULL, 1024, 2048, 0, 0, NULL }, FIG_DIFFERS },
        { { "", "", {6}, FIG_FALLS_FROM, NULL, NULL, 2048, 2048, 0, 0, NULL }, FIG_AGREES },
        { { "", "", {6}, FIG_FALLS_FROM, NULL, NULL, 4096, 0, 0, 0, NULL }, FIG_DIFFERS },
        { { "", "", {6}, FIG_SPREAD, NULL, NULL, 1024, 8192, 0, 0, NULL }, FIG_AGREES },
        { { "", "", {6}, FIG_FASTER, "swing", "swing", 1024, 8192, 0, 1, NULL }, FIG_AGREES },
        { { "", "", {6}, FIG_FASTER, "swing", "swing", 1024, 8192, 0, -1, NULL }, FIG_DIFFERS },
        { { "", "", {6}, FIG_RISING, NULL, NULL, 0, 0, 0, 0, NULL }, FIG_AGREES },
        /* clang-format on */
    };
    (void)state;
    const fig_result_t *result = synthetic((double[]){10, 30, 20, -20});
    for (size_t i = 0; i < sizeof rule / sizeof rule[0]; i++) {
        fig_finding_t finding;
        fig_check(result, &rule[i].claim, &finding);
        if (finding.verdict != rule[i].verdict)
            fail_msg("rule %zu (%s): %s, measured %s", i, finding.rule, fig_verdict_name[finding.verdict],
                     finding.measured);
    }
}

/* The reason of a claim that differs: the first variant in which it holds, else its own, else none. */
static void test_reasons(void **state)
{
    static fig_result_t result, fifo;
    char text[FIG_REASON_MAX];
    fig_claim_t claim = {"", "", {6}, FIG_BREAK_EVEN, "swing", NULL, 1024, 2048, 0, 0, NULL};
    (void)state;
    result = *synthetic((double[]){10, 30, 20, -20});
    assert_string_equal(fig_reason(&result, &claim, text), "Unexplained.");
    claim.why = "Known.";
    assert_string_equal(fig_reason(&result, &claim, text), "Known.");
    fifo = *synthetic((double[]){10, -10, -20, -20});
    result.variant[FIG_FIFO] = &fifo;
    assert_string_equal(fig_reason(&result, &claim, text), "It holds with one queue per link: 1.4 KiB.");
}

/* Two curves never look alike, and an entry's number is that of a colour. */
static void test_colours(void **state)
{
    fig_algorithm_t baseline[FIG_BASELINES_MAX];
    const int baselines = fig_baselines(baseline), own = fig_trivance().colour;
    (void)state;
    for (int i = 0; i < trv_algorithms_count(); i++)
        assert_in_range(trv_algorithm_colour(trv_algorithm_at(i)), 0, FIG_COLOURS - 1);
    assert_int_not_equal(own, 0);
    for (int b = 0; b < baselines; b++) {
        assert_int_not_equal(baseline[b].colour, own);
        assert_true(baseline[b].colour > (b > 0 ? baseline[b - 1].colour : 0));
    }
}

/* A claim speaks of figures, curves and sizes that exist. */
static void test_claims(void **state)
{
    fig_algorithm_t baseline[FIG_BASELINES_MAX];
    const int baselines = fig_baselines(baseline);
    (void)state;
    for (int c = 0; c < fig_claims; c++) {
        const fig_claim_t *claim = &fig_claim[c];
        assert_true(claim->figure[0] > 0 && claim->figure[FIG_CLAIM_FIGURES_MAX] == 0);
        assert_true(claim->to == 0 || claim->from <= claim->to);
        for (int f = 0; claim->figure[f]; f++) {
            const fig_spec_t *spec = NULL;
            bool known = !claim->curve;
            for (int i = 0; i < FIG_COUNT; i++)
                if (fig_spec[i].number == claim->figure[f])
                    spec = &fig_spec[i];
            assert_non_null(spec);
            for (int b = 0; b < baselines && claim->curve; b++)
                known |= !spec->parameter && !fig_omits(spec->torus, baseline[b].key) &&
                         strcmp(claim->curve, baseline[b].key) == 0;
            for (int v = 0; spec->parameter && v < FIG_CURVES_MAX && spec->value[v] && claim->curve; v++)
                known |= strcmp(claim->curve, spec->value[v]) == 0;
            if (!known)
                fail_msg("figure %d has no curve %s", spec->number, claim->curve);
        }
    }
}

/* Beyond the paper a figure shows what planned schedules gain, over Trivance, too; the report leaves it to the page. */
static void test_beyond(void **state)
{
    (void)state;
    static fig_result_t result;
    result = *synthetic((double[]){10, 30, 20, -20});
    result.figure[0].spec = &fig_spec[FIG_COUNT - 2];
    result.figure[0].curve[0].key = "trivance";
    assert_true(fig_is_beyond(result.figure[0].spec) && !fig_is_beyond(&fig_spec[0]));
    assert_int_equal(fig_own_switch(&result.figure[0], &result.figure[0].curve[0], 4), -1);
    char *csv = written(fig_write_csv, &result), *script = written(fig_write_gnuplot, &result);
    assert_non_null(strstr(csv, ",time_ns,planned_time_ns,relative_percent\n"));
    assert_int_equal(count_of(csv, ",planned,"), 4);
    assert_int_equal(count_of(csv, ",trivance,"), 4);
    assert_non_null(strstr(csv, ",1000.000,700.000,30.0000\n"));
    assert_non_null(strstr(script, "(T_{A} - T_{Planned}) / T_{A}"));
    assert_non_null(strstr(script, "title 'Planned'"));
    free(csv);
    free(script);
}

/* The Theta of powers of three is the exact sum of the paper's appendix B, and what reductions read and write is its
 * reduction volume (section 7). */
static void test_volumes(void **state)
{
    double theta, operands, results;
    (void)state;
    assert_int_equal(fig_theta("9x9", &theta), 0);
    assert_true(fabs(theta - 2 * (1.0 / 3 + 1.0 / 9 + 1.0 / 9 + 1.0 / 27)) < 1e-9);
    assert_int_equal(fig_reduced("9x9", "trivance-b", &operands, &results), 0);
    assert_true(fabs(operands - 1.5 * 80 / 81) < 1e-9 && fabs(results - 0.5 * 80 / 81) < 1e-9);
    assert_int_equal(fig_reduced("8x8", "swing-b", &operands, &results), 0);
    assert_true(fabs(operands - 2.0 * 63 / 64) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measures), cmocka_unit_test(test_reasons), cmocka_unit_test(test_rules),
        cmocka_unit_test(test_colours),  cmocka_unit_test(test_claims),  cmocka_unit_test(test_beyond),
        cmocka_unit_test(test_volumes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
