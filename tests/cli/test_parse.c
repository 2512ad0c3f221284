/*
 * Parsing of user input: byte counts, times, rates, integers and lists; and the names that the tool suggests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <trivance/common.h>

#include "base/text/nearest.h"
#include "cli/shared/tool.h"
#include "base/text/parse.h"
#include "cli/shared/select.h"

static void test_bytes(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {
        {"0", 0},
        {"8", 8},
        {"8B", 8},
        {"64k", 65536},
        {"64K", 65536},
        {"64KiB", 65536},
        {"3m", 3 << 20},
        {"3M", 3 << 20},
        {"3MiB", 3 << 20},
        {"1g", 1 << 30},
        {"1GiB", 1 << 30},
        {"1125899906842624", UINT64_C(1) << 50},
        {"007", 7},
        {"1048576G", UINT64_C(1) << 50},
        {"1T", UINT64_C(1) << 40},
        {"1024TiB", UINT64_C(1) << 50},
    };
    static const char *const bad[] = {"",         "x",
                                      "-1",       "+1",
                                      "1.5M",     "64KB",
                                      "64 K",     "K",
                                      "1Ti",      "1125899906842625",
                                      "1048577G", "99999999999999999999999",
                                      "0x10",     "1e6",
                                      "64kib",    " 1",
                                      "1\n"};
    uint64_t bytes;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(trv_parse_bytes(good[i].text, &bytes), 0);
        assert_int_equal(bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        bytes = 77;
        if (trv_parse_bytes(bad[i], &bytes) != TRV_ERR_ARGUMENT)
            fail_msg("'%s' was accepted", bad[i]);
        assert_int_equal(bytes, 77);
    }
}

static void test_byte_lists(void **state)
{
    static const char *const bad[] = {"",    ",",      "1,",     ",1",     "1,,2", "1,x",     "1,2,3,4,5",
                                      "0",   "8,0",    "1:",     ":1",     "1:2:", "1:2:3:4", "2:1",
                                      "0:2", "1:8:x1", "1:8:+0", "1:8:y2", "1:16", "1:2:x",   "1:2:xnan"};
    static const struct {
        const char *text;
        uint64_t bytes[4];
        int count;
    } range[] = {{"1K:4K", {1024, 2048, 4096}, 3}, {"8:32:x4", {8, 32}, 2},       {"8:32:4,1", {8, 32, 1}, 3},
                 {"8:30:+10", {8, 18, 28, 30}, 4}, {"2:6:x1.5", {2, 3, 4, 6}, 4}, {"5:5", {5}, 1}};
    uint64_t bytes[4];
    int count;
    (void)state;
    assert_int_equal(trv_parse_bytes_list("8,1K,4MiB", bytes, 4, &count), 0);
    assert_int_equal(count, 3);
    assert_int_equal(bytes[0], 8);
    assert_int_equal(bytes[1], 1024);
    assert_int_equal(bytes[2], 4 << 20);
    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++) {
        assert_int_equal(trv_parse_bytes_list(range[i].text, bytes, 4, &count), 0);
        assert_int_equal(count, range[i].count);
        assert_memory_equal(bytes, range[i].bytes, (size_t)count * sizeof *bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (trv_parse_bytes_list(bad[i], bytes, 4, &count) != TRV_ERR_ARGUMENT)
            fail_msg("'%s' was accepted", bad[i]);
}

static void test_times_and_rates(void **state)
{
    static const struct {
        const char *text;
        double value;
    } times[] = {{"0ns", 0},  {"100ns", 100}, {"1.5us", 1500}, {"2ms", 2e6},
                 {"1s", 1e9}, {"3µs", 3000},  {"3μs", 3000},   {"1e3ns", 1000}};
    static const struct {
        const char *text;
        double value;
    } rates[] = {{"800Gb/s", 800e9}, {"100GB/s", 800e9}, {"3.2Tb/s", 3.2e12},
                 {"5Kb/s", 5e3},     {"5kb/s", 5e3},     {"1MB/s", 8e6}};
    static const char *const bad_times[] = {"",     "5",    "us",    "-1us", "1 us", "1.5",
                                            "nans", "infs", "0x5ns", "1us ", "1h",   "1e99s"};
    static const char *const bad_rates[] = {"",        "800",     "800G",     "800Gbps",  "0Gb/s",  "-1Gb/s",
                                            "infTb/s", "0x1Gb/s", "1e99Tb/s", "800GiB/s", "800gb/s"};
    double value;
    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        assert_int_equal(trv_parse_time_ns(times[i].text, &value), 0);
        assert_true(value == times[i].value);
    }
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        assert_int_equal(trv_parse_rate_bps(rates[i].text, &value), 0);
        assert_true(value == rates[i].value);
    }
    for (size_t i = 0; i < sizeof bad_times / sizeof bad_times[0]; i++)
        if (trv_parse_time_ns(bad_times[i], &value) != TRV_ERR_ARGUMENT)
            fail_msg("the time '%s' was accepted", bad_times[i]);
    for (size_t i = 0; i < sizeof bad_rates / sizeof bad_rates[0]; i++)
        if (trv_parse_rate_bps(bad_rates[i], &value) != TRV_ERR_ARGUMENT)
            fail_msg("the rate '%s' was accepted", bad_rates[i]);
}

static void test_integers(void **state)
{
    static const char *const bad[] = {"", "-", "9", "-1", "1x", " 1", "1 ", "0x1", "99999999999999999999"};
    int value;
    (void)state;
    assert_int_equal(trv_parse_int("8", "--rank", 0, 8, &value), 0);
    assert_int_equal(value, 8);
    assert_int_equal(trv_parse_int("-3", "--shift", -5, 8, &value), 0);
    assert_int_equal(value, -3);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (trv_parse_int(bad[i], "--rank", 0, 8, &value) != TRV_ERR_ARGUMENT)
            fail_msg("'%s' was accepted", bad[i]);
    assert_non_null(strstr(trv_last_error(), "--rank"));
}

static void test_formats(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } good[] = {{0, "0 B"},       {8, "8 B"},        {1000, "1000 B"},   {1024, "1 KiB"},
                {1536, "1536 B"}, {65536, "64 KiB"}, {3 << 20, "3 MiB"}, {UINT64_C(1) << 40, "1 TiB"}};
    char text[TRV_BYTES_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_string_equal(trv_format_bytes(good[i].bytes, text), good[i].text);
    const trv_time_unit_t *us = trv_time_unit(1e3); /* unit of a column: a value far above the others changes it */
    assert_string_equal(trv_format_time(35940, us, text), "35.94 us");
    assert_string_equal(trv_format_time(999999e3, us, text), "999999 us");
    assert_string_equal(trv_format_time(9331202e3, us, text), "9.331 s");
}

static void test_nearest(void **state)
{
    static const char *const name[] = {"list", "plan", "verify", "cost", "bench"};
    (void)state;
    assert_string_equal(trv_nearest("lsit", name, 5), "list");
    assert_string_equal(trv_nearest("verfy", name, 5), "verify");
    assert_string_equal(trv_nearest("costs", name, 5), "cost");
    assert_string_equal(trv_nearest("ben", name, 5), "bench");
    assert_null(trv_nearest("simulate", name, 5));
    assert_null(trv_nearest("", name, 5));
    static const char *const other[] = {"TORUS", "cut", "output"};
    assert_string_equal(trv_nearest("TORSU", other, 3), "TORUS");
    assert_null(trv_nearest("BOGUS", other, 3)); /* two of five characters differ */
    assert_string_equal(trv_nearest("out", other, 3), "output");
}

static void test_selection(void **state)
{
    static const char *const bad[] = {"",     "trivanc",   "trivance-b,",  "none",      "ring,,ring",
                                      "Ring", "planned:3", "trivance-b:3", "trivance:3"};
    cli_selection_t selection;
    (void)state;
    assert_int_equal(cli_select("trivance-b", &selection), 0);
    assert_true(selection.single);
    assert_int_equal(selection.choices, 1);
    assert_int_equal(selection.choice[0].members, 1);
    assert_int_equal(cli_select("trivance", &selection), 0);
    assert_true(selection.single && selection.choice[0].members >= 2);
    for (int i = 0; i < selection.choice[0].members; i++)
        assert_int_equal(trv_algorithm_exactness(selection.choice[0].member[i]), TRV_EXACT);
    assert_int_equal(cli_select("ring,swing,ring", &selection), 0);
    assert_int_equal(selection.choices, 2);
    assert_false(selection.single);
    assert_int_equal(cli_select("all", &selection), 0);
    assert_true(selection.all);
    assert_int_equal(selection.choices, trv_algorithms_count() + 1);
    assert_true(selection.choice[selection.choices - 1].planned);
    assert_int_equal(cli_select("auto,planned", &selection), 0); /* the same in the tool */
    assert_true(selection.single && selection.choice[0].planned);
    assert_string_equal(selection.choice[0].label, "planned");
    assert_int_equal(cli_select("hybrid:3,hybrid:1:sequential", &selection), 0);
    assert_int_equal(selection.choices, 2);
    assert_string_equal(cli_member_name(&selection.choice[1], 0), "hybrid:1:sequential");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (cli_select(bad[i], &selection) != TRV_ERR_ARGUMENT)
            fail_msg("'%s' was accepted", bad[i]);
    assert_int_equal(cli_select("trivanse-b", &selection), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "did you mean trivance-b?"));
    assert_int_equal(cli_select("hybird:4", &selection), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "did you mean hybrid?"));
    assert_int_equal(cli_select("ring:4", &selection), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "ring takes no parameters"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),     cmocka_unit_test(test_byte_lists), cmocka_unit_test(test_times_and_rates),
        cmocka_unit_test(test_integers),  cmocka_unit_test(test_formats),    cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_selection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
