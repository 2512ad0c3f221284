/*
 * Hints on communicators: the key "trivance_algorithm" of MPI_Comm_set_info and MPI_Comm_dup_with_info says by which
 * algorithm, as TRIVANCE_ALGORITHM names them, calls on this communicator are served; `mpi` leaves them to the MPI
 * library, `default` takes either back. The MPI library sees the info, too, and ignores what it does not know.
 */
#include "mpi/preload/preload.h"

#include "mpi/communicator/attribute.h"
#include "mpi/front/intercept.h"

#define KEY       "trivance_algorithm"
#define VALUE_MAX 127

void trv_preload_hint(MPI_Comm comm, MPI_Info info)
{
    char value[VALUE_MAX + 1];
    int found = 0;
    if (comm == MPI_COMM_NULL || !trv_mpi_begun())
        return;
    if (info != MPI_INFO_NULL && PMPI_Info_get(info, KEY, VALUE_MAX, value, &found) != MPI_SUCCESS)
        found = 0;
    trv_mpi_intercept_hint(comm, found ? value : NULL);
}

int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    int code = PMPI_Comm_set_info(comm, info);
    if (code == MPI_SUCCESS)
        trv_preload_hint(comm, info);
    return code;
}

/* ---- Duplicates, which inherit ----------------------------------------------------------------------------------- */

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
    const bool before = trv_mpi_duplicates(true);
    int code = PMPI_Comm_dup(comm, copy);
    trv_mpi_duplicates(before);
    return code;
}

void trv_preload_duplicates(MPI_Comm comm)
{
#ifdef OPEN_MPI
    if (trv_mpi_begun())
        trv_mpi_mark_duplicated(comm);
#else
    (void)comm;
#endif
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *copy, MPI_Request *request)
{
    const bool before = trv_mpi_duplicates(true);
    trv_preload_duplicates(comm);
    int code = PMPI_Comm_idup(comm, copy, request);
    trv_mpi_duplicates(before);
    return code;
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *copy)
{
    const bool before = trv_mpi_duplicates(true);
    int code = PMPI_Comm_dup_with_info(comm, info, copy);
    trv_mpi_duplicates(before);
    if (code == MPI_SUCCESS)
        trv_preload_hint(*copy, info);
    return code;
}
