/*
 * Hints on communicators. The key "trivance_algorithm" of MPI_Comm_set_info and MPI_Comm_dup_with_info sets the
 * algorithm of calls on this communicator, named as in TRIVANCE_ALGORITHM; with `mpi` they fall back to the MPI
 * library, and `default` restores the choice of the environment. The info is also passed to the MPI library, which
 * ignores unknown keys.
 *
 * The functions that duplicate communicators are here, too, so that the duplicates inherit their parent's state.
 */
#include "mpi/preload/preload.h"

#include "mpi/communicator/attribute.h"
#include "mpi/front/intercept.h"
#include "transport/mpi/mpi_library.h"

#define KEY       "trivance_algorithm"
#define VALUE_MAX 127

void trv_preload_hint(MPI_Comm comm, MPI_Info info)
{
    char value[VALUE_MAX + 1];
    int found = 0;
    if (comm == MPI_COMM_NULL || !trv_mpi_is_active())
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

/* ---- Duplicates -------------------------------------------------------------------------------------------------- */

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
    const bool before = trv_mpi_set_duplicating(true);
    int code = PMPI_Comm_dup(comm, copy);
    trv_mpi_set_duplicating(before);
    return code;
}

void trv_preload_mark_idup(MPI_Comm comm)
{
    if (trv_mpi_library() != TRV_MPICH && trv_mpi_is_active())
        trv_mpi_mark_idup(comm);
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *copy, MPI_Request *request)
{
    const bool before = trv_mpi_set_duplicating(true);
    trv_preload_mark_idup(comm);
    int code = PMPI_Comm_idup(comm, copy, request);
    trv_mpi_set_duplicating(before);
    return code;
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *copy)
{
    const bool before = trv_mpi_set_duplicating(true);
    int code = PMPI_Comm_dup_with_info(comm, info, copy);
    trv_mpi_set_duplicating(before);
    if (code == MPI_SUCCESS)
        trv_preload_hint(*copy, info);
    return code;
}
