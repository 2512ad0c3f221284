/*
 * Trivance for MPI programs: AllReduce, Reduce-Scatter and AllGather with MPI's argument order, and plans that are made
 * once and run many times. Link libtrivance_mpi_openmpi or libtrivance_mpi_mpich, whichever MPI the program is built
 * with.
 *
 * Return values: MPI_SUCCESS or an MPI error class (MPI_ERR_BUFFER, MPI_ERR_ARG, …), with the reason as a sentence in
 * trv_last_error(). The communicator's error handler is not called and nothing is aborted.
 *
 * What is served: intracommunicators; every predefined type and operation of MPI, and commutative user-defined
 * operations on types without gaps; non-commutative ones while the vector is small. Anything else goes to the MPI
 * library's own function; TRIVANCE_DEBUG=info says so, with the reason, once per decision.
 *
 * Results: bitwise the same on all ranks, whatever the type, unless TRV_Comm_set or TRIVANCE_ALGORITHM names an
 * algorithm that does not promise it (trivance-l adds floating-point numbers in another order on every rank).
 *
 * Environment, read once, the same on all ranks:
 *     TRIVANCE_TORUS=3x3        the torus of communicators with that many ranks; a list (9,3x3x3) serves several sizes
 *     TRIVANCE_ALGORITHM=NAME   an algorithm (trivance-b, hybrid:4, …), a family (trivance, swing, …), planned or auto
 *     TRIVANCE_DEBUG=info       one line on stderr per decision, from rank 0 of the communicator
 *     TRIVANCE_CHECK=1          all ranks compare their arguments before every call, and all of them return the error
 * and more, which docs/environment.md and `trivance info` list. A wrong value is the error of the calls that need it.
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

/* As MPI_Allreduce, MPI_Reduce_scatter_block and MPI_Allgather, MPI_IN_PLACE included. The first call
 * of a kind (collective, type, operation) and class of sizes on a communicator has rank 0 decide how it is served, and
 * all ranks make the plan; later ones of any count in the class neither decide nor allocate.
 *
 * Buffers that overlap without MPI_IN_PLACE, which MPI forbids: the call is served from a copy. It returns MPI_ERR_BUFFER
 * then where that is an error to the MPI library beneath, too (MPICH, where both begin at one address), or with
 * TRIVANCE_CHECK=1. A call that fails after messages were sent (MPI_ERR_OTHER, MPI_ERR_NO_MEM) leaves the communicator
 * broken: this rank's later calls on it fail, and the ranks that wait for it hear of that. */
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

/* ---- Non-blocking and persistent calls --------------------------------------------------------------------------- */

/* As MPI_Iallreduce and MPI_Allreduce_init & co., with large counts. Nothing in these calls waits for another rank: what
 * a blocking call or a plan of the same kind and class of sizes on the communicator has had decided is served, the rest
 * goes to the MPI library.
 *
 * Any number may be outstanding on a communicator, in the same order on all ranks (blocking calls included); persistent
 * ones are created in the same order, and started and freed in any. The buffers are the library's until the end of the
 * run. A freed communicator lives on for the requests of ours that are outstanding on it (Open MPI 4.1
 * crashes in its own). Of persistent requests a communicator has 8 or more; beyond, they are the MPI library's.
 *
 * Progress is made inside TRV_ functions that wait or test, for all requests of the process: call TRV_Test now and then
 * in a long computation, and let no rank wait inside MPI for what another one does only after TRV_Wait. TRIVANCE_CHECK
 * does not look at these calls. */
typedef struct trv_mpi_handle *TRV_Request;
#define TRV_REQUEST_NULL ((TRV_Request)0)

TRV_API int TRV_Iallreduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm, TRV_Request *request);
TRV_API int TRV_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                      MPI_Op op, MPI_Comm comm, TRV_Request *request);
TRV_API int TRV_Iallgather(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, TRV_Request *request);

/* `info` has no meaning to Trivance. Beside the buffers, what a run needs is made here. */
TRV_API int TRV_Allreduce_init(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                               MPI_Comm comm, MPI_Info info, TRV_Request *request);
TRV_API int TRV_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                          TRV_Request *request);
TRV_API int TRV_Allgather_init(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                               MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                               TRV_Request *request);

/* Starts a persistent request. MPI_ERR_REQUEST: it is active, or not persistent. */
TRV_API int TRV_Start(TRV_Request *request);
/* Makes progress; *flag = 1 when the run is complete. A non-blocking request is then freed and set to TRV_REQUEST_NULL,
 * a persistent one can be started again. TRV_REQUEST_NULL and inactive ones are complete. Returns what the run did. */
TRV_API int TRV_Test(TRV_Request *request, int *flag);
TRV_API int TRV_Wait(TRV_Request *request);
/* Frees a persistent request that is not active, before MPI_Finalize, and sets it to TRV_REQUEST_NULL. */
TRV_API int TRV_Request_free(TRV_Request *request);

/* ---- The torus and the algorithm of a communicator --------------------------------------------------------------- */

/* Sets both for all later calls and plans on `comm`. Collective: the same values on all ranks.
 *
 * torus: "3x3", its product the number of ranks, rank numbers row-major with the last dimension fastest. NULL: by
 * TRIVANCE_TORUS, else by the communicator's topology if it is Cartesian and periodic in every dimension, else a ring.
 *
 * algorithm: a name or a family of `trivance list` ("trivance-b", "hybrid:4x8/3", "swing"), "planned": what the planner
 * (trivance/plan.h) finds fastest of all that is right for the type and the operation, or "auto": the same unless a
 * rules file says otherwise, for example that the MPI library is faster. NULL: by TRIVANCE_ALGORITHM, else auto. Where
 * no torus is known, planned and auto plan for a ring. A name must serve AllReduce on the torus; a collective that it
 * does not serve (Reduce-Scatter by trivance-l, say) is planned. */
TRV_API int TRV_Comm_set(MPI_Comm comm, const char *torus, const char *algorithm);

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

/* One collective, prepared: create it once, run it on any buffers, any number of times. Creating and freeing are
 * collective: all ranks do it in the same order. A plan keeps working after its communicator is freed. */
typedef struct trv_mpi_plan *TRV_Plan;
#define TRV_PLAN_NULL ((TRV_Plan)0)

TRV_API int TRV_Allreduce_plan_create(MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, TRV_Plan *plan);
TRV_API int TRV_Reduce_scatter_block_plan_create(MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                                 TRV_Plan *plan);
/* `count` elements of `datatype` from every rank; the type must have no gaps (MPI_ERR_TYPE). */
TRV_API int TRV_Allgather_plan_create(MPI_Count count, MPI_Datatype datatype, MPI_Comm comm, TRV_Plan *plan);

/* A plan of a schedule of your own (trv_schedule_create, trv_explicit_create, …) instead of a choice; the same one on
 * all ranks. It says which collective; count is the vector for AllReduce, one rank's block for the others. The schedule
 * must outlive the plan, and should have passed trv_verify: one that is wrong gives wrong results or waits for ever.
 * MPI_ERR_ARG: its torus has another number of ranks. MPI_ERR_OP: the operation does not commute, or is not idempotent
 * where the schedule adds contributions twice. MPI_ERR_TYPE: the type has gaps. */
TRV_API int TRV_Plan_create(const trv_schedule_t *schedule, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm, TRV_Plan *plan);

/* Starts a run; sendbuf may be MPI_IN_PLACE. The buffers are the plan's until the run is complete. Several plans of one
 * communicator may run at the same time, each with its own buffers. MPI_ERR_REQUEST: the plan is running already. */
TRV_API int TRV_Plan_start(TRV_Plan plan, const void *sendbuf, void *recvbuf);
/* Makes progress; *flag = 1 when the run is complete (or none was started). Never blocks. */
TRV_API int TRV_Plan_test(TRV_Plan plan, int *flag);
TRV_API int TRV_Plan_wait(TRV_Plan plan);
/* Start and wait. */
TRV_API int TRV_Plan_run(TRV_Plan plan, const void *sendbuf, void *recvbuf);
/* Frees the plan, before MPI_Finalize, and sets it to TRV_PLAN_NULL. A freed or running plan is refused with
 * MPI_ERR_REQUEST. */
TRV_API int TRV_Plan_free(TRV_Plan *plan);

typedef struct TRV_Plan_info {
    const char *algorithm; /* its name; "mpi" where the MPI library's own function serves. Lives as long as the plan */
    char torus[96];        /* "3x3" */
    int steps;             /* of the schedule; 0 for "mpi" */
    size_t bytes_sent;     /* payload that this rank sends in a run; 0 for "mpi" */
    size_t scratch_bytes;  /* memory that the plan holds beside the user's buffers */
} TRV_Plan_info;
TRV_API int TRV_Plan_query(TRV_Plan plan, TRV_Plan_info *info);

#ifdef __cplusplus
}
#endif
#endif
