/*
 * plan --nodes: jobs on arbitrary sets of nodes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"

static void expect(const char *line, int code, const char *words)
{
    tool_t tool = tool_run(line, NULL);
    if (tool.code != code || !strstr(code ? tool.err : tool.out, words))
        fail_msg("trivance %s: exit code %d, without '%s':\n%s%s", line, tool.code, words, tool.out, tool.err);
    tool_clear(&tool);
}

/* The best plan is first, and no algorithm that Trivance is compared with is listed before it. */
static void test_plans(void **state)
{
    json_t *rows = tool_json("plan 16x16 --nodes 0-9,16-25,32-40 --bytes 32 --messages-per-port=2 --format=json");
    (void)state;
    assert_true(json_array_size(rows) > 4);
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "plan")), "line-l");
    double before = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const double time_ns = json_real_value(json_object_get(json_array_get(rows, i), "time_ns"));
        assert_true(time_ns >= before);
        before = time_ns;
    }
    json_decref(rows);
}

static double time_of(json_t *rows, const char *key, const char *name)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) if (strcmp(json_string_value(json_object_get(row, key)), name) ==
                                         0) return json_real_value(json_object_get(row, "time_ns"));
    fail_msg("no row has %s %s", key, name);
    return 0;
}

/* `simulate --nodes` takes the plan of `plan --nodes`, and named algorithms in its order: their times are those of the
 * plans in the same order. */
static void test_simulate(void **state)
{
    static const struct {
        const char *job, *named, *order;
    } job[] = {{"16x16 --nodes 0-9,16-25,32-40 --bytes 1M --messages-per-port=2", "hybrid:29",
                "order of the ranks, that of the plan: snake on 29m at"},
               {"8x8 --nodes 0-3,8-11,16-19,24-27 --bytes 4K", "star:l", "rows on 4mx4m"},
               {"4x4 --nodes 1,2,5 --collective broadcast --root 1 --bytes 4K", "trivance-tree", "order of the ranks"},
               {"6m --nodes 3-5 --cut 1:+0 --bytes 64K", "trivance-l-gathered", "order of the ranks"}};
    (void)state;
    for (size_t i = 0; i < sizeof job / sizeof job[0]; i++) {
        char line[256];
        snprintf(line, sizeof line, "plan %s --format=json", job[i].job);
        json_t *plans = tool_json(line);
        const char *plan = json_string_value(json_object_get(json_array_get(plans, 0), "plan"));
        snprintf(line, sizeof line, "simulate %s -a planned,%s --format=json", job[i].job, job[i].named);
        json_t *rows = tool_json(line);
        assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "algorithm")), plan);
        const double planned_ns = time_of(plans, "plan", plan), named_ns = time_of(plans, "plan", job[i].named);
        assert_true(planned_ns == time_of(rows, "chosen_for", "planned"));
        if (named_ns != time_of(rows, "chosen_for", job[i].named))
            fail_msg("%s: %f, not %f", line, time_of(rows, "chosen_for", job[i].named), named_ns);
        json_decref(rows);
        json_decref(plans);
        snprintf(line, sizeof line, "simulate %s --jitter=10%%", job[i].job);
        expect(line, 0, job[i].order);
    }
}

static void test_map(void **state)
{
    (void)state;
    expect("plan 4x4 --nodes 0-1,4-5 --bytes 32", 0, "     0    1    .    .\n");
    expect("plan 3x3x3 --nodes 0,13 --bytes 32", 0, "nodes 0, 13\n");
    expect("plan 8mx8 --nodes 0-3,8-11 --cut 9:+1 --bytes 1K", 0, "a job on 8 of its nodes");
    expect("plan 9 --nodes 4", 0, "a job on 1 of its nodes");
}

/* Machine-readable output: numbers are JSON numbers, and the node of each rank is listed in every plan's own order. */
static void test_rows(void **state)
{
    json_t *rows = tool_json("plan 4x4 --nodes 0-1,4-5 --bytes 32 --format=json"), *row;
    size_t i, chosen = 0;
    (void)state;
    json_array_foreach(rows, i, row)
    {
        const json_t *nodes = json_object_get(row, "nodes");
        int sum = 0;
        assert_int_equal(json_array_size(nodes), 4);
        for (size_t n = 0; n < 4; n++)
            sum += (int)json_integer_value(json_array_get(nodes, n));
        assert_int_equal(sum, 0 + 1 + 4 + 5);
    }
    json_decref(rows);
    tool_t tool = tool_run("plan 4x4 --nodes 0-1,4-5 --bytes 32 --messages-per-port=2 --format=csv", NULL);
    assert_int_equal(tool.code, 0);
    assert_non_null(strstr(tool.out, ",slower,nodes\n"));
    assert_non_null(strstr(tool.out, ",rows,1,2208.4,1500.0,708.4,0.0,1.0,0 1 4 5\n"));
    assert_null(strstr(tool.out, "us,"));
    tool_clear(&tool);
    tool = tool_run("plan 4x4 --nodes 5,6", NULL);
    for (const char *at = tool.out; (at = strstr(at, "chosen\n")) != NULL; at++)
        chosen++;
    assert_int_equal(chosen, 1);
    assert_non_null(strstr(tool.out, "as fast\n"));
    tool_clear(&tool);
    tool = tool_run("plan 4x4 --nodes 5", NULL);
    assert_non_null(strstr(tool.out, "chosen\n\nranks on the nodes"));
    tool_clear(&tool);
}

/* A mesh of which a link is cut has no schedules for its rows, but is planned along its nodes, if it is connected. */
static void test_divided_rows(void **state)
{
    (void)state;
    expect("plan 8mx8m --cut 0:+0 --bytes 64K", 0, "line   snake");
    expect("plan 8mx8m --nodes 0-63 --cut 0:+0 --bytes 64K", 0, "line   snake");
    expect("plan 4mx4m --cut 3:+0", 0, "chosen");
    expect("plan 4mx4m --cut 0:+0 --cut 0:+1", 2, "the cut links of 4mx4m leave no route between the nodes 0 and 1");
    expect("plan 9 --cut=0:+0 --cut=4:+0", 2, "the cut links of 9 leave no route between the nodes 0 and 1");
    expect("plan 6m --nodes 0,1,4,5 --cut 2:+0", 2, "the cut links of 6m leave no route between the nodes 0 and 4");
    expect("plan 4mx4m --cut 0:+0 --format=json", 0, "\"name\": \"spanning-trees:"); /* not a snake: it has no file */
    expect("plan 4mx4m --cut 0:+0 -a spanning-trees", 0, "every contribution exactly once");
    expect("plan 4mx4m --cut 0:+0 -a line-l", 2, "divides the row of rank 0");
    expect("plan 4mx4m --cut 0:+0 --why", 0, "link 0:+0 is cut; the cuts divide a row");
    expect("plan 9 --cut 0:+0:one-way --cut 4:+0:one-way -a spanning-trees", 2,
           "spanning trees consist of links that are whole in both directions, and these do not connect rank 0");
    expect("plan 9 --cut 0:+0:one-way --cut 4:+0:one-way --why", 2,
           "in one direction or both, which is supported only by "
           "trees of links: spanning-trees for AllReduce, over ");
    expect("plan 9 --cut 0:+0 --cut 4:+0 --why", 2, "leave no route between the nodes 0 and 1");
}

/* The schedule of a network whose rows are divided is written to a file, which can be read again. */
static void test_divided_rows_as_file(void **state)
{
    (void)state;
    tool_t written = tool_run("plan 4mx4m --cut 0:+0 --bytes 1M --format=json", NULL);
    assert_int_equal(written.code, 0);
    for (int i = 0; i < 3; i++) {
        static const char *const line[] = {"verify --schedule -", "simulate --schedule -", "plan --schedule -"};
        tool_t read = tool_run(line[i], written.out);
        if (read.code || !strstr(read.out, "spanning-trees"))
            fail_msg("trivance %s: exit code %d\n%s%s", line[i], read.code, read.out, read.err);
        tool_clear(&read);
    }
    tool_clear(&written);
}

static void test_bad_lists(void **state)
{
    static const char *const bad[][2] = {
        {"simulate 4x4 --nodes 5,5", "node 5 is listed twice; a node can have only one rank"},
        {"simulate 4x4 --nodes 0-16", "'0-16' is not a node from 0 to 15, or a range of them"},
        {"simulate 4x4 5 --nodes 0-3", "--nodes requires one torus"},
        {"simulate 4x4 --nodes 0-3 --links", "--nodes simulates a job on some nodes of a torus; leave out --links"},
        {"simulate 4x4 --nodes 0-3 -c broadcast --root 4", "there is no root 4 among 4 ranks"},
        {"simulate 4x4 --nodes 0-3 -a star:l:1.0", "star"},
        {"plan 4x4 --nodes 5,5", "node 5 is listed twice; a node can have only one rank"},
        {"plan 4x4 --nodes 0-15,0", "--nodes lists more than the 16 nodes of the torus: a node is listed twice"},
        {"plan 4x4 --nodes 0-3 --nodes 8-11", "--nodes is given twice and may be given only once"},
        {"plan 4x4 --nodes 9-3", "ends before it begins"},
        {"plan 4x4 --nodes 16", "--nodes: '16' is not a node from 0 to 15"},
        {"plan 4x4 --nodes all",
         "--nodes: 'all' is not a node from 0 to 15, or a range of them, for example 0-7; without "
         "--nodes the plan is for all"},
        {"plan 4x4 --nodes=-1", "--nodes: '-1' is not a node"},
        {"plan 4x4 --nodes 1-2-3", "'1-2-3' is not a node"},
        {"plan 4x4 --nodes=", "empty entry"},
        {"plan 4x4 --nodes 1,,2", "empty entry"},
        {"plan 4x4 --nodes 0-3 --why", "--nodes selects plans for some nodes of a torus; leave out --why"},
        {"plan 4x4 --nodes 0-3 -a ring", "--nodes selects plans for some nodes of a torus; leave out "
                                         "--algorithm, for example `trivance plan 8x8 --nodes=0-9`"},
        {"plan --nodes 0-3", "--nodes requires a torus, for example `trivance plan 8x8 --nodes=0-9`"},
    };
    (void)state;
    /* The middle node of the line sends little, but others send along half of it; simulating this took minutes. */
    expect("plan 30000 --nodes 0-29997,29999", 2, "29999 nodes of 30000 are too many to simulate");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect(bad[i][0], 2, bad[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plans),
                                       cmocka_unit_test(test_simulate),
                                       cmocka_unit_test(test_map),
                                       cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_bad_lists),
                                       cmocka_unit_test(test_divided_rows),
                                       cmocka_unit_test(test_divided_rows_as_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
