/*
 * Calls collectives of the MPI standard, each once, so that a test can find every one of them in the table of calls,
 * and checks the results of those with counts and displacements, which a wrapper could pass in another order.
 * Usage: calls [ROUNDS] [FUNCTION…], for example `calls 3 MPI_Allreduce`; default: one round, all functions.
 */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 8
#define WORDS     64 /* at least RANKS_MAX * RANKS_MAX */

/* Rank r has 100 r + i in in[i]. Blocks of rank r, or for rank r, have r + 1 words and follow each other in the order
 * of the ranks; those that a rank receives in an all-to-all all have its own size. */
static int in[WORDS], out[WORDS], rank, ranks, failed;
static int zeros[RANKS_MAX], ones[RANKS_MAX], counts[RANKS_MAX], places[RANKS_MAX], own_counts[RANKS_MAX],
    own_places[RANKS_MAX];
static int byte_places[RANKS_MAX], own_byte_places[RANKS_MAX];
static MPI_Datatype types[RANKS_MAX];
static MPI_Aint addresses[RANKS_MAX], wide_places[RANKS_MAX], wide_own_places[RANKS_MAX];
static char **wanted;

static int wants(const char *name)
{
    int found = !*wanted;
    for (char **at = wanted; *at; at++)
        found = found || strcmp(*at, name) == 0;
    return found;
}

/* ---- Expected results -------------------------------------------------------------------------------------------- */

static int gathered(void)
{
    int same = 1;
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < counts[r]; i++)
            same = same && out[places[r] + i] == 100 * r + i;
    return same;
}

static int gathered_at_root(void) { return rank != 0 || gathered(); }

static int scattered(void)
{
    int same = 1;
    for (int i = 0; i < counts[rank]; i++)
        same = same && out[i] == places[rank] + i;
    return same;
}

static int exchanged(void)
{
    int same = 1;
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < counts[rank]; i++)
            same = same && out[own_places[r] + i] == 100 * r + places[rank] + i;
    return same;
}

/* On the ring; on two ranks both neighbors are the same rank, and MPI does not define which block is which. */
static int neighbors_gathered(void)
{
    return ranks < 3 || (out[0] == 100 * ((rank + ranks - 1) % ranks) && out[1] == 100 * ((rank + 1) % ranks));
}

static int neighbors_exchanged(void)
{
    return ranks < 3 || (out[0] == 100 * ((rank + ranks - 1) % ranks) + 1 && out[1] == 100 * ((rank + 1) % ranks));
}

static int any(void) { return 1; }

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static void check(const char *name, int holds)
{
    if (holds)
        return;
    failed++;
    fprintf(stderr, "rank %d: the result of %s is wrong\n", rank, name);
}

#define WORLD MPI_COMM_WORLD
#define CALL(name, expected, ...)                                                                                      \
    if (wants("MPI_" #name)) {                                                                                         \
        memset(out, -1, sizeof out);                                                                                   \
        MPI_##name(__VA_ARGS__);                                                                                       \
        check("MPI_" #name, expected());                                                                               \
    }
#define START(name, expected, ...)                                                                                     \
    if (wants("MPI_" #name)) {                                                                                         \
        MPI_Request request;                                                                                           \
        memset(out, -1, sizeof out);                                                                                   \
        MPI_##name(__VA_ARGS__, &request);                                                                             \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                                                         \
        check("MPI_" #name, expected());                                                                               \
    }

static void blocking(void)
{
    CALL(Allreduce, any, in, out, 4, MPI_INT, MPI_SUM, WORLD)
    CALL(Allreduce, any, in, out, 0, MPI_INT, MPI_SUM, WORLD)
    CALL(Gather, any, in, 0, MPI_INT, out, 0, MPI_INT, 0, WORLD)
    CALL(Allgatherv, any, in, 0, MPI_INT, out, zeros, places, MPI_INT, WORLD)
    CALL(Reduce_scatter_block, any, in, out, 1, MPI_INT, MPI_SUM, WORLD)
    CALL(Reduce_scatter, any, in, out, ones, MPI_INT, MPI_SUM, WORLD)
    CALL(Allgather, any, in, 1, MPI_INT, out, 1, MPI_INT, WORLD)
    CALL(Barrier, any, WORLD)
    CALL(Bcast, any, out, 4, MPI_INT, 0, WORLD)
    CALL(Reduce, any, in, out, 4, MPI_INT, MPI_SUM, 0, WORLD)
    CALL(Scan, any, in, out, 4, MPI_INT, MPI_SUM, WORLD)
    CALL(Exscan, any, in, out, 4, MPI_INT, MPI_SUM, WORLD)
    CALL(Gather, any, in, 1, MPI_INT, out, 1, MPI_INT, 0, WORLD)
    CALL(Gatherv, gathered_at_root, in, counts[rank], MPI_INT, out, counts, places, MPI_INT, 0, WORLD)
    CALL(Scatter, any, in, 1, MPI_INT, out, 1, MPI_INT, 0, WORLD)
    CALL(Scatterv, scattered, in, counts, places, MPI_INT, out, counts[rank], MPI_INT, 0, WORLD)
    CALL(Allgatherv, gathered, in, counts[rank], MPI_INT, out, counts, places, MPI_INT, WORLD)
    CALL(Alltoall, any, in, 1, MPI_INT, out, 1, MPI_INT, WORLD)
    CALL(Alltoallv, exchanged, in, counts, places, MPI_INT, out, own_counts, own_places, MPI_INT, WORLD)
    CALL(Alltoallw, exchanged, in, counts, byte_places, types, out, own_counts, own_byte_places, types, WORLD)
}

static void nonblocking(void)
{
    START(Iallreduce, any, in, out, 4, MPI_INT, MPI_SUM, WORLD)
    START(Ireduce_scatter_block, any, in, out, 1, MPI_INT, MPI_SUM, WORLD)
    START(Ireduce_scatter, any, in, out, ones, MPI_INT, MPI_SUM, WORLD)
    START(Iallgather, any, in, 1, MPI_INT, out, 1, MPI_INT, WORLD)
    START(Ibarrier, any, WORLD)
    START(Ibcast, any, out, 4, MPI_INT, 0, WORLD)
    START(Ireduce, any, in, out, 4, MPI_INT, MPI_SUM, 0, WORLD)
    START(Iscan, any, in, out, 4, MPI_INT, MPI_SUM, WORLD)
    START(Iexscan, any, in, out, 4, MPI_INT, MPI_SUM, WORLD)
    START(Igather, any, in, 1, MPI_INT, out, 1, MPI_INT, 0, WORLD)
    START(Igatherv, gathered_at_root, in, counts[rank], MPI_INT, out, counts, places, MPI_INT, 0, WORLD)
    START(Iscatter, any, in, 1, MPI_INT, out, 1, MPI_INT, 0, WORLD)
    START(Iscatterv, scattered, in, counts, places, MPI_INT, out, counts[rank], MPI_INT, 0, WORLD)
    START(Iallgatherv, gathered, in, counts[rank], MPI_INT, out, counts, places, MPI_INT, WORLD)
    START(Ialltoall, any, in, 1, MPI_INT, out, 1, MPI_INT, WORLD)
    START(Ialltoallv, exchanged, in, counts, places, MPI_INT, out, own_counts, own_places, MPI_INT, WORLD)
    START(Ialltoallw, exchanged, in, counts, byte_places, types, out, own_counts, own_byte_places, types, WORLD)
}

static void neighbors(void)
{
    const int periodic = 1;
    MPI_Comm ring;
    MPI_Cart_create(WORLD, 1, &ranks, &periodic, 0, &ring);
    CALL(Neighbor_allgather, neighbors_gathered, in, 1, MPI_INT, out, 1, MPI_INT, ring)
    CALL(Neighbor_allgatherv, neighbors_gathered, in, 1, MPI_INT, out, ones, places, MPI_INT, ring)
    CALL(Neighbor_alltoall, neighbors_exchanged, in, 1, MPI_INT, out, 1, MPI_INT, ring)
    CALL(Neighbor_alltoallv, neighbors_exchanged, in, ones, places, MPI_INT, out, ones, places, MPI_INT, ring)
    CALL(Neighbor_alltoallw, neighbors_exchanged, in, ones, addresses, types, out, ones, addresses, types, ring)
    START(Ineighbor_allgather, neighbors_gathered, in, 1, MPI_INT, out, 1, MPI_INT, ring)
    START(Ineighbor_alltoallw, neighbors_exchanged, in, ones, addresses, types, out, ones, addresses, types, ring)
    MPI_Comm_free(&ring);
}

static jmp_buf after_error;

static void leave_call(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(after_error, 1);
}

/* A call that its error handler leaves by longjmp: the calls after it are still in the table. */
static void call_left_early(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(leave_call, &handler);
    MPI_Comm_set_errhandler(WORLD, handler);
    if (setjmp(after_error) == 0) {
        MPI_Bcast(out, 4, MPI_INT, ranks + 1, WORLD);
        check("MPI_Bcast with an invalid root", 0);
    }
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

/* Forms of MPI 4. */
static void persistent(void)
{
#if MPI_VERSION >= 4
    MPI_Request request;
    MPI_Count large[RANKS_MAX], own_large[RANKS_MAX], large_ones[RANKS_MAX];
    for (int r = 0; r < RANKS_MAX; r++) {
        large[r] = counts[r];
        own_large[r] = own_counts[r];
        large_ones[r] = 1;
    }
    if (wants("MPI_Allreduce_init")) {
        MPI_Allreduce_init(in, out, 4, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
        MPI_Request_free(&request);
    }
    if (wants("MPI_Bcast_init")) {
        MPI_Bcast_init(out, 4, MPI_INT, 0, WORLD, MPI_INFO_NULL, &request);
        MPI_Request_free(&request);
    }
    CALL(Alltoallv_c, exchanged, in, large, wide_places, MPI_INT, out, own_large, wide_own_places, MPI_INT, WORLD)
    CALL(Reduce_scatter_c, any, in, out, large_ones, MPI_INT, MPI_SUM, WORLD)
    START(Iallreduce_c, any, in, out, 4, MPI_INT, MPI_SUM, WORLD)
#endif
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int counted = argc > 1 && atoi(argv[1]) > 0, rounds = counted ? atoi(argv[1]) : 1;
    wanted = argv + 1 + counted;
    MPI_Comm_size(WORLD, &ranks);
    MPI_Comm_rank(WORLD, &rank);
    if (ranks > RANKS_MAX)
        MPI_Abort(WORLD, 2);
    for (int i = 0; i < WORDS; i++)
        in[i] = 100 * rank + i;
    for (int r = 0; r < RANKS_MAX; r++) {
        ones[r] = 1;
        counts[r] = r + 1;
        places[r] = r * (r + 1) / 2;
        own_counts[r] = rank + 1;
        own_places[r] = r * (rank + 1);
        byte_places[r] = places[r] * (int)sizeof(int);
        own_byte_places[r] = own_places[r] * (int)sizeof(int);
        wide_places[r] = places[r];
        wide_own_places[r] = own_places[r];
        addresses[r] = byte_places[r];
        types[r] = MPI_INT;
    }
    if (!*wanted)
        call_left_early();
    for (int round = 0; round < rounds; round++) {
        blocking();
        nonblocking();
        neighbors();
        persistent();
    }
    MPI_Finalize();
    return failed > 0;
}
