/*
 * Helpers of the tests of trivance sweep: paths of result files in the test's folder, runs of the tool, and
 * expectations.
 */
#ifndef TRIVANCE_TESTS_SWEEP_TOOL_H
#define TRIVANCE_TESTS_SWEEP_TOOL_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tool.h"

static char path[512]; /* of a result file in this test's folder */

static inline const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", tool_folder(), name);
    return path;
}

static inline tool_t sweep(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline tool_t sweep(const char *format, ...)
{
    char line[1024] = "sweep ";
    va_list test_arguments;
    va_start(test_arguments, format);
    vsnprintf(line + 6, sizeof line - 6, format, test_arguments);
    va_end(test_arguments);
    return tool_run(line, NULL);
}

static inline void expect_code(tool_t tool, int code, const char *words)
{
    if (tool.code != code || (words && !strstr(tool.err, words)))
        fail_msg("exit code %d, not %d, or not '%s':\n%s%s", tool.code, code, words ? words : "", tool.out, tool.err);
    tool_clear(&tool);
}

#endif
