/*
 * A hint on a communicator selects its algorithm, or leaves the communicator to the MPI library; other communicators
 * are not affected. Calls that a hint leaves to the MPI library are requested, so TRIVANCE_FALLBACK=error does not end
 * the program. preloaded.sh checks the log, which names the algorithm that executed each call.
 */
#include <mpi.h>

#include "check.h"

/* In the log the name is cut to 24 bytes, here between the bytes of a character, and has no control characters. */
#define E_ACUTE "\xc3\xa9"
#define NAME    "rows\n" E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE

/* Returns a communicator with the hint, created by one of the two calls that accept hints. */
static MPI_Comm hinted(const char *algorithm, int dup)
{
    MPI_Info info;
    MPI_Comm comm;
    MPI_Info_create(&info);
    MPI_Info_set(info, "trivance_algorithm", algorithm);
    if (dup) {
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    } else {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_info(comm, info);
    }
    MPI_Info_free(&info);
    return comm;
}

static void reduce(MPI_Comm comm)
{
    int rank, ranks, sum = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    check(sum == ranks * (ranks - 1) / 2, "the sum is %d", sum);
}

int main(int argc, char **argv)
{
    static const char *const algorithm[] = {"swing-b", "mpi", "no-such-algorithm", "auto"};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 4; i++) {
        MPI_Comm comm = hinted(algorithm[i], i % 2);
        MPI_Comm_set_name(comm, NAME);
        reduce(comm);
        if (i == 1) {
            MPI_Ibarrier(comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Comm_free(&comm);
    }
    reduce(MPI_COMM_WORLD);
    return check_end();
}
