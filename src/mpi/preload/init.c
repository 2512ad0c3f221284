/*
 * MPI_Init of a preload library, which initializes Trivance, and what all of its functions have in common.
 *
 * mpi/bindings generates the functions of the collectives. Each calls the interceptor. If the call falls back, its
 * arguments are passed unchanged to the PMPI_ function, so a profiling library beneath this one, which defines PMPI_
 * functions, still receives these calls.
 *
 * Non-blocking and persistent calls always fall back: MPI offers a library in front of it no way to make progress while
 * the program computes or waits in MPI_Wait for another request. Collectives without schedules (MPI_Scan …) are only
 * counted, for the table at MPI_Finalize.
 */
#include "mpi/preload/preload.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mpi/front/intercept.h"
#include "mpi/settings/job_settings.h"

/* The interface of an MPI library: constants and handles differ between them. */
typedef struct mpi_interface {
    const char *title, *library; /* the preload library for it */
} mpi_interface_t;
static const mpi_interface_t openmpi = {"Open MPI", "libtrivance_pmpi_openmpi.so"};
static const mpi_interface_t mpich = {"MPICH", "libtrivance_pmpi_mpich.so"};
static const mpi_interface_t abi = {"the standard ABI of MPI", "libtrivance_pmpi_abi.so"};

#if defined(OPEN_MPI)
static const mpi_interface_t *const own = &openmpi;
#elif defined(MPICH)
static const mpi_interface_t *const own = &mpich;
#else
static const mpi_interface_t *const own = &abi;
#endif

/* Ends a program that is linked with an MPI library of another interface, because its first MPI call would crash. Does
 * nothing in a program without MPI, such as a launcher or a shell. */
__attribute__((constructor)) static void check_mpi_library(void)
{
    Dl_info info;
    void *next = dlsym(RTLD_NEXT, "MPI_Init"), *library = NULL;
    if (next && dladdr(next, &info) && info.dli_fname)
        library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return;
    const mpi_interface_t *found = strstr(info.dli_fname, "libmpi_abi.so") ? &abi
                                   : dlsym(library, "ompi_mpi_comm_world") ? &openmpi
                                                                           : &mpich;
    dlclose(library);
    if (found == own)
        return;
    fprintf(stderr,
            "trivance: this preload library is for %s, and the program is linked with %s; preload %s, or let `trivance "
            "run` find the right one\n",
            own->title, found->title, found->library);
    _exit(2);
}

__attribute__((constructor)) static void set_mode(void) { trv_mpi_set_mode(TRV_MPI_DROP_IN); }

void trv_preload_init(void) { trv_mpi_intercept_init(true); }

void trv_preload_report_fallback(const char *name, const trv_mpi_call_t *call, MPI_Comm comm)
{
    trv_mpi_intercept_log_fallback(name, call,
                                   "a preload library cannot make progress on it between the program's calls", comm);
}

/* ---- Initialization ---------------------------------------------------------------------------------------------- */

/* All ranks call MPI_Init or MPI_Init_thread, so trv_preload_init may communicate. */
int MPI_Init(int *argc, char ***argv)
{
    int code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS)
        trv_preload_init();
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int code = PMPI_Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS)
        trv_preload_init();
    return code;
}
