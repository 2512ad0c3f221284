/*
 * Grids of simulations, the progress bar, and trivance sweep as users run it: lists and ranges, formats, descriptions,
 * and one sentence for every kind of bad input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <trivance/common.h>

#include "cli/shared/progress.h"
#include "cli/sweep/sweep.h"
#include "base/error.h"
#include "sweep_tool.h"

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void expect_values(const char *list, const char *expected)
{
    cli_values_t values = {0};
    char result[512] = "";
    assert_int_equal(cli_values_read(&values, "test", list, true), TRV_OK);
    for (int i = 0; i < values.count; i++) {
        size_t used = strlen(result);
        snprintf(result + used, sizeof result - used, "%s%s", i ? " " : "", values.text[i]);
    }
    assert_string_equal(result, expected);
    cli_values_clear(&values);
}

static void test_values(void **state)
{
    (void)state;
    expect_values("1K:8K", "1024 2048 4096 8192");
    expect_values("1K:64M:x16", "1024 16384 262144 4194304 67108864");
    expect_values("1K:3K:2", "1024 2048 3072");
    expect_values("1:4:x1.5,3", "1 2 3 4");
    expect_values("1us:3us:+500ns", "1000ns 1500ns 2000ns 2500ns 3000ns");
    expect_values("0ns:0.3us:+0.1us", "0ns 100ns 200ns 300ns");
    expect_values("200Gb/s:1.6Tb/s:x2,25GB/s", "200000000000b/s 400000000000b/s 800000000000b/s 1600000000000b/s");
    expect_values("0%:14%:+7%", "0% 7% 14%");
    expect_values("0.5us,500ns,1500ns,1.5us", "500ns 1500ns");
    expect_values("fifo,dateline,fifo", "fifo dateline");
    expect_values("1G", "1073741824");
    expect_values("1125899906842624", "1125899906842624");
    expect_values("7:7", "7");
}

static void test_no_values(void **state)
{
    static const char *const bad[] = {"",         "1,,2",     "1:",        ":2",          "8:4",    "1K:64M:x1",
                                      "1K:64M:x", "1K:64M:+", "1K:64M:+0", "1K:64M:+1us", "1us:64", "0:8:x2",
                                      "1:2:3:4",  "a:b",      "1:8:-1",    "1:100000:+1"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cli_values_t values = {0};
        if (cli_values_read(&values, "test", bad[i], true) != TRV_ERR_ARGUMENT)
            fail_msg("'%s' is taken", bad[i]);
        cli_values_clear(&values);
    }
}

/* ---- The progress bar -------------------------------------------------------------------------------------------- */

/* On a pseudo-terminal, after the first two seconds, in which nothing is shown. */
static void test_progress(void **state)
{
    cli_progress_t progress;
    char text[4096] = "";
    int terminal = posix_openpt(O_RDWR | O_NOCTTY), saved = dup(STDERR_FILENO);
    (void)state;
    assert_true(terminal >= 0 && saved >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    int slave = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    dup2(slave, STDERR_FILENO);
    const trv_span_t all = cli_progress_begin(&progress, "half done", 10);
    cli_progress_step(&progress, 4);
    nanosleep(&(struct timespec){2, 100000000}, NULL);
    assert_int_equal(trv_span_report(all, 0.5), TRV_OK);
    cli_progress_end(&progress);
    cli_progress_step(&progress, 5); /* too late, but harmless */
    dup2(saved, STDERR_FILENO);
    close(slave);
    size_t length = 0;
    ssize_t more;
    while (length < sizeof text - 1 && (more = read(terminal, text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)more;
    close(terminal);
    close(saved);
    assert_true(length > 0);
    assert_non_null(strstr(text, "half done [####################....................]  50 %, "));
    assert_non_null(strstr(text, " s left"));
    assert_string_equal(text + length - 4, "\r\033[K");
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static void test_bad_input(void **state)
{
    static const struct {
        const char *line, *words;
    } bad[] = {
        {"", "no torus is given; give at least one"},
        {"8x8", "a torus is given as --torus=8x8"},
        {"/nonexistent/grid.json", "the file '/nonexistent/grid.json' cannot be read"},
        {"a.json b.json", "two files"},
        {"--tours=8", "did you mean --torus?"},
        {"--torus=8y8", "is not a torus"},
        {"--torus=8,,9", "empty entry"},
        {"--torus=8 -a trivanse", "did you mean trivance?"},
        {"--torus=8 -b 0", "at least 1 byte"},
        {"--torus=8 -b 1K:64M:y4", "is not a range"},
        {"--torus=8 -b 1M:1K", "bytes: the range '1M:1K' begins above its end"},
        {"--torus=8 --alpha=0us:1us", "alpha: the range '0us:1us' begins at 0"},
        {"--torus=8 -b 1K --plot=x.svg", "--plot draws times over several sizes"},
        {"--torus=8 -b 1K --plot=x.svg --dry-run", "--plot draws times over several sizes"},
        {"--torus=8,9 --plot=x.svg", "--plot draws algorithms and sizes for a single torus; here there are 2"},
        {"--torus=8 --plot=x.pdf", "must end in .svg"},
        {"--torus=8 -c barrier", "no collective 'barrier'"},
        {"--torus=8 -c allreduce,broadcast --root=0,3", "allreduce has no root; leave out --root"},
        {"--torus=8 -c broadcast --root=8", "there is no root 8 among 8 ranks; roots are 0 to 7"},
        {"--torus=8 -c broadcast --root=x", "--root"},
        {"--torus=8 --bandwidth=800", "bandwidth: '800' is not a rate"},
        {"--torus=8 --bandwidth=0Gb/s", "is not a rate"},
        {"--torus=8 --alpha=1us,1.5", "alpha: '1.5' is not a time"},
        {"--torus=8 --packet=1", "from 256 B to 1 MiB"},
        {"--torus=8 --packet=64K --buffer=8K --model=dateline", "does not fit in a buffer"},
        {"--torus=8 --slow-rank=9:2x", "there is no rank 9"},
        {"--torus=8 -f xml", "no format 'xml'"},
        {"--torus=8 -f csv -o out.csv", "--format is for stdout"},
        {"--torus=8 --restart", "--restart requires --output"},
        {"--torus=8 -o out.txt", "must end in .csv or .jsonl"},
        {"--torus=8 -o /nonexistent/out.csv", "'/nonexistent/out.csv' cannot be written: No such file"},
        {"--torus=8 -j 0", "--workers"},
        {"--torus=1:10000:+1 --bytes=1:10000:+1 --seed=0:9999:+1 -a ring",
         "1,000,000,000,000 points (10000 tori × 10000 sizes × 10000 values of seed); add --yes"},
        {"--torus=1:10000:+1 --bytes=1:10000:+1 --seed=0:9999:+1 --alpha=1ns:9us:+1ns --gamma=1ns:9us:+1ns --yes",
         "more than 2^62 points"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tool_t tool = sweep("%s", bad[i].line);
        char *end = strchr(tool.err, '\n');
        if (tool.code != 2 || tool.out[0] || strncmp(tool.err, "trivance sweep: ", 16) != 0 ||
            !strstr(tool.err, bad[i].words) || !end || end[1])
            fail_msg("sweep %s\nexit code %d, '%s' on stdout, on stderr\n%snot one line with: %s", bad[i].line,
                     tool.code, tool.out, tool.err, bad[i].words);
        tool_clear(&tool);
    }
}

/* The four output formats of a grid have the same rows. */
static void test_formats(void **state)
{
    static const char grid[] = "--torus=3x3,8 -a ring,trivance -b 64,1M --alpha=1us,1.5us";
    static const char keys[] = "torus,algorithm,bytes,model,delivery,bandwidth_bps,nic_bandwidth_bps,alpha_ns,"
                               "link_latency_ns,host_latency_ns,router_in_ns,router_out_ns,packet,time_ns,packet_hops,"
                               "wall_s,chosen_for,error";
    char line[256], *manual = tool_read_file(TRIVANCE_MAN "/trivance-sweep.1");
    (void)state;
    tool_t csv = sweep("%s -j 1 -f csv", grid), table = sweep("%s", grid);
    assert_int_equal(csv.code, 0);
    assert_int_equal(strncmp(csv.out, keys, strlen(keys)), 0);
    assert_non_null(
        strstr(csv.out, "\n8,trivance-l,64,fifo,head,800000000000,12800000000000,1500,100,100,50,50,8192,4"));
    assert_non_null(strstr(csv.out, "\n3x3,ring,64,fifo,head,800000000000,12800000000000,1000,100,100,50,50,8192,,,,"
                                    "ring,\"ring supports only rings, "));
    /* A table has the order of the grid. */
    assert_int_equal(table.code, 0);
    char *first = strstr(table.out, "\n3x3  "), *last = strrchr(table.out, '\n');
    assert_true(first && strstr(first, "\n8 ") && last);
    assert_null(strstr(strstr(first, "\n8 "), "\n3x3 "));
    snprintf(line, sizeof line, "sweep %s -j 1 -f json", grid);
    json_t *array = tool_json(line), *value;
    char *rest = csv.out, *row = strtok_r(rest, "\n", &rest);
    const char *key;
    assert_int_equal(json_array_size(array), 16);
    json_object_foreach(json_array_get(array, 0), key, value) if (!strstr(manual, key))
        fail_msg("the key %s is not in the man page", key);
    tool_t lines = sweep("%s -j 1 -o %s", grid, in_folder("formats.jsonl"));
    assert_int_equal(lines.code, 0);
    assert_non_null(strstr(lines.out, "all 16 points, 16 new, 4 with an error"));
    char *text = tool_read_file(path), *lines_rest = text;
    for (size_t i = 0; i < 16; i++) {
        json_t *object = json_loads(strtok_r(lines_rest, "\n", &lines_rest), 0, NULL);
        json_object_del(object, "wall_s");
        json_object_del(json_array_get(array, i), "wall_s");
        assert_true(json_equal(object, json_array_get(array, i)));
        row = strtok_r(rest, "\n", &rest);
        assert_non_null(row);
        if (json_is_real(json_object_get(object, "time_ns"))) {
            char number[64];
            snprintf(number, sizeof number, ",%.3f,", json_real_value(json_object_get(object, "time_ns")));
            assert_non_null(strstr(row, number));
        }
        json_decref(object);
    }
    free(text);
    free(manual);
    json_decref(array);
    tool_clear(&csv);
    tool_clear(&table);
    tool_clear(&lines);
}

/* A description in a file yields the same grid; options override its keys. */
static void test_description(void **state)
{
    static const char grid[] = "{\"torus\": [8, \"3x3\"], \"algorithm\": \"trivance,ring\", \"bytes\": [64, \"1K:2K\"],"
                               " \"jitter\": [\"0%\", \"10%\"], \"seed\": 3}";
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"{\"torus\": 8, \"bandwith\": 1}", "did you mean bandwidth?"},
        {"{\"torus\": 8, \"zzzzzzzz\": 1}", "there is no key 'zzzzzzzz'"},
        {"{\"torus\": []}", "the list of the key torus is empty"},
        {"{\"torus\": {\"a\": 8}}", "the key torus takes a string"},
        {"{\"torus\": 8, \"narrow\": 0}", "the key narrow is now called shared-paths"},
        {"{\"torus\": 8, \"torus\": 9}", "duplicate"},
        {"[8]", "is not a JSON object"},
        {"{\"torus\": [\"8\",\n\"8y8\"]}", "grid.json:2:"},
        {"{\"torus\": 8, \"alpha\": \"3x\"}", "--alpha: '3x' is not a time"},
        {"{\"torus\": 8", "grid.json:1:11: not valid JSON"},
        {"{\"torus\": 8, \"alpha\": 1.5}", "'1.5' is not a time"},
    };
    char file[512];
    (void)state;
    snprintf(file, sizeof file, "%s", in_folder("grid.json"));
    tool_write_file(file, grid, 0600);
    tool_t described = sweep("%s -f csv -j 1 -b 64", file);
    tool_t typed = sweep("--torus=8,3x3 -a trivance --algorithm=ring -b 64 --jitter=0%%,10%% --seed=3 -f csv -j 1");
    assert_int_equal(described.code, 0);
    assert_int_equal(typed.code, 0);
    assert_int_equal(strcspn(described.out, "\n"), strcspn(typed.out, "\n"));
    assert_int_equal(strncmp(described.out, typed.out, strcspn(typed.out, "\n")), 0);
    tool_clear(&described);
    tool_clear(&typed);
    tool_t all = sweep("%s -o %s", file, in_folder("described.csv"));
    assert_non_null(strstr(all.out, "has all 24 points"));
    expect_code(all, 0, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tool_write_file(file, bad[i].text, 0600);
        expect_code(sweep("%s", file), 2, bad[i].words);
    }
}

/* Cut links, and parameters that exclude each other, yield rows that state so instead of numbers. */
static void test_rows_without_numbers(void **state)
{
    (void)state;
    json_t *array = tool_json("sweep --torus=4x4 -a star -b 1K --slow-link=none,1:-0:2x,1:-0:down --packet=1K,64K "
                              "--buffer=0,8K --model=dateline -j 1 -f json"),
           *row;
    size_t i, errors = 0, unfit = 0;
    assert_int_equal(json_array_size(array), 12);
    json_array_foreach(array, i, row)
    {
        const char *error = json_string_value(json_object_get(row, "error"));
        const char *link = json_string_value(json_object_get(row, "slow_link"));
        bool down = strcmp(link, "1:-0:down") == 0, fits = json_integer_value(json_object_get(row, "packet")) == 1024 ||
                                                           json_integer_value(json_object_get(row, "buffer")) == 0;
        assert_int_equal(error != NULL, down || !fits);
        assert_int_equal(json_is_null(json_object_get(row, "time_ns")), error != NULL);
        errors += error != NULL;
        unfit += error && strstr(error, "does not fit in a buffer");
    }
    assert_int_equal(errors, 6);
    assert_int_equal(unfit, 3);
    json_decref(array);
}

/* Algorithms that were not selected by name cause no error on a torus that they do not support, and the sweep
 * reports them: at both sizes ring on 8x8, and line-l and line-b, which are for meshes, and the eleven algorithms that
 * have no AllReduce on both tori. */
static void test_left_out(void **state)
{
    (void)state;
    tool_t all = sweep("--torus=8x8,8 -b 64,1K -f csv"), named = sweep("--torus=8x8,8 -b 64,1K -a ring -f csv");
    assert_null(strstr(all.out, ",ring,\"ring supports"));
    assert_non_null(strstr(all.out, "\n8,ring,64,"));
    assert_non_null(strstr(all.err, "trivance sweep: 54 of "));
    assert_non_null(strstr(named.out, "\n8x8,ring,64,fifo,head,800000000000,12800000000000,1500,100,100,50,50,8192,,,,"
                                      "ring,\"ring supports"));
    assert_string_equal(named.err, "");
    expect_code(all, 0, NULL);
    expect_code(named, 0, NULL);
}

/* On a line the root matters: from its middle a broadcast has half as far to go. Without other roots than 0 there is no
 * column. */
static void test_roots(void **state)
{
    (void)state;
    tool_t roots = sweep("--torus=9m -a trivance-tree -c broadcast --root=0,4 -b 1K -f csv");
    tool_t first = sweep("--torus=9m -a trivance-tree -c broadcast --root=0 -b 1K -f csv");
    const char *row[2] = {strstr(roots.out, "\n9m,trivance-tree,1024,broadcast,0,fifo"),
                          strstr(roots.out, "\n9m,trivance-tree,1024,broadcast,4,fifo")};
    double time_ns[2];
    for (int i = 0; i < 2; i++) {
        assert_non_null(row[i]);
        assert_int_equal(sscanf(strstr(row[i], ",8192,"), ",8192,%lf,", &time_ns[i]), 1);
    }
    assert_true(time_ns[1] < time_ns[0]);
    assert_null(strstr(first.out, "root"));
    assert_non_null(strstr(first.out, "\n9m,trivance-tree,1024,broadcast,fifo,"));
    expect_code(roots, 0, NULL);
    expect_code(first, 0, NULL);
}

/* A sweep that yields only errors is not reported as successful, however often it is resumed. */
static void test_errors_only(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        expect_code(sweep("--torus=8x8 -b 64,1K -a ring -o %s", in_folder("errors.csv")), 1, "no point has a result");
    expect_code(sweep("--torus=8x8 --torus=8 -b 64,1K -a ring -o %s", path), 0, NULL);
    expect_code(sweep("--torus=8x8 -b 64 -a ring -f json"), 1, "no point has a result");
}

static void test_dry_run(void **state)
{
    static const char grid[] = "--torus=8x8,8 -b 64,1K --alpha=1us,2us --dry-run";
    (void)state;
    tool_t tool = sweep("%s -a ring,trivance -o %s", grid, in_folder("dry.csv"));
    assert_non_null(strstr(tool.out, "16 points (2 tori × 2 algorithms × 2 sizes × 2 values of alpha)\n"));
    assert_int_equal(access(path, F_OK), -1);
    expect_code(tool, 0, NULL);
    tool = sweep("%s", grid);
    assert_non_null(strstr(tool.out, ", minus 108 whose algorithm"));
    expect_code(tool, 0, NULL);
    tool = sweep("%s -a ring,trivance --seed=1:10000:+1", grid);
    assert_non_null(strstr(tool.out, "160000 points"));
    expect_code(tool, 0, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_no_values),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_description),
        cmocka_unit_test(test_rows_without_numbers),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_errors_only),
        cmocka_unit_test(test_dry_run),
        cmocka_unit_test(test_roots),
    };
    return cmocka_run_group_tests(tests, NULL, tool_remove_folder);
}
