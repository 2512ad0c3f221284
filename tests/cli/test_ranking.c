/*
 * trivance simulate --ranking: every algorithm once per size, ordered by time, with the ratio to the lower bound that
 * the rows of --limit contain.
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

#define ARGUMENTS  "3x3 --algorithm=all --bytes=1K,4M"
#define SIZES      2
#define LINES_MAX  64
#define LINE_WIDTH 100 /* of a terminal */

typedef struct entry {
    char algorithm[64];
    double time, ratio;
} entry_t;

/* Returns the JSON row that corresponds to an entry of the table. */
static const json_t *row_of(const json_t *rows, const char *algorithm, double bytes)
{
    size_t index;
    json_t *row;
    json_array_foreach((json_t *)rows, index, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "chosen_for")), algorithm) == 0 &&
            json_number_value(json_object_get(row, "bytes")) == bytes)
            return row;
    }
    fail_msg("%s is in the table and not in the rows", algorithm);
    return NULL;
}

static int read_table(char *text, entry_t entry[LINES_MAX][SIZES])
{
    int lines = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        entry_t *const e = entry[lines];
        if (sscanf(line, "%63s %lf %lf %63s %lf %lf", e[0].algorithm, &e[0].time, &e[0].ratio, e[1].algorithm,
                   &e[1].time, &e[1].ratio) != 6)
            continue;
        for (int size = 0; size < SIZES; size++) /* "(NAME)" only covers */
            if (e[size].algorithm[0] == '(') {
                assert_string_equal(e[size].algorithm, "(trivance-l-overlap)");
                memmove(e[size].algorithm, "trivance-l-overlap", sizeof "trivance-l-overlap");
            } else
                assert_string_not_equal(e[size].algorithm, "trivance-l-overlap");
        assert_true(strlen(line) <= LINE_WIDTH);
        lines++;
        assert_true(lines < LINES_MAX);
    }
    return lines;
}

static void test_order_and_ratios(void **state)
{
    static const double bytes[SIZES] = {1024, 4194304};
    static entry_t entry[LINES_MAX][SIZES];
    (void)state;
    json_t *rows = tool_json("simulate " ARGUMENTS " --limit --format=json");
    tool_t tool = tool_run("simulate " ARGUMENTS " --ranking", NULL);
    assert_int_equal(tool.code, 0);
    const int lines = read_table(tool.out, entry);
    assert_int_equal(lines * SIZES, json_array_size(rows));
    for (int size = 0; size < SIZES; size++)
        for (int i = 0; i < lines; i++) {
            const entry_t *e = &entry[i][size];
            const json_t *row = row_of(rows, e->algorithm, bytes[size]);
            const double time_us = json_number_value(json_object_get(row, "time_ns")) / 1000;
            const double ratio = json_number_value(json_object_get(row, "limit_ratio"));
            assert_true(fabs(e->time / time_us - 1) < 1e-3);
            assert_true(fabs(e->ratio - ratio) < 0.006);
            assert_true(i == 0 || e->time >= entry[i - 1][size].time);
            for (int other = 0; other < i; other++)
                assert_string_not_equal(e->algorithm, entry[other][size].algorithm);
        }
    json_decref(rows);
    tool_clear(&tool);
}

/* An algorithm that cannot run has no cell; a line states the reason. */
static void test_missing(void **state)
{
    (void)state;
    tool_t tool = tool_run("simulate 3x3 --algorithm=ring,trivance-l --bytes=1K --ranking", NULL);
    assert_int_equal(tool.code, 0);
    assert_non_null(strstr(tool.out, "\ntrivance-l  "));
    assert_null(strstr(tool.out, "\nring  "));
    char *all = malloc(strlen(tool.out) + strlen(tool.err) + 1);
    assert_non_null(all);
    strcat(strcpy(all, tool.out), tool.err);
    assert_non_null(strstr(all, "ring cannot run: "));
    free(all);
    tool_clear(&tool);
}

/* An algorithm that is correct only for some operations is marked, and is not the fastest beside others: here it would
 * tie with trivance-l. Alone, it is. */
static void test_covers(void **state)
{
    static const char remark[] = "\n(): correct only for max, min, and, or, because contributions may count twice\n";
    static const char *const command[] = {"simulate", "cost"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        char line[128];
        snprintf(line, sizeof line, "%s 10 -a trivance-l-overlap,trivance-l,star:overlap -b 32", command[i]);
        tool_t tool = tool_run(line, NULL);
        assert_non_null(strstr(tool.out, "\n(trivance-l-overlap)  "));
        assert_non_null(strstr(tool.out, remark));
        tool_clear(&tool);
        strcat(line, " -f json");
        json_t *rows = tool_json(line);
        for (size_t row = 0; row < 3; row++)
            assert_int_equal(json_is_true(json_object_get(json_array_get(rows, row), "best")), row == 1);
        json_decref(rows);
        snprintf(line, sizeof line, "%s 10 -a trivance-l-overlap -b 32 -f json", command[i]);
        rows = tool_json(line);
        assert_true(json_is_true(json_object_get(json_array_get(rows, 0), "best")));
        json_decref(rows);
    }
}

static void test_bad_input(void **state)
{
    (void)state;
    tool_expect_error("simulate 9 --ranking --format=json", "--ranking prints a table");
    tool_expect_error("simulate 9 --ranking --bytes=1,2,3,4,5,6,7,8,9", "up to 8 sizes");
    tool_expect_error("simulate 9 --ranking --goal=x.goal", "a GOAL program has its own sizes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order_and_ratios), cmocka_unit_test(test_missing),
                                       cmocka_unit_test(test_covers), cmocka_unit_test(test_bad_input)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
