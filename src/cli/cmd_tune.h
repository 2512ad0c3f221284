/*
 * The command line of `trivance tune`, which trivance-mpi reads.
 */
#ifndef TRIVANCE_CLI_CMD_TUNE_H
#define TRIVANCE_CLI_CMD_TUNE_H

#include "cli/shared/command.h"

enum { TUNE_TORUS = CLI_NO_LETTER, TUNE_TIME };

#endif
