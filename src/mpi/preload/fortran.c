/*
 * The Fortran functions of Open MPI. Its Fortran bindings do not call the C functions, so the Fortran names are
 * defined, too: those that gfortran and other compilers call for mpif.h and `use mpi` (mpi_allreduce_ and other
 * spellings), and for `use mpi_f08` (…_f08_).
 *
 * Fortran passes addresses. MPI_IN_PLACE and MPI_BOTTOM are variables, recognized by their addresses: those of the weak
 * symbols below, which the loader binds to the same address in the program, in Open MPI and in this library. In mpi_f08
 * a handle is a type that consists of one integer, and ierror may be absent (NULL). Calls that fall back go to the
 * pmpi_ function unchanged.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include "mpi/operations/device.h"
#include "mpi/communicator/attribute.h"
#include "mpi/front/collectives.h"
#include "mpi/front/intercept.h"
#include "mpi/preload/preload.h"

#define WEAK __attribute__((weak))

/* The spellings of the compilers that Open MPI supports. */
extern MPI_Fint mpi_fortran_in_place_ WEAK, mpi_fortran_in_place__ WEAK, mpi_fortran_in_place WEAK,
    MPI_FORTRAN_IN_PLACE WEAK;
extern MPI_Fint mpi_fortran_bottom_ WEAK, mpi_fortran_bottom__ WEAK, mpi_fortran_bottom WEAK, MPI_FORTRAN_BOTTOM WEAK;

typedef void (*reduce_t)(const void *, void *, const MPI_Fint *, const MPI_Fint *, const MPI_Fint *, const MPI_Fint *,
                         MPI_Fint *);
typedef void (*broadcast_t)(void *, const MPI_Fint *, const MPI_Fint *, const MPI_Fint *, const MPI_Fint *, MPI_Fint *);
typedef void (*reduce_root_t)(const void *, void *, const MPI_Fint *, const MPI_Fint *, const MPI_Fint *,
                              const MPI_Fint *, const MPI_Fint *, MPI_Fint *);
typedef void (*gather_root_t)(const void *, const MPI_Fint *, const MPI_Fint *, void *, const MPI_Fint *,
                              const MPI_Fint *, const MPI_Fint *, const MPI_Fint *, MPI_Fint *);
typedef void (*gather_t)(const void *, const MPI_Fint *, const MPI_Fint *, void *, const MPI_Fint *, const MPI_Fint *,
                         const MPI_Fint *, MPI_Fint *);
typedef void (*gatherv_t)(const void *, const MPI_Fint *, const MPI_Fint *, void *, const MPI_Fint *, const MPI_Fint *,
                          const MPI_Fint *, const MPI_Fint *, MPI_Fint *);
typedef void (*barrier_t)(const MPI_Fint *, MPI_Fint *);
typedef void (*init_t)(MPI_Fint *);
typedef void (*dup_t)(const MPI_Fint *, MPI_Fint *, MPI_Fint *);
typedef void (*idup_t)(const MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
typedef void (*set_info_t)(const MPI_Fint *, const MPI_Fint *, MPI_Fint *);
typedef void (*dup_with_info_t)(const MPI_Fint *, const MPI_Fint *, MPI_Fint *, MPI_Fint *);
typedef void (*init_thread_t)(const MPI_Fint *, MPI_Fint *, MPI_Fint *);

/* The functions of Open MPI, or of a profiling library, that this library replaces. */
static struct {
    reduce_t allreduce, reduce_scatter_block, reduce_scatter;
    gather_t allgather, alltoall;
    gatherv_t allgatherv;
    broadcast_t bcast;
    reduce_root_t reduce;
    gather_root_t gather, scatter;
    barrier_t barrier;
    init_t init;
    dup_t comm_dup;
    idup_t comm_idup;
    dup_with_info_t comm_dup_with_info;
    set_info_t comm_set_info;
    init_thread_t init_thread;
} library;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool in_place_unknown; /* MPI_IN_PLACE cannot be recognized, so all calls fall back */

/* Finds a function of the Fortran bindings. They are usually in the global scope, but not if, for example, Python has
 * loaded an extension that is written in Fortran. */
static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name), *bindings = found ? NULL : trv_loaded_library("libmpi_mpifh.so");
    *(void **)function = bindings ? dlsym(bindings, name) : found;
}

static void find_functions(void)
{
    find("pmpi_allreduce_", &library.allreduce);
    find("pmpi_reduce_scatter_block_", &library.reduce_scatter_block);
    find("pmpi_reduce_scatter_", &library.reduce_scatter);
    find("pmpi_allgather_", &library.allgather);
    find("pmpi_allgatherv_", &library.allgatherv);
    find("pmpi_alltoall_", &library.alltoall);
    find("pmpi_bcast_", &library.bcast);
    find("pmpi_reduce_", &library.reduce);
    find("pmpi_gather_", &library.gather);
    find("pmpi_scatter_", &library.scatter);
    find("pmpi_barrier_", &library.barrier);
    find("pmpi_init_", &library.init);
    find("pmpi_comm_dup_", &library.comm_dup);
    find("pmpi_comm_idup_", &library.comm_idup);
    find("pmpi_comm_dup_with_info_", &library.comm_dup_with_info);
    find("pmpi_comm_set_info_", &library.comm_set_info);
    find("pmpi_init_thread_", &library.init_thread);
    bool known = &mpi_fortran_in_place_ || &mpi_fortran_in_place__ || &mpi_fortran_in_place || &MPI_FORTRAN_IN_PLACE;
    in_place_unknown = !known;
}

/* Whether all calls fall back. Also initializes `library`, so it must be called before a function in that is called. */
static bool falls_back(void)
{
    pthread_once(&once, find_functions);
    return in_place_unknown || !trv_mpi_is_active();
}

static const void *input(const void *buffer)
{
    if (buffer == &mpi_fortran_in_place_ || buffer == &mpi_fortran_in_place__ || buffer == &mpi_fortran_in_place ||
        buffer == &MPI_FORTRAN_IN_PLACE)
        return MPI_IN_PLACE;
    if (buffer == &mpi_fortran_bottom_ || buffer == &mpi_fortran_bottom__ || buffer == &mpi_fortran_bottom ||
        buffer == &MPI_FORTRAN_BOTTOM)
        return MPI_BOTTOM;
    return buffer;
}

static void *output(void *buffer) { return (void *)input(buffer); }

static void set_error(MPI_Fint *ierror, MPI_Fint code)
{
    if (ierror)
        *ierror = code;
}

static void end(trv_mpi_span_t span, const char *unsupported, const MPI_Fint *comm)
{
    if (span.number > 0)
        trv_mpi_intercept_end(span, unsupported, PMPI_Comm_f2c(*comm));
}

/* ---- The collectives --------------------------------------------------------------------------------------------- */

static void reduce(const char *name, trv_collective_t collective, const reduce_t *fallback, const void *sendbuf,
                   void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *op,
                   const MPI_Fint *comm, MPI_Fint *ierror)
{
    int code;
    MPI_Fint error = MPI_SUCCESS;
    const trv_mpi_span_t span = trv_mpi_span_begin(name);
    if (!falls_back() &&
        trv_mpi_intercept(&(trv_mpi_call_t){.reduction = &(trv_mpi_reduction_t){collective, input(sendbuf),
                                                                                output(recvbuf), *count,
                                                                                PMPI_Type_f2c(*datatype),
                                                                                PMPI_Op_f2c(*op), 0}},
                          PMPI_Comm_f2c(*comm), &code))
        error = code;
    else
        (*fallback)(sendbuf, recvbuf, count, datatype, op, comm, &error);
    end(span, NULL, comm);
    set_error(ierror, error);
}

void mpi_allreduce_(const void *sendbuf, void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype,
                    const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *ierror)
{
    reduce("MPI_Allreduce", TRV_ALLREDUCE, &library.allreduce, sendbuf, recvbuf, count, datatype, op, comm, ierror);
}

void mpi_reduce_scatter_block_(const void *sendbuf, void *recvbuf, const MPI_Fint *recvcount, const MPI_Fint *datatype,
                               const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *ierror)
{
    reduce("MPI_Reduce_scatter_block", TRV_REDUCE_SCATTER, &library.reduce_scatter_block, sendbuf, recvbuf, recvcount,
           datatype, op, comm, ierror);
}

/* The counts of a call, and its displacements. */
#define COUNTS(counts) (&(const trv_mpi_counts_t){counts, NULL, sizeof(MPI_Fint), 0})
#define COUNTS_DISPLACEMENTS(counts, displs)                                                                           \
    (&(const trv_mpi_counts_t){counts, displs, sizeof(MPI_Fint), sizeof(MPI_Fint)})

void mpi_reduce_scatter_(const void *sendbuf, void *recvbuf, const MPI_Fint *recvcounts, const MPI_Fint *datatype,
                         const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *ierror)
{
    int code;
    MPI_Fint error = MPI_SUCCESS;
    const trv_mpi_span_t span = trv_mpi_span_begin("MPI_Reduce_scatter");
    if (!falls_back() &&
        trv_mpi_intercept(&(trv_mpi_call_t){.reduction = &(trv_mpi_reduction_t){TRV_REDUCE_SCATTER, input(sendbuf),
                                                                                output(recvbuf), 0,
                                                                                PMPI_Type_f2c(*datatype),
                                                                                PMPI_Op_f2c(*op), 0},
                                            .counts = COUNTS(recvcounts)},
                          PMPI_Comm_f2c(*comm), &code))
        error = code;
    else
        library.reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, &error);
    end(span, NULL, comm);
    set_error(ierror, error);
}

void mpi_reduce_(const void *sendbuf, void *recvbuf, const MPI_Fint *count, const MPI_Fint *datatype,
                 const MPI_Fint *op, const MPI_Fint *root, const MPI_Fint *comm, MPI_Fint *ierror)
{
    int code;
    MPI_Fint error = MPI_SUCCESS;
    const trv_mpi_span_t span = trv_mpi_span_begin("MPI_Reduce");
    if (!falls_back() &&
        trv_mpi_intercept(&(trv_mpi_call_t){.reduction = &(trv_mpi_reduction_t){TRV_REDUCE, input(sendbuf),
                                                                                output(recvbuf), *count,
                                                                                PMPI_Type_f2c(*datatype),
                                                                                PMPI_Op_f2c(*op), *root}},
                          PMPI_Comm_f2c(*comm), &code))
        error = code;
    else
        library.reduce(sendbuf, recvbuf, count, datatype, op, root, comm, &error);
    end(span, NULL, comm);
    set_error(ierror, error);
}

/* Whether Trivance has executed a collective that moves data. */
static bool move(const trv_mpi_movement_t *movement, const MPI_Fint *comm, MPI_Fint *error)
{
    int code;
    const trv_mpi_call_t call = {.movement = movement};
    const bool executed = !falls_back() && trv_mpi_intercept(&call, PMPI_Comm_f2c(*comm), &code);
    if (executed)
        *error = code;
    return executed;
}

void mpi_bcast_(void *buffer, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *root,
                const MPI_Fint *comm, MPI_Fint *ierror)
{
    MPI_Fint error = MPI_SUCCESS;
    const trv_mpi_span_t span = trv_mpi_span_begin("MPI_Bcast");
    if (!move(&(trv_mpi_movement_t){TRV_BROADCAST, MPI_IN_PLACE, output(buffer), 0, *count, MPI_DATATYPE_NULL,
                                    PMPI_Type_f2c(*datatype), *root, NULL},
              comm, &error))
        library.bcast(buffer, count, datatype, root, comm, &error);
    end(span, NULL, comm);
    set_error(ierror, error);
}

static void gather(const char *name, trv_collective_t collective, const gather_t *fallback, const void *sendbuf,
                   const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf, const MPI_Fint *recvcount,
                   const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierror)
{
    MPI_Fint error = MPI_SUCCESS;
    const trv_mpi_span_t span = trv_mpi_span_begin(name);
    if (!move(&(trv_mpi_movement_t){collective, input(sendbuf), output(recvbuf), *sendcount, *recvcount,
                                    PMPI_Type_f2c(*sendtype), PMPI_Type_f2c(*recvtype), 0, NULL},
              comm, &error))
        (*fallback)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &error);
    end(span, NULL, comm);
    set_error(ierror, error);
}

void mpi_allgather_(const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
                    const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierror)
{
    gather("MPI_Allgather", TRV_ALLGATHER, &library.allgather, sendbuf, sendcount, sendtype, recvbuf, recvcount,
           recvtype, comm, ierror);
}

void mpi_allgatherv_(const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
                     const MPI_Fint *recvcounts, const MPI_Fint *displs, const MPI_Fint *recvtype, const MPI_Fint *comm,
                     MPI_Fint *ierror)
{
    MPI_Fint error = MPI_SUCCESS;
    const trv_mpi_span_t span = trv_mpi_span_begin("MPI_Allgatherv");
    const trv_mpi_movement_t movement = {TRV_ALLGATHER,
                                         input(sendbuf),
                                         output(recvbuf),
                                         *sendcount,
                                         0,
                                         PMPI_Type_f2c(*sendtype),
                                         PMPI_Type_f2c(*recvtype),
                                         0,
                                         COUNTS_DISPLACEMENTS(recvcounts, displs)};
    if (!move(&movement, comm, &error))
        library.allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, &error);
    end(span, NULL, comm);
    set_error(ierror, error);
}

void mpi_alltoall_(const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
                   const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierror)
{
    gather("MPI_Alltoall", TRV_ALLTOALL, &library.alltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
           comm, ierror);
}

static void gather_root(const char *name, trv_collective_t collective, const gather_root_t *fallback,
                        const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
                        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *root, const MPI_Fint *comm,
                        MPI_Fint *ierror)
{
    MPI_Fint error = MPI_SUCCESS;
    const trv_mpi_span_t span = trv_mpi_span_begin(name);
    if (!move(&(trv_mpi_movement_t){collective, input(sendbuf), output(recvbuf), *sendcount, *recvcount,
                                    PMPI_Type_f2c(*sendtype), PMPI_Type_f2c(*recvtype), *root, NULL},
              comm, &error))
        (*fallback)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &error);
    end(span, NULL, comm);
    set_error(ierror, error);
}

void mpi_gather_(const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
                 const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *root, const MPI_Fint *comm,
                 MPI_Fint *ierror)
{
    gather_root("MPI_Gather", TRV_GATHER, &library.gather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                root, comm, ierror);
}

void mpi_scatter_(const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,
                  const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *root, const MPI_Fint *comm,
                  MPI_Fint *ierror)
{
    gather_root("MPI_Scatter", TRV_SCATTER, &library.scatter, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                recvtype, root, comm, ierror);
}

static bool barrier(MPI_Comm comm, int *code)
{
    return trv_mpi_intercept(&(trv_mpi_call_t)TRV_MPI_CALL_Barrier, comm, code);
}

void mpi_barrier_(const MPI_Fint *comm, MPI_Fint *ierror)
{
    int code;
    MPI_Fint error = MPI_SUCCESS;
    const trv_mpi_span_t span = trv_mpi_span_begin("MPI_Barrier");
    if (!falls_back() && barrier(PMPI_Comm_f2c(*comm), &code))
        error = code;
    else
        library.barrier(comm, &error);
    end(span, NULL, comm);
    set_error(ierror, error);
}

void mpi_init_(MPI_Fint *ierror)
{
    MPI_Fint error = MPI_SUCCESS;
    pthread_once(&once, find_functions);
    library.init(&error);
    if (error == MPI_SUCCESS)
        trv_preload_init();
    set_error(ierror, error);
}

void mpi_init_thread_(const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
    MPI_Fint error = MPI_SUCCESS;
    pthread_once(&once, find_functions);
    library.init_thread(required, provided, &error);
    if (error == MPI_SUCCESS)
        trv_preload_init();
    set_error(ierror, error);
}

/* A duplicate that is created from Fortran also inherits its parent's state. */
void mpi_comm_dup_(const MPI_Fint *comm, MPI_Fint *copy, MPI_Fint *ierror)
{
    MPI_Fint error = MPI_SUCCESS;
    pthread_once(&once, find_functions);
    const bool before = trv_mpi_set_duplicating(true);
    library.comm_dup(comm, copy, &error);
    trv_mpi_set_duplicating(before);
    set_error(ierror, error);
}

void mpi_comm_idup_(const MPI_Fint *comm, MPI_Fint *copy, MPI_Fint *request, MPI_Fint *ierror)
{
    MPI_Fint error = MPI_SUCCESS;
    pthread_once(&once, find_functions);
    trv_preload_mark_idup(PMPI_Comm_f2c(*comm));
    const bool before = trv_mpi_set_duplicating(true);
    library.comm_idup(comm, copy, request, &error);
    trv_mpi_set_duplicating(before);
    set_error(ierror, error);
}

void mpi_comm_dup_with_info_(const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *copy, MPI_Fint *ierror)
{
    MPI_Fint error = MPI_SUCCESS;
    pthread_once(&once, find_functions);
    const bool before = trv_mpi_set_duplicating(true);
    library.comm_dup_with_info(comm, info, copy, &error);
    trv_mpi_set_duplicating(before);
    if (error == MPI_SUCCESS)
        trv_preload_hint(PMPI_Comm_f2c(*copy), PMPI_Info_f2c(*info));
    set_error(ierror, error);
}

void mpi_comm_set_info_(const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *ierror)
{
    MPI_Fint error = MPI_SUCCESS;
    pthread_once(&once, find_functions);
    library.comm_set_info(comm, info, &error);
    if (error == MPI_SUCCESS)
        trv_preload_hint(PMPI_Comm_f2c(*comm), PMPI_Info_f2c(*info));
    set_error(ierror, error);
}

/* ---- The other spellings ----------------------------------------------------------------------------------------- */

#define ALSO(other, name) extern __typeof__(name) other __attribute__((alias(#name)))
#define SPELLINGS(plain, UPPER)                                                                                        \
    ALSO(plain, plain##_);                                                                                             \
    ALSO(plain##__, plain##_);                                                                                         \
    ALSO(plain##_f08_, plain##_);                                                                                      \
    ALSO(UPPER, plain##_)

SPELLINGS(mpi_init, MPI_INIT);
SPELLINGS(mpi_comm_dup, MPI_COMM_DUP);
SPELLINGS(mpi_comm_idup, MPI_COMM_IDUP);
SPELLINGS(mpi_comm_dup_with_info, MPI_COMM_DUP_WITH_INFO);
SPELLINGS(mpi_comm_set_info, MPI_COMM_SET_INFO);
SPELLINGS(mpi_init_thread, MPI_INIT_THREAD);
SPELLINGS(mpi_allreduce, MPI_ALLREDUCE);
SPELLINGS(mpi_reduce_scatter_block, MPI_REDUCE_SCATTER_BLOCK);
SPELLINGS(mpi_reduce_scatter, MPI_REDUCE_SCATTER);
SPELLINGS(mpi_allgather, MPI_ALLGATHER);
SPELLINGS(mpi_allgatherv, MPI_ALLGATHERV);
SPELLINGS(mpi_alltoall, MPI_ALLTOALL);
SPELLINGS(mpi_bcast, MPI_BCAST);
SPELLINGS(mpi_reduce, MPI_REDUCE);
SPELLINGS(mpi_gather, MPI_GATHER);
SPELLINGS(mpi_scatter, MPI_SCATTER);
SPELLINGS(mpi_barrier, MPI_BARRIER);

/* ---- Calls that always fall back --------------------------------------------------------------------------------- */

/* Lists of N parameters and arguments. All arguments of Fortran are addresses. */
#define P1  void *a1
#define P2  P1, void *a2
#define P3  P2, void *a3
#define P4  P3, void *a4
#define P5  P4, void *a5
#define P6  P5, void *a6
#define P7  P6, void *a7
#define P8  P7, void *a8
#define P9  P8, void *a9
#define P10 P9, void *a10
#define A1  a1
#define A2  A1, a2
#define A3  A2, a3
#define A4  A3, a4
#define A5  A4, a5
#define A6  A5, a6
#define A7  A6, a7
#define A8  A7, a8
#define A9  A8, a9
#define A10 A9, a10

/* By form (collectives.h): the number of arguments up to the communicator, and including the request. */
#define NUMBER_BARRIER            1, 2
#define NUMBER_BROADCAST          5, 6
#define NUMBER_REDUCTION          6, 7
#define NUMBER_REDUCTION_COUNTS   6, 7
#define NUMBER_REDUCTION_ROOT     7, 8
#define NUMBER_GATHER             7, 8
#define NUMBER_GATHER_ROOT        8, 9
#define NUMBER_GATHERV            8, 9
#define NUMBER_GATHERV_ROOT       9, 10
#define NUMBER_SCATTERV_ROOT      9, 10
#define NUMBER_ALLTOALLV          9, 10
#define NUMBER_ALLTOALLW          9, 10
#define NUMBER_NEIGHBOR_ALLTOALLW 9, 10

/* The arguments of a dispatched collective, whose parameters are a1, a2, … */
#define FINT(a) (*(const MPI_Fint *)(a))
#define REDUCTION_ARGUMENTS(COLLECTIVE, ROOT)                                                                          \
    (&(const trv_mpi_call_t){.reduction = &(const trv_mpi_reduction_t){COLLECTIVE, input(a1), output(a2), FINT(a3),    \
                                                                       PMPI_Type_f2c(FINT(a4)), PMPI_Op_f2c(FINT(a5)), \
                                                                       ROOT}})
#define MOVEMENT_ARGUMENTS(COLLECTIVE, ROOT)                                                                           \
    (&(const trv_mpi_call_t){.movement = &(const trv_mpi_movement_t){COLLECTIVE, input(a1), output(a4), FINT(a2),      \
                                                                     FINT(a5), PMPI_Type_f2c(FINT(a3)),                \
                                                                     PMPI_Type_f2c(FINT(a6)), ROOT, NULL}})
#define CALL_ALLREDUCE            REDUCTION_ARGUMENTS(TRV_ALLREDUCE, 0)
#define CALL_REDUCE_SCATTER_BLOCK REDUCTION_ARGUMENTS(TRV_REDUCE_SCATTER, 0)
#define CALL_REDUCE               REDUCTION_ARGUMENTS(TRV_REDUCE, FINT(a6))
#define CALL_BCAST                                                                                                     \
    (&(const trv_mpi_call_t){.movement = &(const trv_mpi_movement_t){TRV_BROADCAST, MPI_IN_PLACE, output(a1), 0,       \
                                                                     FINT(a2), MPI_DATATYPE_NULL,                      \
                                                                     PMPI_Type_f2c(FINT(a3)), FINT(a4), NULL}})
#define CALL_ALLGATHER MOVEMENT_ARGUMENTS(TRV_ALLGATHER, 0)
#define CALL_ALLTOALL  MOVEMENT_ARGUMENTS(TRV_ALLTOALL, 0)
#define CALL_GATHER    MOVEMENT_ARGUMENTS(TRV_GATHER, FINT(a7))
#define CALL_SCATTER   MOVEMENT_ARGUMENTS(TRV_SCATTER, FINT(a7))
#define CALL_REDUCE_SCATTER                                                                                            \
    (&(const trv_mpi_call_t){.reduction = &(const trv_mpi_reduction_t){TRV_REDUCE_SCATTER, input(a1), output(a2), 0,   \
                                                                       PMPI_Type_f2c(FINT(a4)), PMPI_Op_f2c(FINT(a5)), \
                                                                       0},                                             \
                             .counts = COUNTS(a3)})
#define CALL_ALLGATHERV                                                                                                \
    (&(const trv_mpi_call_t){.movement = &(const trv_mpi_movement_t){TRV_ALLGATHER, input(a1), output(a4), FINT(a2),   \
                                                                     0, PMPI_Type_f2c(FINT(a3)),                       \
                                                                     PMPI_Type_f2c(FINT(a7)), 0,                       \
                                                                     COUNTS_DISPLACEMENTS(a5, a6)}})
#define CALL_BARRIER (&(const trv_mpi_call_t)TRV_MPI_CALL_Barrier)

/* Defines the function mpi_<name>, which has N arguments and ierror, in all spellings. Argument C is the communicator.
 * `UNSUPPORTED`: see trv_mpi_intercept_end; if it is NULL, the call is reported. `CALL`: its arguments, or NULL. */
#define FORWARD(name, NAME, LABEL, UNSUPPORTED, CALL, C, N)                                                            \
    void mpi_##name##_(P##N, MPI_Fint *ierror)                                                                         \
    {                                                                                                                  \
        static void (*_Atomic forward)(P##N, MPI_Fint *);                                                              \
        void (*function)(P##N, MPI_Fint *) = forward;                                                                  \
        const char *unsupported = UNSUPPORTED;                                                                         \
        MPI_Fint error = MPI_SUCCESS;                                                                                  \
        if (!function) {                                                                                               \
            find("pmpi_" #name "_", &function);                                                                        \
            forward = function;                                                                                        \
        }                                                                                                              \
        const trv_mpi_span_t span = trv_mpi_span_begin(LABEL);                                                         \
        if (!unsupported && trv_mpi_is_active())                                                                       \
            trv_preload_report_fallback(LABEL, CALL, PMPI_Comm_f2c(FINT(a##C)));                                       \
        function(A##N, &error);                                                                                        \
        end(span, unsupported, a##C);                                                                                  \
        set_error(ierror, error);                                                                                      \
    }                                                                                                                  \
    SPELLINGS(mpi_##name, MPI_##NAME);

#define BLOCKING_N(name, NAME, LABEL, C, N)      FORWARD(name, NAME, LABEL, TRV_MPI_NO_SCHEDULES, NULL, C, C)
#define BLOCKING_WITH(...)                       BLOCKING_N(__VA_ARGS__)
#define BLOCKING_COUNTED(Name, name, NAME, FORM) BLOCKING_WITH(name, NAME, "MPI_" #Name, NUMBER_##FORM)

#define NONBLOCKING_N(name, NAME, LABEL, UNSUPPORTED, CALL, C, N)                                                      \
    FORWARD(i##name, I##NAME, LABEL, UNSUPPORTED, CALL, C, N)
#define NONBLOCKING_WITH(...) NONBLOCKING_N(__VA_ARGS__)
#define NONBLOCKING(Name, name, NAME, FORM)                                                                            \
    NONBLOCKING_WITH(name, NAME, "MPI_I" #name, NULL, CALL_##NAME, NUMBER_##FORM)
#define NONBLOCKING_COUNTED(Name, name, NAME, FORM)                                                                    \
    NONBLOCKING_WITH(name, NAME, "MPI_I" #name, TRV_MPI_NO_SCHEDULES, NULL, NUMBER_##FORM)

TRV_MPI_COUNTED(BLOCKING_COUNTED)
TRV_MPI_NEIGHBOR(BLOCKING_COUNTED)
TRV_MPI_DISPATCHED(NONBLOCKING)
TRV_MPI_BARRIER(NONBLOCKING)
TRV_MPI_COUNTED(NONBLOCKING_COUNTED)
TRV_MPI_NEIGHBOR(NONBLOCKING_COUNTED)
