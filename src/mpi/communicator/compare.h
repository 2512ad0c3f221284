/*
 * Do all ranks run the same library, with the same settings? Compared once per job, whether or not anything is set.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_COMPARE_H
#define TRIVANCE_MPI_COMMUNICATOR_COMPARE_H

#include <stdint.h>

#include <mpi.h>

/* A number that differs where version, protocol or a setting that all must share differs. */
uint64_t trv_mpi_own_digest(void);

/* Collective, where the digests differ: the sentence that says which rank differs in what, in trv_last_error() of all
 * ranks. Returns TRV_ERR_INVALID. */
int trv_mpi_explain_difference(MPI_Comm comm);

#endif
