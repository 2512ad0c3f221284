/*
 * Expectations, which are counted over all ranks.
 */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/common.h>

#include "transport/mpi/waiting.h"

#define SHOWN_MAX 10

MPI_Comm test_comm;
int test_rank, test_ranks;
static long expected, failed;

void test_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    test_use(MPI_COMM_WORLD);
}

void test_use(MPI_Comm comm)
{
    test_comm = comm;
    MPI_Comm_rank(comm, &test_rank);
    MPI_Comm_size(comm, &test_ranks);
}

long test_expectations(void) { return expected; }

bool expect(bool holds, const char *format, ...)
{
    expected++;
    if (holds || failed++ >= SHOWN_MAX)
        return holds;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "rank %d of %d: %s\n", test_rank, test_ranks, text);
    return false;
}

bool expect_class(int got, int class, const char *words, const char *what)
{
    bool right = expect(got == class, "%s returned class %d, not %d; last error: %s", what, got, class,
                        trv_last_error());
    if (class != MPI_SUCCESS && words)
        right = expect(strstr(trv_last_error(), words) != NULL, "%s: the error is '%s', without '%s'", what,
                       trv_last_error(), words) &&
                right;
    return right;
}

bool expect_identical(const void *data, size_t bytes, MPI_Comm comm, const char *what)
{
    unsigned char *first = malloc(bytes + 1);
    MPI_Request request;
    memcpy(first, data, bytes);
    PMPI_Ibcast(first, (int)bytes, MPI_BYTE, 0, comm, &request);
    trv_mpi_poll(&request);
    bool same = expect(memcmp(first, data, bytes) == 0, "%s: not the bits of rank 0", what);
    free(first);
    return same;
}

void test_fill(int *buffer, int count, int salt)
{
    for (int i = 0; i < count; i++)
        buffer[i] = (test_rank + 1) * (i % 100 + salt);
}

bool expect_sums(const int *buffer, int count, int salt, const char *what)
{
    int ranks = test_ranks * (test_ranks + 1) / 2, wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += buffer[i] != ranks * (i % 100 + salt);
    return expect(wrong == 0, "%s: %d of %d elements are wrong", what, wrong, count);
}

int test_end(void)
{
    long mine[2] = {expected, failed}, all[2] = {0, 0};
    MPI_Request request;
    PMPI_Iallreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
    trv_mpi_poll(&request);
    if (test_rank == 0)
        printf("%ld expectations, %ld failed\n", all[0], all[1]);
    MPI_Finalize();
    return all[1] > 0 || all[0] == 0;
}

uint64_t test_random(uint64_t seed)
{
    seed += 0x9e3779b97f4a7c15u; /* splitmix64 */
    seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
    seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
    return seed ^ (seed >> 31);
}

void test_barrier(MPI_Comm comm)
{
    MPI_Request request;
    PMPI_Ibarrier(comm, &request);
    trv_mpi_poll(&request);
}

int test_mapped_nodes(void)
{
    char line[512];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        count += strstr(line, "memfd:trivance") != NULL;
    if (maps)
        fclose(maps);
    return count;
}
