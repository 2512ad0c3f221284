/*
 * Broadcast, Reduce, Gather, Scatter and All-to-All under a preload library, compared with the MPI library's functions;
 * invalid arguments cause the MPI library's own errors.
 */
#include <mpi.h>

#include "check.h"

#define COLLECTIVE(Name) MPI_##Name
#define EXPECT           check
#include "../mpi/rooted_cases.h"

static void errors(void)
{
    MPI_Comm comm;
    int ranks, value = 1, all[64] = {0}, got, expected;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_size(comm, &ranks);
    const int roots[] = {-5, ranks};
    for (int i = 0; i < 2; i++) {
        MPI_Error_class(MPI_Bcast(&value, 1, MPI_INT, roots[i], comm), &got);
        MPI_Error_class(PMPI_Bcast(&value, 1, MPI_INT, roots[i], comm), &expected);
        check(got == expected && got != MPI_SUCCESS, "MPI_Bcast, root %d: class %d, not %d", roots[i], got, expected);
        MPI_Error_class(MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, roots[i], comm), &got);
        MPI_Error_class(PMPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, roots[i], comm), &expected);
        check(got == expected && got != MPI_SUCCESS, "MPI_Gather, root %d: class %d, not %d", roots[i], got, expected);
    }
    MPI_Error_class(MPI_Reduce(&value, all, 1, MPI_INT, MPI_OP_NULL, 0, comm), &got);
    MPI_Error_class(PMPI_Reduce(&value, all, 1, MPI_INT, MPI_OP_NULL, 0, comm), &expected);
    check(got == expected && got != MPI_SUCCESS, "MPI_Reduce: class %d, not %d", got, expected);
    MPI_Comm_free(&comm);
}

static void add_pairs(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    (void)datatype;
    for (int i = 0; i < 2 * *count; i++)
        ((int *)inout)[i] += ((const int *)in)[i];
}

/* Reductions of a derived type fall back; the ranks agree on it although only the root passes MPI_IN_PLACE. */
static void derived_type_in_place(void)
{
    MPI_Datatype pair;
    MPI_Op op;
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add_pairs, 1, &op);
    for (int root = 0; root < ranks; root++) {
        int value[2] = {rank, 1};
        MPI_Reduce(rank == root ? MPI_IN_PLACE : value, rank == root ? value : NULL, 1, pair, op, root, MPI_COMM_WORLD);
        check(rank != root || (value[0] == ranks * (ranks - 1) / 2 && value[1] == ranks),
              "a derived type in place, root %d: %d, %d", root, value[0], value[1]);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
}

/* An intercommunicator, on which calls fall back. */
static void intercommunicator(void)
{
    MPI_Comm half, inter;
    int rank, value;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    value = rank;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 5, &inter);
    MPI_Bcast(&value, 1, MPI_INT, rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    check(value == (rank % 2 ? 0 : rank), "a broadcast to the other group: %d", value);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    int rank;
    avoid_defects_of_mpich();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    rooted_run_all(MPI_COMM_WORLD, 3);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    rooted_run_all(half, 2);
    MPI_Comm_free(&half);
    errors();
    derived_type_in_place();
    intercommunicator();
    return check_end();
}
