/*
 * TRIVANCE_CHECK=1: arguments that differ between ranks are an error on all ranks, and the next call works.
 */
#include <stdio.h>
#include <stdlib.h>

#include <trivance/trivance_mpi.h>

#include "harness.h"
#include "topics.h"

static void good(MPI_Comm comm)
{
    double in[100], out[100];
    for (int i = 0; i < 100; i++)
        in[i] = i;
    expect_class(TRV_Allreduce(in, out, 100, MPI_DOUBLE, MPI_SUM, comm), MPI_SUCCESS, NULL, "a right call");
    for (int i = 0; i < 100; i++)
        expect(out[i] == i * test_ranks, "element %d is %f", i, out[i]);
    expect_class(TRV_Allreduce(in, out, 0, MPI_DOUBLE, MPI_SUM, comm), MPI_SUCCESS, NULL, "a count of 0 everywhere");
}

void topic_check(void)
{
    const char *set = getenv("TRIVANCE_CHECK"); /* read once per process */
    if (!expect(set && *set == '1', "the job has no TRIVANCE_CHECK=1"))
        return;
    MPI_Comm comm;
    MPI_Comm_dup(test_comm, &comm);
    good(comm);
    bool is_odd = test_rank == test_ranks - 1, alone = test_ranks == 1;
    int in[64] = {0}, *out = calloc(64 * (size_t)test_ranks, sizeof *out);
    TRV_Plan plan;
    char other[64];
    snprintf(other, sizeof other, "rank %d of the communicator passed invalid arguments", test_ranks - 1);
    expect_class(TRV_Allreduce(in, out, is_odd ? 9 : 10, MPI_INT, MPI_SUM, comm), alone ? MPI_SUCCESS : MPI_ERR_COUNT,
                 "the count differs between ranks: from 9 elements", "another count");
    good(comm);
    expect_class(TRV_Allreduce(in, out, is_odd ? 0 : 10, MPI_INT, MPI_SUM, comm), alone ? MPI_SUCCESS : MPI_ERR_COUNT,
                 "from 0 elements", "a count of 0");
    expect_class(TRV_Allreduce(in, out, 10, is_odd ? MPI_FLOAT : MPI_INT, MPI_SUM, comm),
                 alone ? MPI_SUCCESS : MPI_ERR_OP, "the type or the operation differs", "another type");
    expect_class(TRV_Allreduce(in, out, 10, MPI_INT, is_odd ? MPI_MAX : MPI_SUM, comm),
                 alone ? MPI_SUCCESS : MPI_ERR_OP, "the type or the operation differs", "another operation");
    expect_class(is_odd ? TRV_Reduce_scatter_block(in, out, 4, MPI_INT, MPI_SUM, comm)
                        : TRV_Allgather(in, 4, MPI_INT, out, 4, MPI_INT, comm),
                 alone ? MPI_SUCCESS : MPI_ERR_OTHER, "different collectives", "another collective");
    expect_class(TRV_Allreduce(in, is_odd ? in : out, 10, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER,
                 is_odd ? "are the same" : other, "the same buffers on one rank");
    expect_class(TRV_Allreduce(in, out, is_odd ? -3 : 10, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT,
                 is_odd ? "0 or more" : other, "a negative count on one rank");
    expect_class(TRV_Allgather(in, 4, MPI_INT, out, is_odd ? 3 : 4, MPI_INT, comm), MPI_ERR_COUNT,
                 is_odd ? "must be the same" : other, "counts of AllGather on one rank");
    MPI_Datatype uncommitted;
    MPI_Type_contiguous(4, MPI_INT, &uncommitted);
    expect_class(TRV_Bcast(in, is_odd ? 1 : 4, is_odd ? uncommitted : MPI_INT, 0, comm), MPI_ERR_TYPE,
                 is_odd ? "not committed" : other, "an uncommitted type on one rank");
    MPI_Type_free(&uncommitted);
    expect_class(TRV_Allreduce_plan_create(is_odd ? 5 : 6, MPI_INT, MPI_SUM, comm, &plan),
                 alone ? MPI_SUCCESS : MPI_ERR_COUNT, "the count differs", "a plan's count");
    if (alone)
        TRV_Plan_free(&plan);
    expect_class(TRV_Comm_set(comm, NULL, is_odd ? "trivance-b" : "ring"), alone ? MPI_SUCCESS : MPI_ERR_ARG,
                 "sets another torus or algorithm than rank 0", "another algorithm");
    TRV_Comm_set(comm, NULL, NULL);
    good(comm);
    free(out);
    MPI_Comm_free(&comm);
}
