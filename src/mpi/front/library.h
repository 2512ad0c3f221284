/*
 * The MPI library's collectives, for calls that no schedule executes. Only PMPI_ functions are called, so that the
 * preload library does not intercept these calls.
 */
#ifndef TRIVANCE_MPI_FRONT_LIBRARY_H
#define TRIVANCE_MPI_FRONT_LIBRARY_H

#include <mpi.h>

#include "mpi/operations/movement.h"
#include "mpi/operations/call_arguments.h"

/* All return MPI_SUCCESS or an error class with the message in trv_last_error(). The first three functions also run
 * the collectives that move data, if input and output have one type. */
int trv_mpi_library_run(const trv_mpi_reduction_t *arguments, MPI_Comm comm);
int trv_mpi_library_start(const trv_mpi_reduction_t *arguments, MPI_Comm comm, MPI_Request *request);
/* Creates a persistent request, which is not started, of an AllReduce or Reduce-Scatter. */
int trv_mpi_library_init(const trv_mpi_reduction_t *arguments, MPI_Comm comm, MPI_Info info, MPI_Request *request);

/* Collectives that move data, whose send type and receive type may differ; the last function for AllGather only. */
int trv_mpi_library_movement(const trv_mpi_movement_t *movement, MPI_Comm comm);
int trv_mpi_library_movement_start(const trv_mpi_movement_t *movement, MPI_Comm comm, MPI_Request *request);
int trv_mpi_library_movement_init(const trv_mpi_movement_t *movement, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request);

#endif
