/*
 * Output files. A regular file appears under its name only when it is complete: it is written as a temporary beside it,
 * then renamed, so that nothing is lost or half-written where something goes wrong. Links are followed, mode and owner
 * of what was there are kept, and what is read-only is refused. What is no regular file (a device, a FIFO) is written in
 * place. SIGINT, SIGTERM, SIGHUP, SIGQUIT and the limits' SIGXCPU and SIGXFSZ leave no temporary.
 */
#ifndef TRIVANCE_CLI_SHARED_OUTPUT_H
#define TRIVANCE_CLI_SHARED_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/shared/progress.h"

typedef struct cli_output {
    FILE *stream;
    char *path;              /* where links lead; NULL: stdout */
    char *temporary;         /* NULL: it is written in place */
    cli_progress_t progress; /* of writing, but to a terminal … */
    trv_span_t all;          /* … for writers that report it */
} cli_output_t;

/* Whether a path means stdout: NULL, "-", /dev/stdout and its other names in Linux. */
bool cli_output_is_stdout(const char *path);
/* TRV_ERR_ARGUMENT where the path, which does not mean stdout, is the regular file that stdout goes to: two outputs in
 * one file overwrite each other. cli_output_begin checks this, too. */
int cli_output_check(const char *path);

/* 0, or TRV_ERR_* with the sentence. */
int cli_output_begin(cli_output_t *output, const char *path);
/* Closes it. `code`: how making it went; where that is not 0, or writing failed, no new file is left behind. Returns it, or
 * else how writing went. */
int cli_output_end(cli_output_t *output, int code);
/* All of it in one: what `write` fails to write is not kept. */
int cli_output_write(const char *path, int (*write)(void *context, FILE *out), void *context);

#endif
