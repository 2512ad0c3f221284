/*
 * Comparison of the library's version and settings between ranks. No setting disables it.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_COMPARE_H
#define TRIVANCE_MPI_COMMUNICATOR_COMPARE_H

#include <stdint.h>

#include <mpi.h>

/* A digest of version, protocol and the settings that all ranks must share. */
uint64_t trv_mpi_settings_digest(void);

/* To be called by all ranks if their digests differ: on all ranks, trv_last_error() then names the rank and the
 * setting. Returns TRV_ERR_INVALID. */
int trv_mpi_explain_difference(MPI_Comm comm);

#endif
