/*
 * The MPI functions that a preload library defines in place of the MPI library. Each calls the interceptor. If the call
 * falls back, its arguments are passed unchanged to the PMPI_ function, so a profiling library beneath this one, which
 * defines PMPI_ functions, still receives these calls.
 *
 * Non-blocking and persistent calls always fall back: MPI offers a library in front of it no way to make progress while
 * the program computes or waits in MPI_Wait for another request.
 */
#include "mpi/preload/preload.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "mpi/communicator/attribute.h"
#include "mpi/front/intercept.h"
#include "mpi/settings/job_settings.h"

#ifdef OPEN_MPI
#define MINE          "Open MPI"
#define OTHER         "MPICH"
#define OTHER_LIBRARY "libtrivance_pmpi_mpich.so"
static const bool FOR_OPEN_MPI = true;
#else
#define MINE          "MPICH"
#define OTHER         "Open MPI"
#define OTHER_LIBRARY "libtrivance_pmpi_openmpi.so"
static const bool FOR_OPEN_MPI = false;
#endif

/* Ends a program that is linked with the other MPI library (MPICH instead of Open MPI, or the reverse), because its
 * first MPI call would crash. Does nothing in a program without MPI, such as a launcher or a shell. */
__attribute__((constructor)) static void check_mpi_library(void)
{
    Dl_info info;
    void *next = dlsym(RTLD_NEXT, "MPI_Init"), *library = NULL;
    if (next && dladdr(next, &info) && info.dli_fname)
        library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return;
    bool is_open_mpi = dlsym(library, "ompi_mpi_comm_world") != NULL;
    dlclose(library);
    if (is_open_mpi == FOR_OPEN_MPI)
        return;
    fprintf(stderr, "trivance: this preload library is for " MINE ", and the program is linked with " OTHER
                    "; preload " OTHER_LIBRARY ", or let `trivance run` find the right one\n");
    _exit(2);
}

__attribute__((constructor)) static void set_mode(void) { trv_mpi_set_mode(TRV_MPI_DROP_IN); }

void trv_preload_init(void) { trv_mpi_intercept_init(true); }

void trv_preload_fall_back(const char *name, MPI_Comm comm)
{
    if (trv_mpi_is_active())
        trv_mpi_intercept_log_fallback(name, "a preload library cannot make progress on it between the program's calls",
                                       comm);
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

/* ---- Blocking ---------------------------------------------------------------------------------------------------- */

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    int code;
    if (trv_mpi_intercept_reduce(&(trv_mpi_reduction_t){TRV_ALLREDUCE, sendbuf, recvbuf, count, datatype, op}, comm,
                                 &code))
        return code;
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm)
{
    int code;
    if (trv_mpi_intercept_reduce(&(trv_mpi_reduction_t){TRV_REDUCE_SCATTER, sendbuf, recvbuf, recvcount, datatype, op},
                                 comm, &code))
        return code;
    return PMPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
}

/* MPI_Reduce_scatter with equal counts is MPI_Reduce_scatter_block. MPI requires the list of counts to be the same on
 * all ranks, so they make the same choice; with TRIVANCE_CHECK the ranks compare `list`, of `bytes` bytes. */
static bool reduce_scatter(trv_mpi_reduction_t call, bool equal, const void *list, size_t bytes, MPI_Comm comm,
                           int *code)
{
    call.collective = TRV_REDUCE_SCATTER;
    if (equal)
        return trv_mpi_intercept_reduce(&call, comm, code);
    return trv_mpi_intercept_unequal_counts(&call, list, bytes, comm, code);
}

/* The number of ranks; 0 if calls fall back, or if the arguments are invalid, which the MPI library reports. */
static int ranks_of(const void *counts, MPI_Comm comm)
{
    int ranks = 0;
    return trv_mpi_is_active() && counts && comm != MPI_COMM_NULL && PMPI_Comm_size(comm, &ranks) == MPI_SUCCESS ? ranks
                                                                                                                 : 0;
}

bool trv_preload_reduce_scatter(const void *sendbuf, void *recvbuf, const int *counts, MPI_Datatype datatype, MPI_Op op,
                                MPI_Comm comm, int *code)
{
    int ranks = ranks_of(counts, comm), same = 0;
    while (same < ranks && counts[same] == counts[0])
        same++;
    return ranks > 0 && reduce_scatter((trv_mpi_reduction_t){.input = sendbuf,
                                                             .output = recvbuf,
                                                             .count = counts[0],
                                                             .datatype = datatype,
                                                             .op = op},
                                       same == ranks, counts, (size_t)ranks * sizeof *counts, comm, code);
}

int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                       MPI_Comm comm)
{
    int code;
    if (trv_preload_reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, &code))
        return code;
    return PMPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm)
{
    int code;
    if (trv_mpi_intercept_allgather(&(trv_mpi_gather_t){sendbuf, recvbuf, sendcount, recvcount, sendtype, recvtype},
                                    comm, &code))
        return code;
    return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Barrier(MPI_Comm comm)
{
    int code;
    return trv_mpi_intercept_barrier(comm, &code) ? code : PMPI_Barrier(comm);
}

/* ---- Non-blocking and persistent --------------------------------------------------------------------------------- */

int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
    trv_preload_fall_back("MPI_Iallreduce", comm);
    return PMPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
}

#if defined(OPEN_MPI) && MPI_VERSION < 4

/* Declared in mpi-ext.h, which requires more from the compiler than this project does. */
int MPIX_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                        MPI_Info info, MPI_Request *request);
int PMPIX_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                         MPI_Info info, MPI_Request *request);

int MPIX_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                        MPI_Info info, MPI_Request *request)
{
    trv_preload_fall_back("MPIX_Allreduce_init", comm);
    return PMPIX_Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

#endif

#if MPI_VERSION >= 4

int MPI_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                       MPI_Info info, MPI_Request *request)
{
    trv_preload_fall_back("MPI_Allreduce_init", comm);
    return PMPI_Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

/* ---- Large counts ------------------------------------------------------------------------------------------------ */

int MPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm)
{
    int code;
    if (trv_mpi_intercept_reduce(&(trv_mpi_reduction_t){TRV_ALLREDUCE, sendbuf, recvbuf, count, datatype, op}, comm,
                                 &code))
        return code;
    return PMPI_Allreduce_c(sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm)
{
    int code;
    if (trv_mpi_intercept_reduce(&(trv_mpi_reduction_t){TRV_REDUCE_SCATTER, sendbuf, recvbuf, recvcount, datatype, op},
                                 comm, &code))
        return code;
    return PMPI_Reduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm);
}

int MPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm)
{
    int code, ranks = ranks_of(recvcounts, comm), same = 0;
    while (same < ranks && recvcounts[same] == recvcounts[0])
        same++;
    if (ranks > 0 && reduce_scatter((trv_mpi_reduction_t){.input = sendbuf,
                                                          .output = recvbuf,
                                                          .count = recvcounts[0],
                                                          .datatype = datatype,
                                                          .op = op},
                                    same == ranks, recvcounts, (size_t)ranks * sizeof *recvcounts, comm, &code))
        return code;
    return PMPI_Reduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

int MPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm)
{
    int code;
    if (trv_mpi_intercept_allgather(&(trv_mpi_gather_t){sendbuf, recvbuf, sendcount, recvcount, sendtype, recvtype},
                                    comm, &code))
        return code;
    return PMPI_Allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm, MPI_Request *request)
{
    trv_preload_fall_back("MPI_Iallreduce_c", comm);
    return PMPI_Iallreduce_c(sendbuf, recvbuf, count, datatype, op, comm, request);
}

int MPI_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    trv_preload_fall_back("MPI_Allreduce_init_c", comm);
    return PMPI_Allreduce_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

#endif
