/*
 * Pictures that the tool draws: the ranks whose messages they show, and the sizes of their parts.
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

#include "tool.h"
#include "xml.h"

/* The picture of a torus shows the messages of the middle rank, unless another rank or all are requested. */
static void test_plan_svg_ranks(void **state)
{
    (void)state;
    tool_t defaults = tool_run("plan 4x4 -a trivance-l -f svg", NULL);
    tool_t middle = tool_run("plan 4x4 -a trivance-l -f svg -r 5", NULL);
    tool_t all = tool_run("plan 4x4 -a trivance-l -f svg -r all", NULL);
    assert_string_equal(defaults.out, middle.out);
    assert_non_null(strstr(defaults.out, ">only messages from rank 5; "));
    assert_int_equal(all.code, 0);
    assert_null(strstr(all.out, "only messages from rank"));
    assert_true(strlen(all.out) > strlen(defaults.out));
    tool_clear(&defaults);
    tool_clear(&middle);
    tool_clear(&all);
    defaults = tool_run("plan 9 -f svg", NULL); /* for a ring, all ranks are drawn */
    all = tool_run("plan 9 -f svg --rank=all", NULL);
    assert_string_equal(defaults.out, all.out);
    tool_clear(&defaults);
    tool_clear(&all);
}

static void test_plan_svg(void **state)
{
    (void)state;
    tool_t tool = tool_run("plan 9x9 -a trivance-b -f svg", NULL);
    assert_int_equal(tool.code, 0);
    assert_null(xml_check(tool.out));
    assert_non_null(strstr(tool.out, ">trivance-b on the torus 9x9: AllReduce of 64 KiB<"));
    assert_non_null(strstr(tool.out, ">Step 7<"));
    tool_clear(&tool);
    tool = tool_run("plan 243 --rank=7 -f svg", NULL);
    assert_int_equal(tool.code, 0);
    assert_null(xml_check(tool.out));
    tool_clear(&tool);
}

/* Titles name the kind of network, and a line is not called a ring. */
static void test_plan_svg_of_meshes(void **state)
{
    static const struct {
        const char *torus, *title, *legend;
    } mesh[] = {{"9m", "a line of 9", "above: direction +, below: direction -"},
                {"8mx8m", "the mesh 8mx8m", "above and right: direction +, below and left: direction -"},
                {"3x9m", "the network 3x9m", "above and right: direction +, below and left: direction -"}};
    (void)state;
    for (size_t i = 0; i < sizeof mesh / sizeof mesh[0]; i++) {
        char line[64], title[128];
        snprintf(line, sizeof line, "plan %s -a trivance-l -f svg", mesh[i].torus);
        snprintf(title, sizeof title, ">trivance-l on %s: AllReduce of 64 KiB<", mesh[i].title);
        tool_t tool = tool_run(line, NULL);
        assert_int_equal(tool.code, 0);
        assert_null(xml_check(tool.out));
        assert_non_null(strstr(tool.out, title));
        assert_non_null(strstr(tool.out, mesh[i].legend));
        tool_clear(&tool);
        snprintf(line, sizeof line, "plan %s -a trivance-l", mesh[i].torus);
        tool = tool_run(line, NULL);
        assert_int_equal(tool.code, 0);
        snprintf(title, sizeof title, "trivance-l on %s: AllReduce of 64 KiB\n", mesh[i].title);
        assert_int_equal(strncmp(tool.out, title, strlen(title)), 0);
        tool_clear(&tool);
    }
}

/* The network is the main part of the picture: its ranks are larger than the cells of the matrices. */
static void test_matrices_beside_a_plan(void **state)
{
    static const char *const lines[] = {"plan 3x3x3 -a trivance-b -f svg", "plan 4x4x4 -a trivance-l -f svg",
                                        "plan 9x9 -a trivance-b -f svg"};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        tool_t tool = tool_run(lines[i], NULL);
        double radius = 0, cell = 0;
        const char *rank = strstr(tool.out, " r=\""), *matrix = strstr(tool.out, "<path fill=\"#f1f3f6\"");
        for (; rank; rank = strstr(rank + 1, " r=\""))
            radius = fmax(radius, strtod(rank + 4, NULL));
        assert_non_null(matrix);
        assert_int_equal(sscanf(strstr(matrix, " d="), "%*[^h]h%lf", &cell), 1); /* its first cell */
        if (radius < cell)
            fail_msg("trivance %s: a rank has a radius of %g, a cell a side of %g", lines[i], radius, cell);
        tool_clear(&tool);
    }
}

/* Text pictures are not wider than the terminal; otherwise a message gives the required width. */
static void test_columns(void **state)
{
    static const char *const narrow[] = {"COLUMNS=40", NULL}, *const wide[] = {"COLUMNS=55", NULL};
    static const char *const lines[] = {"plan 9 -a trivance-l", "plan 4x4 -a trivance-l", "plan 4x4 -a star:l",
                                        "plan 3x3x3 -a trivance-l"};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        tool_t tool = tool_run_as(TRIVANCE_TOOL, lines[i], NULL, narrow);
        const char *line = strstr(tool.out, "stream 0: "); /* the matrices, below the last sentence */
        assert_non_null(line);
        for (line = strchr(line, '\n') + 1; *line; line = strchr(line, '\n') + 1)
            if (strcspn(line, "\n") > 40)
                fail_msg("trivance %s at 40 columns: %.*s", lines[i], (int)strcspn(line, "\n"), line);
        tool_clear(&tool);
    }
    tool_t tool = tool_run_as(TRIVANCE_TOOL, "plan 9 -a trivance-l", NULL, narrow);
    assert_non_null(strstr(tool.out, "            0  1  2  3  4  5  6  7  8\n")); /* three columns per hop */
    tool_clear(&tool);
    tool = tool_run_as(TRIVANCE_TOOL, "plan 3x3x3 -a trivance-l", NULL, narrow);
    assert_non_null(strstr(tool.out, "\na picture of this torus needs 55 columns; the output has 40\n"));
    tool_clear(&tool);
    tool = tool_run_as(TRIVANCE_TOOL, "plan 3x3x3 -a trivance-l", NULL, wide);
    assert_null(strstr(tool.out, " columns; the output has"));
    assert_non_null(strstr(tool.out, "the messages of rank 13"));
    tool_clear(&tool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_svg),
        cmocka_unit_test(test_plan_svg_ranks),
        cmocka_unit_test(test_plan_svg_of_meshes),
        cmocka_unit_test(test_matrices_beside_a_plan),
        cmocka_unit_test(test_columns),
    };
    return cmocka_run_group_tests(tests, NULL, tool_remove_folder);
}
