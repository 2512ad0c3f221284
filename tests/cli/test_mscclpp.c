/*
 * Verification of MSCCL++ execution plans: all exported plans are exact; a plan with any operation removed, and a
 * broken file, are refused with an error sentence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include <trivance/trivance.h>

#include "exhaustive.h"
#include "formats/mscclpp.h"
#include "progress_callbacks.h"
#include "tool.h"

static trv_span_t heard; /* the span to which the verifier reports */

/* Returns NULL if the plan is exact, else the fault or the reader's error sentence. */
static const char *verify(const char *text)
{
    static char sentence[1024];
    trv_gpu_program_t program;
    trv_gpu_program_verdict_t verdict = {.valid = false};
    int rc = trv_mscclpp_read(text, strlen(text), "test", &program);
    if (!rc)
        rc = trv_gpu_program_verify(&program, heard, &verdict);
    trv_gpu_program_clear(&program);
    snprintf(sentence, sizeof sentence, "%s", rc ? trv_last_error() : verdict.fault);
    return !rc && verdict.valid ? NULL : sentence;
}

static char *exported(const char *torus_text, const char *algorithm, trv_collective_t collective)
{
    trv_torus_t torus;
    trv_schedule_t *schedule;
    char *text = NULL;
    size_t length;
    assert_int_equal(trv_torus_parse(torus_text, &torus), 0);
    if (trv_schedule_create(&schedule, &torus, algorithm, collective))
        return NULL;
    FILE *out = open_memstream(&text, &length);
    int rc = trv_mscclpp_write(schedule, out);
    fclose(out);
    trv_schedule_destroy(schedule);
    if (rc == 0)
        return text;
    free(text);
    return NULL;
}

static void test_exported_programs(void **state)
{
    static const char *const tori[] = {"2", "3", "5", "2x4", "3x3"};
    int plans = 0;
    (void)state;
    for (size_t t = 0; t < sizeof tori / sizeof tori[0]; t++)
        for (int a = 0; a < trv_algorithms_count(); a++)
            for (int c = 0; c < 3; c++) {
                const char *name = trv_algorithm_name(trv_algorithm_at(a));
                char *text = exported(tori[t], name, (trv_collective_t)c);
                if (!text)
                    continue;
                if (verify(text))
                    fail_msg("%s on %s: %s", name, tori[t], verify(text));
                plans++;
                free(text);
            }
    assert_true(plans > 60);
}

static json_t *ops_of(json_t *root, size_t gpu, size_t block)
{
    json_t *blocks = json_object_get(json_array_get(json_object_get(root, "gpus"), gpu), "threadblocks");
    return json_object_get(json_array_get(blocks, block), "ops");
}

/* Every operation is needed, except some nops: those at the end of a threadblock, and those before an operation that
 * itself waits. */
static void test_removed_operation(void **state)
{
    char *text = exported("4", "trivance-b", TRV_ALLREDUCE);
    json_t *root = json_loads(text, 0, NULL);
    int nops = 0, needed = 0;
    (void)state;
    assert_non_null(root);
    for (size_t gpu = 0; gpu < 4; gpu++)
        for (size_t i = 0; i < json_array_size(ops_of(root, gpu, 0)); i++) {
            json_t *copy = json_deep_copy(root);
            const char *name = json_string_value(json_object_get(json_array_get(ops_of(root, gpu, 0), i), "name"));
            json_array_remove(ops_of(copy, gpu, 0), i);
            char *broken = json_dumps(copy, 0);
            const char *error_text = verify(broken);
            if (strcmp(name, "nop") != 0 && !error_text)
                fail_msg("without operation %zu of GPU %zu, %s, no fault is reported", i, gpu, name);
            assert_true(!error_text || strlen(error_text) > 10);
            nops += strcmp(name, "nop") == 0;
            needed += strcmp(name, "nop") == 0 && error_text;
            free(broken);
            json_decref(copy);
        }
    assert_true(needed > nops / 2);
    json_decref(root);
    free(text);
}

static void test_changed_text(void **state)
{
    static const struct {
        const char *old, *instead, *words;
    } change[] = {
        {"\"rlxsignal\"", "\"signal\"", NULL},
        {"\"signal\"", "\"rlxsignal\"", "publishes nothing"},
        {"\"name\": \"wait\"", "\"name\": \"rlxwait\"", "publishes nothing"},
        {"\"name\": \"wait\"", "\"name\": \"signal\"", " is empty"},
        {"\"max_message_size\": 9223372036854775807", "\"max_message_size\": 18446744073709551615", NULL},
        {"\"use_double_scratch_buffer\": false", "\"use_double_scratch_buffer\": true", "scratch buffer"},
        {"\"name\": \"nop\"", "\"name\": \"nop\", \"tbg_info\": {\"tb_id\": 0, \"tbg_size\": 2}", "tbg_info"},
        {"\"re\"", "\"redu\"", "unknown operation 'redu'"},
        {"\"sum\"", "\"max\"", "only plans with sum are verified"},
        {"\"memory\"", "\"port\"", "memory"},
        {"\"Simple\"", "\"LL\"", "only plans with Simple are verified"},
        {"\"allreduce\"", "\"alltoall\"", "collective"},
        {"\"index\": 1", "\"index\": 2", ""},
        {"\"index\": 1", "\"index\": 4000000000", "index"},
        {"\"size\": 1", "\"size\": -1", "size"},
        {"\"size\": 1", "\"size\": 0", ""},
        {"\"buffer_id\": 0", "\"buffer_id\": 77", "no remote buffer 77"},
        {"\"input_chunks\": 3", "\"input_chunks\": 2", "input and 3 output chunks"},
        {"\"id\": 1", "\"id\": 2", "id"},
        {"\"threadblocks\"", "\"threads\"", "\"threadblocks\" must be an array"},
    };
    char *text = exported("3", "trivance-b", TRV_ALLREDUCE);
    (void)state;
    assert_null(verify(text));
    for (size_t i = 0; i < sizeof change / sizeof change[0]; i++) {
        const char *at = strstr(text, change[i].old);
        char *other = NULL;
        if (!at)
            fail_msg("there is no %s", change[i].old);
        assert_true(
            asprintf(&other, "%.*s%s%s", (int)(at - text), text, change[i].instead, at + strlen(change[i].old)) > 0);
        const char *error_text = verify(other);
        if (!error_text != !change[i].words || (error_text && !strstr(error_text, change[i].words)))
            fail_msg("%s instead of %s: '%s', and not: %s", change[i].instead, change[i].old, error_text,
                     change[i].words);
        free(other);
    }
    for (size_t length = 0; length + 2 < strlen(text); length += 11) {
        char *start = strndup(text, length);
        assert_non_null(verify(start));
        free(start);
    }
    free(text);
}

/* Features that other programs' plans use: a sum that reads a peer's memory. At the end the peer must wait until its
 * memory has been read. */
static void test_remote_reads(void **state)
{
    static const char gpu[] =
        "{\"id\": %d, \"input_chunks\": 1, \"output_chunks\": 1, \"scratch_chunks\": 1, \"threadblocks\": [{\"id\": 0, "
        "\"ops\": [{\"name\": \"copy\", \"src_buff\": [%s], \"dst_buff\": [%s]}, {\"name\": \"nop\"}, "
        "{\"name\": \"signal\", \"channel_ids\": [0], \"channel_type\": \"memory\"}, "
        "{\"name\": \"wait\", \"channel_ids\": [0], \"channel_type\": \"memory\"}, {\"name\": \"nop\"}, "
        "{\"name\": \"rre\", \"src_buff\": [%s, {\"buffer_id\": 0, \"index\": 0, \"size\": 1}], \"dst_buff\": [%s], "
        "\"reduce_op\": \"sum\"}, {\"name\": \"nop\"}, "
        "{\"name\": \"%s\", \"channel_ids\": [0], \"channel_type\": \"memory\"}, "
        "{\"name\": \"%s\", \"channel_ids\": [0], \"channel_type\": \"memory\"}], "
        "\"channels\": [{\"channel_type\": \"memory\", \"channel_ids\": [0]}], "
        "\"remote_buffer_refs\": [{\"access_channel_type\": \"memory\", \"remote_buffer_ids\": [0]}]}], "
        "\"channels\": [{\"channel_type\": \"memory\", \"connected_to\": [%d]}], "
        "\"remote_buffers\": [{\"rank\": %d, \"type\": \"s\", \"access_channel_types\": [\"memory\"]}]}";
    static const char input[] = "{\"type\": \"i\", \"index\": 0, \"size\": 1}",
                      scratch[] = "{\"type\": \"s\", \"index\": 0, \"size\": 1}";
    (void)state;
    static const char *const last[][2] = {{"signal", "wait"}, {"rlxsignal", "rlxwait"}, {"nop", "nop"}};
    for (int l = 0; l < 3; l++) {
        char text[8192], *at = text;
        at += sprintf(at, "{\"name\": \"pull\", \"collective\": \"allreduce\", \"protocol\": \"Simple\", "
                          "\"inplace\": true, \"gpus\": [");
        for (int g = 0; g < 2; g++) {
            at += sprintf(at, gpu, g, input, scratch, input, input, last[l][0], last[l][1], 1 - g, 1 - g);
            at += sprintf(at, "%s", g ? "]}" : ", ");
        }
        const char *error_text = verify(text);
        if (l < 2 && error_text)
            fail_msg("%s: %s", last[l][0], error_text);
        if (l == 2 && (!error_text || !strstr(error_text, "their order is undefined")))
            fail_msg("a peer is read when its launch may have ended: '%s'", error_text);
    }
}

/* Translates operations in shorthand to JSON: s and w with a channel are signal and wait, S and W are their relaxed
 * forms, b with a number is a barrier of that many threadblocks. */
static char *add_ops(char *at, const char *words)
{
    static const char *const chunk = "{\"type\": \"%c\", \"index\": 0, \"size\": 1}";
    static const char *const named[] = {"s", "signal", "w", "wait", "S", "rlxsignal", "W", "rlxwait"};
    char input[64], scratch[64];
    snprintf(input, sizeof input, chunk, 'i');
    snprintf(scratch, sizeof scratch, chunk, 's');
    for (const char *c = words; *c; c++) {
        const int number = c[1] >= '0' && c[1] <= '9' ? c[1] - '0' : 0;
        at += sprintf(at, c == words ? "" : ", ");
        if (*c == 'n')
            at += sprintf(at, "{\"name\": \"nop\"}");
        else if (*c == 'b')
            at += sprintf(at, "{\"name\": \"barrier\", \"barrier_id\": 0, \"num_threadblocks\": %d}", number);
        else if (*c == 'p')
            at += sprintf(at,
                          "{\"name\": \"put\", \"src_buff\": [%s], \"dst_buff\": [{\"buffer_id\": 0, \"index\": 0, "
                          "\"size\": 1}]}",
                          input);
        else if (*c == '*') /* doubles the scratch chunk */
            at += sprintf(at, "{\"name\": \"re\", \"src_buff\": [%s, %s], \"dst_buff\": [%s], \"reduce_op\": \"sum\"}",
                          scratch, scratch, scratch);
        else if (*c == '+')
            at += sprintf(at, "{\"name\": \"re\", \"src_buff\": [%s, %s], \"dst_buff\": [%s], \"reduce_op\": \"sum\"}",
                          input, scratch, input);
        for (int k = 0; k < 8; k += 2)
            if (*c == named[k][0])
                at += sprintf(at, "{\"name\": \"%s\", \"channel_ids\": [%d]}", named[k + 1], number);
        c += c[1] >= '0' && c[1] <= '9';
    }
    return at;
}

/* Returns a plan of two GPUs with the same operations and three channels between them; each has one threadblock per
 * shorthand string. */
static char *two_gpus(const char *const words[], int blocks)
{
    char *text = malloc(1 << 21), *at = text;
    assert_non_null(text);
    at += sprintf(at, "{\"name\": \"two\", \"collective\": \"allreduce\", \"protocol\": \"Simple\", \"gpus\": [");
    for (int g = 0; g < 2; g++) {
        at += sprintf(
            at,
            "%s{\"id\": %d, \"input_chunks\": 1, \"output_chunks\": 1, \"scratch_chunks\": 1, \"channels\": "
            "[{\"channel_type\": \"memory\", \"connected_to\": [%d, %d, %d]}], \"remote_buffers\": [{\"rank\": %d, "
            "\"type\": \"s\"}], \"threadblocks\": [",
            g ? ", " : "", g, 1 - g, 1 - g, 1 - g, 1 - g);
        for (int b = 0; b < blocks; b++) {
            at += sprintf(at, "%s{\"id\": %d, \"ops\": [", b ? ", " : "", b);
            at = add_ops(at, words[b]);
            at += sprintf(at, "], \"channels\": [{\"channel_type\": \"memory\", \"channel_ids\": [0, 1, 2]}], "
                              "\"remote_buffer_refs\": [{\"access_channel_type\": \"memory\", "
                              "\"remote_buffer_ids\": [0]}]}");
        }
        at += sprintf(at, "]}");
    }
    sprintf(at, "]}");
    return text;
}

/* Operations that order threadblocks, and operations that only seem to. */
static void test_order(void **state)
{
    static const struct {
        const char *block[3], *words;
    } plan[] = {
        {{"S0W0npns0w0n+n"}, NULL},
        {{"S0W0npns0W0n+n"}, "publishes nothing"},
        {{"S0W0npnS0w0n+n"}, "publishes nothing"},
        {{"S0W0npnb2", "b2s1w1n+n"}, NULL},
        {{"S0W0npnb2", "b2S1w1n+n"}, "publishes nothing"}, /* nothing from another threadblock */
        {{"S0W0npns0S1w0W1n+n"}, NULL},                    /* relaxed, beside one that publishes */
        {{"S0W0s1w1npns0w0n+n"}, NULL},                    /* one nop covers both waits */
        {{"S0W0s1npns0w0n+w1"}, NULL},
        {{"S0W0npns0w0nb2w2s1w1npns0w0", "b2+ns2"}, "order is undefined"}, /* w2 and s1 run in different threads */
        {{"S0W0npns0w0nb2w2ns1w1npns0w0", "b2+ns2"}, NULL},
        {{"S0W0npnb2", "b1s1w1n+n"}, "threadblocks at the barrier"},
        {{"S0W0npnb2", "b2s1w1n+nb0"}, "\"num_threadblocks\" of a barrier must be at least 1"},
        {{"S0W0npnb2", "b2s1w1n+n", "b2n"}, ""}, /* ambiguous: which two of the three threadblocks meet? */
        {{"S0W0npns0w0n*n*n*n*n*n*n*n*n*n*n*n*n*n*n*n*n*n*n*n*n+n"}, "added more than a million times"},
        {{"S0W0npns0w0n+n", "s0w0"}, "signals by the same channel"},
        {{"S0W0npns0w0n+nb2", "b2s0w0"}, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof plan / sizeof plan[0]; i++) {
        const int blocks = plan[i].block[2] ? 3 : plan[i].block[1] ? 2 : 1;
        char *text = two_gpus(plan[i].block, blocks);
        const char *error_text = verify(text);
        if (!error_text != !plan[i].words || (error_text && !strstr(error_text, plan[i].words)))
            fail_msg("%s | %s: '%s', and not: %s", plan[i].block[0], plan[i].block[1], error_text, plan[i].words);
        free(text);
    }
}

/* Progress is reported up to the end, and verification can be cancelled. */
static void test_progress_and_cancellation(void **state)
{
    char *text = exported("3x3", "bucket", TRV_ALLREDUCE);
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

/* A plan with more signals than are ever waited for is refused, because its memory would be unbounded. */
static void test_many_signals(void **state)
{
    enum { SIGNALS = 16000, BLOCKS = 1000 };
    static char signals[2 * SIGNALS + 1];
    const char *words[BLOCKS] = {signals};
    (void)state;
    if (!exhaustive())
        skip();
    for (int i = 0; i < SIGNALS; i++)
        memcpy(&signals[2 * i], "s0", 2);
    for (int b = 1; b < BLOCKS; b++)
        words[b] = "";
    char *text = two_gpus(words, BLOCKS);
    assert_non_null(strstr(verify(text), "too many threadblocks, barriers and signals"));
    free(text);
}

/* Names are printed to a terminal and into JSON, so they are sanitized. */
static void test_names(void **state)
{
    char *text = exported("2", "ring", TRV_ALLREDUCE), *other = NULL;
    const char *name = strstr(text, "\"ring\"");
    (void)state;
    assert_non_null(name);
    assert_true(asprintf(&other, "%.*s\"\\u001b[31m%057d\303\244\"%s", (int)(name - text), text, 0, name + 6) > 0);
    tool_t tool = tool_run("verify --schedule=- --format=json", other); /* 64 bytes end within a letter */
    assert_int_equal(tool.code, 0);
    assert_non_null(strstr(tool.out, "\"?[31m000"));
    tool_clear(&tool);
    free(other);
    free(text);
    tool_expect_error("verify --schedule=no\033\nfile", "the file 'no??file' cannot be read");
}

static void test_tool(void **state)
{
    char path[512], line[640];
    char *text = exported("2x2", "trivance-l", TRV_ALLREDUCE);
    (void)state;
    snprintf(path, sizeof path, "%s/plan.json", tool_folder());
    tool_write_file(path, text, 0600);
    snprintf(line, sizeof line, "verify --schedule=%s", path);
    tool_t tool = tool_run(line, NULL);
    assert_int_equal(tool.code, 0);
    assert_non_null(strstr(tool.out, "4 GPUs"));
    assert_non_null(strstr(tool.out, "exact"));
    tool_clear(&tool);
    char *put = strstr(text, "\"re\"");
    memcpy(put, "\"no\"", 4);
    tool_write_file(path, text, 0600);
    tool_expect_error(line, "unknown operation 'no'");
    tool_write_file(path, "<algo name=\"ring\"/>", 0600);
    tool_expect_error(line, "MSCCL's XML was removed; MSCCL++ execution plans in JSON (mscclpp) replace it");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exported_programs),
        cmocka_unit_test(test_removed_operation),
        cmocka_unit_test(test_changed_text),
        cmocka_unit_test(test_remote_reads),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_many_signals),
        cmocka_unit_test(test_progress_and_cancellation),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_tool),
    };
    return cmocka_run_group_tests(tests, NULL, tool_remove_folder);
}
