/*
 * A profiling tool: defines MPI_Init, and calls PMPI_Init.
 */
#include <mpi.h>

int MPI_Init(int *argc, char ***argv) { return PMPI_Init(argc, argv); }
