/*
 * Handing over to trivance-mpi.<mpi>, the program that does under an MPI launcher what the tool does without one.
 */
#ifndef TRIVANCE_CLI_HOST_HANDOVER_H
#define TRIVANCE_CLI_HOST_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/shared/command.h"

/* "openmpi" or "mpich", by the environment that the launcher of this process made; NULL without a launcher. */
const char *cli_launcher(void);

/* The number that a launcher gave this process among those of its job; -1: none did. */
int cli_launched_rank(void);

/* Sends stdout and stderr to nowhere while `silent`, and back. For ranks that do what rank 0 does and reports. */
void cli_silence(bool silent);

/* Looks for a file in places relative to this executable's folder ("", "../lib/"; NULL at the end), to which access()
 * grants `access_mode`. Writes its path to `path` (`size` bytes). */
bool cli_find_beside(const char *const *place, const char *file, int access_mode, char *path, size_t size);

/* Writes the path of trivance-mpi.<mpi> to `path` (`size` bytes) if it is in one of the places relative to this
 * executable. */
bool cli_find_program(const char *mpi, char *path, size_t size);

/* Replaces this process by trivance-mpi.<mpi> with the same arguments, argv[0] being the subcommand. Returns only on
 * failure: CLI_BAD, after a sentence. */
int cli_hand_over(const char *mpi, char **argv);

/* A subcommand that runs under a launcher only: hands over; without one it prints the help if that is asked for, else a
 * sentence with the example. The exit code. */
int cli_run_under_mpi(int argc, char **argv, const cli_command_t *command, const char *example);

#endif
