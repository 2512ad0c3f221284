/*
 * A domain's fabric (TRIVANCE_TRANSPORT=ofi): opened by all its ranks together, which exchange their addresses by MPI.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_JOB_FABRIC_H
#define TRIVANCE_MPI_COMMUNICATOR_JOB_FABRIC_H

#include <mpi.h>

/* Collective over the domain's communicator. TRV_OK, also where messages are to stay MPI's; or a code on all ranks, with a sentence. */
int trv_mpi_job_fabric_open(MPI_Comm comm, int rank, int ranks);
/* No channel of the domain's communicator is made any more. */
void trv_mpi_job_fabric_leave(MPI_Comm comm);
/* In MPI_Finalize: closes all, each together with its other ranks. */
void trv_mpi_job_fabric_end(void);

#endif
