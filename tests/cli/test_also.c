/*
 * Candidates from outside a plan's list: schedules in files (--also), and algorithms with more messages per port than
 * the network allows, which are marked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "exhaustive.h"
#include "tool.h"

/* Writes a schedule for a ring of five ranks with a single step, in which all send their vectors to all others. The
 * last combine of a `wrong` one leaves out a contribution; one without `blocks` cannot be proved. */
static void write_direct(const char *path, bool wrong, bool blocks)
{
    static const char *const port[] = {"+0", "+0", "-0", "-0"};
    char text[8192], *end = text;
    end += sprintf(end,
                   "{\"format\": \"trivance-schedule-1\", \"torus\": [5], \"vector_bytes\": 32, \"name\": "
                   "\"direct\", \"messages_per_port\": 2%s, \"streams\": [{\"steps\": [[",
                   blocks ? ", \"units\": 1, \"registers\": 5" : "");
    for (int i = 0; i < 20; i++) {
        end += sprintf(end, "%s[%d, %d, \"%s\", 32", i ? ", " : "", i / 4, (i / 4 + i % 4 + 1) % 5, port[i % 4]);
        end += sprintf(end, blocks ? ", {\"into\": %d, \"blocks\": \"all\"}]" : "]", i % 4 + 1);
    }
    end += sprintf(end, "]]%s", blocks ? ", \"combines\": [[" : "");
    for (int r = 0; r < 5 && blocks; r++)
        end += sprintf(end, "%s[%d, 0, [0, 1, 2, %s], \"all\"]", r ? ", " : "", r, wrong && r == 4 ? "3" : "3, 4");
    sprintf(end, blocks ? "]]}]}" : "}]}");
    tool_write_file(path, text, 0600);
}

#define MANY "-c broadcast --messages-per-port=unlimited" /* the planner considers linear:8 and linear:16 */

/* --also: a schedule in a file is the plan if it is the fastest, with the time that `simulate` has for it. */
static void test_also(void **state)
{
    char path[2][256], line[600], plan[64];
    (void)state;
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s.json", tool_folder(), i ? "other" : "linear");
        snprintf(line, sizeof line, "plan 40 -c broadcast -b 32 -a linear:9 -f json -o %s", path[i]);
        tool_t tool = tool_run(line, NULL);
        assert_int_equal(tool.code, 0);
        tool_clear(&tool);
    }
    snprintf(line, sizeof line, "simulate --schedule=%s -f json", path[0]);
    json_t *rows = tool_json(line);
    const double own_ns = tool_number(json_array_get(rows, 0), "time_ns");
    json_decref(rows);
    snprintf(line, sizeof line, "plan 40 " MANY " -b 32 --also=%s,%s --why -f json", path[0], path[1]);
    rows = tool_json(line);
    assert_string_equal(tool_text(json_array_get(rows, 0), "algorithm"), path[0]);
    assert_true(fabs(tool_number(json_array_get(rows, 0), "time_ns") - own_ns) < 1e-3);
    tool_row(rows, "algorithm", path[1]);
    json_decref(rows);
    snprintf(line, sizeof line, "plan 40 " MANY " -b 32 --also=%s", path[0]);
    tool_t tool = tool_run(line, NULL);
    snprintf(line, sizeof line,
             "linear:9 on a ring of 40: Broadcast of 32 B (planned: %s is the fastest at this size)\n", path[0]);
    assert_int_equal(tool.code, 0);
    assert_true(strncmp(tool.out, line, strlen(line)) == 0);
    tool_clear(&tool);
    snprintf(line, sizeof line, "40 " MANY " -b 16M --also=%s", path[0]);
    tool_plan(line, plan);
    assert_string_not_equal(plan, "linear:9");
    if (!exhaustive()) /* both questions make hundreds of plans */
        return;
    snprintf(line, sizeof line, "plan 40 " MANY " -b 16M --also=%s --why -f json", path[0]);
    rows = tool_json(line);
    assert_true(json_is_false(json_object_get(tool_row(rows, "algorithm", path[0]), "chosen"))); /* but listed */
    json_decref(rows);
    snprintf(line, sizeof line, "plan 40 " MANY " --also=%s --all-sizes -f json", path[0]);
    rows = tool_json(line);
    assert_string_equal(tool_text(json_array_get(rows, 0), "algorithm"), path[0]);
    json_decref(rows);
}

static void test_bad_also(void **state)
{
    static const struct {
        const char *options, *words;
    } bad[] = {{"9", "is a schedule for allreduce on 5; the plan is for allreduce on 9"},
               {"5 -c allgather", "is a schedule for allreduce on 5; the plan is for allgather on 5"},
               {"5 --cut=1:+0 --messages-per-port=2",
                "cannot run: a message of rank 0 needs the link 1:+0, which is cut"},
               {"5 --consistent --why", "violates the constraints: consistency"},
               {"5", "violates the constraints: at most 1 message per port (--messages-per-port"},
               {"5 --nodes=0-2", "leave out --also"},
               {"5 -a ring", "--also names candidates of the planner"}};
    char path[256], line[1024];
    (void)state;
    snprintf(path, sizeof path, "%s/direct.json", tool_folder());
    write_direct(path, false, true);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(line, sizeof line, "plan %s --also=%s", bad[i].options, path);
        tool_expect_error(line, bad[i].words);
    }
    snprintf(line, sizeof line, "plan 5 --messages-per-port=2 --also=%s,%s", path, path);
    tool_expect_error(line, "direct.json' is that of another candidate; leave one out or choose another name\n");
    tool_expect_error("plan 5 --also=nothing.json", "nothing.json");
    write_direct(path, false, false);
    snprintf(line, sizeof line, "plan 5 --also=%s", path);
    tool_expect_error(line, "has messages but no blocks, so it cannot be proved");
    write_direct(path, true, true);
    tool_t tool = tool_run(line, NULL);
    assert_int_equal(tool.code, 1);
    assert_non_null(
        strstr(tool.err, "direct.json violates its claims: after the last step of stream 0, rank 4 lacks "));
    tool_clear(&tool);
}

/* Algorithms with more messages per port than the network allows are marked with their number, and never planned. */
static void test_marks(void **state)
{
    static const char *const lines[] = {"simulate 16m -b 32 -a all", "simulate 16m -b 32 -a all --ranking",
                                        "plan 16m -b 32 --why"};
    char plan[64];
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char line[160];
        tool_t tool = tool_run(lines[i], NULL);
        assert_non_null(strstr(tool.out, "line-l^ "));
        assert_non_null(strstr(tool.out, "^: planned does not consider it: a rank sends or receives more messages per "
                                         "port in a step than the network's 1 (--messages-per-port): "));
        assert_non_null(strstr(tool.out, "line-l 2"));
        tool_clear(&tool);
        snprintf(line, sizeof line, "%s --messages-per-port=unlimited", lines[i]);
        tool = tool_run(line, NULL);
        assert_int_equal(tool.code, 0);
        assert_null(strchr(tool.out, '^'));
        tool_clear(&tool);
    }
    tool_plan("16m -b 32", plan);
    assert_string_equal(plan, "recdoub-l");
    tool_plan("16m -b 32 --messages-per-port=2", plan);
    assert_string_equal(plan, "line-l");
    tool_plan("25 -b 32 --messages-per-port=unlimited", plan);
    assert_string_equal(plan, "linear:16");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_also),
        cmocka_unit_test(test_bad_also),
        cmocka_unit_test(test_marks),
    };
    return cmocka_run_group_tests(tests, NULL, tool_remove_folder);
}
