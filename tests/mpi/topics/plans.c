/*
 * Plans, communicators and tori: reuse, several at a time, sub-communicators, topologies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/torus.h>
#include <trivance/trivance_mpi.h>

#include "harness.h"
#include "topics.h"
#include "transport/mpi/waiting.h"

static void reuse(MPI_Comm comm)
{
    enum { COUNT = 5000 };
    int *in = malloc(COUNT * sizeof *in), *out = malloc(COUNT * sizeof *out), done = 0;
    TRV_Plan plan;
    TRV_Plan_info info = {TRV_PLAN_INFO};
    if (!expect_class(TRV_Allreduce_plan_create(COUNT, MPI_INT, MPI_SUM, comm, &plan), MPI_SUCCESS, NULL,
                      "creating a plan"))
        return;
    expect_class(TRV_Plan_query(plan, &(TRV_Plan_info){0}), MPI_ERR_ARG, "TRV_PLAN_INFO", "an answer of another size");
    expect_class(TRV_Plan_query(plan, &info), MPI_SUCCESS, NULL, "TRV_Plan_query");
    expect(info.algorithm[0] && strcmp(info.algorithm, "mpi") != 0 &&
               (test_ranks == 1 || (info.steps > 0 && info.bytes_sent > 0)),
           "a plan by %s, %d steps, %zu bytes", info.algorithm, info.steps, info.bytes_sent);
    expect_class(TRV_Plan_test(plan, &done), MPI_SUCCESS, NULL, "testing a plan that was not started");
    expect(done == 1, "a plan that was not started is not complete");
    for (int i = 0; i < 10; i++) {
        test_fill(in, COUNT, i);
        memset(out, 0, COUNT * sizeof *out);
        expect_class(TRV_Plan_run(plan, i % 2 ? out : in, i % 2 ? in : out), MPI_SUCCESS, NULL, "running a plan");
        if (i % 2 == 0)
            expect_sums(out, COUNT, i, "reuse");
        test_fill(out, COUNT, i);
        expect_class(TRV_Plan_start(plan, MPI_IN_PLACE, out), MPI_SUCCESS, NULL, "starting a plan");
        expect_class(TRV_Plan_start(plan, MPI_IN_PLACE, out), MPI_ERR_REQUEST, "is running", "starting a plan twice");
        expect_class(TRV_Plan_free(&plan), MPI_ERR_REQUEST, "is running", "freeing a plan that runs");
        expect_class(TRV_Plan_wait(plan), MPI_SUCCESS, NULL, "waiting");
        expect_sums(out, COUNT, i, "reuse in place");
    }
    expect_class(TRV_Plan_free(&plan), MPI_SUCCESS, NULL, "TRV_Plan_free");
    expect(plan == TRV_PLAN_NULL, "TRV_Plan_free leaves the handle");
    expect_class(TRV_Plan_start(plan, MPI_IN_PLACE, in), MPI_ERR_REQUEST, "TRV_PLAN_NULL", "starting no plan");
    expect_class(TRV_Plan_wait(plan), MPI_ERR_REQUEST, "TRV_PLAN_NULL", "waiting for no plan");
    expect_class(TRV_Plan_query(plan, &info), MPI_ERR_REQUEST, "TRV_PLAN_NULL", "querying no plan");
    expect_class(TRV_Plan_free(&plan), MPI_ERR_REQUEST, "TRV_PLAN_NULL", "freeing a plan twice");
    free(in);
    free(out);
}

/* Three plans of one communicator run at once and are completed in different orders, a blocking call in between. */
static void several(MPI_Comm comm)
{
    enum { PLANS = 3, COUNT = 3000 };
    static int in[PLANS][COUNT], out[PLANS][COUNT], more[COUNT];
    TRV_Plan plan[PLANS];
    for (int p = 0; p < PLANS; p++)
        expect_class(TRV_Allreduce_plan_create(COUNT - p, MPI_INT, MPI_SUM, comm, &plan[p]), MPI_SUCCESS, NULL,
                     "creating");
    for (int round = 0; round < 5; round++) {
        for (int p = 0; p < PLANS; p++) {
            test_fill(in[p], COUNT, p + round);
            expect_class(TRV_Plan_start(plan[p], in[p], out[p]), MPI_SUCCESS, NULL, "starting one of several");
        }
        test_fill(more, COUNT, 77);
        expect_class(TRV_Allreduce(MPI_IN_PLACE, more, COUNT, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, NULL,
                     "a call in between");
        expect_sums(more, COUNT, 77, "a call in between");
        int pending = (1 << PLANS) - 1;
        int code = MPI_SUCCESS;
        for (unsigned turn = 0; pending && code == MPI_SUCCESS; turn++) {
            int p = (int)(turn + (unsigned)test_rank) % PLANS, done = 0;
            code = TRV_Plan_test(plan[p], &done);
            pending &= ~(done << p);
            trv_mpi_pause(turn);
        }
        expect_class(code, MPI_SUCCESS, NULL, "testing one of several");
        for (int p = 0; p < PLANS; p++)
            expect_sums(out[p], COUNT - p, p + round, "one of several");
    }
    for (int p = 0; p < PLANS; p++)
        expect_class(TRV_Plan_free(&plan[p]), MPI_SUCCESS, NULL, "freeing one of several");
}

static void other_collectives(MPI_Comm comm)
{
    enum { COUNT = 123 };
    size_t all = (size_t)COUNT * (size_t)test_ranks;
    int *wide = malloc(all * sizeof *wide), *out = malloc(all * sizeof *out), block[COUNT], wrong = 0;
    TRV_Plan scatter, gather;
    expect_class(TRV_Reduce_scatter_block_plan_create(COUNT, MPI_INT, MPI_SUM, comm, &scatter), MPI_SUCCESS, NULL,
                 "RS plan");
    expect_class(TRV_Allgather_plan_create(COUNT, MPI_INT, comm, &gather), MPI_SUCCESS, NULL, "AG plan");
    for (int i = 0; i < 3; i++) {
        test_fill(wide, (int)all, i);
        expect_class(TRV_Plan_run(scatter, wide, block), MPI_SUCCESS, NULL, "reduce-scatter plan");
        expect_class(TRV_Plan_run(gather, block, out), MPI_SUCCESS, NULL, "allgather plan");
        for (size_t e = 0; e < all; e++)
            wrong += out[e] != test_ranks * (test_ranks + 1) / 2 * ((int)e % 100 + i);
    }
    expect(wrong == 0, "reduce-scatter and allgather: %d elements are wrong", wrong);
    TRV_Plan_free(&scatter);
    TRV_Plan_free(&gather);
    free(wide);
    free(out);
}

/* Sub-communicators of odd and even ranks, made and freed again and again; the last plan outlives its communicator. */
static void sub_communicators(void)
{
    for (int i = 0; i < 5; i++) {
        MPI_Comm half, copy;
        TRV_Plan plan;
        int rank, ranks, value, sum = 0;
        MPI_Comm_split(test_comm, test_rank % 2, -test_rank, &half);
        MPI_Comm_rank(half, &rank);
        MPI_Comm_size(half, &ranks);
        value = rank + i;
        expect_class(TRV_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, half), MPI_SUCCESS, NULL, "a sub-communicator");
        expect(sum == ranks * (ranks - 1) / 2 + ranks * i, "the sum over a half is %d", sum);
        MPI_Comm_dup(half, &copy);
        expect_class(TRV_Allreduce(&value, &sum, 1, MPI_INT, MPI_MAX, copy), MPI_SUCCESS, NULL, "its copy");
        expect(sum == ranks - 1 + i, "the largest of a half is %d", sum);
        expect_class(TRV_Allreduce_plan_create(1, MPI_INT, MPI_SUM, half, &plan), MPI_SUCCESS, NULL, "its plan");
        MPI_Comm_free(&half);
        MPI_Comm_free(&copy);
        expect_class(TRV_Plan_run(plan, &value, &sum), MPI_SUCCESS, NULL, "a plan after its communicator");
        expect(sum == ranks * (ranks - 1) / 2 + ranks * i, "the plan's sum over a half is %d", sum);
        expect_class(TRV_Plan_free(&plan), MPI_SUCCESS, NULL, "freeing it");
    }
}

/* A periodic Cartesian communicator defines its torus; TRV_Comm_set overrides it. */
static void topology(void)
{
    int size[2] = {0, 0}, periodic[2] = {1, 1};
    MPI_Comm cart;
    TRV_Plan plan;
    TRV_Plan_info info = {TRV_PLAN_INFO};
    char text[32];
    MPI_Dims_create(test_ranks, 2, size);
    MPI_Cart_create(test_comm, 2, size, periodic, 0, &cart);
    snprintf(text, sizeof text, "%dx%d", size[0], size[1]);
    for (int set = 0; set < 2; set++) {
        if (set == 1) {
            snprintf(text, sizeof text, "1x%d", test_ranks);
            expect_class(TRV_Comm_set(cart, text, "trivance-b"), MPI_SUCCESS, NULL, "TRV_Comm_set");
        }
        if (!expect_class(TRV_Allreduce_plan_create(100, MPI_FLOAT, MPI_SUM, cart, &plan), MPI_SUCCESS, NULL,
                          "its plan"))
            continue;
        TRV_Plan_query(plan, &info);
        expect(strcmp(info.torus, text) == 0, "the torus is %s, not %s", info.torus, text);
        expect(set == 0 || strcmp(info.algorithm, "trivance-b") == 0, "the algorithm is %s, not as set",
               info.algorithm);
        TRV_Plan_free(&plan);
    }
    MPI_Comm_free(&cart);
}

/* More counts than decisions are kept for, and some of these counts again. */
static void many_calls(MPI_Comm comm)
{
    enum { COUNT = 200 };
    int in[COUNT], out[COUNT];
    test_fill(in, COUNT, 3);
    for (int i = 0; i < 3 * COUNT; i++) {
        int count = i * 7 % COUNT + 1;
        expect_class(TRV_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, NULL, "one of many");
        expect_sums(out, count, 3, "one of many");
    }
}

static void intercommunicator(void)
{
    if (test_ranks < 2)
        return;
    MPI_Comm half, inter;
    int value = test_rank, sum = -1, want = 0;
    MPI_Comm_split(test_comm, test_rank % 2, test_rank, &half);
    MPI_Intercomm_create(half, 0, test_comm, test_rank % 2 ? 0 : 1, 5, &inter);
    expect_class(TRV_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter), MPI_SUCCESS, NULL, "an intercommunicator");
    for (int r = 0; r < test_ranks; r++)
        want += r % 2 != test_rank % 2 ? r : 0;
    expect(sum == want, "the sum over the other half is %d, not %d", sum, want);
    expect_class(TRV_Comm_set(inter, NULL, NULL), MPI_ERR_COMM, "no torus", "TRV_Comm_set on an intercommunicator");
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

void topic_plans(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(test_comm, &comm);
    reuse(comm);
    several(comm);
    other_collectives(comm);
    many_calls(comm);
    sub_communicators();
    topology();
    intercommunicator();
    MPI_Comm_free(&comm);
    int value = 1, sum = 0; /* the communicator itself: MPI_Finalize frees the state of MPI_COMM_WORLD */
    expect_class(TRV_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, test_comm), MPI_SUCCESS, NULL, "the communicator");
    expect(sum == test_ranks, "the sum of ones is %d", sum);
}
