/*
 * Helpers that run the tool from a test and return its exit code and output. A time limit prevents hangs.
 */
#ifndef TRIVANCE_TESTS_TOOL_H
#define TRIVANCE_TESTS_TOOL_H

#include <stdio.h>
#include <sys/types.h>

#include <jansson.h>

typedef struct tool {
    int code;        /* exit code; -1 if a signal ended it */
    char *out, *err; /* freed by tool_clear */
} tool_t;

/* Runs TRIVANCE_TOOL with the arguments of `line`, separated by spaces, without a shell, in a clean environment (C
 * locale, no launcher's variables). `input` (may be NULL) is its standard input. */
tool_t tool_run(const char *line, const char *input);
/* The same for another program and with additional NAME=VALUE settings (terminated by NULL). */
tool_t tool_run_as(const char *program, const char *line, const char *input, const char *const *setting);
void tool_clear(tool_t *tool);
/* Runs a command that must fail: exit code 2, nothing on stdout, one line on stderr that contains `words`. */
void tool_expect_error(const char *line, const char *words);

/* Starts the tool without input and output, with its messages going to `err`. The caller waits for the process. */
pid_t tool_start(const char *line, FILE *err);

/* Returns a folder that belongs to this test; tool_remove_folder, the group's teardown, removes it. */
const char *tool_folder(void);
int tool_remove_folder(void **state);
void tool_write_file(const char *path, const char *text, int mode);
char *tool_read_file(const char *path);

/* Runs the tool, expects exit code 0 and a JSON array, and returns the array. */
json_t *tool_json(const char *line);

/* Returns the text of a row, "" if it has none; its number, NAN if it has none. */
const char *tool_text(json_t *row, const char *key);
double tool_number(json_t *row, const char *key);
/* Returns the first row whose `key` is the text; the test fails if there is none. */
json_t *tool_row(json_t *rows, const char *key, const char *text);
/* Copies the plan of `trivance plan`, the first word of its output, to name. Returns the number of steps, the first
 * word of the second line. */
int tool_plan(const char *options, char name[64]);

#endif
