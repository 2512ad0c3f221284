/*
 * JSON documents: positions in error sentences, and the limit on the number of warnings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "json/json.h"

static void parse(trv_json_t *json, const char *text)
{
    *json = (trv_json_t){.warn = json->warn, .context = json->context};
    assert_int_equal(trv_json_parse(json, "f.json", text, strlen(text)), TRV_OK);
}

/* Escaped quotes, brackets within strings, and multi-byte characters must not shift a position. */
static void test_positions(void **state)
{
    trv_json_t json = {.root = NULL};
    int64_t number = 7;
    (void)state;
    parse(&json, "{\"a\": [1, \"]\\\"{é\\\\\", {}, -2.5e3, null],\n \"ü\": {\"b\": [[], true]}, \"c\": [1, 2]}");
    const json_t *list = json_object_get(json.root, "c");
    assert_int_equal(trv_json_entry(&json, list, 1, "a number", 0, 1, &number), TRV_ERR_INVALID);
    assert_string_equal(trv_last_error(), "f.json:2:35: a number must be a whole number from 0 to 1");
    assert_int_equal(number, 7);
    trv_json_fail(&json, json_object_get(json.root, "ü"), "b", "here");
    assert_string_equal(trv_last_error(), "f.json:2:8: here");
    trv_json_fail(&json, json.root, "missing", "here");
    assert_string_equal(trv_last_error(), "f.json:1:1: here");
    trv_json_at(&json, 0, "stream", 1);
    trv_json_at(&json, 1, "step", 3);
    trv_json_fail(&json, list, NULL, "here");
    assert_string_equal(trv_last_error(), "f.json:2:31: stream 1, step 3: here");
    trv_json_at(&json, 0, "stream", 2);
    trv_json_fail(&json, NULL, NULL, "all of it");
    assert_string_equal(trv_last_error(), "f.json: stream 2: all of it");
    trv_json_close(&json);
}

/* jansson represents every `true` of a text by the same value, so that value has no position. */
static void test_position_of_booleans(void **state)
{
    trv_json_t json = {.root = NULL};
    int64_t number = 0;
    (void)state;
    parse(&json, "{\"a\": true,\n \"b\": [0, true]}");
    trv_json_entry(&json, json_object_get(json.root, "b"), 1, "it", 0, 1, &number);
    assert_string_equal(trv_last_error(), "f.json:2:7: it must be a whole number from 0 to 1");
    trv_json_integer(&json, json.root, "a", false, 0, 1, &number);
    assert_string_equal(trv_last_error(), "f.json:1:2: \"a\" must be a whole number from 0 to 1");
    trv_json_close(&json);
}

typedef struct warnings {
    int count;
    char last[200];
} warnings_t;

static void keep(void *context, const char *sentence)
{
    warnings_t *warnings = context;
    warnings->count++;
    snprintf(warnings->last, sizeof warnings->last, "%s", sentence);
}

/* Each warning requires a scan of the text, so a large file must not cause one for each of its entries. */
static void test_many_warnings(void **state)
{
    static const char *const known[] = {"a", NULL};
    warnings_t warnings = {0};
    trv_json_t json = {.warn = keep, .context = &warnings};
    (void)state;
    parse(&json, "{\"a\": 1, \"b\": 2}");
    trv_json_check_keys(&json, json.root, known);
    assert_int_equal(warnings.count, 1);
    assert_string_equal(warnings.last, "f.json:1:10: the key \"b\" is unknown and ignored");
    for (int i = 0; i < 1000; i++)
        trv_json_check_keys(&json, json.root, known);
    assert_int_equal(warnings.count, 33);
    assert_string_equal(warnings.last, "f.json: further warnings are not shown");
    trv_json_close(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_positions), cmocka_unit_test(test_position_of_booleans),
                                       cmocka_unit_test(test_many_warnings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
