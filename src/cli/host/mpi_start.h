/*
 * Analysis of a command line like `mpirun -n 9 ./a.out`: the MPI of its launcher, and the MPI that its program links.
 */
#ifndef TRIVANCE_CLI_HOST_MPI_START_H
#define TRIVANCE_CLI_HOST_MPI_START_H

#include <stdbool.h>

/* Returns the MPI of a launcher, according to its --version; NULL: unknown (srun, a script). */
const char *cli_mpi_of_launcher(const char *name);

/* Finds the executable file that a word names, in PATH if it has no slash. Returns false if there is none. */
#define CLI_PATH_BYTES 4096
bool cli_find_executable(const char *word, char path[CLI_PATH_BYTES]);

/* Finds the first word that names a program, as a shell would find it, and that links an MPI. Returns its index, or
 * -1. */
int cli_find_mpi_program(char **words, int count, const char **mpi);

/* Whether an Open MPI launcher's command line asks for more ranks than this machine has cores. False if it, or a batch
 * system, names the hosts, or if it states itself whether cores may be shared. */
bool cli_exceeds_cores(char **words, int count);

/* The MPI of a program that is linked with a library of the standard ABI (MPI 5), which any launcher may start. */
#define CLI_MPI_ABI "abi"

/* Whether a launcher of one MPI starts programs of another. */
bool cli_launcher_starts(const char *launcher_mpi, const char *program_mpi);

/* "Open MPI", "MPICH" or "the standard ABI of MPI", for messages. */
const char *cli_mpi_title(const char *mpi);

#endif
