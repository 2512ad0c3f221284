/*
 * What the C and the Fortran names share.
 */
#ifndef TRIVANCE_MPI_PRELOAD_PRELOAD_H
#define TRIVANCE_MPI_PRELOAD_PRELOAD_H

#include <stdbool.h>

#include <mpi.h>

/* After the MPI library's own MPI_Init. */
void trv_preload_begin(void);

/* Reduce-Scatter with a count per rank: served where they are equal. As the entries of mpi/front/intercept.h. */
bool trv_preload_reduce_scatter(const void *sendbuf, void *recvbuf, const int *counts, MPI_Datatype datatype, MPI_Op op,
                                MPI_Comm comm, int *code);

/* Takes the hint of the communicator's info, if it has one. All its ranks call this. */
void trv_preload_hint(MPI_Comm comm, MPI_Info info);

/* MPI_Comm_idup is about to be called on it: Open MPI mixes up what is exchanged meanwhile. */
void trv_preload_duplicates(MPI_Comm comm);

/* Counts a call whose form a preload library cannot serve. */
void trv_preload_pass(const char *name, MPI_Comm comm);

#endif
