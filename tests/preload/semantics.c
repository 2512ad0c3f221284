/*
 * Guarantees of the MPI standard that libtrivance_net does not give (tests/guarantees has the others): an ordinary MPI
 * program of 4 ranks that must behave the same with and without a preload library. Each function tests one guarantee.
 */
#include <stdio.h>

#include <mpi.h>

#include "check.h"

static int rank, ranks;

static int sum_of_ranks(MPI_Comm comm)
{
    int mine = rank, sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

static int all_ranks(void) { return ranks * (ranks - 1) / 2; }

/* Only the type signatures match: one rank uses strided elements, another one absolute addresses. */
static void gather_types(void)
{
    int strided[6] = {rank, -1, rank + 1, -1, rank + 2, -1}, plain[3] = {rank, rank + 1, rank + 2}, all[12] = {0};
    MPI_Datatype type = MPI_INT;
    MPI_Aint place;
    const void *buffer = plain;
    int count = 3, length = 3;
    if (rank == 0) {
        MPI_Type_vector(3, 1, 2, MPI_INT, &type);
        buffer = strided;
        count = 1;
    } else if (rank == 1) {
        MPI_Get_address(plain, &place);
        MPI_Type_create_hindexed(1, &length, &place, MPI_INT, &type);
        buffer = MPI_BOTTOM;
        count = 1;
    }
    if (type != MPI_INT)
        MPI_Type_commit(&type);
    MPI_Allgather(buffer, count, type, all, 3, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < 3 * ranks; i++)
        check(all[i] == i / 3 + i % 3, "element %d of the types is %d", i, all[i]);
    if (type != MPI_INT)
        MPI_Type_free(&type);
}

/* A receive with wildcards on the same communicator matches only the program's own message. */
static void any_source(void)
{
    MPI_Request request;
    MPI_Status status;
    int got = -1, mine = 1000 + rank, flag = 1;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    int sum = sum_of_ranks(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Test(&request, &flag, &status);
    check(sum == all_ranks() && !flag && got == -1, "a receive of anything has matched a collective's message");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&mine, 1, MPI_INT, (rank + 1) % ranks, 7, MPI_COMM_WORLD);
    if (!flag)
        MPI_Wait(&request, &status);
    check(got == 1000 + (rank + ranks - 1) % ranks && status.MPI_TAG == 7, "the message arrived as %d", got);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    check(!flag, "a message is left over");
}

/* A call of one rank alone whose count is 0. MPICH's own waits for the other ranks. */
static void nothing_on_one_rank(void)
{
#ifdef OPEN_MPI
    MPI_Comm fresh;
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    if (rank == 0)
        MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, fresh);
    check(sum_of_ranks(fresh) == all_ranks(), "a call after one with a count of 0 on one rank");
    MPI_Comm_free(&fresh);
#endif
}

static void intercommunicator(void)
{
    MPI_Comm half, inter;
    int mine = rank, sum = -1;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 5, &inter);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter); /* of the other group */
    check(sum == (rank % 2 ? 2 : 4), "the other group's sum is %d", sum);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    check(sum_of_ranks(MPI_COMM_SELF) == rank, "a communicator of one rank");
}

#if MPI_VERSION >= 4

static void large_counts(void)
{
    int value[8] = {rank, 1, 2, 3, 4, 5, 6, 7}, sum[8], all[8];
    MPI_Count counts[4] = {2, 2, 2, 2};
    MPI_Allreduce_c(value, sum, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum[0] == all_ranks() && sum[7] == 7 * ranks, "Allreduce_c: %d %d", sum[0], sum[7]);
    MPI_Allgather_c(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    check(all[ranks - 1] == ranks - 1, "Allgather_c: %d", all[ranks - 1]);
    MPI_Reduce_scatter_block_c(value, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum[1] == ranks * (2 * rank + 1), "Reduce_scatter_block_c: %d", sum[1]);
    MPI_Reduce_scatter_c(value, sum, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum[1] == ranks * (2 * rank + 1), "Reduce_scatter_c: %d", sum[1]);
}

#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 4)
        return fprintf(stderr, "semantics: start 4 ranks\n"), 2;
    nothing_on_one_rank();
    gather_types();
    any_source();
    intercommunicator();
#if MPI_VERSION >= 4
    large_counts();
#endif
    return check_end();
}
