/*
 * Handing over to trivance-mpi.<mpi>, the program that does under an MPI launcher what the tool does without one.
 */
#ifndef TRIVANCE_CLI_HANDOVER_H
#define TRIVANCE_CLI_HANDOVER_H

/* "openmpi" or "mpich", by the environment that the launcher of this process made; NULL without a launcher. */
const char *cli_launcher(void);

/* Replaces this process by trivance-mpi.<mpi> with the same arguments, argv[0] being the subcommand. Returns only on
 * failure: CLI_BAD, after a sentence. */
int cli_hand_over(const char *mpi, char **argv);

#endif
