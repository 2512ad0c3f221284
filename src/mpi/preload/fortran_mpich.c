/*
 * The Fortran functions of MPICH that do not call the C functions: MPI_Init and MPI_Init_thread of `use mpi_f08` call
 * PMPI_Init. They are defined here and call the library's functions, which are the next ones of the same name.
 */
#include <dlfcn.h>
#include <stddef.h>

#include "mpi/preload/preload.h"

typedef void (*init_t)(MPI_Fint *);
typedef void (*init_thread_t)(const MPI_Fint *, MPI_Fint *, MPI_Fint *);

/* Completes an initialization that returned `error`. `ierror` is the program's and may be absent (NULL). */
static void init_complete(MPI_Fint error, MPI_Fint *ierror)
{
    if (error == MPI_SUCCESS)
        trv_preload_init();
    if (ierror)
        *ierror = error;
}

void mpi_init_f08_(MPI_Fint *ierror)
{
    MPI_Fint error = MPI_SUCCESS;
    init_t next;
    *(void **)&next = dlsym(RTLD_NEXT, "mpi_init_f08_");
    next(&error);
    init_complete(error, ierror);
}

void mpi_init_thread_f08_(const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
    MPI_Fint error = MPI_SUCCESS;
    init_thread_t next;
    *(void **)&next = dlsym(RTLD_NEXT, "mpi_init_thread_f08_");
    next(required, provided, &error);
    init_complete(error, ierror);
}
