/*
 * All subcommands.
 */
#ifndef TRIVANCE_CLI_MAIN_SUBCOMMAND_LIST_H
#define TRIVANCE_CLI_MAIN_SUBCOMMAND_LIST_H

#include "cli/shared/command.h"

typedef struct trv_subcommand {
    const cli_command_t *command;
    int (*run)(int argc, char **argv);
} trv_subcommand_t;

extern const trv_subcommand_t trv_subcommand[];
extern const int trv_subcommands;

#endif
