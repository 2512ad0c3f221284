/*
 * Stars in the tool: drawings of chains that a user provides, and refused chains, each with one sentence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tool.h"

#define CHAIN "1.0/0.1/-1.0_2.1/0.2/2.-1"

static void test_chain(void **state)
{
    (void)state;
    static const struct {
        const char *line, *words;
    } good[] = {
        {"plan 4x4 -a star:l:" CHAIN,
         "star:l:" CHAIN " on the torus 4x4: AllReduce of 64 KiB\n2 steps, 4 streams; every "
         "contribution exactly once; the same bits on every rank"},
        {"plan 4x4 -a star::" CHAIN, "star::" CHAIN " on the torus 4x4: AllReduce of 64 KiB\n4 steps"},
        {"plan 4x4 -a star:1:" CHAIN, "star:1:" CHAIN " on the torus 4x4: AllReduce of 64 KiB\n3 steps"},
        {"verify 4x4 -a star:l:" CHAIN ",star:gathered", "exact    yes"},
        {"cost 4x4 -a star:l", "star:l"},
        {"simulate 4x4 -a star:l::1 -b 32", "star:l::1"},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        tool_t tool = tool_run(good[i].line, NULL);
        if (tool.code != 0 || !strstr(tool.out, good[i].words))
            fail_msg("trivance %s\nexit code %d\n%s%s\nnot with: %s", good[i].line, tool.code, tool.out, tool.err,
                     good[i].words);
        tool_clear(&tool);
    }
}

/* A route with a bend is one path with two lines. */
static void test_bends(void **state)
{
    (void)state;
    tool_t tool = tool_run("plan 4x4 -a star:l:" CHAIN ":1 -r 5 -f svg", NULL);
    assert_int_equal(tool.code, 0);
    int paths = 0, bends = 0;
    for (const char *path = tool.out; (path = strstr(path, "<path d=\"M")) != NULL; path++, paths++) {
        int lines = 0; /* since the last M */
        for (const char *at = path + strlen("<path d=\""); *at != '"' && *at != 'Z'; at++) {
            lines = *at == 'M' ? 0 : lines + (*at == 'L');
            bends += *at == 'L' && lines == 2;
        }
        const char *end = strchr(path + strlen("<path d=\""), '"');
        if (end[-1] == 'Z') /* an arrow's head, a triangle */
            bends--;
    }
    assert_true(paths > 12);
    assert_int_equal(bends, 2); /* of six messages, those to 2.1 and 2.-1 */
    tool_clear(&tool);
}

static void test_bad_input(void **state)
{
    static const struct {
        const char *line, *words;
    } bad[] = {
        {"plan 4x4 -a star:l:1.0/0.1/-1.0", "16"},
        {"plan 4x4 -a star:l:1.0/2.0/-1.0_0.1/0.2/0.-1", "share a port"},
        {"plan 4x4 -a star:l:1.0/0.1/-1.0_1.0/0.2/2.-1", "1.0 and 1.0 both lead to 1.0"},
        {"plan 4x4 -a star:l:1.0/0.1/-1.0_2.1.0/0.2/2.-1", "2.1.0"},
        {"plan 4x4 -a star:0:" CHAIN, "not a subgroup"},
        {"plan 4x4 -a star:x", "star:l"},
        {"plan 4x4 -a star:l:77", "0 to"},
        {"plan 7x11 -a star", "11"},
        {"plan 4x4 -a star:l -c allgather", "supports only AllReduce"},
        {"simulate 4x4 -a star:l:0:3 -b 1K", "has 1, 2 or 4 streams"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tool_t tool = tool_run(bad[i].line, NULL);
        char *end = strchr(tool.err, '\n');
        if (tool.code != 2 || tool.out[0] || !strstr(tool.err, bad[i].words) || !end || end[1])
            fail_msg("trivance %s\nexit code %d, '%s' on stdout, on stderr\n%snot one line with: %s", bad[i].line,
                     tool.code, tool.out, tool.err, bad[i].words);
        tool_clear(&tool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_bends),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, tool_remove_folder);
}
