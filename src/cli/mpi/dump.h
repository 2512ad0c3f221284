/*
 * trivance topology --dump: the topology of the ranks that are started, as a file.
 */
#ifndef TRIVANCE_CLI_MPI_DUMP_H
#define TRIVANCE_CLI_MPI_DUMP_H

/* The whole program: the exit code, the same on all ranks. */
int dump_main(int argc, char **argv);

#endif
