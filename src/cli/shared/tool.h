/*
 * Exit codes and messages of the subcommands of `trivance`.
 *
 * A subcommand is `int cli_<name>(int argc, char **argv)`, argv[0] being its own name; it returns the exit code.
 * Results go to stdout, everything else to stderr. A failure is one sentence, "trivance <name>: …".
 */
#ifndef TRIVANCE_CLI_SHARED_TOOL_H
#define TRIVANCE_CLI_SHARED_TOOL_H

#include <stdbool.h>
#include <stdio.h>

enum {
    CLI_OK = 0,
    CLI_WRONG = 1,        /* the tool worked, and the answer is no: a schedule that is not what it claims */
    CLI_BAD = 2,          /* bad input, or a failure of the machine */
    CLI_INTERRUPTED = 130 /* SIGINT ended the work */
};

/* Prints "trivance <command>: <sentence>" to stderr and returns CLI_BAD. */
int cli_bad(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with the sentence of the last failure. */
int cli_bad_last(const char *command);
/* The exit code of a command that ended with `rc`, 0, CLI_WRONG or an error: after the sentence where it is not 0. */
int cli_finish(const char *command, int rc);

/* Prints "trivance <command>: warning: <sentence>" to stderr. */
void cli_warn(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Makes a folder and those above it, where they are missing. */
int cli_make_folder(const char *path);

/* Whether stdout, or stderr, is a terminal that understands colours (NO_COLOR and TERM=dumb are respected). */
bool cli_stdout_is_terminal(void);
bool cli_stderr_is_terminal(void);
/* The columns of what reads stdout: COLUMNS, or those of the terminal, or `otherwise`. */
int cli_stdout_columns(int otherwise);
/* Whether the locale prints UTF-8. */
bool cli_utf8(void);
/* Prints a text of ours, with ... for what only UTF-8 has. */
void cli_print_text(FILE *out, const char *text);

/* rc; where memory was short the sentence says for what. */
int cli_memory_for(int rc, const char *what);

#endif
