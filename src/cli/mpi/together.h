/*
 * Steps that ranks take together between measurements. All poll and give their core away while they wait, so that
 * more ranks than cores do not matter. Each returns 0 or a negative code, with a sentence in trv_last_error().
 */
#ifndef TRIVANCE_CLI_MPI_TOGETHER_H
#define TRIVANCE_CLI_MPI_TOGETHER_H

#include <stdbool.h>

#include <mpi.h>

int together_barrier(MPI_Comm comm);
/* Rank 0's data to all. */
int together_share(MPI_Comm comm, void *data, int bytes);
/* All ranks' values, reduced, instead of this rank's own. */
int together_reduce(MPI_Comm comm, double *value, int count, MPI_Op op);
/* Every rank's data, in their order, to all. */
int together_gather(MPI_Comm comm, const void *mine, void *all, int bytes);
/* Whether it is so on every rank; false, too, where MPI fails. */
bool together_agree(MPI_Comm comm, bool mine);
/* Whether all ranks are on one machine, whose clock they share: by the number that its kernel drew when it started. */
bool together_on_one_machine(MPI_Comm comm);

#endif
