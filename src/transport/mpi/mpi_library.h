/*
 * The MPI library of the process, where libraries differ. The headers of Open MPI and MPICH define a macro. The header
 * of the standard ABI (MPI 5) fits any library that supports the ABI, so that the library is determined at run time.
 */
#ifndef TRIVANCE_TRANSPORT_MPI_MPI_LIBRARY_H
#define TRIVANCE_TRANSPORT_MPI_MPI_LIBRARY_H

#include <mpi.h>

typedef enum trv_mpi_library { TRV_OPEN_MPI, TRV_MPICH, TRV_OTHER_MPI } trv_mpi_library_t;

#if defined(OPEN_MPI)
static inline trv_mpi_library_t trv_mpi_library(void) { return TRV_OPEN_MPI; }
#elif defined(MPICH)
static inline trv_mpi_library_t trv_mpi_library(void) { return TRV_MPICH; }
#else
/* Also before MPI_Init. Thread-safe. */
trv_mpi_library_t trv_mpi_library(void);
#endif

#endif
