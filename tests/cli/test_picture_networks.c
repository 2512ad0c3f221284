/*
 * Pictures of irregular networks: a mesh has no wrap-around links, cut links are drawn as cut, and slow links are
 * labelled with their factors.
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

#include <trivance/trivance.h>

#include "formats/names.h"
#include "draw/picture.h"
#include "draw/svg.h"
#include "draw/text.h"
#include "torus/torus.h"
#include "xml.h"

typedef struct drawn {
    trv_network_t network;
    trv_slow_link_t link[8];
    trv_schedule_t *schedule;
    trv_cost_t cost;
    trv_picture_t picture;
} drawn_t;

/* Draws trivance-l on `torus` with `links` cut or slow links. */
static void draw(drawn_t *drawn, const char *torus, const trv_slow_link_t *link, int links)
{
    drawn->network = (trv_network_t){TRV_NETWORK, .slow_links = links, .slow_link = drawn->link};
    for (int i = 0; i < links; i++)
        drawn->link[i] = link[i];
    assert_int_equal(trv_torus_parse(torus, &drawn->network.torus), 0);
    assert_int_equal(trv_schedule_create_on(&drawn->schedule, &drawn->network, "trivance-l", TRV_ALLREDUCE, 0), 0);
    assert_int_equal(trv_cost_measure(drawn->schedule, &drawn->cost), 0);
    assert_int_equal(trv_picture_create(&drawn->picture, drawn->schedule, &drawn->network, &drawn->cost, -1, -1), 0);
}

static void clear(drawn_t *drawn)
{
    trv_picture_clear(&drawn->picture);
    trv_cost_clear(&drawn->cost);
    trv_schedule_destroy(drawn->schedule);
}

/* Returns the whole sheet; the caller frees it. */
static char *svg_of(const drawn_t *drawn)
{
    const trv_svg_options_t options = {"title", "subtitle", 4096, -1, -1, NULL};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    trv_svg_write(&drawn->picture, &options, out);
    fclose(out);
    assert_null(xml_check(text));
    return text;
}

static char *text_of(const drawn_t *drawn)
{
    char *text = NULL;
    size_t length = 0;
    const trv_text_style_t style = {open_memstream(&text, &length), false, 110};
    int active[TRV_DIMS_MAX];
    if (trv_torus_active(&drawn->network.torus, active) == 1) {
        for (int i = 0; i < drawn->picture.panels; i++)
            trv_text_ring(&style, &drawn->picture, &drawn->picture.panel[i]);
    } else {
        trv_text_marks(&style, &drawn->picture);
        trv_text_grids(&style, &drawn->picture, 4);
    }
    fclose(style.out);
    return text;
}

static void test_marks_of_faults(void **state)
{
    static const trv_slow_link_t link[] = {{3, 0, INFINITY}, {4, 1, INFINITY}, {6, 1, 4}, {5, 0, 4},
                                           {8, 0, 2.5},      {1, 0, 8},        {2, 1, 3}, {1, 0, 1}};
    static const char *const words[] = {"cut", "4x", "+0 2.5x", "-0 3x"};
    static const int rank[] = {3, 5, 8, 1}, neighbour[] = {4, 6, 0, 2};
    char text[TRV_MARK_TEXT_MAX];
    drawn_t drawn;
    (void)state;
    draw(&drawn, "9", link, 8);
    assert_int_equal(drawn.picture.marks, 4);
    for (int i = 0; i < 4; i++) {
        const trv_mark_t *mark = &drawn.picture.mark[i];
        assert_string_equal(trv_mark_describe(mark, text), words[i]);
        assert_int_equal(mark->rank, rank[i]);
        assert_int_equal(trv_mark_neighbour(&drawn.picture, mark), neighbour[i]);
        assert_int_equal(trv_mark_goes_round(&drawn.picture, mark), i == 2);
        assert_int_equal(trv_mark_is_broken(mark), i == 0);
    }
    assert_string_equal(trv_mark_describe(&(trv_mark_t){0, 1, {INFINITY, 4}}, text), "+1 cut, -1 4x");
    clear(&drawn);
}

/* Finds the leftmost coordinates of the ranks and of the faint links of a picture. */
static void find_left(const char *svg, double *ranks, double *links)
{
    double x;
    *ranks = *links = INFINITY;
    for (const char *p = svg; (p = strstr(p, "<circle cx=\"")); p++)
        if (strncmp(strchr(p, 'f'), "fill=\"#f4f6f8\"", 14) == 0 && (x = strtod(p + 12, NULL)) < *ranks)
            *ranks = x;
    for (const char *p = svg; (p = strstr(p, "<path d=\"M")); p++) {
        const char *faint = strstr(p, SVG_FAINT);
        for (const char *c = p + 9; faint && faint < strchr(p, '\n') && *c != '"'; c++)
            if ((*c == 'M' || *c == 'L') && (x = strtod(c + 1, NULL)) < *links)
                *links = x;
    }
}

/* A torus has stubs for its wrap-around links; a mesh ends at its outermost ranks, and a line is not drawn as a
 * circle. */
static void test_mesh_without_wraparound(void **state)
{
    static const char *const shape[] = {"4x4", "4mx4m", "3x4m", "4mx3", "3mx2mx4m", "9m"};
    static const bool round[] = {true, false, false, true, false, false};
    (void)state;
    for (int i = 0; i < 6; i++) {
        drawn_t drawn;
        double ranks, links;
        draw(&drawn, shape[i], NULL, 0);
        char *svg = svg_of(&drawn);
        find_left(svg, &ranks, &links);
        if (round[i] ? links > ranks - 5 : links != ranks)
            fail_msg("%s: ranks begin at %.1f, links at %.1f", shape[i], ranks, links);
        free(svg);
        clear(&drawn);
    }
    drawn_t line;
    draw(&line, "9m", NULL, 0);
    char *svg = svg_of(&line), *text = text_of(&line);
    assert_non_null(strstr(svg, ">above: direction +, below: direction -<"));
    for (const char *row = text; *row; row = strchr(row, '\n') + 1) { /* six columns per rank, from column 15 */
        const size_t width = strcspn(row, "\n");
        assert_true(strspn(row + 6, " ") >= 9);
        assert_true(width <= 15 + 8 * 6 + 1);
    }
    free(svg);
    free(text);
    clear(&line);
}

/* No message crosses the link from `rank` in direction + of the dimension. */
static void check_routes(const drawn_t *drawn, int rank, int dimension)
{
    const trv_torus_t *torus = &drawn->network.torus;
    for (int p = 0; p < drawn->picture.panels; p++)
        for (int i = 0; i < drawn->picture.panel[p].segments; i++) {
            const trv_segment_t *s = &drawn->picture.panel[p].segment[i];
            for (int hop = 0, node = s->from; hop < s->hops; hop++) {
                const int next = trv_torus_shift(torus, node, s->dimension, s->sign);
                assert_false(s->dimension == dimension && (s->sign > 0 ? node : next) == rank);
                node = next;
            }
        }
}

/* No message crosses a cut, and both kinds of picture show the cut's position. */
static void test_cut_links(void **state)
{
    static const struct {
        const char *torus;
        trv_slow_link_t link[2];
        int rank, dimension;
        const char *text;
    } cut[] = {
        {"9", {{3, 0, INFINITY}, {4, 1, INFINITY}}, 3, 0, "\n    links                          cut\n"},
        {"9", {{8, 0, INFINITY}, {0, 1, INFINITY}}, 8, 0, "\n    +0      x  o---->o"},
        {"3x3", {{4, 2, INFINITY}, {5, 3, INFINITY}}, 4, 1, "<--@ x o<--"},
        {"3x3", {{4, 0, INFINITY}, {7, 1, INFINITY}}, 4, 0, "links: 4-7 cut\n"},
        {"3x3x3", {{4, 0, INFINITY}, {13, 1, INFINITY}}, 4, 0, "links: 4-13 cut\n"},
        {"3mx4", {{7, 2, INFINITY}, {4, 3, INFINITY}}, 7, 1, "links: 7-4 cut\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
        drawn_t drawn;
        draw(&drawn, cut[i].torus, cut[i].link, 2);
        check_routes(&drawn, cut[i].rank, cut[i].dimension);
        char *svg = svg_of(&drawn), *text = text_of(&drawn);
        int crosses = 0, labels = 0;
        for (const char *p = svg; (p = strstr(p, "stroke=\"" SVG_CUT "\" stroke-width=\"1.6\"")); p++)
            crosses++;
        for (const char *p = svg; (p = strstr(p, ">cut<")); p++)
            labels++;
        assert_true(crosses >= drawn.picture.panels);
        assert_int_equal(crosses, labels);
        if (!strstr(text, cut[i].text))
            fail_msg("%s: not '%s' in\n%s", cut[i].torus, cut[i].text, text);
        free(svg);
        free(text);
        clear(&drawn);
    }
}

/* A slow link is labelled with its factor and with the message that it carries. */
static void test_slow_links(void **state)
{
    static const trv_slow_link_t row[] = {{5, 0, 4}, {6, 1, 4}}, grid[] = {{4, 0, 4}, {7, 1, 4}, {3, 2, 10}};
    drawn_t drawn;
    (void)state;
    draw(&drawn, "9m", row, 2);
    char *svg = svg_of(&drawn), *text = text_of(&drawn);
    assert_non_null(strstr(svg, "fill=\"" SVG_SLOW "\">4x<"));
    assert_null(strstr(svg, SVG_CUT));
    assert_non_null(strstr(text, "\n    links                                      4x\n"));
    free(svg);
    free(text);
    clear(&drawn);
    draw(&drawn, "3mx3m", grid, 3);
    svg = svg_of(&drawn);
    text = text_of(&drawn);
    assert_non_null(strstr(svg, ">4x<"));
    assert_non_null(strstr(svg, ">+1 10x<"));
    assert_non_null(strstr(text, "links: 4-7 4x; 3-4 +1 10x\n"));
    assert_non_null(strstr(text, "v4x"));
    free(svg);
    free(text);
    clear(&drawn);
}

static void test_words(void **state)
{
    static const struct {
        const char *torus, *words, *cut;
    } shape[] = {{"9", "a ring of 9", "a ring of 9 with a cut"},
                 {"9m", "a line of 9", NULL},
                 {"8x8", "the torus 8x8", "the network 8x8"},
                 {"8mx8m", "the mesh 8mx8m", NULL},
                 {"8x8m", "the network 8x8m", NULL},
                 {"3mx1", "the mesh 3mx1", NULL}};
    static const trv_slow_link_t cut = {0, 0, INFINITY};
    (void)state;
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
        trv_network_t network = {TRV_NETWORK};
        char text[TRV_SHAPE_TEXT_MAX];
        assert_int_equal(trv_torus_parse(shape[i].torus, &network.torus), 0);
        assert_string_equal(trv_shape_words(&network, text), shape[i].words);
        network.slow_links = 1;
        network.slow_link = &cut;
        if (shape[i].cut)
            assert_string_equal(trv_shape_words(&network, text), shape[i].cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks_of_faults), cmocka_unit_test(test_mesh_without_wraparound),
        cmocka_unit_test(test_cut_links),       cmocka_unit_test(test_slow_links),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
