/*
 * Calls collectives of the MPI standard, each once, so that a test can find every one of them in the table of calls.
 * Usage: calls [ROUNDS] [FUNCTION…]: the functions to call, named as below (default: all); the number of rounds
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 8

static int in[64], out[64], counts[RANKS_MAX], places[RANKS_MAX], ranks;
static MPI_Datatype types[RANKS_MAX];
static MPI_Aint addresses[RANKS_MAX];
static char **wanted;

static int wants(const char *name)
{
    int found = !*wanted;
    for (char **at = wanted; *at; at++)
        found = found || strcmp(*at, name) == 0;
    return found;
}

#define WORLD MPI_COMM_WORLD
#define CALL(name, ...)                                                                                                \
    if (wants("MPI_" #name))                                                                                           \
    MPI_##name(__VA_ARGS__)
#define START(name, ...)                                                                                               \
    if (wants("MPI_" #name)) {                                                                                         \
        MPI_Request request;                                                                                           \
        MPI_##name(__VA_ARGS__, &request);                                                                             \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                                                         \
    }

static void blocking(void)
{
    CALL(Allreduce, in, out, 4, MPI_INT, MPI_SUM, WORLD);
    CALL(Reduce_scatter_block, in, out, 1, MPI_INT, MPI_SUM, WORLD);
    CALL(Reduce_scatter, in, out, counts, MPI_INT, MPI_SUM, WORLD);
    CALL(Allgather, in, 1, MPI_INT, out, 1, MPI_INT, WORLD);
    CALL(Barrier, WORLD);
    CALL(Bcast, out, 4, MPI_INT, 0, WORLD);
    CALL(Reduce, in, out, 4, MPI_INT, MPI_SUM, 0, WORLD);
    CALL(Scan, in, out, 4, MPI_INT, MPI_SUM, WORLD);
    CALL(Exscan, in, out, 4, MPI_INT, MPI_SUM, WORLD);
    CALL(Gather, in, 1, MPI_INT, out, 1, MPI_INT, 0, WORLD);
    CALL(Gatherv, in, 1, MPI_INT, out, counts, places, MPI_INT, 0, WORLD);
    CALL(Scatter, in, 1, MPI_INT, out, 1, MPI_INT, 0, WORLD);
    CALL(Scatterv, in, counts, places, MPI_INT, out, 1, MPI_INT, 0, WORLD);
    CALL(Allgatherv, in, 1, MPI_INT, out, counts, places, MPI_INT, WORLD);
    CALL(Alltoall, in, 1, MPI_INT, out, 1, MPI_INT, WORLD);
    CALL(Alltoallv, in, counts, places, MPI_INT, out, counts, places, MPI_INT, WORLD);
    CALL(Alltoallw, in, counts, places, types, out, counts, places, types, WORLD);
}

static void nonblocking(void)
{
    START(Iallreduce, in, out, 4, MPI_INT, MPI_SUM, WORLD)
    START(Ireduce_scatter_block, in, out, 1, MPI_INT, MPI_SUM, WORLD)
    START(Ireduce_scatter, in, out, counts, MPI_INT, MPI_SUM, WORLD)
    START(Iallgather, in, 1, MPI_INT, out, 1, MPI_INT, WORLD)
    START(Ibarrier, WORLD)
    START(Ibcast, out, 4, MPI_INT, 0, WORLD)
    START(Ireduce, in, out, 4, MPI_INT, MPI_SUM, 0, WORLD)
    START(Iscan, in, out, 4, MPI_INT, MPI_SUM, WORLD)
    START(Iexscan, in, out, 4, MPI_INT, MPI_SUM, WORLD)
    START(Igather, in, 1, MPI_INT, out, 1, MPI_INT, 0, WORLD)
    START(Igatherv, in, 1, MPI_INT, out, counts, places, MPI_INT, 0, WORLD)
    START(Iscatter, in, 1, MPI_INT, out, 1, MPI_INT, 0, WORLD)
    START(Iscatterv, in, counts, places, MPI_INT, out, 1, MPI_INT, 0, WORLD)
    START(Iallgatherv, in, 1, MPI_INT, out, counts, places, MPI_INT, WORLD)
    START(Ialltoall, in, 1, MPI_INT, out, 1, MPI_INT, WORLD)
    START(Ialltoallv, in, counts, places, MPI_INT, out, counts, places, MPI_INT, WORLD)
    START(Ialltoallw, in, counts, places, types, out, counts, places, types, WORLD)
}

static void neighbors(void)
{
    const int periodic = 1;
    MPI_Comm ring;
    MPI_Cart_create(WORLD, 1, &ranks, &periodic, 0, &ring);
    CALL(Neighbor_allgather, in, 1, MPI_INT, out, 1, MPI_INT, ring);
    CALL(Neighbor_allgatherv, in, 1, MPI_INT, out, counts, places, MPI_INT, ring);
    CALL(Neighbor_alltoall, in, 1, MPI_INT, out, 1, MPI_INT, ring);
    CALL(Neighbor_alltoallv, in, counts, places, MPI_INT, out, counts, places, MPI_INT, ring);
    CALL(Neighbor_alltoallw, in, counts, addresses, types, out, counts, addresses, types, ring);
    START(Ineighbor_allgather, in, 1, MPI_INT, out, 1, MPI_INT, ring)
    START(Ineighbor_alltoallw, in, counts, addresses, types, out, counts, addresses, types, ring)
    MPI_Comm_free(&ring);
}

/* Forms of MPI 4. */
static void persistent(void)
{
#if MPI_VERSION >= 4
    MPI_Request request;
    MPI_Count large[RANKS_MAX];
    for (int r = 0; r < RANKS_MAX; r++)
        large[r] = 1;
    if (wants("MPI_Allreduce_init")) {
        MPI_Allreduce_init(in, out, 4, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
        MPI_Request_free(&request);
    }
    if (wants("MPI_Bcast_init")) {
        MPI_Bcast_init(out, 4, MPI_INT, 0, WORLD, MPI_INFO_NULL, &request);
        MPI_Request_free(&request);
    }
    CALL(Alltoallv_c, in, large, addresses, MPI_INT, out, large, addresses, MPI_INT, WORLD);
    CALL(Reduce_scatter_c, in, out, large, MPI_INT, MPI_SUM, WORLD);
    START(Iallreduce_c, in, out, 4, MPI_INT, MPI_SUM, WORLD)
#endif
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int counted = argc > 1 && atoi(argv[1]) > 0, rounds = counted ? atoi(argv[1]) : 1;
    wanted = argv + 1 + counted;
    MPI_Comm_size(WORLD, &ranks);
    for (int r = 0; r < RANKS_MAX; r++) {
        counts[r] = 1;
        places[r] = 0;
        types[r] = MPI_INT;
    }
    for (int round = 0; round < rounds; round++) {
        blocking();
        nonblocking();
        neighbors();
        persistent();
    }
    MPI_Finalize();
    return 0;
}
