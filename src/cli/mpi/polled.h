/*
 * Collective operations between measurements. All poll and yield their core while they wait, so that they are usable
 * with more ranks than cores. Each returns 0 or a negative code, with an error message in trv_last_error().
 */
#ifndef TRIVANCE_CLI_MPI_POLLED_H
#define TRIVANCE_CLI_MPI_POLLED_H

#include <stdbool.h>

#include <mpi.h>

int polled_barrier(MPI_Comm comm);
/* Broadcasts rank 0's data. */
int polled_broadcast(MPI_Comm comm, void *data, int bytes);
/* Replaces the values by their reduction over all ranks. */
int polled_reduce(MPI_Comm comm, double *value, int count, MPI_Op op);
/* Gathers the data of all ranks, in rank order, on every rank. */
int polled_allgather(MPI_Comm comm, const void *mine, void *all, int bytes);
/* Returns whether `mine` is true on every rank; false if MPI fails. */
bool polled_all_true(MPI_Comm comm, bool mine);
/* Returns whether all ranks are on one machine and so share its clock, by comparing the boot id of the kernel. */
bool polled_on_one_machine(MPI_Comm comm);

#endif
