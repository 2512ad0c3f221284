/*
 * A launcher that offers PMIx (mpirun of Open MPI, prun, srun --mpi=pmix): it knows the ranks, and carries rank 0's word to
 * the others. Without PMIx at build time there is none.
 */
#ifndef TRIVANCE_BOOTSTRAP_PMIX_PMIX_H
#define TRIVANCE_BOOTSTRAP_PMIX_PMIX_H

#include <stdbool.h>
#include <stddef.h>

/* Whether one has started this process. */
bool trv_launcher_is_here(void);
/* The rank of this process and the number of ranks, as the launcher assigned them. */
int trv_launcher_ranks(int *rank, int *ranks);
/* Rank 0's bytes reach all: an option `meet`, once per net, in the same order on all ranks. context: a double, the seconds
 * until those give up who hear nothing. */
int trv_launcher_meet(void *context, void *data, size_t bytes);

#endif
