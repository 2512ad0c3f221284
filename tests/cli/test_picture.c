/*
 * Pictures: routes end at the receivers, tracks never overlap, every rank holds the complete result at the end, and the
 * output is well-formed, for every algorithm on tori and meshes of all shapes that are drawn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance.h>

#include "torus/torus.h"
#include "draw/picture.h"
#include "draw/svg.h"
#include "draw/text.h"
#include "xml.h"

static const char *const tori[] = {"1",     "2",     "3",     "8",       "9",  "13", "3x3",  "4x3",   "2x2",
                                   "1x5x1", "3x1x4", "2x3x2", "2x2x2x2", "5m", "9m", "3x4m", "3mx3m", "2mx3x2m"};

/* Calls `check` for every supported combination of algorithm, torus and collective. */
static void for_each_schedule(void (*check)(const trv_schedule_t *schedule, const trv_cost_t *cost))
{
    int checked = 0;
    for (size_t t = 0; t < sizeof tori / sizeof tori[0]; t++)
        for (int i = 0; i < trv_algorithms_count(); i++)
            for (int c = 0; c < 3; c++) {
                trv_torus_t torus;
                trv_schedule_t *schedule;
                trv_cost_t cost;
                assert_int_equal(trv_torus_parse(tori[t], &torus), 0);
                if (trv_schedule_create(&schedule, &torus, trv_algorithm_name(trv_algorithm_at(i)),
                                        (trv_collective_t)c))
                    continue;
                assert_int_equal(trv_cost_measure(schedule, &cost), 0);
                check(schedule, &cost);
                trv_cost_clear(&cost);
                trv_schedule_destroy(schedule);
                checked++;
            }
    assert_true(checked > 100);
}

static int move(const trv_torus_t *torus, int rank, int dimension, int by)
{
    int at[TRV_DIMS_MAX], size = torus->size[dimension];
    trv_torus_coordinates(torus, rank, at);
    at[dimension] += by;
    if (torus->lines >> dimension & 1)
        assert_in_range(at[dimension], 0, size - 1);
    at[dimension] = (at[dimension] % size + size) % size;
    return trv_torus_rank(torus, at);
}

/* Follows every segment hop by hop; no two segments may use the same track of the same link in the same direction. */
static void check_panel(const trv_torus_t *torus, const trv_panel_t *panel)
{
    int tracks = 1;
    for (int i = 0; i < panel->segments; i++)
        tracks = panel->segment[i].track >= tracks ? panel->segment[i].track + 1 : tracks;
    char *taken = calloc((size_t)tracks * (size_t)torus->ranks * TRV_PORTS_MAX, 1);
    int *load = calloc((size_t)torus->ranks * TRV_PORTS_MAX, sizeof *load), most = 0;
    for (int i = 0; i < panel->segments; i++) {
        const trv_segment_t *s = &panel->segment[i];
        int node = s->from;
        assert_true(s->track < panel->tracks[s->dimension][s->sign < 0]);
        for (int hop = 0; hop < s->hops; hop++) {
            size_t link = (size_t)node * TRV_PORTS_MAX + (size_t)trv_port(s->dimension, s->sign);
            char *slot = &taken[(size_t)s->track * (size_t)torus->ranks * TRV_PORTS_MAX + link];
            assert_int_equal(*slot, 0);
            *slot = 1;
            most = ++load[link] > most ? load[link] : most;
            node = move(torus, node, s->dimension, s->sign);
        }
        if (s->last)
            assert_int_equal(node, panel->arrow[s->arrow].to);
    }
    assert_int_equal(most, panel->messages); /* equals the congestion that the cost model measured */
    free(load);
    free(taken);
}

static void check_segments(const trv_schedule_t *schedule, const trv_cost_t *cost)
{
    trv_picture_t picture;
    int next = 0;
    assert_int_equal(trv_picture_create(&picture, schedule, NULL, cost, -1, -1), 0);
    for (int i = 0; i < picture.panels; i++) {
        assert_int_equal(picture.panel[i].first_step, next);
        next = picture.panel[i].last_step + 1;
        check_panel(trv_schedule_torus(schedule), &picture.panel[i]);
    }
    assert_int_equal(next, trv_schedule_steps(schedule));
    trv_picture_clear(&picture);
}

static void test_segments(void **state)
{
    (void)state;
    for_each_schedule(check_segments);
}

static void check_progress(const trv_schedule_t *schedule, const trv_cost_t *cost)
{
    trv_progress_t progress;
    (void)cost;
    for (int stream = 0; stream < trv_schedule_streams(schedule); stream++) {
        assert_int_equal(trv_progress_create(&progress, schedule, stream), 0);
        for (int rank = 0; rank < progress.ranks; rank++)
            for (int c = 0; c < progress.columns; c++) {
                bool due = trv_schedule_collective(schedule) != TRV_REDUCE_SCATTER || c == rank;
                float held = trv_progress_at(&progress, progress.steps, rank, c);
                if (held != (due ? progress.full : 0))
                    fail_msg("%s: rank %d ends with %g of %d in column %d", trv_schedule_name(schedule), rank,
                             (double)held, (int)progress.full, c);
            }
        trv_progress_clear(&progress);
    }
}

static void test_progress(void **state)
{
    (void)state;
    for_each_schedule(check_progress);
}

/* Figure 3 of the paper: on nine ranks, a rank holds three neighbours' contributions after step 0, and all after
 * step 1. */
static void test_figure_3(void **state)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    trv_progress_t progress;
    (void)state;
    assert_int_equal(trv_torus_parse("9", &torus), 0);
    assert_int_equal(trv_schedule_create(&schedule, &torus, "trivance-l", TRV_ALLREDUCE), 0);
    assert_int_equal(trv_progress_create(&progress, schedule, 0), 0);
    assert_false(progress.by_block);
    for (int rank = 0; rank < 9; rank++)
        for (int c = 0; c < 9; c++) {
            int distance = (c - rank + 9) % 9;
            assert_true(trv_progress_at(&progress, 0, rank, c) == (distance == 0));
            assert_true(trv_progress_at(&progress, 1, rank, c) == (distance <= 1 || distance == 8));
            assert_true(trv_progress_at(&progress, 2, rank, c) == 1);
        }
    trv_progress_clear(&progress);
    trv_schedule_destroy(schedule);
}

static void check_svg(const trv_schedule_t *schedule, const trv_cost_t *cost)
{
    trv_picture_t picture;
    trv_progress_t progress;
    trv_svg_options_t options = {"a <title> & more", "subtitle", 4096, -1, -1, &progress};
    char *text = NULL;
    size_t length = 0;
    int active[TRV_DIMS_MAX], dims = trv_torus_active(trv_schedule_torus(schedule), active);
    assert_int_equal(trv_picture_create(&picture, schedule, NULL, cost, -1, -1), 0);
    int rc = trv_svg_check(&picture, -1);
    if (rc && dims <= 3 && trv_schedule_steps(schedule) > 48) /* pipelined: no two steps are alike */
        assert_non_null(strstr(trv_last_error(), "too many for a picture"));
    else
        assert_int_equal(rc, dims > 3 ? TRV_ERR_UNSUPPORTED : 0);
    if (!rc) {
        FILE *out = open_memstream(&text, &length);
        assert_int_equal(trv_progress_create(&progress, schedule, 0), 0);
        trv_svg_write(&picture, &options, out);
        fclose(out);
        trv_svg_size_t matrix = trv_svg_matrix_size(&progress, 120);
        assert_true(matrix.width < 120.1 && matrix.height < 120.1);
        trv_progress_clear(&progress);
        if (xml_check(text))
            fail_msg("%s: %s", trv_schedule_name(schedule), xml_check(text));
        assert_null(strstr(text, "nan"));
        assert_null(strstr(text, "inf"));
        free(text);
    }
    trv_picture_clear(&picture);
}

static void test_svg(void **state)
{
    (void)state;
    assert_non_null(xml_check("<a><b></a></b>"));
    assert_non_null(xml_check("<a b=c/>"));
    assert_non_null(xml_check("<a>&</a>"));
    assert_null(xml_check("<a b=\"c\"><d/>text &amp; more</a>\n"));
    for_each_schedule(check_svg);
}

/* No part of a panel lies outside its size; the heading is above it and the matrix below it. */
static void check_layout(const trv_picture_t *picture, const trv_layout_t *layout)
{
    for (int i = 0; i < picture->panels; i++) {
        char *text = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&text, &length);
        trv_svg_panel(out, picture, &picture->panel[i], layout, -1, 0, 0);
        fclose(out);
        for (char *p = text; *p; p++) { /* paths consist of M and L commands, each with x and y, and of arcs */
            char *end;
            if (*p != 'M' && *p != 'L')
                continue;
            double x = strtod(p + 1, &end), y = strtod(end, NULL);
            if (x < 0 || x > layout->width || y < 0 || y > layout->height)
                fail_msg("%s as %s, panel %d: (%.1f, %.1f) in %.1f x %.1f", trv_schedule_name(picture->schedule),
                         trv_form_word[layout->form], i, x, y, layout->width, layout->height);
        }
        free(text);
    }
}

/* The layout of an SVG, and those of the explorer, in which tracks are closer together if there are many. */
static void check_panel_within(const trv_schedule_t *schedule, const trv_cost_t *cost)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    trv_picture_t picture;
    trv_layout_t layout;
    trv_form_t form[2];
    const int forms = trv_forms(torus, form);
    if (forms == 0)
        return;
    assert_int_equal(trv_picture_create(&picture, schedule, NULL, cost, -1, -1), 0);
    trv_svg_layout(&picture, &layout);
    check_layout(&picture, &layout);
    for (int f = 0; f < forms; f++) {
        trv_layout_init(&layout, torus, form[f], 1, f == 0);
        check_layout(&picture, &layout);
    }
    trv_picture_clear(&picture);
}

static void test_arrows_within_panels(void **state)
{
    static const char *const more[][2] = {{"4x4", "star:l"}, {"9x9", "trivance-l"}, {"4x4x4", "star:l"}};
    (void)state;
    for_each_schedule(check_panel_within);
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        trv_torus_t torus;
        trv_schedule_t *schedule;
        trv_cost_t cost;
        assert_int_equal(trv_torus_parse(more[i][0], &torus), 0);
        assert_int_equal(trv_schedule_create(&schedule, &torus, more[i][1], TRV_ALLREDUCE), 0);
        assert_int_equal(trv_cost_measure(schedule, &cost), 0);
        check_panel_within(schedule, &cost);
        trv_cost_clear(&cost);
        trv_schedule_destroy(schedule);
    }
}

/* No line is wider than allowed or ends in spaces, and ASCII output contains only ASCII. */
static void check_text_within(const trv_schedule_t *schedule, const trv_cost_t *cost, int columns)
{
    trv_picture_t picture;
    trv_progress_t progress;
    char *text = NULL;
    size_t length = 0;
    trv_text_style_t style = {open_memstream(&text, &length), false, columns};
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    int active[TRV_DIMS_MAX], dims = trv_torus_active(torus, active);
    assert_int_equal(trv_picture_create(&picture, schedule, NULL, cost, -1, -1), 0);
    for (int i = 0; i < picture.panels && dims == 1; i++)
        if (trv_text_ring_fits(&style, &picture, &picture.panel[i]))
            trv_text_ring(&style, &picture, &picture.panel[i]);
    if (dims > 1 && trv_text_grid_width(torus) > 0 && trv_text_grid_width(torus) <= columns)
        trv_text_grids(&style, &picture, 0);
    assert_int_equal(trv_progress_create(&progress, schedule, 0), 0);
    const int width_of_progress = trv_text_progress_width(&progress); /* 0: it is never drawn */
    if (width_of_progress > 0 && width_of_progress <= columns)
        trv_text_progress(&style, &picture, &progress);
    trv_progress_clear(&progress);
    trv_picture_clear(&picture);
    fclose(style.out);
    assert_true(length > 0 || columns < 110 || width_of_progress == 0);
    for (char *line = text; *line; line = strchr(line, '\n') + 1) {
        size_t width = strcspn(line, "\n");
        assert_true(width <= (size_t)columns);
        assert_true(width == 0 || line[width - 1] != ' ');
        for (size_t i = 0; i < width; i++)
            assert_in_range((unsigned char)line[i], ' ', '~');
    }
    free(text);
}

static void check_text(const trv_schedule_t *schedule, const trv_cost_t *cost)
{
    static const int columns[] = {110, 40, 28, 20};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        check_text_within(schedule, cost, columns[i]);
}

static void test_text(void **state)
{
    (void)state;
    for_each_schedule(check_text);
}

static void test_large_pictures(void **state)
{
    static const struct {
        const char *torus;
        int all, one;
    } limits[] = {{"81", 0, 0},    {"82", 1, 0},    {"256", 1, 0},   {"257", 1, 1},   {"9x9", 0, 0},
                  {"11x10", 1, 0}, {"33x32", 1, 1}, {"5x5x5", 0, 0}, {"5x5x6", 1, 0}, {"10x10x11", 1, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        trv_torus_t torus;
        trv_schedule_t *schedule;
        trv_cost_t cost;
        trv_picture_t picture;
        assert_int_equal(trv_torus_parse(limits[i].torus, &torus), 0);
        assert_int_equal(trv_schedule_create(&schedule, &torus, "trivance-b", TRV_ALLREDUCE), 0);
        assert_int_equal(trv_cost_measure(schedule, &cost), 0);
        assert_int_equal(trv_picture_create(&picture, schedule, NULL, &cost, 0, -1), 0);
        assert_int_equal(trv_svg_check(&picture, -1) != 0, limits[i].all);
        assert_int_equal(trv_svg_check(&picture, 0) != 0, limits[i].one);
        trv_picture_clear(&picture);
        trv_cost_clear(&cost);
        trv_schedule_destroy(schedule);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_figure_3),
        cmocka_unit_test(test_svg),
        cmocka_unit_test(test_arrows_within_panels),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_large_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
