/*
 * What verify, cost and plan read alike: tori from the command line, or one schedule from a file.
 */
#ifndef TRIVANCE_TOOL_INPUT_H
#define TRIVANCE_TOOL_INPUT_H

#include <trivance/torus.h>

#include "export/schedule_file.h"

#define CLI_TORI_MAX 256

typedef struct cli_tori {
    int count;
    trv_torus_t torus[CLI_TORI_MAX];
} cli_tori_t;

/* Parses argv[first] … argv[argc - 1], each a torus or a comma-separated list of tori. */
int cli_read_tori(int argc, char **argv, int first, cli_tori_t *tori);

/* Reads a schedule file; warnings go to stderr as "trivance <command>: warning: …". */
int cli_read_schedule(const char *command, const char *path, trv_schedule_file_t *file);

#endif
