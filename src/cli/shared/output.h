/*
 * Output files. A regular file appears under its name only when it is complete: it is written as a temporary beside it,
 * then renamed, so that a failure neither loses the old file nor leaves an incomplete one. Symbolic links are followed,
 * the mode and owner of an existing file are kept, and writing to a read-only file is an error. A device or FIFO is
 * written directly. The signals of cli_ending_signals remove the temporary.
 */
#ifndef TRIVANCE_CLI_SHARED_OUTPUT_H
#define TRIVANCE_CLI_SHARED_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/shared/progress.h"

/* The signals after which no temporary may remain: those that end the process and can be caught, except for errors of
 * the program. Ends with 0. */
#define CLI_ENDING_SIGNALS 7
extern const int cli_ending_signals[CLI_ENDING_SIGNALS + 1];

typedef struct cli_output {
    FILE *stream;
    char *path;              /* with links followed; NULL: stdout */
    char *temporary;         /* NULL: the file is written directly */
    cli_progress_t progress; /* of writing, unless to a terminal … */
    trv_span_t all;          /* … for writers that report it */
} cli_output_t;

/* Whether a path means stdout: NULL, "-", /dev/stdout and its other names in Linux. */
bool cli_output_is_stdout(const char *path);
/* Returns TRV_ERR_ARGUMENT if `path`, which does not mean stdout, is the regular file to which stdout is redirected:
 * two outputs in one file overwrite each other. cli_output_begin checks this, too. */
int cli_output_check(const char *path);

/* Opens the output. Returns 0, or TRV_ERR_* with an error message. */
int cli_output_begin(cli_output_t *output, const char *path);
/* Closes the output. `code` is the result of the code that wrote it: if it is not 0, or if writing failed, no new
 * file is left behind. Returns `code` if it is not 0, otherwise the result of writing. */
int cli_output_end(cli_output_t *output, int code);
/* Opens the output, calls `write` and closes it. If `write` fails, no new file is left behind. */
int cli_output_write(const char *path, int (*write)(void *context, FILE *out), void *context);

#endif
