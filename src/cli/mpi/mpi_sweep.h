/*
 * trivance-mpi sweep.
 */
#ifndef TRIVANCE_CLI_MPI_MPI_SWEEP_H
#define TRIVANCE_CLI_MPI_MPI_SWEEP_H

/* The whole program, after MPI_Init_thread gave `threads` (asked for: MPI_THREAD_SERIALIZED): the exit code. */
int sweep_main(int argc, char **argv, int threads);

#endif
