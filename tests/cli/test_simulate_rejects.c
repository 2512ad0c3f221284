/*
 * trivance simulate with bad input: one sentence for every kind, and exit status 2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tool.h"

static void test_bad_input(void **state)
{
    static const struct {
        const char *line, *words;
    } bad[] = {
        {"", "give a torus"},
        {"9 --schedule=x.json", "specifies its own torus and messages; leave out the torus"},
        {"--schedule=/nonexistent.json", "/nonexistent.json"},
        {"--schedule=x.json -a ring", "a schedule file specifies its own torus"},
        {"9 --goal=/nonexistent.goal", "/nonexistent.goal"},
        {"9 3x3 --goal=x.goal", "--goal requires one torus"},
        {"9 --goal=x.goal -b 1K --trace=t.json", "its own sizes and no steps; leave out --bytes and --trace"},
        {"9 -b 0", "at least 1"},
        {"9 -b 8,,16", "empty entry"},
        {"9 -a trivanse", "did you mean trivance?"},
        {"3x3 -a ring", "ring cannot run: ring supports only rings"},
        {"9 -a trivance-l -c allgather", "supports only AllReduce"},
        {"4x4 -a star,ring -b 8 --slow-link=1:-0:down", "none of the list can run; star cannot run"},
        {"9 --links --format=csv", "--format=json"},
        {"9m -a trivance-l -b 1T --full",
         "is more than 524287 packets of 8192 bytes; use larger packets"}, /* refused immediately, without a warning */
        {"3x3 --collective=broadcast --bytes=1000T --bandwidth=100Gb/s", "none of the list can run"},
        {"3x3 --collective=alltoall --bytes=1000T -a planned",
         "the simulated time exceeds the simulator's limit of one hour"},
        {"9 -b 1K --plot=x.svg", "--plot draws the times of one torus over several sizes"},
        {"9 8 --plot=x.svg", "--plot draws the times of one torus over several sizes"},
        {"9 --plot=x.svg --links", "--plot draws the times of algorithms over the size, and prints them as `trivance "
                                   "sweep` does; leave out --links, for example `trivance simulate 8x8"},
        {"9 --model=ideal", "--model: 'ideal' is neither dateline nor fifo"},
        {"9 --delivery=body", "neither head nor tail"},
        {"9 --bandwidth=800", "bandwidth: '800' is not a rate"},
        {"9 --bandwidth=0Gb/s", "is not a rate"},
        {"9 --bandwidth=-1Gb/s", "is not a rate"},
        {"9 --nic-bandwidth=12.8", "is not a rate"},
        {"9 --alpha=1.5", "alpha: '1.5' is not a time"},
        {"9 --link-latency=100", "link-latency: '100' is not a time"},
        {"9 --host-latency=-1ns", "is not a time"},
        {"9 --host-latency=4000s", "at most 3600s"},
        {"9 --router-in=fast", "is not a time"},
        {"9 --gamma=0.01", "is not a time"},
        {"9 --message-overhead=1", "is not a time"},
        {"9 --part-overhead=1", "is not a time"},
        {"9 --gamma-start=1", "is not a time"},
        {"9 --gamma-small=1", "is not a time"},
        {"9 --injection=1", "is not a rate"},
        {"9 --network=tofu",
         "there is no network 'tofu'; expected one of paper, tofu-d-fjmpi, tofu-d, or the path of a file"},
        {"9 --network=./none.json", "none.json"},
        {"9 --packet=100", "from 256 B to 1 MiB"},
        {"9 --packet=2M", "from 256 B to 1 MiB"},
        {"9 --packet=16K --buffer=8K --model=dateline",
         "--buffer: a buffer of 8192 bytes cannot hold a packet of 16384 bytes"},
        {"9 --buffer=1M", "trivance simulate: --buffer: with one queue per link (fifo) "},
        {"9 --jitter=10", "is not a share"},
        {"9 --jitter=101%", "is not a share"},
        {"9 --seed=-1", "--seed: the value '-1' is not a whole number"},
        {"9 --slow-rank=9:2x", "--slow-rank: slow rank 9 does not exist; the ranks of 9 are 0 to 8"},
        {"9 --slow-rank=1", "for example 5:2x"},
        {"9 --slow-rank=1:2", "is not a factor"},
        {"9 --slow-rank=1:0.5x", "from 1x"},
        {"9 --slow-rank=1:2x --slow-rank=1:3x", "given twice"},
        {"9 --slow-link=9:+0:2x", "no link leaves rank 9"},
        {"9 --slow-link=0:+1:2x", "no link leaves rank 0 by port +1: 9 has fewer dimensions"},
        {"9x1 --slow-link=0:-1:2x", "9x1 has one rank along that dimension"},
        {"9 --slow-link=0:0:2x", "is not a port"},
        {"9 --slow-link=0:+0", "for example 0:+1:4x"},
        {"9 --slow-link=0:+0:up", "is not a factor"},
        {"9 --slow-link=0:+0:2x --slow-link=0:+0:down", "already slow by --slow-link=0:+0; leave one out"},
        {"9 --bandwith=1Gb/s", "did you mean --bandwidth?"},
        {"9 --trace=-", "one algorithm"},
        {"9 -a ring --trace=-", "name of a file"},
        {"9 -a ring -b 1,2 --trace=/nonexistent/x", "one size"},
        {"9 -a ring --trace=/nonexistent/x", "/nonexistent/x"},
        {"81 -a trivance-b --trace=/nonexistent/x", "at most 64 ranks"},
        {"9 -a trivance-b -b 1G --trace=/nonexistent/x", "events"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char line[256];
        snprintf(line, sizeof line, "simulate %s", bad[i].line);
        tool_t tool = tool_run(line, NULL);
        const char *end = strchr(tool.err, '\n');
        if (tool.code != 2 || tool.out[0] || strncmp(tool.err, "trivance simulate: ", 19) != 0 ||
            !strstr(tool.err, bad[i].words) || !end || end[1])
            fail_msg("trivance %s\nexit code %d, '%s' on stdout, on stderr\n%snot one line with: %s", line, tool.code,
                     tool.out, tool.err, bad[i].words);
        tool_clear(&tool);
    }
}

/* Errors in a file are reported before the simulation starts. */
static void test_bad_schedule(void **state)
{
    (void)state;
    tool_t tool = tool_run("simulate --schedule=-", "{\"format\": \"trivance-schedule-1\", \"torus\": [4], "
                                                    "\"vector_bytes\": 8, \"streams\": [{\"steps\": [[[0, 4, \"+0\", "
                                                    "8]]]}]}");
    assert_int_equal(tool.code, 2);
    assert_string_equal(tool.out, "");
    assert_non_null(strstr(tool.err, "from 0 to 3"));
    tool_clear(&tool);
}

/* Profiles that are not valid. */
static void test_profiles(void **state)
{
    static const char head[] = "{\"format\": \"trivance-network-1\", ";
    static const struct {
        const char *rest, *words;
    } bad[] = {
        {"\"parameters\": {}, \"paramters\": {}}", "there is no key \"paramters\""},
        {"\"parameters\": []}", "expected \"parameters\": {…}"},
        {"\"parameters\": {\"alpha\": {\"value\": 2, \"source\": \"x\"}}}",
         "\"alpha\": expected an object with two strings"},
        {"\"parameters\": {\"alpha\": {\"value\": \"2us\", \"source\": \"x\", \"foo\": 1}}}",
         "there is no key \"foo\""},
        {"\"parameters\": {\"alfa\": {\"value\": \"2us\", \"source\": \"x\"}}}", "no parameter 'alfa'"},
        {"\"parameters\": {\"cut\": {\"value\": \"3:+0\", \"source\": \"x\"}}}", "no part of a profile"},
        {"\"parameters\": {\"network\": {\"value\": \"paper\", \"source\": \"x\"}}}", "no parameter 'network'"},
    };
    char path[512], line[640], text[512];
    (void)state;
    snprintf(path, sizeof path, "%s/own.json", tool_folder());
    snprintf(line, sizeof line, "simulate 9 --network=%s", path);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(text, sizeof text, "%s%s", head, bad[i].rest);
        tool_write_file(path, text, 0600);
        tool_expect_error(line, bad[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_bad_schedule),
        cmocka_unit_test(test_profiles),
    };
    return cmocka_run_group_tests(tests, NULL, tool_remove_folder);
}
