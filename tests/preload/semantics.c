/*
 * Guarantees of the MPI standard: an ordinary MPI program that must behave the same with and without a preload library.
 * Each function tests one guarantee.
 *
 *     mpirun -n 4 semantics        mpirun -n 2 semantics communicators
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

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

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* Values for which every summation order yields different bits. All ranks must have the same bits in every call. */
static void identical(void)
{
    double value[64], first[64], again[64], root[64];
    for (int i = 0; i < 64; i++)
        value[i] = (rank % 2 ? -1e6 : 1e6) + 0.01 * rank + i / 3.0;
    MPI_Allreduce(value, first, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(value, again, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    memcpy(root, first, sizeof root);
    MPI_Bcast(root, 64, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    check(memcmp(first, root, sizeof root) == 0, "a sum of doubles differs from rank 0's");
    check(memcmp(first, again, sizeof again) == 0, "the same sum gives other bits the second time");
    if (rank == 0)
        printf("sum %a\n", first[17]); /* the caller compares the output of several runs */
}

static void in_place(void)
{
    int block[8], all[8];
    for (int i = 0; i < 8; i++)
        block[i] = rank + i, all[i] = -1;
    MPI_Allreduce(MPI_IN_PLACE, block, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(block[3] == all_ranks() + 3 * ranks, "Allreduce in place: %d", block[3]);
    all[rank] = rank * 10;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++)
        check(all[i] == i * 10, "Allgather in place: block %d is %d", i, all[i]);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, all, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    check(rank > 1 || all[0] == rank * 20, "Reduce_scatter_block in place: %d", all[0]);
}

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

/* ---- Calls that must not block ----------------------------------------------------------------------------------- */

static void calls_that_do_not_block(void)
{
    MPI_Comm fresh;
    MPI_Request request;
    int mine = 1, sum = 0, word = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
#ifdef OPEN_MPI /* MPICH's own call waits for the other ranks even if the count is 0 */
    if (rank == 0)
        MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, fresh);
#endif
    if (rank == 0) { /* the other ranks call only after this */
        MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, fresh, &request);
        for (int r = 1; r < ranks; r++)
            MPI_Send(&word, 1, MPI_INT, r, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, fresh, &request);
    }
    check(sum_of_ranks(fresh) == all_ranks(), "a blocking call while another is outstanding");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(sum == ranks, "the outstanding one: %d", sum);
    MPI_Comm_free(&fresh);
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

/* ---- Communicators ----------------------------------------------------------------------------------------------- */

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

/* Whether freed memory is reused. It is not under AddressSanitizer, which also detects leaks itself. */
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define KEEPS_FREED_MEMORY 1
#endif
#endif
#if !defined KEEPS_FREED_MEMORY
#define KEEPS_FREED_MEMORY 0
#endif

/* First more communicators at once than the library supports, then thousands, one after another. */
static void many_communicators(void)
{
    enum { AT_ONCE = 300, IN_TURN = 1000 };
    static MPI_Comm comm[AT_ONCE];
    struct rusage before, after;
    for (int i = 0; i < AT_ONCE; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        check(sum_of_ranks(comm[i]) == all_ranks(), "communicator %d", i);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        check(sum_of_ranks(comm[i]) == all_ranks(), "communicator %d, again", i);
        MPI_Comm_free(&comm[i]);
    }
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < IN_TURN; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
        check(sum_of_ranks(comm[0]) == all_ranks(), "communicator %d in turn", i);
        MPI_Comm_free(&comm[0]);
    }
    getrusage(RUSAGE_SELF, &after);
    check(KEEPS_FREED_MEMORY || after.ru_maxrss - before.ru_maxrss < 8 * 1024, "%ld KiB more after %d communicators",
          after.ru_maxrss - before.ru_maxrss, IN_TURN);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static void *sum_often(void *context)
{
    MPI_Comm comm = *(MPI_Comm *)context;
    bool correct = true;
    for (int i = 0; i < 100; i++) {
        int mine[3] = {rank, i, 1}, sum[3];
        MPI_Allreduce(mine, sum, 1 + i % 3, MPI_INT, MPI_SUM, comm);
        correct = correct && sum[0] == all_ranks();
    }
    check(correct, "a thread's sums");
    return NULL;
}

static void threads(int provided)
{
    MPI_Comm comm[2];
    pthread_t thread[2];
    if (provided < MPI_THREAD_MULTIPLE)
        return;
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, sum_often, &comm[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&comm[i]);
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
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && strcmp(argv[1], "communicators") == 0) {
        many_communicators();
        return check_end();
    }
    if (ranks != 4)
        return fprintf(stderr, "semantics: start 4 ranks\n"), 2;
    calls_that_do_not_block();
    identical();
    in_place();
    gather_types();
    any_source();
    intercommunicator();
#if MPI_VERSION >= 4
    large_counts();
#endif
    threads(provided);
    return check_end();
}
