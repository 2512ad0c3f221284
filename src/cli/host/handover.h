/*
 * Execution of trivance-mpi.<mpi>, the program that implements subcommands under an MPI launcher.
 */
#ifndef TRIVANCE_CLI_HOST_HANDOVER_H
#define TRIVANCE_CLI_HOST_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/shared/command.h"

/* Returns "openmpi" or "mpich", according to the environment variables set by the launcher of this process; NULL
 * without a launcher. */
const char *cli_launcher(void);

/* Returns the rank that a launcher assigned to this process, or -1 without a launcher. */
int cli_launched_rank(void);

/* Redirects stdout and stderr to /dev/null while `silent`, and restores them. For ranks that repeat the work of rank
 * 0, which alone reports. */
void cli_silence(bool silent);

/* Searches folders relative to this executable's folder ("", "../lib/"; NULL at the end) for a file to which
 * access() grants `access_mode`. Writes its path to `path` (`size` bytes). */
bool cli_find_beside(const char *const *folder, const char *file, int access_mode, char *path, size_t size);

/* Writes the path of trivance-mpi.<mpi> to `path` (`size` bytes) if the program is in one of the folders relative to
 * this executable. */
bool cli_find_program(const char *mpi, char *path, size_t size);

/* Replaces this process by trivance-mpi.<mpi>, or by trivance-net for NULL, with the same arguments, argv[0] being the
 * subcommand. Returns only on failure: CLI_BAD, after an error message. */
int cli_hand_over(const char *mpi, char **argv);

/* Implements a subcommand that runs only under a launcher: executes trivance-mpi.<mpi>. Without a launcher it prints
 * the help if that is requested, otherwise an error message: about the options, or with the example. Returns the exit
 * code. */
int cli_run_under_mpi(int argc, char **argv, const cli_command_t *command, const char *example);

#endif
