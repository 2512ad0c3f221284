/*
 * Plans of any collective, for modules that do not know it at compile time.
 */
#ifndef TRIVANCE_MPI_FRONT_PLAN_H
#define TRIVANCE_MPI_FRONT_PLAN_H

#include <mpi.h>

#include <trivance/trivance_mpi.h>

#include "mpi/operations/call_arguments.h"

/* As TRV_Allreduce_plan_create, TRV_Bcast_plan_create and so on, for the collective and the other arguments in `call`,
 * whose buffers are not read. */
int trv_mpi_plan_create(const trv_mpi_reduction_t *call, MPI_Comm comm, TRV_Plan *plan);

#endif
