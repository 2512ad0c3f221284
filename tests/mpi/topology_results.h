/*
 * Results on communicators of any torus, compared with those of the MPI library.
 */
#ifndef TRIVANCE_TESTS_MPI_TOPOLOGY_RESULTS_H
#define TRIVANCE_TESTS_MPI_TOPOLOGY_RESULTS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance_mpi.h>

#include "harness.h"
#include "transport/mpi/waiting.h"

#define COUNT_MAX 100003
/* The maximum difference of the sums of up to 9 values of up to 1.43e12 in two orders, 2 * 9 * 9 * 1.43e12 * 2^-53. The
 * smallest value is 0.14, so a missing or duplicate contribution is detected. */
#define ROUNDING 0.03

/* Floating-point values whose sum depends on the order. */
static void fill(double *value, int count)
{
    for (int i = 0; i < count; i++) {
        double small = (double)(test_random((uint64_t)(test_rank * COUNT_MAX + i)) % 1000) / 7.0;
        value[i] = (i + test_rank) % 3 == 0 ? small * 1e10 : (i + test_rank) % 3 == 1 ? -small * 1e10 : small;
    }
}

/* The MPI library's result. It polls, because there are more ranks than cores. */
static void reference(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;
    PMPI_Iallreduce(in, out, count, type, op, comm, &request);
    trv_mpi_poll(&request);
}

static void try_doubles(MPI_Comm comm, int count, bool in_place, const char *what)
{
    static double in[COUNT_MAX], out[COUNT_MAX], right[COUNT_MAX];
    int wrong = 0;
    fill(in, count);
    reference(in, right, count, MPI_DOUBLE, MPI_SUM, comm);
    memcpy(out, in, (size_t)count * sizeof *in);
    int code = TRV_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < count; i++)
        wrong += !(fabs(out[i] - right[i]) < ROUNDING);
    expect(code == MPI_SUCCESS && wrong == 0, "%s: %d doubles%s: class %d (%s), %d wrong", what, count,
           in_place ? " in place" : "", code, code ? trv_last_error() : "", wrong);
    expect_identical(out, (size_t)count * sizeof *out, comm, what);
}

static void try_integers(MPI_Comm comm, MPI_Datatype type, size_t size, MPI_Op op, int count, const char *what)
{
    unsigned char *in = malloc((size_t)count * size), *out = malloc((size_t)count * size);
    unsigned char *right = malloc((size_t)count * size);
    for (size_t i = 0; i < (size_t)count * size; i++)
        in[i] = (unsigned char)test_random(i * 64 + (size_t)test_rank);
    reference(in, right, count, type, op, comm);
    int code = TRV_Allreduce(in, out, count, type, op, comm);
    expect(code == MPI_SUCCESS && memcmp(out, right, (size_t)count * size) == 0,
           "%s: %d elements of %zu bytes: class "
           "%d (%s)",
           what, count, size, code, code ? trv_last_error() : "");
    free(in);
    free(out);
    free(right);
}

/* A pair type of MPI, which is reduced by MPI_Reduce_local. */
static void try_pairs(MPI_Comm comm, int count, const char *what)
{
    struct {
        int value, rank;
    } *in = calloc((size_t)count, sizeof *in), *out = calloc((size_t)count, sizeof *out);
    int wrong = 0, ranks = 0, rank = 0;
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_rank(comm, &rank);
    for (int i = 0; i < count; i++) {
        in[i].value = (i + rank) % ranks;
        in[i].rank = rank;
    }
    expect_class(TRV_Allreduce(in, out, count, MPI_2INT, MPI_MAXLOC, comm), MPI_SUCCESS, NULL, what);
    for (int i = 0; i < count; i++)
        wrong += out[i].value != ranks - 1 || (i + out[i].rank) % ranks != ranks - 1;
    expect(wrong == 0, "%s: %d of %d pairs are wrong", what, wrong, count);
    free(in);
    free(out);
}

/* a op b = a: associative, and the result is what the first rank gave. */
static void keep_left(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    memcpy(inout, in, (size_t)*count * sizeof(int));
}

/* Calls for which only the MPI library can be used if the ranks are in another order: their results are right. */
static void try_others(MPI_Comm comm, const char *what)
{
    int ranks = 0, rank = 0, wrong = 0, left = 0;
    MPI_Op op;
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_rank(comm, &rank);
    int *all = malloc((size_t)ranks * sizeof *all), block = -1, mine = rank + 5;
    expect_class(TRV_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm), MPI_SUCCESS, NULL, what);
    for (int r = 0; r < ranks; r++)
        wrong += all[r] != r + 5;
    expect(wrong == 0, "%s: %d blocks of AllGather are wrong", what, wrong);
    for (int r = 0; r < ranks; r++)
        all[r] = 10 * r + 1;
    expect_class(TRV_Reduce_scatter_block(all, &block, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, NULL, what);
    expect(block == ranks * (10 * rank + 1), "%s: the block of Reduce-Scatter is %d", what, block);
    free(all);
    MPI_Op_create(keep_left, 0, &op);
    expect_class(TRV_Allreduce(&mine, &left, 1, MPI_INT, op, comm), MPI_SUCCESS, NULL, what);
    expect(left == 5, "%s: an operation that does not commute gives %d", what, left);
    MPI_Op_free(&op);
}

/* Two plans of a communicator that run at the same time, beside a blocking call. */
static void try_plans(MPI_Comm comm, const char *what)
{
    enum { COUNT = 20000 };
    static int in[COUNT], out[3][COUNT];
    TRV_Plan plan[2];
    int ranks = 0, wrong = 0, done = 0;
    PMPI_Comm_size(comm, &ranks);
    for (int i = 0; i < COUNT; i++)
        in[i] = i;
    for (int p = 0; p < 2; p++)
        expect_class(TRV_Allreduce_plan_create(COUNT, MPI_INT, MPI_SUM, comm, &plan[p]), MPI_SUCCESS, NULL, what);
    for (int turn = 0; turn < 3; turn++) {
        for (int p = 0; p < 2; p++)
            expect_class(TRV_Plan_start(plan[p], in, out[p]), MPI_SUCCESS, NULL, what);
        for (int flag[2] = {0, 0}; done < 2; done = flag[0] + flag[1])
            for (int p = 0; p < 2; p++)
                if (!flag[p])
                    TRV_Plan_test(plan[p], &flag[p]);
        done = 0;
        expect_class(TRV_Allreduce(in, out[2], COUNT, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, NULL, what);
        for (int p = 0; p < 3; p++)
            for (int i = 0; i < COUNT; i++)
                wrong += out[p][i] != ranks * i;
    }
    expect(wrong == 0, "%s: %d results of plans are wrong", what, wrong);
    for (int p = 0; p < 2; p++)
        TRV_Plan_free(&plan[p]);
}

/* Counts just below and above the size of a chunk of a node's memory. */
static void try_results(MPI_Comm comm, const char *what)
{
    static const int count[] = {2, 17, 1000, 8192, 8193, COUNT_MAX};
    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++)
        try_doubles(comm, count[i], i % 2 == 1, what);
    try_integers(comm, MPI_CHAR, 1, MPI_BXOR, 70001, what);
    try_integers(comm, MPI_SHORT, 2, MPI_MAX, 5, what);
    try_integers(comm, MPI_INT64_T, 8, MPI_SUM, 20000, what);
    try_pairs(comm, 20000, what);
    try_plans(comm, what);
}

#endif
