/*
 * Invalid arguments, one error at a time, for every collective that Trivance dispatches: the MPI library's own check of
 * arguments states what each call must return. Programs with and without Trivance's interfaces use these cases.
 */
#ifndef TRIVANCE_TESTS_MPI_ARGUMENT_CASES_H
#define TRIVANCE_TESTS_MPI_ARGUMENT_CASES_H

#include <mpi.h>

/* The functions MPI_…, PMPI_… or TRV_…. */
typedef struct functions {
    int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*reduce_scatter_block)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*reduce_scatter)(const void *, void *, const int *, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*reduce)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
    int (*bcast)(void *, int, MPI_Datatype, int, MPI_Comm);
    int (*allgather)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
    int (*alltoall)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
    int (*allgatherv)(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, MPI_Comm);
    int (*gather)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
    int (*scatter)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
} functions_t;

#define FUNCTIONS(PREFIX)                                                                                              \
    {                                                                                                                  \
        PREFIX##Allreduce, PREFIX##Reduce_scatter_block, PREFIX##Reduce_scatter, PREFIX##Reduce, PREFIX##Bcast,        \
            PREFIX##Allgather, PREFIX##Alltoall, PREFIX##Allgatherv, PREFIX##Gather, PREFIX##Scatter                   \
    }

/* Makes every call with `tested` and with `plain`, on duplicates of `comm` (2 to 16 ranks), and passes the two error
 * classes of this rank to `compare`. `plain` NULL: makes only the calls that fail on all ranks that make them or
 * on none, with `tested`. */
void argument_cases(const functions_t *tested, const functions_t *plain, MPI_Comm comm,
                    void (*compare)(const char *what, int got, int expected));

#endif
