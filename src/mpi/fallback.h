/*
 * The MPI library's own collectives, for what the schedules do not serve. Calls PMPI_ names only.
 */
#ifndef TRIVANCE_MPI_FALLBACK_H
#define TRIVANCE_MPI_FALLBACK_H

#include <mpi.h>

#include <trivance/schedule.h>

typedef struct trv_mpi_arguments {
    trv_collective_t collective;
    const void *input; /* or MPI_IN_PLACE */
    void *output;
    MPI_Count count;
    MPI_Datatype datatype;
    MPI_Op op; /* not for AllGather */
} trv_mpi_arguments_t;

/* All return MPI_SUCCESS or an error class with a sentence in trv_last_error(). */
int trv_mpi_library_run(const trv_mpi_arguments_t *arguments, MPI_Comm comm);
int trv_mpi_library_start(const trv_mpi_arguments_t *arguments, MPI_Comm comm, MPI_Request *request);
/* A persistent request; it is not started. */
int trv_mpi_library_init(const trv_mpi_arguments_t *arguments, MPI_Comm comm, MPI_Info info, MPI_Request *request);

/* AllGather with its two types. */
struct trv_mpi_gather;
int trv_mpi_library_gather(const struct trv_mpi_gather *gather, MPI_Comm comm);
int trv_mpi_library_gather_start(const struct trv_mpi_gather *gather, MPI_Comm comm, MPI_Request *request);
int trv_mpi_library_gather_init(const struct trv_mpi_gather *gather, MPI_Comm comm, MPI_Info info,
                                MPI_Request *request);

#endif
