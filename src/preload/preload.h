/*
 * What the C and the Fortran names share.
 */
#ifndef TRIVANCE_PRELOAD_PRELOAD_H
#define TRIVANCE_PRELOAD_PRELOAD_H

#include <stdbool.h>

#include <mpi.h>

/* Whether nothing in the environment could ever make us serve a call: then a wrapper calls the MPI library at once. */
bool trv_preload_idle(void);

/* Reduce-Scatter with a count per rank: served where they are equal. As the entries of mpi/intercept.h. */
bool trv_preload_reduce_scatter(const void *sendbuf, void *recvbuf, const int *counts, MPI_Datatype datatype, MPI_Op op,
                                MPI_Comm comm, int *code);

/* Counts a call whose form a preload library cannot serve. */
void trv_preload_pass(const char *name, MPI_Comm comm);

#endif
