/*
 * The output of another program.
 */
#ifndef TRIVANCE_CLI_HOST_PROGRAM_OUTPUT_H
#define TRIVANCE_CLI_HOST_PROGRAM_OUTPUT_H

#include <stddef.h>

/* Runs a command with stdin and stderr at /dev/null, and returns the first `bytes_max` bytes of its output, which the
 * caller frees. A command that takes longer than `timeout_s` is killed, and its output so far is returned. NULL: it
 * could not be started. */
char *cli_program_output(char *const *command, size_t bytes_max, double timeout_s);

#endif
