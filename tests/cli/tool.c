/*
 * Helpers that run the tool from a test.
 */
#include "tool.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ARGUMENTS_MAX 128
#define SECONDS_MAX   100

static char *read_stream(FILE *stream)
{
    fseek(stream, 0, SEEK_END);
    long length = ftell(stream);
    char *text = calloc((size_t)length + 1, 1);
    rewind(stream);
    if (text && fread(text, 1, (size_t)length, stream) != (size_t)length)
        text[0] = '\0';
    fclose(stream);
    return text;
}

static void set_environment(const char *const *setting)
{
    extern char **environ;
    static const char *const unset[] = {"OMPI_", "PMI_",     "PMIX_",     "HYDI_",   "MPI_", "LC_",
                                        "LANG",  "NO_COLOR", "TRIVANCE_", "COLUMNS", NULL};
    for (int i = 0; environ[i];) {
        char name[256];
        int drop = 0;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(environ[i], "="), environ[i]);
        for (int k = 0; unset[k]; k++)
            drop |= strncmp(name, unset[k], strlen(unset[k])) == 0;
        if (!drop || unsetenv(name) != 0)
            i++;
    }
    for (; setting && *setting; setting++)
        putenv((char *)(uintptr_t)*setting);
}

static void child(const char *program, const char *line, FILE *in, FILE *out, FILE *err, const char *const *setting)
{
    char *argument[ARGUMENTS_MAX + 2] = {(char *)(uintptr_t)program}, *words = strdup(line), *rest = words, *word;
    int count = 1;
    while (count < ARGUMENTS_MAX && (word = strtok_r(rest, " ", &rest)) != NULL)
        argument[count++] = word;
    set_environment(setting);
    dup2(fileno(in), STDIN_FILENO);
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    alarm(SECONDS_MAX);
    execv(program, argument);
    _exit(127);
}

tool_t tool_run_as(const char *program, const char *line, const char *input, const char *const *setting)
{
    FILE *in = tmpfile(), *out = tmpfile(), *err = tmpfile();
    int status = 0;
    assert_true(in && out && err);
    if (input)
        fputs(input, in);
    rewind(in);
    fflush(in);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        child(program, line, in, out, err, setting);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    fclose(in);
    tool_t tool = {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_stream(out), read_stream(err)};
    return tool;
}

pid_t tool_start(const char *line, FILE *err)
{
    FILE *nothing = fopen("/dev/null", "r+");
    assert_non_null(nothing);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        child(TRIVANCE_TOOL, line, nothing, nothing, err, NULL);
    fclose(nothing);
    return pid;
}

tool_t tool_run(const char *line, const char *input) { return tool_run_as(TRIVANCE_TOOL, line, input, NULL); }

void tool_clear(tool_t *tool)
{
    free(tool->out);
    free(tool->err);
}

void tool_expect_error(const char *line, const char *words)
{
    tool_t tool = tool_run(line, NULL);
    const char *end = strchr(tool.err, '\n');
    if (tool.code != 2 || tool.out[0] || strncmp(tool.err, "trivance", 8) != 0 || !strstr(tool.err, words) || !end ||
        end[1])
        fail_msg("trivance %s\nexit code %d, '%s' on stdout, on stderr\n%snot one line with: %s", line, tool.code,
                 tool.out, tool.err, words);
    tool_clear(&tool);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static char folder[256];

const char *tool_folder(void)
{
    const char *base = getenv("TMPDIR");
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s/trivance-test-XXXXXX", base && *base ? base : "/tmp");
        assert_non_null(mkdtemp(folder));
    }
    return folder;
}

int tool_remove_folder(void **state)
{
    (void)state;
    char command[300];
    if (folder[0]) {
        snprintf(command, sizeof command, "rm -r '%s'", folder);
        assert_int_equal(system(command), 0);
    }
    folder[0] = '\0';
    return 0;
}

void tool_write_file(const char *path, const char *text, int mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(path, (mode_t)mode), 0);
}

char *tool_read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s cannot be read", path);
    return read_stream(file);
}

json_t *tool_json(const char *line)
{
    json_error_t error;
    tool_t tool = tool_run(line, NULL);
    json_t *array = json_loads(tool.out, JSON_REJECT_DUPLICATES, &error);
    if (tool.code != 0 || !json_is_array(array))
        fail_msg("%s: exit code %d, %s\n%s", line, tool.code, tool.err, array ? "no array" : error.text);
    tool_clear(&tool);
    return array;
}

const char *tool_text(json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

double tool_number(json_t *row, const char *key)
{
    json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

json_t *tool_row(json_t *rows, const char *key, const char *text)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) if (strcmp(tool_text(row, key), text) == 0) return row;
    fail_msg("no row has %s %s", key, text);
    return NULL;
}

int tool_plan(const char *options, char name[64])
{
    char line[256];
    int steps;
    snprintf(line, sizeof line, "plan %s", options);
    tool_t tool = tool_run(line, NULL);
    if (tool.code != 0)
        fail_msg("%s: %s", line, tool.err);
    snprintf(name, 64, "%.*s", (int)strcspn(tool.out, " "), tool.out);
    assert_non_null(strstr(tool.out, "(planned: the fastest at this size)\n"));
    assert_int_equal(sscanf(strchr(tool.out, '\n'), "%d step", &steps), 1);
    tool_clear(&tool);
    return steps;
}
