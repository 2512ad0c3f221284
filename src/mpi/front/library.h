/*
 * The MPI library's collectives, for calls that no schedule executes. Only PMPI_ functions are called, so that the
 * preload library does not intercept these calls.
 */
#ifndef TRIVANCE_MPI_FRONT_LIBRARY_H
#define TRIVANCE_MPI_FRONT_LIBRARY_H

#include <mpi.h>

#include "mpi/front/dispatch.h"
#include "mpi/operations/call_arguments.h"

/* Counts and displacements as the MPI library's functions take them. */
#if MPI_VERSION >= 4
typedef MPI_Count trv_mpi_library_count_t;
typedef MPI_Aint trv_mpi_library_displacement_t;
#else
typedef int trv_mpi_library_count_t, trv_mpi_library_displacement_t;
#endif
typedef struct trv_mpi_library_blocks {
    trv_mpi_library_count_t *count;               /* per rank; NULL: the call has one count */
    trv_mpi_library_displacement_t *displacement; /* NULL: none */
} trv_mpi_library_blocks_t;

/* All return MPI_SUCCESS or an error class with the message in trv_last_error(). The first two functions also run the
 * collectives that move data, if input and output have one type. */
int trv_mpi_library_run(const trv_mpi_reduction_t *arguments, MPI_Comm comm);
int trv_mpi_library_start(const trv_mpi_reduction_t *arguments, MPI_Comm comm, MPI_Request *request);

/* A call with the program's arguments: blocking, non-blocking, and persistent (which is not started). *converted:
 * counts in the MPI library's type, which the caller frees after the request; NULL if there are none. */
int trv_mpi_library_call(const trv_mpi_call_t *call, MPI_Comm comm);
int trv_mpi_library_call_start(const trv_mpi_call_t *call, MPI_Comm comm, MPI_Request *request, void **converted);
int trv_mpi_library_call_init(const trv_mpi_call_t *call, MPI_Comm comm, MPI_Info info, MPI_Request *request,
                              void **converted);

#endif
