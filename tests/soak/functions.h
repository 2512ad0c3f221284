/*
 * The functions that random programs call: those of MPI, which a preload library or a component executes, or the TRV_
 * functions, if SOAK_TRV is defined.
 */
#ifndef TRIVANCE_TESTS_SOAK_FUNCTIONS_H
#define TRIVANCE_TESTS_SOAK_FUNCTIONS_H

#include <mpi.h>

#ifdef SOAK_TRV

#include <trivance/trivance_mpi.h>
#define CALL(Name)   TRV_##Name
#define REQUEST_NULL TRV_REQUEST_NULL
typedef TRV_Request request_t;
/* Counts and displacements of non-blocking and persistent calls. */
typedef MPI_Count request_count_t;
typedef MPI_Aint request_displacement_t;
static inline int request_wait(request_t *request) { return TRV_Wait(request); }
static inline int request_test(request_t *request, int *done) { return TRV_Test(request, done); }

#else

#define CALL(Name)   MPI_##Name
#define REQUEST_NULL MPI_REQUEST_NULL
typedef MPI_Request request_t;
typedef int request_count_t;
typedef int request_displacement_t;
static inline int request_wait(request_t *request) { return MPI_Wait(request, MPI_STATUS_IGNORE); }
static inline int request_test(request_t *request, int *done) { return MPI_Test(request, done, MPI_STATUS_IGNORE); }

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#if MPI_VERSION < 4 /* Open MPI 4.1 has the persistent calls under their pre-standard names */
#define MPI_Allreduce_init            MPIX_Allreduce_init
#define MPI_Reduce_init               MPIX_Reduce_init
#define MPI_Reduce_scatter_block_init MPIX_Reduce_scatter_block_init
#define MPI_Reduce_scatter_init       MPIX_Reduce_scatter_init
#define MPI_Bcast_init                MPIX_Bcast_init
#define MPI_Allgather_init            MPIX_Allgather_init
#define MPI_Allgatherv_init           MPIX_Allgatherv_init
#define MPI_Gather_init               MPIX_Gather_init
#define MPI_Scatter_init              MPIX_Scatter_init
#define MPI_Alltoall_init             MPIX_Alltoall_init
#define MPI_Barrier_init              MPIX_Barrier_init
#endif

#endif
#endif
