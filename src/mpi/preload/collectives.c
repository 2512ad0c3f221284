/*
 * The MPI functions that a preload library defines in place of the MPI library. Each calls the interceptor. If the call
 * falls back, its arguments are passed unchanged to the PMPI_ function, so a profiling library beneath this one, which
 * defines PMPI_ functions, still receives these calls.
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

#include "mpi/communicator/attribute.h"
#include "mpi/front/collectives.h"
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

/* ---- The functions ----------------------------------------------------------------------------------------------- */

/* Defines an MPI function. `UNSUPPORTED`: see trv_mpi_intercept_end. `DISPATCHED`: an expression that is true if
 * Trivance has executed the call and set `code`. */
#define FUNCTION(FUNCTION_NAME, LABEL, UNSUPPORTED, DISPATCHED, ARGUMENTS, ...)                                        \
    int FUNCTION_NAME(__VA_ARGS__)                                                                                     \
    {                                                                                                                  \
        int code;                                                                                                      \
        const trv_mpi_span_t span = trv_mpi_span_begin(LABEL);                                                         \
        if (!(DISPATCHED))                                                                                             \
            code = P##FUNCTION_NAME ARGUMENTS;                                                                         \
        trv_mpi_intercept_end(span, UNSUPPORTED, comm);                                                                \
        return code;                                                                                                   \
    }

#define CALL(Name)     (&(const trv_mpi_call_t)TRV_MPI_CALL_##Name)
#define DISPATCH(Name) trv_mpi_intercept(CALL(Name), comm, &code)

/* Reports a non-blocking or persistent call; false. */
#define FALLS_BACK(LABEL, CALL) (trv_preload_report_fallback(LABEL, CALL, comm), false)

#define ARGUMENTS(FORM)            (TRV_MPI_ARGUMENTS_##FORM)
#define ARGUMENTS_REQUEST(FORM)    (TRV_MPI_ARGUMENTS_##FORM, request)
#define ARGUMENTS_PERSISTENT(FORM) (TRV_MPI_ARGUMENTS_##FORM, info, request)

/* Blocking and non-blocking functions: of collectives that are dispatched, and of the others (COUNTED). */
#define BLOCKING_AS(Name, FORM, UNSUPPORTED, DISPATCHED)                                                               \
    FUNCTION(MPI_##Name, "MPI_" #Name, UNSUPPORTED, DISPATCHED, ARGUMENTS(FORM), TRV_MPI_PARAMETERS_##FORM(int, int))
#define BLOCKING(Name, name, NAME, FORM)         BLOCKING_AS(Name, FORM, NULL, DISPATCH(Name))
#define BLOCKING_COUNTED(Name, name, NAME, FORM) BLOCKING_AS(Name, FORM, TRV_MPI_NO_SCHEDULES, false)

#define NONBLOCKING_AS(name, FORM, UNSUPPORTED, DISPATCHED)                                                            \
    FUNCTION(MPI_I##name, "MPI_I" #name, UNSUPPORTED, DISPATCHED, ARGUMENTS_REQUEST(FORM),                             \
             TRV_MPI_PARAMETERS_##FORM(int, int), MPI_Request *request)
#define NONBLOCKING(Name, name, NAME, FORM) NONBLOCKING_AS(name, FORM, NULL, FALLS_BACK("MPI_I" #name, CALL(Name)))

#define NONBLOCKING_COUNTED(Name, name, NAME, FORM) NONBLOCKING_AS(name, FORM, TRV_MPI_NO_SCHEDULES, false)

TRV_MPI_DISPATCHED(BLOCKING)
TRV_MPI_BARRIER(BLOCKING)
TRV_MPI_COUNTED(BLOCKING_COUNTED)
TRV_MPI_NEIGHBOR(BLOCKING_COUNTED)
TRV_MPI_DISPATCHED(NONBLOCKING)
TRV_MPI_BARRIER(NONBLOCKING)
TRV_MPI_COUNTED(NONBLOCKING_COUNTED)
TRV_MPI_NEIGHBOR(NONBLOCKING_COUNTED)

/* ---- Persistent functions ---------------------------------------------------------------------------------------- */

#define PERSISTENT(PREFIX, Name, SUFFIX, FORM, COUNT, DISPL, UNSUPPORTED, DISPATCHED)                                  \
    FUNCTION(PREFIX##Name##SUFFIX, #PREFIX #Name "_init", UNSUPPORTED, DISPATCHED, ARGUMENTS_PERSISTENT(FORM),         \
             TRV_MPI_PARAMETERS_##FORM(COUNT, DISPL), MPI_Info info, MPI_Request *request)

#if defined(OPEN_MPI) && MPI_VERSION < 4

/* They are declared in mpi-ext.h, which requires more from the compiler than this project does. */
#define INIT_AS(Name, FORM, UNSUPPORTED, DISPATCHED)                                                                   \
    int MPIX_##Name##_init(TRV_MPI_PARAMETERS_##FORM(int, int), MPI_Info info, MPI_Request *request);                  \
    int PMPIX_##Name##_init(TRV_MPI_PARAMETERS_##FORM(int, int), MPI_Info info, MPI_Request *request);                 \
    PERSISTENT(MPIX_, Name, _init, FORM, int, int, UNSUPPORTED, DISPATCHED)
#define INIT_LABEL(Name) "MPIX_" #Name "_init"
#define HAS_INIT

#elif MPI_VERSION >= 4

#define INIT_AS(Name, FORM, UNSUPPORTED, DISPATCHED)                                                                   \
    PERSISTENT(MPI_, Name, _init, FORM, int, int, UNSUPPORTED, DISPATCHED)
#define INIT_LABEL(Name) "MPI_" #Name "_init"
#define HAS_INIT

#endif

#ifdef HAS_INIT

#define INIT(Name, name, NAME, FORM)         INIT_AS(Name, FORM, NULL, FALLS_BACK(INIT_LABEL(Name), CALL(Name)))
#define INIT_COUNTED(Name, name, NAME, FORM) INIT_AS(Name, FORM, TRV_MPI_NO_SCHEDULES, false)

TRV_MPI_DISPATCHED(INIT)
TRV_MPI_BARRIER(INIT)
TRV_MPI_COUNTED(INIT_COUNTED)
TRV_MPI_NEIGHBOR(INIT_COUNTED)

#endif

/* ---- Large counts ------------------------------------------------------------------------------------------------ */

#if MPI_VERSION >= 4

#define LARGE_AS(Name, name, FORM, UNSUPPORTED, BLOCKING_RUN, NONBLOCKING_RUN, INIT_RUN)                               \
    FUNCTION(MPI_##Name##_c, "MPI_" #Name, UNSUPPORTED, BLOCKING_RUN, ARGUMENTS(FORM),                                 \
             TRV_MPI_PARAMETERS_##FORM(MPI_Count, MPI_Aint))                                                           \
    FUNCTION(MPI_I##name##_c, "MPI_I" #name, UNSUPPORTED, NONBLOCKING_RUN, ARGUMENTS_REQUEST(FORM),                    \
             TRV_MPI_PARAMETERS_##FORM(MPI_Count, MPI_Aint), MPI_Request *request)                                     \
    PERSISTENT(MPI_, Name, _init_c, FORM, MPI_Count, MPI_Aint, UNSUPPORTED, INIT_RUN)
#define LARGE(Name, name, NAME, FORM)                                                                                  \
    LARGE_AS(Name, name, FORM, NULL, DISPATCH(Name), FALLS_BACK("MPI_I" #name, CALL(Name)),                            \
             FALLS_BACK(INIT_LABEL(Name), CALL(Name)))
#define LARGE_COUNTED(Name, name, NAME, FORM) LARGE_AS(Name, name, FORM, TRV_MPI_NO_SCHEDULES, false, false, false)

TRV_MPI_DISPATCHED(LARGE)
TRV_MPI_COUNTED(LARGE_COUNTED)
TRV_MPI_NEIGHBOR(LARGE_COUNTED)

#endif
