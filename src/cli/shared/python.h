/*
 * Subcommands that the Python package trivance implements. The functions are implemented by cli/host.
 */
#ifndef TRIVANCE_CLI_SHARED_PYTHON_H
#define TRIVANCE_CLI_SHARED_PYTHON_H

#include <stdbool.h>

#include "cli/shared/command.h"

#define CLI_PLOT_HELP                                                                                                  \
    "draw the completion times over the size into this SVG file, one line per algorithm, with the lower bound of "     \
    "--limit as a dashed line; requires python3 with numpy, matplotlib and the package trivance"

/* Replaces this process by `python3 -m module word…`. If the package is installed beside this executable, its folder
 * becomes the first in PYTHONPATH. `plots`: the module requires numpy and matplotlib, too. Returns only on failure:
 * CLI_BAD, after an error message. */
int cli_python(const char *command, const char *module, bool plots, char *const *word, int words);

/* Reads the options of a command line, whose values the module trivance.sweep checks, and replaces this process by it:
 * the words are the subcommand's name, options as --NAME=VALUE or --NAME, and the arguments. Returns the exit code
 * after --help or an error. */
int cli_python_sweep(const cli_command_t *command, int argc, char **argv);

#endif
