/*
 * A domain's fabric (TRIVANCE_TRANSPORT=ofi): opened by all its ranks together, which exchange their addresses by MPI.
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_JOB_FABRIC_H
#define TRIVANCE_MPI_COMMUNICATOR_JOB_FABRIC_H

#include <stdbool.h>

#include <mpi.h>

/* Collective over the domain's communicator. TRV_OK, also where messages are to stay MPI's; or a code on all ranks, with a sentence. */
int trv_mpi_job_fabric_open(MPI_Comm comm, int rank, int ranks);
/* The dimensions that are narrow by the domain's map of interfaces (trv_fabric_narrow); 0 where it has none. */
unsigned trv_mpi_job_fabric_narrow(MPI_Comm comm, bool *one);
/* Whether channels that are made from now on are MPI's all the same: on all ranks alike, with no plan being made. */
void trv_mpi_job_fabric_pause(bool paused);
/* No channel of the domain's communicator is made any more. */
void trv_mpi_job_fabric_leave(MPI_Comm comm);
/* In MPI_Finalize: closes all, each together with its other ranks. */
void trv_mpi_job_fabric_end(void);

#endif
