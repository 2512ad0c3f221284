/*
 * The output of `trivance export` is sound: GOAL programs terminate, and MSCCL++ plans leave every contribution exactly
 * once on every GPU, in every order in which their threadblocks run. The tool refuses schedules
 * that a format cannot express.
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

#include "exhaustive.h"
#include "formats/goal_file.h"
#include "formats/mscclpp.h"
#include "formats.h"
#include "schedule/collective.h"
#include "tool.h"

static const char *const tori[] = {"2", "3", "4", "9", "2x4", "3x3"};
static const char *const algorithms[] = {"trivance-l",
                                         "trivance-l-grouped",
                                         "trivance-l-gathered",
                                         "trivance-b",
                                         "ring",
                                         "bucket",
                                         "recdoub-l",
                                         "recdoub-b",
                                         "swing-l",
                                         "swing-b",
                                         "bruck-l",
                                         "bruck-b"};
#define SEEDS 3

typedef int (*write_t)(const trv_schedule_t *schedule, FILE *out);

static trv_schedule_t *create(const char *torus_text, const char *algorithm, int collective)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    assert_int_equal(trv_torus_parse(torus_text, &torus), 0);
    return trv_schedule_create(&schedule, &torus, algorithm, (trv_collective_t)collective) ? NULL : schedule;
}

/* Returns the text that a writer produces, or NULL if it refuses the schedule with an error sentence. */
static char *text_of(const trv_schedule_t *schedule, write_t write)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int rc = write(schedule, out);
    fclose(out);
    if (!rc)
        return text;
    assert_int_equal(rc, TRV_ERR_UNSUPPORTED);
    assert_true(length == 0 && strlen(trv_last_error()) > 20);
    free(text);
    return NULL;
}

static int write_goal(const trv_schedule_t *schedule, FILE *out)
{
    return trv_goal_file_write(schedule, 100000, 1500, (trv_span_t){0}, out);
}

static int write_goal_without_alpha(const trv_schedule_t *schedule, FILE *out)
{
    return trv_goal_file_write(schedule, 100000, 0, (trv_span_t){0}, out);
}

static uint64_t all_bytes(const trv_schedule_t *schedule)
{
    trv_step_t step = TRV_STEP_INIT;
    uint64_t bytes = 0;
    for (int rank = 0; rank < trv_schedule_torus(schedule)->ranks; rank++)
        for (int stream = 0; stream < trv_schedule_streams(schedule); stream++)
            for (int k = 0; k < trv_schedule_steps(schedule); k++) {
                assert_int_equal(trv_schedule_step(schedule, rank, stream, k, &step), 0);
                for (int i = 0; i < step.sends; i++)
                    bytes += trv_message_bytes(schedule, stream, &step.send[i], 100000);
            }
    trv_step_clear(&step);
    return bytes;
}

static const char *check_goal(const trv_schedule_t *schedule)
{
    int ranks = trv_schedule_torus(schedule)->ranks;
    const char *error = NULL;
    for (int alpha = 0; alpha < 2 && !error; alpha++) {
        char *text = text_of(schedule, alpha ? write_goal : write_goal_without_alpha);
        error = goal_run(text, ranks, all_bytes(schedule));
        free(text);
    }
    return error;
}

static const char *check_mscclpp(const trv_schedule_t *schedule)
{
    char *text = text_of(schedule, trv_mscclpp_write);
    const char *error = text ? NULL : trv_last_error();
    for (unsigned seed = 0; seed < SEEDS && !error; seed++)
        error = mscclpp_run(text, trv_schedule_torus(schedule)->ranks, &(mscclpp_options_t){.seed = seed});
    free(text);
    return error;
}

/* Checks all collectives of all algorithms on all tori of the lists above. The quick tier runs a third of the pairs
 * of algorithm and collective on each torus. */
static void check_all(const char *(*check)(const trv_schedule_t *schedule), int min)
{
    int checked = 0;
    for (size_t t = 0; t < sizeof tori / sizeof tori[0]; t++)
        for (size_t a = 0; a < sizeof algorithms / sizeof algorithms[0]; a++)
            for (int collective = 0; collective < 3; collective++) {
                if (!exhaustive() && (t + a + (size_t)collective) % 3 != 0)
                    continue;
                trv_schedule_t *schedule = create(tori[t], algorithms[a], collective);
                if (!schedule)
                    continue;
                const char *error = check(schedule);
                if (error)
                    fail_msg("%s on %s, collective %d: %s", algorithms[a], tori[t], collective, error);
                trv_schedule_destroy(schedule);
                checked++;
            }
    assert_true(checked >= (exhaustive() ? min : min / 3));
}

static void test_goal(void **state)
{
    (void)state;
    check_all(check_goal, 100);
}

/* GOAL holds every collective, from any root; MSCCL++ plans are refused for those that they do not hold. */
static void test_other_collectives(void **state)
{
    trv_network_t network = {TRV_NETWORK};
    (void)state;
    assert_int_equal(trv_torus_parse("3x3", &network.torus), 0);
    for (int c = TRV_ALLGATHER + 1; c < TRV_COLLECTIVES; c++) {
        const int root = c == TRV_ALLTOALL ? 0 : c;
        trv_schedule_t *schedule;
        assert_int_equal(trv_schedule_create_on(&schedule, &network, "trivance-tree", (trv_collective_t)c, root), 0);
        const char *error = check_goal(schedule);
        if (error)
            fail_msg("collective %d: %s", c, error);
        assert_null(text_of(schedule, trv_mscclpp_write));
        trv_schedule_destroy(schedule);
    }
    tool_t run = tool_run("export 3x3 --format=goal -a trivance-tree -c broadcast --root=4", NULL);
    assert_non_null(strstr(run.out, "trivance-tree, broadcast of 65536 bytes"));
    assert_null(strstr(run.out, "b to 4 ")); /* the root receives nothing */
    tool_clear(&run);
}

static void test_mscclpp(void **state)
{
    (void)state;
    check_all(check_mscclpp, 100);
}

/* The check can fail: without the handshake no plan is sound in every order. */
static void test_checks_can_fail(void **state)
{
    trv_schedule_t *schedule = create("9", "trivance-b", TRV_ALLREDUCE);
    int failures = 0;
    (void)state;
    char *json = text_of(schedule, trv_mscclpp_write);
    for (unsigned seed = 0; seed < 20; seed++)
        failures += mscclpp_run(json, 9, &(mscclpp_options_t){seed, true}) != NULL;
    assert_true(failures > 0);
    free(json);
    trv_schedule_destroy(schedule);
}

static int count(const char *text, const char *words)
{
    int number = 0;
    for (const char *at = text; (at = strstr(at, words)) != NULL; at++)
        number++;
    return number;
}

/* Trivance adds the contributions from both sides to its own in one operation with three sources. */
static void test_joint_reductions(void **state)
{
    trv_schedule_t *schedule = create("9", "trivance-l", TRV_ALLREDUCE);
    (void)state;
    char *json = text_of(schedule, trv_mscclpp_write);
    json_t *plan = json_loads(json, 0, NULL), *op;
    size_t i;
    int sums = 0;
    json_array_foreach(json_object_get(json_array_get(json_object_get(json_array_get(json_object_get(plan, "gpus"), 0),
                                                                      "threadblocks"),
                                                      0),
                                       "ops"),
                       i, op) if (strcmp(json_string_value(json_object_get(op, "name")), "re") == 0)
    {
        assert_int_equal(json_array_size(json_object_get(op, "src_buff")), 3);
        sums++;
    }
    assert_int_equal(sums, 2);
    json_decref(plan);
    free(json);
    trv_schedule_destroy(schedule);
}

/* Schedules that a format cannot express are refused, and no file is left. */
static void test_unsupported_schedules(void **state)
{
    static const struct {
        const char *line, *words;
    } bad[] = {
        {"export", "give a torus"},
        {"export 9", "--format is required; expected goal, mscclpp or chakra, for example --format=goal"},
        {"export 9 --format=xml", "no format 'xml'; expected goal, mscclpp or chakra"},
        {"export 9 --format=msccl", "MSCCL's XML was removed; MSCCL++ execution plans in JSON (mscclpp) replace it"},
        {"export 9 3x3 --format=goal", "more than one torus"},
        {"export 9 -a ring,swing --format=goal", "more than one algorithm"},
        {"export 9 -c broadcast --format=mscclpp",
         "write broadcast as GOAL, --format=goal, as Chakra traces, or as JSON, `trivance plan"},
        {"export 9 -c alltoall --format=mscclpp", "write alltoall as GOAL"},
        {"export 9 -c gather --root=9 --format=goal", "there is no root 9 among 9 ranks"},
        {"export 9 --format=mscclpp --alpha=1us", "--alpha is valid only with --format=goal or chakra"},
        {"export 9 --format=goal --alpha=1", "is not a time"},
        {"export 9 --format=goal --alpha=3601s", "at most 3600s"},
        {"export 9 --format=goal -b 0", "at least 1"},
        {"export 9 --format=goal -o /nonexistent/x", "/nonexistent/x"},
        {"export 9 --fromat=goal", "did you mean --format?"},
        {"export --schedule /nonexistent.json --format=goal", "/nonexistent.json"},
        {"export --schedule " TRIVANCE_TEST_DATA "/8-TrivanceB-131072.json --format=mscclpp", "no blocks"},
        {"export 9 -a trivance-l-overlap --format=mscclpp", "more than once"},
        {"export 12x12 -a trivance-b --format=mscclpp", "at most 128 ranks"},
        {"export 128 -a ring --format=mscclpp", "too long for MSCCL++"},
        {"export 128 -a trivance-b --format=mscclpp", "64 operations"},
        {"export 2x4 -a bucket:2/1 --format=mscclpp", "unequal slices"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tool_t tool = tool_run(bad[i].line, NULL);
        char *end = strchr(tool.err, '\n');
        if (tool.code != 2 || tool.out[0] || strncmp(tool.err, "trivance export: ", 17) != 0 ||
            !strstr(tool.err, bad[i].words) || !end || end[1])
            fail_msg("trivance %s\nexit code %d, '%s' on stdout, on stderr\n%snot one line with: %s", bad[i].line,
                     tool.code, tool.out, tool.err, bad[i].words);
        tool_clear(&tool);
    }
}

/* The tool writes the same text as the library, from a torus and from a schedule file, and exports files without
 * blocks as GOAL. */
static void test_tool(void **state)
{
    char line[512], path[256];
    (void)state;
    snprintf(path, sizeof path, "%s/swing.json", tool_folder());
    snprintf(line, sizeof line, "plan 2x4 -a swing-b --format=json -o %s", path);
    tool_t tool = tool_run(line, NULL);
    assert_int_equal(tool.code, 0);
    tool_clear(&tool);
    static const char *const format[] = {"goal", "mscclpp"};
    for (int f = 0; f < 2; f++) {
        snprintf(line, sizeof line, "export 2x4 -a swing-b --format=%s", format[f]);
        tool_t direct = tool_run(line, NULL);
        snprintf(line, sizeof line, "export --schedule %s --format=%s", path, format[f]);
        tool_t from_file = tool_run(line, NULL);
        assert_int_equal(direct.code, 0);
        if (f == 0)
            assert_string_equal(direct.err, "");
        assert_string_equal(direct.out, from_file.out);
        tool_clear(&direct);
        tool_clear(&from_file);
    }
    tool = tool_run("export --schedule " TRIVANCE_TEST_DATA "/8-TrivanceB-131072.json --format=goal --alpha=2us", NULL);
    assert_int_equal(tool.code, 0);
    assert_int_equal(count(tool.out, ": calc 2000\n"), 8 * 4);
    assert_int_equal(count(tool.out, ": send 49152b to "), 8 * 2);
    assert_null(goal_run(tool.out, 8, 8 * 2 * (49152 + 32768 + 2 * 16384)));
    tool_clear(&tool);
    tool_remove_folder(state);
}

/* MSCCL++ accepts multiples of 16 bytes times the chunks: the export states them, and warns for other sizes.
 * trivance-l has one chunk, trivance-b on 9 ranks 9, bucket on 3x3 36. */
static void test_mscclpp_sizes(void **state)
{
    static const struct {
        const char *line, *words, *warning;
        int min;
    } run[] = {
        {"export 9 -a trivance-b --format=mscclpp", "vectors of 144 bytes and multiples of that (9 chunks of 16 bytes)",
         NULL, 144},
        {"export 9 -a trivance-b -b 1M --format=mscclpp", "vectors of 144 bytes",
         "not valid for 1 MiB; pad the vector to 1048608 bytes\n", 144},
        {"export 9 -a trivance-b -b 36K --format=mscclpp", "vectors of 144 bytes", NULL, 144},
        {"export 3x3 -a bucket -b 4K --format=mscclpp", "(36 chunks", "pad the vector to 4608 bytes\n", 576},
        {"export 9 -a trivance-l -b 1M --format=mscclpp", "vectors of 16 bytes and multiples of that (1 chunk of", NULL,
         16},
        {"export 9 -a trivance-b -c allgather -b 1M --format=mscclpp", "(9 chunks", "pad the vector to 1048608 bytes\n",
         144},
    };
    (void)state;
    for (size_t i = 0; i < sizeof run / sizeof run[0]; i++) {
        tool_t tool = tool_run(run[i].line, NULL);
        assert_int_equal(tool.code, 0);
        assert_non_null(strstr(tool.err, run[i].words));
        assert_int_equal(run[i].warning != NULL, strstr(tool.err, "warning: ") != NULL);
        assert_true(!run[i].warning || strstr(tool.err, run[i].warning));
        json_t *plan = json_loads(tool.out, 0, NULL);
        assert_int_equal(json_integer_value(json_object_get(plan, "min_message_size")), run[i].min);
        json_decref(plan);
        tool_clear(&tool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goal),
        cmocka_unit_test(test_other_collectives),
        cmocka_unit_test(test_mscclpp),
        cmocka_unit_test(test_checks_can_fail),
        cmocka_unit_test(test_joint_reductions),
        cmocka_unit_test(test_unsupported_schedules),
        cmocka_unit_test(test_mscclpp_sizes),
        cmocka_unit_test(test_tool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
