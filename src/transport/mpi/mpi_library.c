/*
 * Determines the MPI library from its version text. A library whose text names neither Open MPI nor MPICH, as that of
 * some derived from MPICH, is TRV_OTHER_MPI, for which all callers assume the safe case.
 */
#include "transport/mpi/mpi_library.h"

#if !defined(OPEN_MPI) && !defined(MPICH)

#include <stdatomic.h>
#include <string.h>

trv_mpi_library_t trv_mpi_library(void)
{
    static _Atomic int known = -1;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, library = atomic_load_explicit(&known, memory_order_relaxed);
    if (library >= 0)
        return (trv_mpi_library_t)library;
    library = PMPI_Get_library_version(text, &length) != MPI_SUCCESS ? TRV_OTHER_MPI
              : strstr(text, "Open MPI")                             ? TRV_OPEN_MPI
              : strstr(text, "MPICH")                                ? TRV_MPICH
                                                                     : TRV_OTHER_MPI;
    atomic_store_explicit(&known, library, memory_order_relaxed);
    return (trv_mpi_library_t)library;
}

#endif
