/*
 * The same calls by the names of MPI, for the preload libraries and the component, or (RANKS_API) by those of Trivance;
 * and functions that the programs of this folder share.
 */
#ifndef RANKS_CALLS_H
#define RANKS_CALLS_H

#include <stdbool.h>
#include <stdio.h>

#include <mpi.h>

#if defined(RANKS_API)
#include <trivance/common.h>
#include <trivance/trivance_mpi.h>
typedef TRV_Request request_t;
#else
typedef MPI_Request request_t;
#endif

static inline int call_allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
#if defined(RANKS_API)
    return TRV_Allreduce(in, out, count, type, op, comm);
#else
    return MPI_Allreduce(in, out, count, type, op, comm);
#endif
}

static inline int call_reduce_scatter(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
#if defined(RANKS_API)
    return TRV_Reduce_scatter_block(in, out, count, type, op, comm);
#else
    return MPI_Reduce_scatter_block(in, out, count, type, op, comm);
#endif
}

static inline int call_allgather(const void *in, void *out, int count, MPI_Datatype type, MPI_Comm comm)
{
#if defined(RANKS_API)
    return TRV_Allgather(in, count, type, out, count, type, comm);
#else
    return MPI_Allgather(in, count, type, out, count, type, comm);
#endif
}

static inline int call_iallreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                  request_t *request)
{
#if defined(RANKS_API)
    return TRV_Iallreduce(in, out, count, type, op, comm, request);
#else
    return MPI_Iallreduce(in, out, count, type, op, comm, request);
#endif
}

static inline int call_wait(request_t *request)
{
#if defined(RANKS_API)
    return TRV_Wait(request);
#else
    return MPI_Wait(request, MPI_STATUS_IGNORE);
#endif
}

/* The reason why the last call failed; "" if only the MPI library has it. */
static inline const char *call_reason(void)
{
#if defined(RANKS_API)
    return trv_last_error();
#else
    return "";
#endif
}

#endif
