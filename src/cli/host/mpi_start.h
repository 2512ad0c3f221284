/*
 * What a command line like `mpirun -n 9 ./a.out` starts: which MPI its launcher belongs to, and which its program
 * links.
 */
#ifndef TRIVANCE_CLI_HOST_MPI_START_H
#define TRIVANCE_CLI_HOST_MPI_START_H

#include <stdbool.h>

/* The same of a launcher, which is asked for its version; NULL: not one that we know (srun, a script). */
const char *cli_mpi_of_launcher(const char *name);

/* The executable file that a word names, by PATH where it has no slash. false: there is none. */
#define CLI_PATH_BYTES 4096
bool cli_find_executable(const char *word, char path[CLI_PATH_BYTES]);

/* The first of the words that is a program, found as a shell would, and links an MPI. Its index, or -1. */
int cli_find_mpi_program(char **words, int count, const char **mpi);

/* "Open MPI", "MPICH" */
const char *cli_mpi_title(const char *mpi);

#endif
