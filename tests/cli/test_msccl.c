/*
 * Verification of MSCCL programs: exported programs, programs of other origin, and broken programs, whose first fault
 * is named.
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

#include "formats/msccl.h"
#include "progress_callbacks.h"
#include "tool.h"

static trv_span_t heard; /* the span to which the verifier reports */

/* Returns NULL if the program is exact, else the fault or the reader's error sentence. */
static const char *verify(const char *text)
{
    static char sentence[1024];
    trv_gpu_program_t program;
    trv_gpu_program_verdict_t verdict;
    char *copy = strdup(text);
    int rc = trv_msccl_read(copy, "test", &program);
    if (!rc)
        rc = trv_gpu_program_verify(&program, heard, &verdict);
    trv_gpu_program_clear(&program);
    free(copy);
    snprintf(sentence, sizeof sentence, "%s", rc ? trv_last_error() : verdict.fault);
    return !rc && verdict.valid ? NULL : sentence;
}

/* Returns the text with one occurrence of `old` replaced, after `skipped` others. */
static char *changed(const char *text, const char *old, const char *instead, int skipped)
{
    const char *at = strstr(text, old);
    char *copy = NULL;
    for (; skipped > 0 && at; skipped--)
        at = strstr(at + 1, old);
    assert_non_null(at);
    assert_true(asprintf(&copy, "%.*s%s%s", (int)(at - text), text, instead, at + strlen(old)) > 0);
    return copy;
}

static void test_exported_programs(void **state)
{
    static const char *const tori[] = {"2", "3", "5", "2x4", "3x3"};
    trv_torus_t torus;
    int programs = 0;
    (void)state;
    for (size_t t = 0; t < sizeof tori / sizeof tori[0]; t++)
        for (int a = 0; a < trv_algorithms_count(); a++)
            for (int c = 0; c < 3; c++) {
                trv_schedule_t *schedule;
                char *text = NULL;
                size_t length;
                assert_int_equal(trv_torus_parse(tori[t], &torus), 0);
                if (trv_schedule_create(&schedule, &torus, trv_algorithm_name(trv_algorithm_at(a)),
                                        (trv_collective_t)c))
                    continue;
                FILE *out = open_memstream(&text, &length);
                int rc = trv_msccl_write(schedule, out);
                fclose(out);
                if (rc == 0 && verify(text))
                    fail_msg("%s on %s: %s", trv_schedule_name(schedule), tori[t], verify(text));
                programs += rc == 0;
                free(text);
                trv_schedule_destroy(schedule);
            }
    assert_true(programs > 60);
}

/* Any single change to a send, a store or a dependency is detected. */
static void test_broken(void **state)
{
    static const struct {
        const char *old, *instead, *words;
    } change[] = {
        {"srcoff='1'", "srcoff='0'", "GPU 1, threadblock 0, step 1: it adds chunk 1 of the vector to chunk 0"},
        {"type='rrcs'", "type='rcs'", "of GPU 0 to chunk 0 0 times"},
        {"send='1'", "send='0'", "exchanges messages with its own GPU"},
        {"type='r' ", "type='s' ", "GPU 0, threadblock 0, step 2: chunk 1 of buffer o is empty"},
        {"dstoff='0' cnt='1' depid='-1'", "dstoff='2' cnt='1' depid='-1'", "there is no chunk 2 in buffer o"},
        {"depid='-1' deps='-1'", "depid='0' deps='2'", "lacks hasdep"},
        {"depid='-1' deps='-1' hasdep='0'", "depid='0' deps='0' hasdep='1'", "it waits forever"},
        {"cnt='1'", "cnt='2'", "there is no chunk 2 in buffer i"},
        {"chan='0'", "chan='1'", "no threadblock receives from it"},
        {"ngpus='2'", "ngpus='3'", "the file has 2 <gpu> elements, but ngpus is 3"},
        {"nchunksperloop='2'", "nchunksperloop='3'", "ends without chunk 2"},
        {"</tb>", "<tb/>", "unexpected <tb> in a threadblock"},
        {"s='2' type", "s='3' type", "is not a whole number from 2 to 2"},
        {"srcbuf='i'", "srcbuf='x'", "expected i (input), o (output) or s (scratch)"},
        {"type='rrcs'", "type='xxxx'", "expected s, r, cpy"},
        {"ngpus='2'", "ngpus='2' ngpus='3'", "the attribute ngpus appears twice"},
        {"</tb>", "</gpu>", "</tb> is missing"},
    };
    char *text = tool_read_file(TRIVANCE_TEST_DATA "/msccl-2.xml");
    (void)state;
    assert_null(verify(text));
    for (size_t i = 0; i < sizeof change / sizeof change[0]; i++) {
        char *other = changed(text, change[i].old, change[i].instead, 0);
        const char *error_text = verify(other);
        if (!error_text || !strstr(error_text, change[i].words))
            fail_msg("%s instead of %s: '%s', and not: %s", change[i].instead, change[i].old, error_text,
                     change[i].words);
        free(other);
    }
    for (size_t length = 0; length + 1 < strlen(text); length += 7) { /* no truncated text passes or crashes */
        char *start = strndup(text, length);
        assert_non_null(verify(start));
        free(start);
    }
    free(text);
}

/* Without a dependency, two accesses are unordered. The 16 dependencies that are redundant are ordered by messages
 * around the ring: a GPU receives the sum of its sent value only after it has sent that value. */
static void test_dependencies(void **state)
{
    tool_t tool = tool_run("export 4 --algorithm=trivance-b --format=msccl", NULL);
    int removed = 0, found = 0;
    (void)state;
    assert_null(verify(tool.out));
    for (const char *at = tool.out; (at = strstr(at, "depid=\"")) != NULL; at++) {
        if (at[7] == '-')
            continue;
        char *other = NULL;
        const char *end = strstr(at, " hasdep");
        assert_true(asprintf(&other, "%.*sdepid=\"-1\" deps=\"-1\"%s", (int)(at - tool.out), tool.out, end) > 0);
        removed++;
        found += verify(other) != NULL;
        free(other);
    }
    assert_int_equal(removed, 56);
    assert_int_equal(found, removed - 16);
    tool_clear(&tool);
}

/* The contribution would be counted 2^32 times plus once, which an int32_t wraps to 1. */
static void test_wrapping(void **state)
{
    static const char doubling[] =
        "<step s='%d' type='%s' srcbuf='%c' srcoff='0' dstbuf='%c' dstoff='0' cnt='1' depid='-1' "
        "deps='-1' hasdep='0'/>";
    char text[8192], *at = text;
    (void)state;
    at += sprintf(at,
                  "<algo name='x' nchunksperloop='1' ngpus='1' coll='allreduce' inplace='1'><gpu id='0' s_chunks='1'>"
                  "<tb id='0' send='-1' recv='-1' chan='0'>");
    at += sprintf(at, doubling, 0, "cpy", 'i', 's');
    for (int s = 1; s <= 32; s++)
        at += sprintf(at, doubling, s, "re", 's', 's');
    at += sprintf(at, doubling, 33, "re", 's', 'i');
    sprintf(at, "</tb></gpu></algo>");
    assert_string_equal(verify(text),
                        "GPU 0, threadblock 0, step 20: a contribution is added more than a million times");
}

/* Progress is reported up to the end, and the in-place and the out-of-place form are the same work. */
static void test_progress_and_cancellation(void **state)
{
    char *text = tool_read_file(TRIVANCE_TEST_DATA "/msccl-2.xml");
    (void)state;
    double last = 0;
    int calls = 0;
    heard = (trv_span_t){progress_check, &last, 0, 1};
    assert_null(verify(text));
    assert_true(last > 0.999);
    heard = (trv_span_t){progress_cancel, &calls, 0, 1};
    assert_non_null(strstr(verify(text), "cancelled"));
    assert_int_equal(calls, 1);
    heard = (trv_span_t){0};
    free(text);
}

/* Names are printed to a terminal and into JSON, so they are sanitized. */
static void test_names(void **state)
{
    char *text = tool_read_file(TRIVANCE_TEST_DATA "/msccl-2.xml"), *name = NULL;
    (void)state;
    assert_true(asprintf(&name, "name='\033[31m%080d\303\244'", 0) > 0);
    memcpy(name + 67, "\303\244", 2); /* the last byte that is kept, and one more */
    char *other = changed(text, "name='two'", name, 0);
    tool_t tool = tool_run("verify --schedule=- --format=json", other);
    assert_int_equal(tool.code, 0);
    assert_non_null(strstr(tool.out, "\"?[31m000"));
    tool_clear(&tool);
    free(other);
    free(name);
    free(text);
    tool_expect_error("verify --schedule=no\033\nfile", "the file 'no??file' cannot be read");
}

static void test_tool(void **state)
{
    (void)state;
    tool_t tool = tool_run("verify --schedule=" TRIVANCE_TEST_DATA "/msccl-2.xml", NULL);
    assert_int_equal(tool.code, 0);
    assert_non_null(strstr(tool.out, "\n2 GPUs     two        allreduce       exact "));
    tool_clear(&tool);
    char *text = tool_read_file(TRIVANCE_TEST_DATA "/msccl-2.xml");
    char *other = changed(text, "dstoff='1'", "dstoff='0'", 1); /* the last step of GPU 0 */
    tool = tool_run("verify --schedule=- --format=json", other);
    assert_int_equal(tool.code, 1);
    assert_non_null(strstr(tool.out, "\"reason\": \"GPU 0 ends with chunk 1 where chunk 0 should be\""));
    tool_clear(&tool);
    free(other);
    other = changed(text, "coll='allreduce'", "coll='alltoall'", 0);
    tool = tool_run("verify --schedule=-", other);
    assert_int_equal(tool.code, 2);
    assert_non_null(strstr(tool.err, "only allreduce, reduce_scatter and allgather can be verified"));
    tool_clear(&tool);
    free(other);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exported_programs),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_dependencies),
        cmocka_unit_test(test_wrapping),
        cmocka_unit_test(test_progress_and_cancellation),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_tool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
