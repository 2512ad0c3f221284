/*
 * trivance topology --dump: writes the topology of the job's ranks to a file.
 */
#ifndef TRIVANCE_CLI_MPI_DUMP_H
#define TRIVANCE_CLI_MPI_DUMP_H

/* Runs the whole program and returns the exit code, which is the same on all ranks. */
int dump_main(int argc, char **argv);

#endif
