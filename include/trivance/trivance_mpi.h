/*
 * Trivance for MPI programs: AllReduce, Reduce-Scatter, AllGather, Broadcast, Reduce, Scatter, Gather, All-to-All and
 * Barrier with MPI's argument order, and plans that are created once and run many times. Link libtrivance_mpi_openmpi
 * or libtrivance_mpi_mpich, whichever MPI the program is built with.
 *
 * Return values: MPI_SUCCESS or an MPI error class (MPI_ERR_BUFFER, MPI_ERR_ARG, …), with the reason as a sentence in
 * trv_last_error(). The communicator's error handler is not called, and no error aborts the program.
 *
 * Supported are intracommunicators; every predefined operation on the types for which MPI defines it, and commutative
 * user-defined operations on types without gaps; and non-commutative operations on small vectors. All other calls fall
 * back to the MPI library's own function; TRIVANCE_DEBUG=info logs this, with the reason, once per decision, and at the
 * end a table of all calls.
 *
 * Results: bitwise identical on all ranks, whatever the type, unless TRV_Comm_set or TRIVANCE_ALGORITHM names an
 * algorithm that is not consistent (trivance-l adds floating-point numbers in a different order on every rank).
 *
 * Environment, read once, the same on all ranks:
 *     TRIVANCE_TORUS=3x3        the torus of communicators with that many ranks; a list (9,3x3x3) covers several sizes
 *     TRIVANCE_ALGORITHM=NAME   an algorithm (trivance-b, hybrid:4, …), a family (trivance, swing, …), planned or auto
 *     TRIVANCE_DEBUG=info       one line on stderr per decision, from rank 0 of the communicator
 *     TRIVANCE_CHECK=1          all ranks compare their arguments before every call, and all of them return the error
 * and others, which docs/environment.md and `trivance info` list. An invalid value is an error of the calls that need
 * it.
 *
 * Stability: stable.
 */
#ifndef TRIVANCE_TRIVANCE_MPI_H
#define TRIVANCE_TRIVANCE_MPI_H

#include <mpi.h>

#include <trivance/common.h>
#include <trivance/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Collectives ------------------------------------------------------------------------------------------------- */

/* As MPI_Allreduce, MPI_Reduce_scatter_block and MPI_Allgather, MPI_IN_PLACE included. In the first call with an
 * operation signature (collective, type, operation) and a size class on a communicator, rank 0 selects the schedule and
 * all ranks create a plan of it. Later calls with any count in the class reuse this decision and allocate nothing.
 *
 * If buffers overlap without MPI_IN_PLACE, which MPI forbids, the call runs on copies and then returns
 * MPI_ERR_BUFFER if the underlying MPI library also reports that error (MPICH, if both begin at the same address), or
 * with TRIVANCE_CHECK=1. A call that fails after messages were sent (MPI_ERR_OTHER, MPI_ERR_NO_MEM) leaves the
 * communicator broken: this rank's later calls on it fail. Other ranks are not notified, and may wait. */
TRV_API int TRV_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                          MPI_Comm comm);
TRV_API int TRV_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype,
                                     MPI_Op op, MPI_Comm comm);
TRV_API int TRV_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                          MPI_Datatype recvtype, MPI_Comm comm);

/* The same with large counts. */
TRV_API int TRV_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm);
TRV_API int TRV_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                       MPI_Op op, MPI_Comm comm);
TRV_API int TRV_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* As MPI_Bcast, MPI_Reduce, MPI_Gather, MPI_Scatter and MPI_Alltoall, MPI_IN_PLACE included, with the same rules.
 * Arguments that MPI ignores on a rank are not read. On a torus without lines and slow links one decision serves all
 * roots, and each rank prepares the schedule of a root in the first call with that root; the communicator keeps those
 * of 128 roots. Otherwise each root has its own decision. MPI_ERR_ROOT: the communicator has no such root. */
TRV_API int TRV_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
TRV_API int TRV_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                       MPI_Comm comm);
TRV_API int TRV_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                       MPI_Datatype recvtype, int root, MPI_Comm comm);
TRV_API int TRV_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                        MPI_Datatype recvtype, int root, MPI_Comm comm);
TRV_API int TRV_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                         MPI_Datatype recvtype, MPI_Comm comm);

TRV_API int TRV_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm);
TRV_API int TRV_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                         int root, MPI_Comm comm);
TRV_API int TRV_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
TRV_API int TRV_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
TRV_API int TRV_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* As MPI_Reduce_scatter and MPI_Allgatherv: a count per rank, the same list on all ranks. Schedules are selected by the
 * total size. Displacements may differ between ranks. */
TRV_API int TRV_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm);
TRV_API int TRV_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                           const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm);
TRV_API int TRV_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
TRV_API int TRV_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                             const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                             MPI_Comm comm);

/* As MPI_Barrier; executed as an AllReduce of one byte. */
TRV_API int TRV_Barrier(MPI_Comm comm);

/* ---- Non-blocking and persistent calls --------------------------------------------------------------------------- */

/* As MPI_Iallreduce, MPI_Allreduce_init and their relatives, with large counts. None of these calls waits for another
 * rank: they run a schedule if a blocking call or a plan with the same operation signature and size class on the
 * communicator has been decided before, and otherwise fall back to the MPI library.
 *
 * Any number may be outstanding on a communicator. All ranks must issue them in the same order (blocking calls
 * included); persistent requests are created in the same order, and started and freed in any order. The library owns
 * the buffers until the end of the run, and unlike MPI it needs the types and operations until then: free them after
 * TRV_Wait (of persistent requests and plans: after these are freed), because MPI has no way to keep a handle alive.
 * The arrays of counts and displacements must not change until then, either. A freed communicator remains valid for
 * Trivance's requests outstanding on it (Open MPI 4.1 crashes in its own). A communicator holds 8 or more persistent
 * requests; further ones fall back to the MPI library.
 *
 * TRV_ functions that wait or test make progress for all requests of the process: call TRV_Test periodically in a long
 * computation, and let no rank wait inside MPI for something that another rank does only after TRV_Wait. TRIVANCE_CHECK
 * does not apply to these calls. */
typedef struct trv_mpi_handle *TRV_Request;
#define TRV_REQUEST_NULL ((TRV_Request)0)

TRV_API int TRV_Iallreduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm, TRV_Request *request);
TRV_API int TRV_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                      MPI_Op op, MPI_Comm comm, TRV_Request *request);
TRV_API int TRV_Iallgather(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, TRV_Request *request);
TRV_API int TRV_Ibcast(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                       TRV_Request *request);
TRV_API int TRV_Ireduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                        MPI_Comm comm, TRV_Request *request);
TRV_API int TRV_Igather(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, TRV_Request *request);
TRV_API int TRV_Iscatter(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, TRV_Request *request);
TRV_API int TRV_Ialltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, TRV_Request *request);
TRV_API int TRV_Ireduce_scatter(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                                MPI_Op op, MPI_Comm comm, TRV_Request *request);
TRV_API int TRV_Iallgatherv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                            const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                            TRV_Request *request);
/* Runs a schedule if an AllReduce of one MPI_BYTE with MPI_BOR, or a TRV_Barrier, was decided before. */
TRV_API int TRV_Ibarrier(MPI_Comm comm, TRV_Request *request);

/* `info` is ignored. Everything that a run needs, except the buffers, is allocated here. */
TRV_API int TRV_Allreduce_init(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                               MPI_Comm comm, MPI_Info info, TRV_Request *request);
TRV_API int TRV_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                          TRV_Request *request);
TRV_API int TRV_Allgather_init(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                               MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                               TRV_Request *request);
TRV_API int TRV_Bcast_init(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                           TRV_Request *request);
TRV_API int TRV_Reduce_init(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                            int root, MPI_Comm comm, MPI_Info info, TRV_Request *request);
TRV_API int TRV_Gather_init(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                            TRV_Request *request);
TRV_API int TRV_Scatter_init(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                             TRV_Request *request);
TRV_API int TRV_Alltoall_init(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                              TRV_Request *request);
TRV_API int TRV_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                    TRV_Request *request);
TRV_API int TRV_Allgatherv_init(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                                MPI_Comm comm, MPI_Info info, TRV_Request *request);
TRV_API int TRV_Barrier_init(MPI_Comm comm, MPI_Info info, TRV_Request *request);

/* Starts a persistent request. MPI_ERR_REQUEST if it is active or not persistent. */
TRV_API int TRV_Start(TRV_Request *request);
/* Makes progress; *flag = 1 if the run is complete. A non-blocking request is then freed and set to TRV_REQUEST_NULL; a
 * persistent one can be started again. TRV_REQUEST_NULL and inactive requests are complete. Returns the run's
 * result. */
TRV_API int TRV_Test(TRV_Request *request, int *flag);
TRV_API int TRV_Wait(TRV_Request *request);
/* Frees an inactive persistent request, before MPI_Finalize, and sets it to TRV_REQUEST_NULL. */
TRV_API int TRV_Request_free(TRV_Request *request);

/* ---- The torus and the algorithm of a communicator --------------------------------------------------------------- */

/* Sets both for all later calls and plans on `comm`. Collective: the same values on all ranks.
 *
 * torus: "3x3", with as many ranks as the communicator, numbered row-major with the last dimension fastest. NULL:
 * TRIVANCE_TORUS, else the communicator's topology if it is Cartesian (a dimension that is not periodic is a line),
 * else a ring.
 *
 * algorithm: a name or a family of `trivance list` ("trivance-b", "hybrid:4x8/3", "swing"); "planned", the algorithm
 * that the planner (trivance/planner.h) expects to be fastest among those that are correct for the type and the
 * operation; or "auto", the same unless a rules file overrides it, for example because the MPI library is faster. NULL:
 * TRIVANCE_ALGORITHM, else auto. If no torus is known, planned and auto plan for a ring. A named algorithm must support
 * a collective on the torus; collectives that it does not support (for example Reduce-Scatter by trivance-l) are
 * planned. */
TRV_API int TRV_Comm_set(MPI_Comm comm, const char *torus, const char *algorithm);

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

/* One prepared collective: create it once, run it on any buffers, any number of times. Creating and freeing are
 * collective, in the same order on all ranks. A plan remains usable after its communicator is freed. */
typedef struct trv_mpi_plan *TRV_Plan;
#define TRV_PLAN_NULL ((TRV_Plan)0)

TRV_API int TRV_Allreduce_plan_create(MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, TRV_Plan *plan);
TRV_API int TRV_Reduce_scatter_block_plan_create(MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                                 TRV_Plan *plan);
TRV_API int TRV_Reduce_plan_create(MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                                   TRV_Plan *plan);
/* `count` elements of `datatype` in the vector of a Broadcast, or in each block of the others; the type must have no
 * gaps (MPI_ERR_TYPE). */
TRV_API int TRV_Allgather_plan_create(MPI_Count count, MPI_Datatype datatype, MPI_Comm comm, TRV_Plan *plan);
TRV_API int TRV_Alltoall_plan_create(MPI_Count count, MPI_Datatype datatype, MPI_Comm comm, TRV_Plan *plan);
TRV_API int TRV_Bcast_plan_create(MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, TRV_Plan *plan);
TRV_API int TRV_Gather_plan_create(MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, TRV_Plan *plan);
TRV_API int TRV_Scatter_plan_create(MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, TRV_Plan *plan);

/* A plan of a given schedule (trv_schedule_create, trv_explicit_create, …), the same one on all ranks. The schedule
 * determines the collective and the root; count is that of the vector for AllReduce, Broadcast and Reduce, of a block
 * for the others. Ranks without input or output may pass NULL for it when the plan is started. The schedule must
 * outlive the plan and should have passed trv_verify: an incorrect one causes wrong results or a run that never ends.
 * MPI_ERR_ARG: its torus has another number of ranks. MPI_ERR_OP: the operation does not commute, or is not idempotent
 * and the schedule adds contributions twice. MPI_ERR_TYPE: the type has gaps. */
TRV_API int TRV_Plan_create(const trv_schedule_t *schedule, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm, TRV_Plan *plan);

/* Starts a run; sendbuf may be MPI_IN_PLACE: the rank's input is then in recvbuf. Ranks without input or output, such
 * as those of a Broadcast that are not the root, may pass NULL for it. The plan owns the buffers until the run is
 * complete. Several plans of one communicator may run at the same time, each with its own buffers. MPI_ERR_REQUEST if
 * the plan is already running. */
TRV_API int TRV_Plan_start(TRV_Plan plan, const void *sendbuf, void *recvbuf);
/* Makes progress; *flag = 1 if the run is complete (or none was started). Never blocks. */
TRV_API int TRV_Plan_test(TRV_Plan plan, int *flag);
TRV_API int TRV_Plan_wait(TRV_Plan plan);
/* Starts and waits. */
TRV_API int TRV_Plan_run(TRV_Plan plan, const void *sendbuf, void *recvbuf);
/* Frees the plan, before MPI_Finalize, and sets it to TRV_PLAN_NULL. MPI_ERR_REQUEST if it is running, or
 * TRV_PLAN_NULL. */
TRV_API int TRV_Plan_free(TRV_Plan *plan);

typedef struct TRV_Plan_info {
    size_t size;           /* of this struct, set by the initializer {TRV_PLAN_INFO} */
    const char *algorithm; /* its name; "mpi": the MPI library's function is used. Valid as long as the plan */
    char torus[96];        /* "3x3" */
    int steps;             /* of the schedule; 0 for "mpi" */
    size_t bytes_sent;     /* payload sent by this rank in a run; 0 for "mpi" */
    size_t scratch_bytes;  /* memory that the plan holds in addition to the user's buffers */
} TRV_Plan_info;
#define TRV_PLAN_INFO TRV_SIZED(TRV_Plan_info)
TRV_API int TRV_Plan_query(TRV_Plan plan, TRV_Plan_info *info);

#ifdef __cplusplus
}
#endif
#endif
