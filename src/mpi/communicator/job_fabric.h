/*
 * A domain's fabric (TRIVANCE_TRANSPORT=ofi). All its ranks open it together and exchange their addresses by MPI.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_JOB_FABRIC_H
#define TRIVANCE_MPI_COMMUNICATOR_JOB_FABRIC_H

#include <stdbool.h>

#include <mpi.h>

/* Opens the fabric of a domain if the settings select libfabric. Collective over the domain's communicator. TRV_OK on
 * all ranks, or an error code on all ranks with the message in trv_last_error(). */
int trv_mpi_job_fabric_open(MPI_Comm comm, int rank, int ranks);
/* The dimensions whose two directions share an interface (trv_fabric_shared_paths); 0 if the domain has no fabric. Sets
 * *one if several dimensions share the same interface. */
unsigned trv_mpi_job_fabric_shared_paths(MPI_Comm comm, bool *one_path);
/* Sets whether channels that are created from now on use MPI although the domain has a fabric. All ranks must set the
 * same while no plan is being created. */
void trv_mpi_job_fabric_pause(bool paused);
/* To be called before the domain's communicator is freed, when no more channels on it are created. */
void trv_mpi_job_fabric_leave(MPI_Comm comm);
/* Closes all fabrics, in MPI_Finalize. Collective over the ranks of each fabric. */
void trv_mpi_job_fabric_end(void);

#endif
