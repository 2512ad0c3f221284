/*
 * The MPI library's own collectives, for what the schedules do not serve. Calls PMPI_ names only.
 */
#ifndef TRIVANCE_MPI_FRONT_LIBRARY_H
#define TRIVANCE_MPI_FRONT_LIBRARY_H

#include <mpi.h>

#include "mpi/operations/gather.h"
#include "mpi/operations/want.h"

/* All return MPI_SUCCESS or an error class with a sentence in trv_last_error(). */
int trv_mpi_library_run(const trv_mpi_arguments_t *arguments, MPI_Comm comm);
int trv_mpi_library_start(const trv_mpi_arguments_t *arguments, MPI_Comm comm, MPI_Request *request);
/* A persistent request; it is not started. */
int trv_mpi_library_init(const trv_mpi_arguments_t *arguments, MPI_Comm comm, MPI_Info info, MPI_Request *request);

/* AllGather with its two types. */
int trv_mpi_library_gather(const trv_mpi_gather_t *gather, MPI_Comm comm);
int trv_mpi_library_gather_start(const trv_mpi_gather_t *gather, MPI_Comm comm, MPI_Request *request);
int trv_mpi_library_gather_init(const trv_mpi_gather_t *gather, MPI_Comm comm, MPI_Info info, MPI_Request *request);

#endif
