/*
 * trivance-mpi sweep.
 */
#ifndef TRIVANCE_CLI_MPI_MPI_SWEEP_H
#define TRIVANCE_CLI_MPI_MPI_SWEEP_H

/* Runs the whole program and returns the exit code. `threads` is the level that MPI_Init_thread provided
 * (MPI_THREAD_SERIALIZED was requested). */
int sweep_main(int argc, char **argv, int threads);

#endif
