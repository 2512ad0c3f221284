/*
 * trivance figures: figures of our own, meshes and links that fail, each run by itself in a small form.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exhaustive.h"
#include "cli/figures/figures.h"
#include "tool.h"
#include "written.h"

/* Runs one figure, `quick`, for 32 bytes and 1 MiB, of which the latter is shown on meshes only. */
static fig_result_t *run_one(const fig_spec_t *spec, const char *name)
{
    static fig_result_t result;
    static fig_kept_t kept;
    char path[512];
    snprintf(path, sizeof path, "%s/%s.jsonl", tool_folder(), name);
    kept = (fig_kept_t){0};
    pthread_mutex_init(&kept.lock, NULL);
    assert_int_equal(fig_kept_open(&kept, path), 0);
    result = (fig_result_t){.kept = &kept,
                            .quick = true,
                            .sizes = 1,
                            .larger = 1,
                            .bytes = {32, 1 << 20},
                            .figures = 1};
    cli_network_init(&result.network);
    result.figure[0].spec = spec;
    if (fig_run("test", &result))
        fail_msg("%s", trv_last_error());
    fig_kept_close(&kept, true);
    return &result;
}

/* Meshes go on for larger sizes. */
static void test_meshes(void **state)
{
    const fig_spec_t mesh = {30, "3mx2", "A mesh", NULL, {NULL}}, torus = {29, "3x2", "A torus", NULL, {NULL}};
    (void)state;
    const fig_result_t *result = run_one(&mesh, "mesh");
    assert_int_equal(result->figure[0].points, 2);
    assert_true(result->figure[0].curve[0].own[1].time_ns > result->figure[0].curve[0].own[0].time_ns);
    assert_int_equal(run_one(&torus, "torus")->figure[0].points, 1);
}

/* Links of 8x8 fail in all of its 16 rows: a plan is there for every network, none is faster than that of the whole
 * torus, more cuts are not better in the median, and whole vectors along rings pass every link sooner or later. */
static void test_cuts(void **state)
{
    const fig_spec_t spec = {33, "8x8", "Links fail", "cut", {"32B", "8KiB", NULL}};
    (void)state;
    assert_true(fig_is_about_cuts(&fig_spec[FIG_COUNT - 1]) && !fig_is_about_cuts(&fig_spec[FIG_COUNT - 2]));
    const fig_result_t *result = run_one(&spec, "cuts");
    const fig_figure_t *figure = &result->figure[0];
    assert_int_equal(figure->points, FIG_CUTS_POINTS);
    assert_int_equal(figure->curves, 2);
    for (int c = 0; c < figure->curves; c++) {
        const fig_curve_t *curve = &figure->curve[c];
        assert_true(curve->own[0].time_ns == curve->other[0].time_ns &&
                    curve->worst[0].time_ns == curve->own[0].time_ns);
        assert_int_equal(curve->served[0], fig_cuts_networks(true));
        for (int i = 1; i < figure->points; i++) {
            assert_true(curve->own[i].time_ns >= curve->own[i - 1].time_ns);
            assert_true(curve->worst[i].time_ns >= curve->own[i].time_ns);
            assert_true(curve->served[i] <= curve->served[i - 1]);
        }
        assert_int_equal(curve->served[FIG_CUTS_POINTS - 1], 0);
    }
    char *csv = written(fig_write_csv, result), *script = written(fig_write_gnuplot, result);
    assert_int_equal(count_of(csv, "\n33,8x8,"), 2 * FIG_CUTS_POINTS);
    assert_non_null(strstr(csv, "\n33,8x8,8192,16,5,"));
    assert_non_null(strstr(script, "title '8 KiB, median'"));
    /* Again, without what was kept, and from it: the same to the last digit. */
    for (int again = 0; exhaustive() && again < 2; again++) {
        char *same = written(fig_write_csv, run_one(&spec, "again"));
        assert_string_equal(same, csv);
        free(same);
    }
    free(csv);
    free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meshes),
        cmocka_unit_test(test_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, tool_remove_folder);
}
