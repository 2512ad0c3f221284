/*
 * Running the tool from a test: exit code, what it printed, and no way to hang for long.
 */
#ifndef TRIVANCE_TESTS_TOOL_H
#define TRIVANCE_TESTS_TOOL_H

#include <stdio.h>
#include <sys/types.h>

#include <jansson.h>

typedef struct tool {
    int code;        /* exit code; -1 if it was killed */
    char *out, *err; /* freed by tool_clear */
} tool_t;

/* Runs TRIVANCE_TOOL with the arguments of `line`, separated by spaces, through no shell, in a plain environment (C
 * locale, no launcher's variables). `input` (may be NULL) is its standard input. */
tool_t tool_run(const char *line, const char *input);
/* The same for another program and with additional NAME=VALUE settings (ended by NULL). */
tool_t tool_run_as(const char *program, const char *line, const char *input, const char *const *setting);
void tool_clear(tool_t *tool);
/* Runs what must be refused: exit code 2, nothing on stdout, one line on stderr that has `words`. */
void tool_refuses(const char *line, const char *words);

/* Starts the tool without input and output, its messages going to `err`, and leaves the waiting to the caller. */
pid_t tool_start(const char *line, FILE *err);

/* A folder of this test's own; tool_remove_folder, the group's teardown, removes it. */
const char *tool_folder(void);
int tool_remove_folder(void **state);
void tool_write_file(const char *path, const char *text, int mode);
char *tool_read_file(const char *path);

/* Runs the tool, expects exit code 0 and a JSON array; returns it. */
json_t *tool_json(const char *line);

#endif
