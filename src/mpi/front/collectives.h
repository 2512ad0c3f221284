/*
 * The collectives of the MPI standard, from whose table the preload libraries and the component generate their
 * functions.
 *
 * A row is each(Name, name, NAME, FORM): the name as in MPI_Bcast, MPI_Ibcast and Fortran's MPI_BCAST, and the form of
 * its arguments. All collectives of a form have the same parameters: TRV_MPI_PARAMETERS_<FORM>(COUNT, DISPL), where
 * COUNT and DISPL are the types of counts and displacements (int, or for the functions _c MPI_Count and MPI_Aint), and
 * TRV_MPI_ARGUMENTS_<FORM>. The communicator is the last one; non-blocking forms append a request, and persistent forms
 * an info and a request.
 */
#ifndef TRIVANCE_MPI_FRONT_COLLECTIVES_H
#define TRIVANCE_MPI_FRONT_COLLECTIVES_H

#include "mpi/front/dispatch.h"

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* Collectives that are dispatched. MPI_Barrier is one, too, but has no functions _c. */
#define TRV_MPI_DISPATCHED(each)                                                                                       \
    each(Allreduce, allreduce, ALLREDUCE, REDUCTION)                                                                   \
        each(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK, REDUCTION)                              \
            each(Allgather, allgather, ALLGATHER, GATHER) each(Bcast, bcast, BCAST, BROADCAST)                         \
                each(Reduce, reduce, REDUCE, REDUCTION_ROOT) each(Gather, gather, GATHER, GATHER_ROOT)                 \
                    each(Scatter, scatter, SCATTER, GATHER_ROOT) each(Alltoall, alltoall, ALLTOALL, GATHER)            \
                        each(Reduce_scatter, reduce_scatter, REDUCE_SCATTER, REDUCTION_COUNTS)                         \
                            each(Allgatherv, allgatherv, ALLGATHERV, GATHERV)
#define TRV_MPI_BARRIER(each) each(Barrier, barrier, BARRIER, BARRIER)

/* Collectives for which Trivance has no schedules: they are only counted. */
#define TRV_MPI_COUNTED(each)                                                                                          \
    each(Scan, scan, SCAN, REDUCTION) each(Exscan, exscan, EXSCAN, REDUCTION)                                          \
        each(Gatherv, gatherv, GATHERV, GATHERV_ROOT) each(Scatterv, scatterv, SCATTERV, SCATTERV_ROOT)                \
            each(Alltoallv, alltoallv, ALLTOALLV, ALLTOALLV) each(Alltoallw, alltoallw, ALLTOALLW, ALLTOALLW)
#define TRV_MPI_NEIGHBOR(each)                                                                                         \
    each(Neighbor_allgather, neighbor_allgather, NEIGHBOR_ALLGATHER, GATHER)                                           \
        each(Neighbor_allgatherv, neighbor_allgatherv, NEIGHBOR_ALLGATHERV, GATHERV)                                   \
            each(Neighbor_alltoall, neighbor_alltoall, NEIGHBOR_ALLTOALL, GATHER)                                      \
                each(Neighbor_alltoallv, neighbor_alltoallv, NEIGHBOR_ALLTOALLV, ALLTOALLV)                            \
                    each(Neighbor_alltoallw, neighbor_alltoallw, NEIGHBOR_ALLTOALLW, NEIGHBOR_ALLTOALLW)

/* ---- Forms ------------------------------------------------------------------------------------------------------- */

#define TRV_MPI_PARAMETERS_BARRIER(COUNT, DISPL) MPI_Comm comm
#define TRV_MPI_ARGUMENTS_BARRIER                comm

#define TRV_MPI_PARAMETERS_BROADCAST(COUNT, DISPL)                                                                     \
    void *buffer, COUNT count, MPI_Datatype datatype, int root, MPI_Comm comm
#define TRV_MPI_ARGUMENTS_BROADCAST buffer, count, datatype, root, comm

#define TRV_MPI_PARAMETERS_REDUCTION(COUNT, DISPL)                                                                     \
    const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm
#define TRV_MPI_ARGUMENTS_REDUCTION sendbuf, recvbuf, count, datatype, op, comm

#define TRV_MPI_PARAMETERS_REDUCTION_COUNTS(COUNT, DISPL)                                                              \
    const void *sendbuf, void *recvbuf, const COUNT recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm
#define TRV_MPI_ARGUMENTS_REDUCTION_COUNTS sendbuf, recvbuf, recvcounts, datatype, op, comm

#define TRV_MPI_PARAMETERS_REDUCTION_ROOT(COUNT, DISPL)                                                                \
    const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm
#define TRV_MPI_ARGUMENTS_REDUCTION_ROOT sendbuf, recvbuf, count, datatype, op, root, comm

#define TRV_MPI_PARAMETERS_GATHER(COUNT, DISPL)                                                                        \
    const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,                       \
        MPI_Datatype recvtype, MPI_Comm comm
#define TRV_MPI_ARGUMENTS_GATHER sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm

#define TRV_MPI_PARAMETERS_GATHER_ROOT(COUNT, DISPL)                                                                   \
    const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,                       \
        MPI_Datatype recvtype, int root, MPI_Comm comm
#define TRV_MPI_ARGUMENTS_GATHER_ROOT sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm

#define TRV_MPI_PARAMETERS_GATHERV(COUNT, DISPL)                                                                       \
    const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, const COUNT recvcounts[],              \
        const DISPL displs[], MPI_Datatype recvtype, MPI_Comm comm
#define TRV_MPI_ARGUMENTS_GATHERV sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm

#define TRV_MPI_PARAMETERS_GATHERV_ROOT(COUNT, DISPL)                                                                  \
    const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, const COUNT recvcounts[],              \
        const DISPL displs[], MPI_Datatype recvtype, int root, MPI_Comm comm
#define TRV_MPI_ARGUMENTS_GATHERV_ROOT sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm

#define TRV_MPI_PARAMETERS_SCATTERV_ROOT(COUNT, DISPL)                                                                 \
    const void *sendbuf, const COUNT sendcounts[], const DISPL displs[], MPI_Datatype sendtype, void *recvbuf,         \
        COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm
#define TRV_MPI_ARGUMENTS_SCATTERV_ROOT sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm

#define TRV_MPI_PARAMETERS_ALLTOALLV(COUNT, DISPL)                                                                     \
    const void *sendbuf, const COUNT sendcounts[], const DISPL sdispls[], MPI_Datatype sendtype, void *recvbuf,        \
        const COUNT recvcounts[], const DISPL rdispls[], MPI_Datatype recvtype, MPI_Comm comm
#define TRV_MPI_ARGUMENTS_ALLTOALLV sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm

#define TRV_MPI_PARAMETERS_ALLTOALLW(COUNT, DISPL)                                                                     \
    const void *sendbuf, const COUNT sendcounts[], const DISPL sdispls[], const MPI_Datatype sendtypes[],              \
        void *recvbuf, const COUNT recvcounts[], const DISPL rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm
#define TRV_MPI_ARGUMENTS_ALLTOALLW                                                                                    \
    sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm

#define TRV_MPI_PARAMETERS_NEIGHBOR_ALLTOALLW(COUNT, DISPL) TRV_MPI_PARAMETERS_ALLTOALLW(COUNT, MPI_Aint)
#define TRV_MPI_ARGUMENTS_NEIGHBOR_ALLTOALLW                TRV_MPI_ARGUMENTS_ALLTOALLW

/* ---- Dispatched calls -------------------------------------------------------------------------------------------- */

/* The initializers of trv_mpi_call_t for the arguments of a dispatched collective. A barrier is executed as an
 * AllReduce of one byte. */
#define TRV_MPI_CALL_Allreduce                                                                                         \
    {                                                                                                                  \
        .reduction = &(const trv_mpi_reduction_t) { TRV_ALLREDUCE, sendbuf, recvbuf, count, datatype, op, 0 }          \
    }
#define TRV_MPI_CALL_Reduce_scatter_block                                                                              \
    {                                                                                                                  \
        .reduction = &(const trv_mpi_reduction_t) { TRV_REDUCE_SCATTER, sendbuf, recvbuf, count, datatype, op, 0 }     \
    }
#define TRV_MPI_CALL_Reduce                                                                                            \
    {                                                                                                                  \
        .reduction = &(const trv_mpi_reduction_t) { TRV_REDUCE, sendbuf, recvbuf, count, datatype, op, root }          \
    }
#define TRV_MPI_CALL_Bcast                                                                                             \
    {                                                                                                                  \
        .movement = &(const trv_mpi_movement_t)                                                                        \
        {                                                                                                              \
            TRV_BROADCAST, MPI_IN_PLACE, buffer, 0, count, MPI_DATATYPE_NULL, datatype, root, NULL                     \
        }                                                                                                              \
    }
/* The arguments of the form GATHER or GATHER_ROOT. */
#define TRV_MPI_CALL_MOVEMENT(COLLECTIVE, ROOT)                                                                        \
    {                                                                                                                  \
        .movement = &(const trv_mpi_movement_t)                                                                        \
        {                                                                                                              \
            COLLECTIVE, sendbuf, recvbuf, sendcount, recvcount, sendtype, recvtype, ROOT, NULL                         \
        }                                                                                                              \
    }
#define TRV_MPI_CALL_Allgather TRV_MPI_CALL_MOVEMENT(TRV_ALLGATHER, 0)
#define TRV_MPI_CALL_Reduce_scatter                                                                                    \
    {                                                                                                                  \
        .reduction = &(const trv_mpi_reduction_t){TRV_REDUCE_SCATTER, sendbuf, recvbuf, 0, datatype, op, 0},           \
        .counts = &(const trv_mpi_counts_t)                                                                            \
        {                                                                                                              \
            recvcounts, NULL, sizeof *recvcounts, 0                                                                    \
        }                                                                                                              \
    }
#define TRV_MPI_CALL_Allgatherv                                                                                        \
    {                                                                                                                  \
        .movement = &(const trv_mpi_movement_t)                                                                        \
        {                                                                                                              \
            TRV_ALLGATHER, sendbuf, recvbuf, sendcount, 0, sendtype, recvtype, 0, &(const trv_mpi_counts_t)            \
            {                                                                                                          \
                recvcounts, displs, sizeof *recvcounts, sizeof *displs                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }
#define TRV_MPI_CALL_Gather   TRV_MPI_CALL_MOVEMENT(TRV_GATHER, root)
#define TRV_MPI_CALL_Scatter  TRV_MPI_CALL_MOVEMENT(TRV_SCATTER, root)
#define TRV_MPI_CALL_Alltoall TRV_MPI_CALL_MOVEMENT(TRV_ALLTOALL, 0)
#define TRV_MPI_CALL_Barrier                                                                                           \
    {                                                                                                                  \
        .reduction = &(const trv_mpi_reduction_t){TRV_ALLREDUCE,                                                       \
                                                  &(unsigned char){0},                                                 \
                                                  &(unsigned char){0},                                                 \
                                                  1,                                                                   \
                                                  MPI_BYTE,                                                            \
                                                  MPI_BOR,                                                             \
                                                  0},                                                                  \
        .is_barrier = true                                                                                             \
    }

#endif
