/*
 * Collective operations between measurements. All poll and yield their core while they wait, so that they are usable
 * with more ranks than cores. Each returns 0 or a negative code, with an error message in trv_last_error().
 */
#ifndef TRIVANCE_CLI_MPI_TOGETHER_H
#define TRIVANCE_CLI_MPI_TOGETHER_H

#include <stdbool.h>

#include <mpi.h>

int together_barrier(MPI_Comm comm);
/* Broadcasts rank 0's data. */
int together_share(MPI_Comm comm, void *data, int bytes);
/* Replaces the values by their reduction over all ranks. */
int together_reduce(MPI_Comm comm, double *value, int count, MPI_Op op);
/* Gathers the data of all ranks, in rank order, on every rank. */
int together_gather(MPI_Comm comm, const void *mine, void *all, int bytes);
/* Returns whether `mine` is true on every rank; false if MPI fails. */
bool together_agree(MPI_Comm comm, bool mine);
/* Returns whether all ranks are on one machine and so share its clock, by comparing the boot id of the kernel. */
bool together_on_one_machine(MPI_Comm comm);

#endif
