/*
 * Communicators whose nodes do not form a torus: TRIVANCE_TORUS or a topology file gives the ranks' coordinates, and
 * the results equal the MPI library's. preloaded.sh checks in the log how the calls were executed. The arguments
 * describe communicators, separated by slashes:
 *   RANK…               these ranks of MPI_COMM_WORLD, in this order
 *   grid SIZE PERIOD …  a Cartesian communicator, of which some dimensions may not be periodic
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { COUNT_MAX = 20000 };

static void wait_for(MPI_Request *request)
{
    int done = 0;
    while (!done)
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

static void reduce(MPI_Comm comm, int count, MPI_Op op)
{
    static int in[COUNT_MAX], out[COUNT_MAX], expected[COUNT_MAX];
    int rank;
    MPI_Request request;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < count; i++)
        in[i] = (i + 7) * (rank + 3) % 1009;
    MPI_Allreduce(in, out, count, MPI_INT, op, comm);
    PMPI_Iallreduce(in, expected, count, MPI_INT, op, comm, &request);
    wait_for(&request);
    check(memcmp(out, expected, (size_t)count * sizeof *out) == 0, "%d ints differ from the MPI library's", count);
}

/* All ranks have the same bits as the first rank. */
static void reduce_doubles(MPI_Comm comm, int count)
{
    static double value[COUNT_MAX], first[COUNT_MAX];
    int rank;
    MPI_Request request;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < count; i++)
        value[i] = (i % 3 - 1) * 1e10 / (rank + 1) + i;
    MPI_Allreduce(MPI_IN_PLACE, value, count, MPI_DOUBLE, MPI_SUM, comm);
    memcpy(first, value, (size_t)count * sizeof *first);
    PMPI_Ibcast(first, count, MPI_DOUBLE, 0, comm, &request);
    wait_for(&request);
    check(memcmp(first, value, (size_t)count * sizeof *first) == 0, "%d doubles differ from rank 0's", count);
}

static void test_communicator(MPI_Comm comm)
{
    int rank, ranks, sum[2] = {0, 0};
    MPI_Comm copy;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    reduce(comm, 1, MPI_SUM);
    reduce(comm, 2, MPI_MAX);
    reduce(comm, COUNT_MAX, MPI_SUM);
    reduce_doubles(comm, 5);
    reduce_doubles(comm, COUNT_MAX - 1);
    MPI_Comm_dup(comm, &copy); /* inherits the decisions */
    reduce(copy, 1, MPI_SUM);
    reduce(copy, 300, MPI_SUM);
    MPI_Comm_free(&copy);
    const int mine[2] = {rank, 1};
    int *all = malloc(2 * (size_t)ranks * sizeof *all);
    MPI_Allgather(mine, 2, MPI_INT, all, 2, MPI_INT, comm);
    for (int r = 0; r < ranks; r++) {
        sum[0] += all[2 * r];
        sum[1] += all[2 * r + 1];
    }
    check(sum[0] == ranks * (ranks - 1) / 2 && sum[1] == ranks, "the ranks add up to %d, %d", sum[0], sum[1]);
    free(all);
    MPI_Barrier(comm);
}

static MPI_Comm make_set(int members, char *const *member)
{
    int rank, key = -1;
    MPI_Comm comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < members; i++)
        key = atoi(member[i]) == rank ? i : key;
    MPI_Comm_split(MPI_COMM_WORLD, key < 0 ? MPI_UNDEFINED : 0, key, &comm);
    return comm;
}

static MPI_Comm make_grid(int dims, char *const *word)
{
    int size[4], periodic[4];
    MPI_Comm comm;
    for (int d = 0; d < dims && d < 4; d++) {
        size[d] = atoi(word[2 * d]);
        periodic[d] = atoi(word[2 * d + 1]);
    }
    MPI_Cart_create(MPI_COMM_WORLD, dims, size, periodic, 0, &comm);
    return comm;
}

/* Creates the communicator that these words describe, and tests it. */
static void try_words(int words, char *const *word)
{
    MPI_Comm comm = words > 0 && strcmp(word[0], "grid") == 0 ? make_grid((words - 1) / 2, word + 1)
                                                              : make_set(words, word);
    if (comm != MPI_COMM_NULL) {
        test_communicator(comm);
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int first = 1, next; first < argc; first = next + 1) {
        for (next = first; next < argc && strcmp(argv[next], "/") != 0;)
            next++;
        try_words(next - first, argv + first);
    }
    return check_end();
}
