/*
 * Exit codes and messages of the subcommands of `trivance`.
 *
 * A subcommand is `int cli_<name>(int argc, char **argv)`, argv[0] being its own name; it returns the exit code.
 * Results go to stdout, everything else to stderr. An error message is one sentence, "trivance <name>: …".
 */
#ifndef TRIVANCE_CLI_SHARED_TOOL_H
#define TRIVANCE_CLI_SHARED_TOOL_H

#include <stdbool.h>
#include <stdio.h>

enum {
    CLI_OK = 0,
    CLI_WRONG = 1,        /* the tool worked, but the result is negative: a schedule lacks a claimed property */
    CLI_BAD = 2,          /* invalid input, or a system error */
    CLI_INTERRUPTED = 130 /* SIGINT ended the work */
};

/* Prints an error message, "trivance <command>: <sentence>", to stderr and returns CLI_BAD. */
int cli_bad(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with the last error message (trv_last_error). */
int cli_bad_last(const char *command);
/* Returns the exit code of a command that ended with `rc` (0, CLI_WRONG or an error code). Prints the last error
 * message unless `rc` is 0. */
int cli_finish(const char *command, int rc);

/* Prints "trivance <command>: warning: <sentence>" to stderr. */
void cli_warn(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same as a callback (trv_warn_t), whose context is the command, a const char *. */
void cli_warn_callback(void *command, const char *sentence);

/* Creates a folder and its parents, unless they exist. */
int cli_make_folder(const char *path);

/* Whether stdout, or stderr, is a terminal that understands colours (NO_COLOR and TERM=dumb are respected). */
bool cli_stdout_is_terminal(void);
bool cli_stderr_is_terminal(void);
/* The width of stdout in columns: COLUMNS, or that of the terminal, or `otherwise`. */
int cli_stdout_columns(int otherwise);
/* Whether the locale uses UTF-8. */
bool cli_utf8(void);
/* Prints a constant text of the tool; without UTF-8, "..." replaces the ellipsis. */
void cli_print_text(FILE *out, const char *text);

/* Returns rc; if it is TRV_ERR_MEMORY, sets an error message that names the purpose of the allocation. */
int cli_memory_for(int rc, const char *what);

#endif
