/*
 * Bootstrap by a launcher that provides PMIx (mpirun of Open MPI, prun, srun --mpi=pmix): it assigns the ranks, and
 * broadcasts data of rank 0 to the other ranks. In a build without PMIx the functions return TRV_ERR_UNSUPPORTED.
 */
#ifndef TRIVANCE_BOOTSTRAP_PMIX_PMIX_H
#define TRIVANCE_BOOTSTRAP_PMIX_PMIX_H

#include <stdbool.h>
#include <stddef.h>

/* True if a launcher with PMIx has started this process. */
bool trv_launcher_available(void);
/* Returns the rank of this process and the number of ranks that the launcher assigned. */
int trv_launcher_ranks(int *rank, int *ranks);
/* Broadcasts `bytes` bytes of data from rank 0 to all ranks; usable as the option `bootstrap_broadcast` of
 * trv_net_init. Collective: called once per net, in the same order on all ranks. context: a double, the timeout in
 * seconds. */
int trv_launcher_broadcast(void *context, void *data, size_t bytes);

#endif
