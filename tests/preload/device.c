/*
 * Buffers on a GPU, by a mock runtime that is loaded in the middle of the program.
 *
 *     mpirun -n 3 device PATH-OF-THE-RUNTIME
 *
 * Call signatures that Trivance executed before are still executed by it: a rank's device buffer is copied through the
 * host. New signatures with a device buffer on any rank fall back to the MPI library.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "check.h"

enum { OLD = 1000, NEW = 2000 };

static int rank, ranks;

static void expect_sums(const int *sum, int count, const char *what)
{
    int correct = 0;
    for (int i = 0; i < count; i++)
        correct += sum[i] == ranks * (ranks - 1) / 2 + i * ranks;
    check(correct == count, "%s: %d of %d sums are right", what, correct, count);
}

int main(int argc, char **argv)
{
    int host[NEW], sum[NEW], *device = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < NEW; i++)
        host[i] = rank + i;
    MPI_Allreduce(host, sum, OLD, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect_sums(sum, OLD, "before the runtime");

    void *runtime = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    check(runtime != NULL, "the mock runtime %s is not loaded", argv[1]);
    if (!runtime)
        return check_end();
    void *(*alloc)(size_t, int);
    void (*copy)(void *, const void *, size_t);
    *(void **)&alloc = dlsym(runtime, "mock_alloc");
    *(void **)&copy = dlsym(runtime, "mock_copy");
    const int *copies = dlsym(runtime, "mock_copies");
    int classifies = !strstr(argv[1], "libze_loader");

    /* In place on rank 1 only; the buffer is readable only through the runtime. */
    if (rank == 1 && classifies) {
        device = alloc(sizeof host, 0);
        copy(device, host, sizeof host);
        int before = *copies;
        MPI_Allreduce(MPI_IN_PLACE, device, OLD, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        check(*copies == before + 2, "%d copies between host and device", *copies - before);
        copy(sum, device, sizeof sum);
    } else {
        MPI_Allreduce(host, sum, OLD, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    expect_sums(sum, OLD, "a signature with a schedule");

    /* A new call signature, again with a device buffer on rank 1 only; the MPI library can read this one. */
    if (rank == 1)
        device = alloc(sizeof host, 1), copy(device, host, sizeof host);
    MPI_Allreduce(rank == 1 ? device : host, sum, NEW, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect_sums(sum, NEW, "a new signature");
    MPI_Allreduce(host, sum, NEW, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect_sums(sum, NEW, "the new signature from the host");
    return check_end();
}
