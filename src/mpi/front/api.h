/*
 * The common part of the functions TRV_, which are generated for each collective.
 */
#ifndef TRIVANCE_MPI_FRONT_API_H
#define TRIVANCE_MPI_FRONT_API_H

#include <stdbool.h>

#include <trivance/trivance_mpi.h>

#include "mpi/front/dispatch.h"

/* A blocking call. Return values are those of trivance_mpi.h. */
int trv_mpi_api_run(const trv_mpi_call_t *call, MPI_Comm comm);

/* Creates the request of a non-blocking call, which is started, or of a persistent one, which has an info. */
int trv_mpi_api_begin(const trv_mpi_call_t *call, MPI_Comm comm, MPI_Info info, bool persistent, TRV_Request *request);

#endif
