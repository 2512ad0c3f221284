/*
 * Help texts, man pages and option letters, which are generated from one table per subcommand, and completion in bash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/common.h>

#include "tool.h"

/* Every option that a help text shows is in the man page. The page is in mdoc, where "\\-" is a dash. */
static int compare_manual(const char *manual, const char *help)
{
    int options = 0;
    char option[64], shown[80];
    for (const char *at = help; (at = strstr(at, "\n  ")) != NULL; at++) {
        const char *name = at + 7; /* after "\n  -a, " */
        if (sscanf(name, "--%60[-a-z]", option) != 1 || strncmp(name, "--", 2) != 0)
            continue;
        snprintf(shown, sizeof shown, "Fl -%s", option);
        if (!strstr(manual, shown))
            fail_msg("--%s is not in the man page", option);
        options++;
    }
    return options;
}

enum { COMMANDS_MAX = 32 };
typedef char command_t[32];

/* Finds the subcommands, or those of `of` ("testbed "), that the help lists below `heading`; returns their number. */
static size_t list_commands(const char *of, const char *heading, command_t *command)
{
    char line[64];
    size_t count = 0;
    snprintf(line, sizeof line, "%s--help", of);
    tool_t tool = tool_run(line, NULL);
    const char *at = strstr(tool.out, heading);
    assert_non_null(at);
    for (at = strchr(at, '\n'); strncmp(at, "\n  ", 3) == 0; at = strchr(at + 1, '\n')) {
        char name[20];
        assert_true(count < COMMANDS_MAX);
        assert_int_equal(sscanf(at, " %19[a-z]", name), 1);
        snprintf(command[count++], sizeof *command, "%s%s", of, name);
    }
    tool_clear(&tool);
    return count;
}

static void test_help(void **state)
{
    command_t subcommand[COMMANDS_MAX + 1] = {""};
    const size_t count = 1 + list_commands("", "Subcommands:", subcommand + 1);
    (void)state;
    assert_true(count > 15);
    for (size_t i = 0; i < count; i++) {
        const char *name = subcommand[i];
        char line[64], path[4096];
        snprintf(line, sizeof line, "%.31s --help", name);
        tool_t tool = tool_run(line, NULL);
        snprintf(line, sizeof line, "%.31s -h", name);
        tool_t brief = tool_run(line, NULL);
        snprintf(line, sizeof line, "help %.31s", name);
        tool_t helped = tool_run(line, NULL);
        assert_int_equal(tool.code, 0);
        assert_string_equal(tool.err, "");
        assert_true(strncmp(tool.out, "Usage: ", 7) == 0);
        assert_non_null(strstr(tool.out, "Example"));
        assert_null(strstr(tool.out, "\xe2\x80\xa6")); /* the locale has no UTF-8 */
        assert_string_equal(tool.out, brief.out);
        assert_string_equal(tool.out, helped.out);
        assert_null(strstr(tool.out, " topology trivance ")); /* a usage line that follows a launcher */
        snprintf(path, sizeof path, TRIVANCE_MAN "/trivance%s%s.1", *name ? "-" : "", name);
        char *manual = tool_read_file(path);
        assert_true(i == 0 || compare_manual(manual, tool.out) >= 1);
        free(manual);
        tool_clear(&tool);
        tool_clear(&brief);
        tool_clear(&helped);
    }
    tool_t tool = tool_run("--version", NULL);
    assert_int_equal(tool.code, 0);
    assert_string_equal(tool.out, "trivance " TRV_VERSION "\n");
    tool_clear(&tool);
}

/* An option letter has the same meaning everywhere: over all subcommands it stands for one long name. */
static void test_letters(void **state)
{
    command_t command[2 * COMMANDS_MAX];
    size_t count = list_commands("", "Subcommands:", command);
    count += list_commands("testbed ", "Commands:", command + count);
    char name['z' + 1][64] = {""}, line[64];
    int letters = 0;
    (void)state;
    for (size_t i = 0; i < count; i++) {
        snprintf(line, sizeof line, "%s --help", command[i]);
        tool_t tool = tool_run(line, NULL);
        assert_int_equal(tool.code, 0);
        for (const char *at = tool.out; (at = strstr(at, "\n  -")) != NULL; at++) {
            char letter, option[64];
            if (sscanf(at, "\n  -%c, --%60[-a-z]", &letter, option) != 2)
                continue;
            char *known = name[(unsigned char)letter & 0x7f];
            if (*known && strcmp(known, option) != 0)
                fail_msg("%s: -%c is --%s, elsewhere it is --%s", command[i], letter, option, known);
            letters += !*known;
            strcpy(known, option);
        }
        tool_clear(&tool);
    }
    assert_true(count > 21 && letters >= 12);
}

/* Calls the completion script the way bash calls it. */
static void test_completion(void **state)
{
    static const char script[] = "source '" TRIVANCE_COMPLETION
                                 "'; COMP_WORDS=(trivance \"$@\"); COMP_CWORD=$#; _trivance 2> /dev/null; "
                                 "echo \"${COMPREPLY[*]}\"";
    static const struct {
        const char *words, *expected;
    } question[] = {
        {"ver", "verify\n"},
        {"plan --all", "--all-sizes\n"},
        {"plan --algorithm = swing", "swing-l swing-b\n"},
        {"cost -a ring,bruck-", "ring,bruck-l ring,bruck-b\n"},
        {"testbed up --b", "--bandwidth=\n"},
        {"verify -f j", "json\n"},
        {"run --topo", "--topology-file=\n"},
    };
    (void)state;
    FILE *file = fopen("completion.sh", "w");
    assert_non_null(file);
    fputs(script, file);
    fclose(file);
    for (size_t i = 0; i < sizeof question / sizeof question[0]; i++) {
        char command[1024], answer[256] = "";
        snprintf(command, sizeof command, "bash completion.sh %s", question[i].words);
        FILE *bash = popen(command, "r");
        assert_non_null(bash);
        assert_non_null(fgets(answer, sizeof answer, bash));
        assert_int_equal(pclose(bash), 0);
        assert_string_equal(answer, question[i].expected);
    }
    remove("completion.sh");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_letters),
        cmocka_unit_test(test_completion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
