/*
 * The command line of `trivance tune`, which trivance-mpi reads.
 */
#ifndef TRIVANCE_CLI_SHARED_TUNE_COMMAND_H
#define TRIVANCE_CLI_SHARED_TUNE_COMMAND_H

#include "cli/shared/command.h"

extern const cli_command_t cli_tune_command;

enum { TUNE_TORUS = CLI_NO_LETTER, TUNE_TIME };

#endif
