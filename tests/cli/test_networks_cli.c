/*
 * Networks in the tool: slow and cut links in all subcommands that take a torus, and the error sentences for wrong
 * ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exhaustive.h"
#include "tool.h"

static void expect(const char *line, int code, const char *words)
{
    tool_t tool = tool_run(line, NULL);
    if (tool.code != code || !strstr(tool.out, words))
        fail_msg("trivance %s: exit code %d, without '%s':\n%s%s", line, tool.code, words, tool.out, tool.err);
    tool_clear(&tool);
}

static void expect_without(const char *line, const char *words)
{
    tool_t tool = tool_run(line, NULL);
    if (tool.code != 0 || strstr(tool.out, words))
        fail_msg("trivance %s: exit code %d, or '%s' in:\n%s%s", line, tool.code, words, tool.out, tool.err);
    tool_clear(&tool);
}

/* Returns the time in the only row, from the simulator or the cost model. */
static double time_of(const char *line)
{
    json_t *rows = tool_json(line);
    assert_int_equal(json_array_size(rows), 1);
    const double time_ns = json_real_value(json_object_get(json_array_get(rows, 0), "time_ns"));
    json_decref(rows);
    return time_ns;
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static void test_bad_links(void **state)
{
    static const struct {
        const char *options, *words;
    } bad[] = {
        {"9 --cut=9:+0", "--cut: no link leaves rank 9: the ranks of 9 are 0 to 8"},
        {"9 --cut=0:+1", "--cut: no link leaves rank 0 by port +1: 9 has fewer dimensions"},
        {"9x1 --cut=0:-1", "--cut: no link leaves rank 0 by port -1: 9x1 has one rank along that dimension"},
        {"8m --cut=7:+0", "--cut: no link leaves rank 7 by port +0: it is the last of its line on 8m"},
        {"3x8m --slow-link=8:-1:2x",
         "--slow-link: no link leaves rank 8 by port -1: it is the last of its line on 3x8m"},
        {"9 --cut=0", "'0' is not a rank and a port, for example 3:+0, or 3:+0:one-way"},
        {"9 --cut=0:+0:both", "is not a rank and a port, for example 3:+0, or 3:+0:one-way for one direction only"},
        {"9 --cut=0:0", "'0' is not a port"},
        {"9 --cut=-1:+0", "--cut: '-1' is not a rank; expected a rank and a port"},
        {"9 --slow-link=x:+0:2x", "--slow-link: 'x' is not a rank; expected a rank, a port and a factor"},
        {"9 --cut=0:+0 --cut=1:-0",
         "--cut: the link 1:-0 is already cut by --cut=0:+0, which cuts both directions; leave one out"},
        {"9 --slow-link=1:-0:2x --cut=0:+0", "--cut: the link 1:-0 is already slow by --slow-link=1:-0; leave one out"},
        {"9 --cut=0:+0:one-way --slow-link=0:+0:4x", "--slow-link: the link 0:+0 is already cut by --cut=0:+0; leave"},
        {"9 --slow-link=0:+0:0x", "'0x' is not a factor"},
        {"9 --slow-link=0:+0:-2x", "'-2x' is not a factor"},
        {"9 --cut=0:+0 --cut=4:+0", "the cut links of 9 leave no route between the nodes 0 and 1"},
    };
    static const char *const command[] = {"plan -a trivance-b",   "plan --why",
                                          "cost -a trivance-b",   "simulate -a trivance-b -b 1K",
                                          "verify -a trivance-b", "export --format=goal"};
    (void)state;
    /* All subcommands share one parser: the first one is run with every line; the others alternate in the quick
     * tier. */
    const size_t commands = sizeof command / sizeof command[0];
    for (size_t c = 0; c < commands; c++)
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            char line[256];
            if (c > 0 && i % (commands - 1) != c - 1 && !exhaustive())
                continue;
            snprintf(line, sizeof line, "%s %s", command[c], bad[i].options);
            tool_expect_error(line, bad[i].words);
        }
    for (size_t c = 0; c < commands; c++)
        if (strstr(command[c], "-a trivance-b")) { /* spanning-trees, which the others find, needs no whole rows */
            char line[256];
            snprintf(line, sizeof line, "%s 3x8m --cut=9:+1", command[c]);
            tool_expect_error(line, "the cut divides the row of rank 8 along dimension 1 of 3x8m into two parts");
        }
    tool_expect_error("cost 9 3x3 --cut=0:+0", "--cut and --slow-link require a single torus");
    tool_expect_error("verify 9 3x3 --cut=0:+0", "--cut and --slow-link require a single torus");
    tool_expect_error("export --schedule=x.json --format=goal --cut=0:+0",
                      "a schedule file specifies its own torus and messages; leave out --cut, for example");
    tool_expect_error("cost --schedule=x.json --cut=0:+0", "a schedule file specifies its own torus and messages");
}

static void test_many_links(void **state)
{
    char line[2048] = "simulate 64x3 -a trivance-b -b 1K";
    (void)state;
    for (int i = 0; i < 64; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), " --slow-link=%d:+1:2x", i);
    expect(line, 0, "link 63:+1 2x");
    strcat(line, " --cut=64:+1");
    tool_expect_error(line, "there are more than 64 slow or cut links");
}

/* ---- Effects ----------------------------------------------------------------------------------------------------- */

/* A cut affects both directions unless one-way is given, and may be named from either side. */
static void test_cut(void **state)
{
    static const char *const alike[] = {"--cut=3:+0", "--cut=4:-0", "--slow-link=3:+0:down --slow-link=4:-0:down",
                                        "--cut=4:-0:one-way --cut=3:+0:one-way"};
    char line[256];
    (void)state;
    const double whole_ns = time_of("simulate 9 -a trivance-b -b 1M --model=fifo -f json");
    for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++) {
        snprintf(line, sizeof line, "simulate 9 -a trivance-b -b 1M --model=fifo -f json %s", alike[i]);
        const double cut_ns = time_of(line);
        snprintf(line, sizeof line, "simulate 9m -a trivance-b -b 1M --model=fifo -f json");
        assert_true(cut_ns > whole_ns);
        assert_float_equal(cut_ns, time_of(line), 0); /* a row with a cut anywhere is a line */
    }
    expect("simulate 9 -a ring -b 1K --cut=3:+0 --slow-link=0:+0:2x", 0, "link 3:+0 cut, link 0:+0 2x");
}

/* A schedule for rows that are opened at a cut is proved not to use the cut link; a schedule whose messages turn a
 * corner into the cut is reported as a fault. */
static void test_verify(void **state)
{
    (void)state;
    expect("verify 9 --cut=3:+0", 0, "trivance-l ");
    expect_without("verify 9 --cut=3:+0", "WRONG");
    expect_without("verify 4x4 -a trivance,ring,bucket,recdoub,swing,bruck,hybrid --cut=5:+1 --cut=2:+0", "WRONG");
    expect("verify 4x4 -a star --cut=1:-0:one-way", 1,
           "step 1 of stream 0: rank 3 sends to rank 13 over the link 1:-0, which is cut");
    expect("verify 4x4 -a star,planned --slow-link=1:-0:4x", 0, "exact"); /* which the plan depends on */
    expect("verify 9 -a hybrid:1@2 --slow-link=3:+0:4x", 0, "exact");     /* as this name does */
    expect("verify 9 -a spanning-trees --slow-link=3:+0:4x", 0, "exact");
    expect("export 9 -a trivance --format=goal --slow-link=3:+0:4x", 0, "num_ranks 9\n");   /* the fastest member */
    expect("verify 4x4 --cut=0:+0", 0, "step 1 of star needs the link 0:+0, which is cut"); /* not selected by name … */
    expect_without("verify 4x4 --cut=0:+0", "WRONG");
    expect("verify 4x4 -a star --cut=0:+0", 1, "WRONG"); /* … and selected */
    tool_expect_error("verify 9x9 -a ring --cut=40:+1", "not the torus 9x9m; use bucket (m: a dimension "
                                                        "that is used as lines, because a link is cut)");
    /* A file is verified as written, and on the whole ring it is right. */
    char path[256], line[512];
    snprintf(path, sizeof path, "%s/nine.json", tool_folder());
    snprintf(line, sizeof line, "plan 9 -a trivance-b -f json -o %s", path);
    expect(line, 0, "");
    snprintf(line, sizeof line, "verify --schedule=%s", path);
    expect(line, 0, "exact");
    snprintf(line, sizeof line, "verify --schedule=%s --cut=3:+0", path);
    expect(line, 1, "which is cut");
    snprintf(line, sizeof line, "simulate --schedule=%s --cut=3:+0", path);
    tool_expect_error(line, "needs the link 3:+0, which is cut");
    expect("verify 9 -a ring -f csv", 0, ",exact,true,9,18,288,exhaustive,");
    expect_without("verify 9 -a ring -f csv", " ms");
}

/* The bytes on a slow link count as a multiple by its factor; no message uses a cut link. Ring's 16 steps send a
 * ninth of half the vector each way: 1.5 us, and 466034 of 8388608 bits at 800 Gb/s, four times as long. */
static void test_cost(void **state)
{
    (void)state;
    const double plain_ns = time_of("cost 9 -a ring -b 1M -f json");
    assert_float_equal(time_of("cost 9 -a ring -b 1M -f json --slow-link=5:-0:4x") - 16 * 1500,
                       4 * (plain_ns - 16 * 1500), 1e-3);
    assert_float_equal(time_of("cost 9 -a trivance-b -b 1M -f json --cut=3:+0"),
                       time_of("cost 9m -a trivance-b -b 1M -f json"), 1e-9);
    tool_expect_error("cost 4x4 -a star -b 1K --cut=1:-0", "needs the link 1:-0, which is cut");
    expect_without("cost 4x4 -b 1K --cut=1:-0", "\nstar ");
    expect("cost 9 -a trivance-b -b 1K --cut=3:+0", 0, "AllReduce on a ring of 9 with a cut (9 ranks)");
    expect("cost 9 -a trivance-b -b 1K --slow-link=0:+0:1000000x", 0, "ns per hop, link 0:+0 1000000x\n");
    expect("cost 9 -a trivance-l -b 1K -f csv", 0, "1.000000,2.000000,4.000000,1.000000,2.000000,4.000000,4.500000,");
    expect("cost 9 -a trivance-l -b 1K -f csv --cut=3:+0", 0, "1.000000,2.000000,8.000000,,,,,"); /* not the paper's */
    expect("cost 9m -a trivance-l -b 1K -f csv", 0, "1.000000,2.000000,8.000000,,,,,");
    expect("cost 9m -a line -b 1K,1G", 0, "*l");
    expect("cost 9m -a line -b 1K,1G", 0, "*p\n");
}

/* Exported programs are routed around the cut, too. */
static void test_export(void **state)
{
    (void)state;
    tool_t whole = tool_run("export 9 -a trivance-b --format=goal", NULL);
    tool_t cut = tool_run("export 9 -a trivance-b --format=goal --cut=3:+0", NULL);
    assert_int_equal(whole.code | cut.code, 0);
    assert_non_null(strstr(whole.out, "send 21846b to 4 tag 0 nic 0")); /* from rank 3 over the link that is cut … */
    assert_non_null(strstr(cut.out, "send 21846b to 4 tag 0 nic 1"));   /* … and in the other direction */
    tool_clear(&whole);
    tool_clear(&cut);
    expect("export 9 -a planned --format=goal --cut=3:+0", 0, "num_ranks 9");
    tool_expect_error("export 4x4 -a star --format=goal --cut=1:-0",
                      "needs the link 1:-0, which is cut; --unchecked writes");
    tool_expect_error("export 4x4 -a star --format=mscclpp --cut=1:-0",
                      "needs the link 1:-0, which is cut; --unchecked writes");
    expect("export 4x4 -a star --format=goal --cut=1:-0 --unchecked", 0, "num_ranks 16");
    tool_t tool = tool_run("plan 4x4 -a star --cut=1:-0", NULL);
    assert_int_equal(tool.code, 0);
    assert_non_null(strstr(tool.err, "warning: a message of step 1 of star needs the link 1:-0, which is cut"));
    tool_clear(&tool);
    tool = tool_run("plan 4x4 -a trivance-b --cut=1:-0", NULL);
    assert_string_equal(tool.err, "");
    tool_clear(&tool);
}

static void test_lines(void **state)
{
    (void)state;
    expect("simulate 9 -a all -b 1K --cut=3:+0", 0, "\nline-l ");
    expect_without("simulate 9 -a all -b 1K", "\nline-l ");
}

/* ---- Plans and limits -------------------------------------------------------------------------------------------- */

static void test_why(void **state)
{
    (void)state;
    expect("plan 5 --cut=3:+0 -b 64K --why", 0, "\nlink 3:+0 is cut: its row is a line that begins at rank 4\n");
    expect("plan 3x3 --slow-link=4:-0:10x -b 64K --why --messages-per-port=unlimited", 0,
           "\nlink 4:-0 is 10 times as slow and avoided: its row is a line that begins at rank 4\n");
    expect("plan 9 --slow-link=3:+0:1.1x -b 32 --why", 0, "\nlink 3:+0 is 1.1 times as slow, and used\n");
}

/* 2 * 8 crossings of each byte, 18 links of 100 bytes/ns: in the Hockney model, ring is as fast except for its
 * steps. */
static void test_limit(void **state)
{
    (void)state;
    expect("cost 9 -a ring -b 900K --limit --alpha=0ns", 0,
           "all links 8.192 us): the fastest takes 1.000 times as long\n");
    expect(
        "simulate 9 -a trivance-l -b 32 --limit --model=fifo", 0,
        "32 B: limit 3.900 us, from the start-up (start-up 3.900 us; links around a set of ranks 0.000 us; all links "
        "0.000 us): the fastest takes 1.131 times as long\n"
        "reference, not a bound: 4.400 us (all steps and the longest route 4.400 us + transmission "
        "0.000 us): 1.003 times as long\n");
    expect("plan 9 -b 32 --limit", 0, "\nlimit 3.900 us, from the start-up (start-up 3.900 us; ");
    expect("plan 9 -b 32 --why --limit", 0, "\nlimit 3.900 us, from the start-up (start-up 3.900 us; ");
    expect("plan 9 -b 32 --limit --messages-per-port=unlimited", 0, "\nlimit 2.600 us, from the start-up (");
    expect("plan 9m -b 64M --limit", 0, ", from the links around a set of ranks (");
    expect(exhaustive() ? "plan 8x8 --all-sizes --limit" : "plan 4 --all-sizes --limit", 0,
           "\n/ limit: time of the plan divided by the lower bound");
    json_t *rows = tool_json(
        "simulate 9,9m -a trivance-l -b 512M --limit --model=fifo --delivery=tail --packet=1M -f json");
    const double ring_ns = json_real_value(json_object_get(json_array_get(rows, 0), "limit_ns"));
    const double line_ns = json_real_value(json_object_get(json_array_get(rows, 1), "limit_ns"));
    assert_float_equal(ring_ns / line_ns, 8 / 9., 1e-6);
    assert_true(json_real_value(json_object_get(json_array_get(rows, 1), "limit_ratio")) > 1);
    json_decref(rows);
    tool_expect_error("plan 9 --limit --nodes=0-3",
                      "--nodes selects plans for some nodes of a torus; leave out --limit");
    tool_expect_error("plan 9 --limit --format=json", "a schedule as svg or json has no --limit");
    tool_expect_error("cost --paper --limit", "leave out --limit, for example `trivance cost --paper --format=csv`");
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* A file contains its network: the schedule is proved and simulated like the one from which the file was written,
 * and writing it again yields the same file. */
static void test_file(void **state)
{
    static const char *const network[] = {"9 --cut=3:+0",
                                          "3x8m -a trivance-b",
                                          "4mx4m --slow-link=5:+1:2.5x",
                                          "9x9 --slow-link=40:-0:10x --bytes=1M",
                                          "4x4 --cut=5:+1 --slow-link=0:-0:3x",
                                          "1x8m",
                                          "8m"};
    char line[768], path[256], again[256];
    (void)state;
    snprintf(path, sizeof path, "%s/network.json", tool_folder());
    snprintf(again, sizeof again, "%s/again.json", tool_folder());
    for (size_t i = 0; i < sizeof network / sizeof network[0]; i += exhaustive() ? 1 : 2) {
        snprintf(line, sizeof line, "plan %s -f json -o %s", network[i], path);
        expect(line, 0, "");
        snprintf(line, sizeof line, "plan --schedule=%s -f json -o %s", path, again);
        expect(line, 0, "");
        char *first = tool_read_file(path), *second = tool_read_file(again);
        assert_string_equal(first, second);
        free(first);
        free(second);
        snprintf(line, sizeof line, "verify --schedule=%s", path);
        expect_without(line, "WRONG");
    }
    snprintf(line, sizeof line, "plan 9 -a trivance-b --cut=3:+0 --slow-link=0:+0:4x -b 1M -f json -o %s", path);
    expect(line, 0, "");
    snprintf(line, sizeof line, "simulate --schedule=%s --model=fifo -f json", path);
    assert_float_equal(time_of(line),
                       time_of("simulate 9 -a trivance-b --cut=3:+0 --slow-link=0:+0:4x -b 1M --model=fifo "
                               "-f json"),
                       0);
    snprintf(line, sizeof line, "cost --schedule=%s -f json", path);
    assert_float_equal(time_of(line), time_of("cost 9 -a trivance-b --cut=3:+0 --slow-link=0:+0:4x -b 1M -f json"), 0);
    snprintf(line, sizeof line, "simulate --schedule=%s -f csv", path);
    expect(line, 0, ",\"3:+0 down, 4:-0 down, 0:+0 4x\"\n");
    snprintf(line, sizeof line, "simulate --schedule=%s --cut=3:+0", path);
    tool_expect_error(line, "--cut: the link 3:+0 is already cut in the file; leave --cut out");
    snprintf(line, sizeof line, "simulate --schedule=%s --routes=fixed", path);
    tool_expect_error(
        line,
        "--routes=fixed applies only to algorithms: the messages of a file leave by the ports that the file names");
    snprintf(line, sizeof line, "plan 4x4 -a swing-b --routes=fixed -b 1M -f json -o %s", path);
    expect(line, 0, "");
    snprintf(line, sizeof line, "simulate --schedule=%s --model=fifo -f json", path);
    assert_float_equal(time_of(line), time_of("simulate 4x4 -a swing-b --routes=fixed -b 1M --model=fifo -f json"), 0);
}

/* A file whose messages use a link that the file itself declares cut is refused, and errors in the file are
 * reported. */
static void test_bad_file(void **state)
{
    static const struct {
        const char *network, *words;
    } bad[] = {
        {"\"links\": [{\"from\": 0, \"port\": \"+0\", \"down\": true}]",
         "which is cut; --unchecked accepts the file unverified"},
        {"\"wrap\": [true, false]",
         "\"wrap\" must be a list of true and false, one for each dimension, of which there is 1"},
        {"\"wrap\": [0]", "\"wrap\" must be a list of true and false"},
        {"\"wrap\": false", "\"wrap\" must be a list"},
        {"\"links\": {}", "\"links\" must be a list of at most 128 links"},
        {"\"links\": [3]", "a link must be an object"},
        {"\"links\": [{\"port\": \"+0\", \"factor\": 2}]", "from"},
        {"\"links\": [{\"from\": 0, \"port\": \"0\", \"factor\": 2}]", "the \"port\" of a link must be + or -"},
        {"\"links\": [{\"from\": 0, \"port\": \"+0\"}]", "either a \"factor\""},
        {"\"links\": [{\"from\": 0, \"port\": \"+0\", \"factor\": 2, \"down\": true}]", "either a \"factor\""},
        {"\"links\": [{\"from\": 0, \"port\": \"+0\", \"factor\": 0.5}]", "0.5"},
        {"\"links\": [{\"from\": 0, \"port\": \"+0\", \"factor\": 1e308}]", "1000000"},
        {"\"links\": [{\"from\": 3, \"port\": \"+0\", \"factor\": 2}]", "no link leaves rank 3"},
        {"\"wrap\": [false], \"links\": [{\"from\": 2, \"port\": \"+0\", \"factor\": 2}]", "the last of its line"},
        {"\"links\": [{\"from\": 0, \"port\": \"+0\", \"factor\": 2}, {\"from\": 0, \"port\": \"+0\", \"factor\": 3}]",
         "in \"links\" twice"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "{\"format\": \"trivance-schedule-1\", \"torus\": [3], %s, \"vector_bytes\": 4096, \"units\": 1, "
                 "\"registers\": 3, \"streams\": [{\"steps\": [["
                 "[0, 1, \"+0\", 4096, {\"into\": 1, \"blocks\": \"all\"}], [0, 2, \"-0\", 4096, {\"into\": 2, "
                 "\"blocks\": \"all\"}],"
                 "[1, 2, \"+0\", 4096, {\"into\": 1, \"blocks\": \"all\"}], [1, 0, \"-0\", 4096, {\"into\": 2, "
                 "\"blocks\": \"all\"}],"
                 "[2, 0, \"+0\", 4096, {\"into\": 1, \"blocks\": \"all\"}], [2, 1, \"-0\", 4096, {\"into\": 2, "
                 "\"blocks\": \"all\"}]"
                 "]], \"combines\": [[[0, 0, [1, 0, 2], \"all\"], [1, 0, [1, 0, 2], \"all\"], [2, 0, [1, 0, 2], "
                 "\"all\"]]]}]}",
                 bad[i].network);
        tool_t tool = tool_run("cost --schedule=-", text);
        if (tool.code != (i ? 2 : 1) || !strstr(tool.err, bad[i].words))
            fail_msg("%s: exit code %d: %s", bad[i].network, tool.code, tool.err);
        tool_clear(&tool);
    }
}

/* A schedule's name states the factor from which slow links are avoided, with or without parameters. */
static void test_avoided_links(void **state)
{
    static const char *const line = "simulate 9 --slow-link=3:+0:10x -b 1M --model=fifo --format=json -a ";
    char plain[128], alone[128];
    (void)state;
    snprintf(plain, sizeof plain, "%shybrid:3", line);
    snprintf(alone, sizeof alone, "%shybrid:3@4", line);
    assert_true(time_of(alone) < time_of(plain));
    expect("plan 9 -a trivance-b@4", 0, "trivance-b@4 on a ring of 9");
    tool_t tool = tool_run("plan 9 -a trivance-b@x", NULL);
    assert_int_equal(tool.code, 2);
    assert_non_null(strstr(tool.err, "expected a number greater than 1 after @"));
    tool_clear(&tool);
}

/* hybrid:1@10 avoids the slow link of 9 where the sender has a choice; shortest routes use it and take twice the
 * time. */
static void test_routes(void **state)
{
    static const char *const line = "--slow-link=0:+0:10x -b 8K --bandwidth=50Mb/s --model=fifo --format=json";
    char chosen[200], fixed[200], plan[200];
    (void)state;
    snprintf(chosen, sizeof chosen, "simulate 9 -a hybrid:1@10 %s --routes=chosen", line);
    snprintf(fixed, sizeof fixed, "simulate 9 -a hybrid:1@10 %s --routes=fixed", line);
    snprintf(plan, sizeof plan, "simulate 9 -a planned %s --routes=fixed", line);
    assert_true(time_of(fixed) > 2 * time_of(chosen));
    assert_true(time_of(plan) < time_of(fixed) / 1.5);
    expect("simulate 9 -a ring -b 1K --routes=fixed", 0, ", routes fixed");
    expect_without("simulate 9 -a ring -b 1K", "routes");
    expect("verify 8 -a all --routes=fixed", 0, "exhaustive");
    expect("plan 9 --slow-link=0:+0:10x -b 4K --routes=fixed --why", 0, "routes fixed");
    tool_expect_error("export --schedule=x.json --format=goal --routes=fixed",
                      "a schedule file specifies its own torus and messages");
    tool_expect_error("plan 9 --routes=short", "--routes: 'short' is neither chosen nor fixed; for example fixed");
}

/* If both directions share a path, traffic in both directions takes up to twice as long; it takes longer if
 * dimensions share one. */
static void test_shared_paths(void **state)
{
    static const char *const bucket = "simulate 9 -a bucket -b 16M --model=fifo --format=json",
                             *const line = "simulate 9m -a line-pipelined:4 -b 1M --model=fifo --format=json";
    char shared[200];
    (void)state;
    snprintf(shared, sizeof shared, "%s --shared-paths=0", bucket);
    const double ratio = time_of(shared) / time_of(bucket);
    assert_true(ratio > 1.6 && ratio < 2);
    snprintf(shared, sizeof shared, "%s --shared-paths=all", line);
    assert_true(time_of(shared) > time_of(line));
    assert_true(time_of("simulate 3x3 -a bucket -b 1M --model=fifo --format=json --shared-paths=one") >
                1.1 * time_of("simulate 3x3 -a bucket -b 1M --model=fifo --format=json --shared-paths=all"));
    expect("simulate 3x3x3 -a bucket -b 1K --shared-paths=0:2", 0, ", shared paths 0:2");
    expect("simulate 3x3 -a bucket -b 1K --shared-paths=one", 0, ", shared paths one");
    expect_without("simulate 9 -a ring -b 1K", "shared_paths");
    expect("plan 9 -b 64K --shared-paths=0 --why", 0, "shared paths 0");
    tool_expect_error("plan 9 --shared-paths=1", "the torus 9 has no dimension 1 for shared paths; its last one is 0");
    tool_expect_error("plan 9 --shared-paths=0:", "--shared-paths");
    tool_expect_error("plan 9 --shared-paths=x",
                      "'x' lists no dimensions; expected all, one, or dimensions separated by ':', for example 0:1");
    tool_expect_error("plan 9 --shared-paths=8", "lists no dimensions; expected all, one, or dimensions");
    tool_expect_error("plan 3x3 --shared-paths=-1", "lists no dimensions; expected all, one, or dimensions");
}

static void test_no_forwarding(void **state)
{
    static const char distance[] =
        "rank 0 sends to rank 3 over 3 links, but the network does not forward: a message may cross "
        "one link, to a neighbour";
    char path[256], line[400];
    (void)state;
    snprintf(path, sizeof path, "%s/hosts.json", tool_folder());
    tool_expect_error("simulate 9 -a trivance-l -b 8K --no-forwarding", distance);
    tool_expect_error("cost 9 -a trivance-l -b 8K --no-forwarding", distance);
    tool_expect_error(
        "export 9 -a trivance-l -b 8K --no-forwarding --format=goal",
        "relayed:NAME passes on the messages of the algorithm NAME; --unchecked writes the schedule nevertheless");
    expect("export 9 -a trivance-l -b 8K --no-forwarding --format=goal --unchecked", 0, "num_ranks 9");
    expect("verify 9 -a trivance-l --no-forwarding", 1, distance);
    expect("verify 9 -a relayed:trivance-l --no-forwarding", 0, "exact");
    expect("verify 5 3x4m -a all --no-forwarding", 0, "neighbour");
    expect("plan 5 --no-forwarding -b 48K --why", 0, "the network does not forward: only schedules whose messages all");
    expect("plan 9 --no-forwarding -b 1K", 0, "neighbour on a ring of 9 without forwarding: AllReduce");
    expect("plan 3x3 --no-forwarding -b 1K -f svg", 0, "the torus 3x3 without forwarding");
    expect("simulate 9 -a neighbour -b 1K --no-forwarding", 0, ", no forwarding");
    expect("plan 9 --no-forwarding=no -b 1K", 0, "trivance-l on a ring of 9: AllReduce");
    tool_expect_error("plan 9 --no-forwarding=maybe",
                      "--no-forwarding: 'maybe' is neither no nor yes; for example yes");
    snprintf(line, sizeof line, "plan 9 -a neighbour -b 8K --no-forwarding -f json -o %s", path);
    expect(line, 0, "");
    snprintf(line, sizeof line, "verify --schedule=%s", path);
    expect(line, 0, "exact");
    snprintf(line, sizeof line, "simulate --schedule=%s", path);
    expect(line, 0, ", no forwarding");
    snprintf(line, sizeof line, "plan 9 -a trivance-l -b 8K -f json -o %s", path);
    expect(line, 0, "");
    snprintf(line, sizeof line, "simulate --schedule=%s --no-forwarding", path);
    tool_expect_error(line, distance);
}

/* Errors in the key "forwarding" of a file, and a file whose messages contradict it. */
static void test_forwarding_in_files(void **state)
{
    char path[256], line[400];
    (void)state;
    snprintf(path, sizeof path, "%s/hosts.json", tool_folder());
    for (int wrong = 0; wrong < 2; wrong++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file,
                "{\"format\": \"trivance-schedule-1\", \"torus\": [5], \"vector_bytes\": 8, \"forwarding\": %s, "
                "\"streams\": [{\"steps\": [[[0, 2, \"+0\", 8]]]}]}",
                wrong ? "1" : "false");
        assert_int_equal(fclose(file), 0);
        snprintf(line, sizeof line, "simulate --schedule=%s -b 8", path);
        tool_expect_error(line, wrong ? "\"forwarding\" must be true or false"
                                      : "rank 0 sends to rank 2 over 2 links, but the network does not forward");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_links),     cmocka_unit_test(test_many_links),
        cmocka_unit_test(test_cut),           cmocka_unit_test(test_verify),
        cmocka_unit_test(test_cost),          cmocka_unit_test(test_export),
        cmocka_unit_test(test_lines),         cmocka_unit_test(test_why),
        cmocka_unit_test(test_limit),         cmocka_unit_test(test_file),
        cmocka_unit_test(test_bad_file),      cmocka_unit_test(test_avoided_links),
        cmocka_unit_test(test_routes),        cmocka_unit_test(test_shared_paths),
        cmocka_unit_test(test_no_forwarding), cmocka_unit_test(test_forwarding_in_files),
    };
    return cmocka_run_group_tests(tests, NULL, tool_remove_folder);
}
