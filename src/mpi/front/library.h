/*
 * The MPI library's collectives, for calls that no schedule executes. Only PMPI_ functions are called, so that the
 * preload library does not intercept these calls.
 */
#ifndef TRIVANCE_MPI_FRONT_LIBRARY_H
#define TRIVANCE_MPI_FRONT_LIBRARY_H

#include <mpi.h>

#include "mpi/operations/gather.h"
#include "mpi/operations/call_arguments.h"

/* All return MPI_SUCCESS or an error class with the message in trv_last_error(). */
int trv_mpi_library_run(const trv_mpi_reduction_t *arguments, MPI_Comm comm);
int trv_mpi_library_start(const trv_mpi_reduction_t *arguments, MPI_Comm comm, MPI_Request *request);
/* Creates a persistent request, which is not started. */
int trv_mpi_library_init(const trv_mpi_reduction_t *arguments, MPI_Comm comm, MPI_Info info, MPI_Request *request);

/* AllGather, whose send type and receive type may differ. */
int trv_mpi_library_gather(const trv_mpi_gather_t *gather, MPI_Comm comm);
int trv_mpi_library_gather_start(const trv_mpi_gather_t *gather, MPI_Comm comm, MPI_Request *request);
int trv_mpi_library_gather_init(const trv_mpi_gather_t *gather, MPI_Comm comm, MPI_Info info, MPI_Request *request);

#endif
