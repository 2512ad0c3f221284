/*
 * Invalid arguments: the call returns an error class with one sentence, without abort or hang, and the next call works.
 */
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance_mpi.h>

#include "argument_cases.h"
#include "harness.h"
#include "topics.h"

/* MPICH rejects equal send and receive buffers; Open MPI does in AllReduce and Reduce only, and Trivance does as the
 * MPI library. Buffers that overlap otherwise are read from a copy. */
#if defined(MPICH)
static const int SAME = MPI_ERR_BUFFER;
#else
static const int SAME = MPI_SUCCESS;
#endif

/* One rank passes overlapping buffers: only that rank gets the error, and no rank waits for it. */
static void overlap_on_one_rank(MPI_Comm comm)
{
    enum { COUNT = 300 };
    int buffer[2 * COUNT], out[COUNT], sum = test_ranks * (test_ranks + 1) / 2;
    for (int shift = 0; shift < COUNT; shift += 7) {
        bool mine = test_rank == test_ranks / 2;
        for (int i = 0; i < 2 * COUNT; i++)
            buffer[i] = (test_rank + 1) * i;
        int *result = mine ? buffer + shift : out;
        int code = TRV_Allreduce(buffer, result, COUNT, MPI_INT, MPI_SUM, comm);
        expect_class(code, mine && !shift ? MPI_ERR_BUFFER : MPI_SUCCESS, "are the same", "overlapping buffers");
        for (int i = 0; i < COUNT; i++)
            if (!expect(result[i] == sum * i, "shift %d: element %d is %d, not %d", shift, i, result[i], sum * i))
                break;
    }
}

static void overlap_everywhere(MPI_Comm comm)
{
    size_t all = 10 * (size_t)test_ranks;
    int *buffer = malloc(2 * all * sizeof *buffer);
    TRV_Plan plan;
    for (size_t i = 0; i < 2 * all; i++)
        buffer[i] = (int)i;
    expect_class(TRV_Reduce_scatter_block(buffer, buffer + all - 1, 10, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, NULL,
                 "TRV_Reduce_scatter_block");
    for (int i = 0; i < 10; i++)
        expect(buffer[all - 1 + (size_t)i] == test_ranks * (10 * test_rank + i), "element %d of the block is %d", i,
               buffer[all - 1 + (size_t)i]);
    for (size_t i = 0; i < 2 * all; i++)
        buffer[i] = (int)i;
    expect_class(TRV_Allgather(buffer, 10, MPI_INT, buffer, 10, MPI_INT, comm), test_rank == 0 ? SAME : MPI_SUCCESS,
                 "MPI_IN_PLACE", "TRV_Allgather");
    for (size_t i = 0; i < all; i++)
        expect(buffer[i] == (int)i % 10, "element %zu of all blocks is %d", i, buffer[i]);
    expect_class(TRV_Allreduce_plan_create(10, MPI_INT, MPI_SUM, comm, &plan), MPI_SUCCESS, NULL, "a plan");
    expect_class(TRV_Plan_run(plan, buffer, buffer), MPI_ERR_BUFFER, "MPI_IN_PLACE", "TRV_Plan_run");
    expect_class(TRV_Plan_run(plan, MPI_IN_PLACE, buffer), MPI_SUCCESS, NULL, "the plan after that");
    expect_class(TRV_Plan_run(plan, NULL, buffer), MPI_ERR_BUFFER, "NULL", "a plan without a buffer");
    TRV_Plan_free(&plan);
    free(buffer);
}

static void arguments(MPI_Comm comm)
{
    int in[4] = {1, 2, 3, 4}, out[64];
    TRV_Plan plan = TRV_PLAN_NULL;
    expect_class(TRV_Allreduce(in, out, -1, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT, "0 or more", "a negative count");
    expect_class(TRV_Allreduce(in, out, 4, MPI_DATATYPE_NULL, MPI_SUM, comm), MPI_ERR_TYPE, "MPI_DATATYPE_NULL",
                 "no type");
    expect_class(TRV_Allreduce(in, out, 4, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP, "MPI_OP_NULL", "no operation");
    expect_class(TRV_Allreduce(in, out, 4, MPI_INT, MPI_SUM, MPI_COMM_NULL), MPI_ERR_COMM, "MPI_COMM_NULL",
                 "no communicator");
    expect_class(TRV_Allreduce(NULL, out, 4, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER, "NULL", "no send buffer");
    expect_class(TRV_Allgather(in, 2, MPI_INT, out, 3, MPI_INT, comm), MPI_ERR_COUNT, "8 bytes are sent and 12",
                 "counts");
    expect_class(TRV_Allgather(in, -2, MPI_INT, out, 3, MPI_INT, comm), MPI_ERR_COUNT, "is -2", "a negative count");
    expect_class(TRV_Allreduce_plan_create(-5, MPI_INT, MPI_SUM, comm, &plan), MPI_ERR_COUNT, "-5", "a plan's count");
    expect_class(TRV_Allreduce_plan_create(5, MPI_INT, MPI_SUM, comm, NULL), MPI_ERR_ARG, "address",
                 "a NULL argument for the plan");
    expect(plan == TRV_PLAN_NULL, "a plan that was refused");
    expect_class(TRV_Plan_query(plan, NULL), MPI_ERR_REQUEST, "TRV_PLAN_NULL", "querying no plan");
    expect_class(TRV_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, NULL, "a count of 0");
    MPI_Datatype gaps;
    MPI_Type_create_resized(MPI_INT, 0, 8, &gaps);
    MPI_Type_commit(&gaps);
    expect_class(TRV_Allgather_plan_create(5, gaps, comm, &plan), MPI_ERR_TYPE, "without gaps",
                 "a gather plan with gaps");
    MPI_Type_free(&gaps);
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    expect_class(TRV_Allgather_plan_create(5, pair, comm, &plan), MPI_ERR_TYPE, "not committed",
                 "a plan of an uncommitted type");
    MPI_Type_free(&pair);
    expect_class(TRV_Allreduce(in, out, 4, MPI_INT, MPI_MAX, comm), MPI_SUCCESS, NULL, "a right call after all this");
    expect(out[3] == 4, "its result is %d", out[3]);
    const MPI_Count many = ((MPI_Count)1 << 61) + 1; /* times 8 bytes: 8 in 64 bits */
    double from = 1, to = 0;
    for (int again = 0; again < 2; again++) { /* with and without a decision for such calls */
        expect_class(TRV_Allreduce(in, MPI_IN_PLACE, 4, MPI_INT, MPI_MAX, comm), MPI_ERR_BUFFER, "MPI_IN_PLACE",
                     "MPI_IN_PLACE as receive buffer");
        expect_class(TRV_Allreduce_c(&from, &to, many, MPI_DOUBLE, MPI_SUM, comm), MPI_ERR_COUNT, "at most",
                     "a count of more bytes than 64 bits can hold");
        expect_class(TRV_Allreduce_plan_create(many, MPI_DOUBLE, MPI_SUM, comm, &plan), MPI_ERR_COUNT, "at most",
                     "a plan of as many");
        expect_class(TRV_Allgather_c(&from, many, MPI_DOUBLE, out, many, MPI_DOUBLE, comm), MPI_ERR_COUNT, "at most",
                     "a gathered block of as many");
        expect_class(TRV_Allreduce(&from, &to, 1, MPI_DOUBLE, MPI_SUM, comm), MPI_SUCCESS, NULL, "one element");
    }
}

static void settings(MPI_Comm comm)
{
    int in = 1, out = 0;
    static const struct {
        const char *torus, *algorithm, *words;
    } wrong[] = {
        {"3x", NULL, "3x"},
        {"0x4", NULL, "0x4"},
        {"9999999999x2", NULL, "9999999999x2"},
        {"1x1x1x1x1x1x1x1x1", NULL, "8"},
        {"1000", NULL, "must be the number of ranks"},
        {"", NULL, ""},
        {NULL, "trivance-z", "there is no algorithm 'trivance-z'"},
        {NULL, "", "there is no algorithm"},
        {NULL, "trivance-b:4", "trivance-b takes no parameters"},
        {NULL, "hybrid:blue", "not a list of factors"},
        {NULL,
         "hybrid:1111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111"
         "1111111111111111111111111111111111",
         "at most 127 characters"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int code = TRV_Comm_set(comm, wrong[i].torus, wrong[i].algorithm);
        expect_class(code, MPI_ERR_ARG, wrong[i].words, "a wrong torus or algorithm");
    }
    if (test_ranks > 1 && test_ranks % 2 != 0)
        expect_class(TRV_Comm_set(comm, NULL, "hybrid:2"), MPI_ERR_UNSUPPORTED_OPERATION, "2 is not a divisor",
                     "2 of odd ranks");
    expect_class(TRV_Comm_set(MPI_COMM_NULL, NULL, NULL), MPI_ERR_COMM, "MPI_COMM_NULL",
                 "TRV_Comm_set without communicator");
    expect_class(TRV_Comm_set(comm, NULL, "auto"), MPI_SUCCESS, NULL, "auto");
    expect_class(TRV_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, NULL, "a call after wrong settings");
    expect(out == test_ranks, "its result is %d", out);
    /* An algorithm that is not correct for the operation is replaced by one that is. */
    double value = 1, sum = 0;
    expect_class(TRV_Comm_set(comm, NULL, "trivance-l-overlap"), MPI_SUCCESS, NULL, "trivance-l-overlap");
    expect_class(TRV_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, comm), MPI_SUCCESS, NULL, "a sum under it");
    expect(sum == test_ranks, "its result is %f", sum);
}

/* The TRV_ functions return an error for what the MPI library rejects, but under every MPI library the class of the
 * same argument. Open MPI does not check all counts and types. */
static void compare(const char *what, int got, int expected)
{
    const bool unchecked = strstr(what, "negative count") || strstr(what, "no sent type");
    expect((got == MPI_SUCCESS) == (expected == MPI_SUCCESS) || (unchecked && got != MPI_SUCCESS),
           "TRV_%s: class %d, not %d", what, got, expected);
}

static int code_before; /* of a call before MPI_Init */
static bool said_before;

void errors_before_init(void)
{
    int value = 1, sum = 0;
    code_before = TRV_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    said_before = strstr(trv_last_error(), "MPI is not running") != NULL;
}

void topic_errors(void)
{
    expect(code_before == MPI_ERR_OTHER && said_before, "before MPI_Init: class %d", code_before);
    MPI_Comm comm;
    MPI_Comm_dup(test_comm, &comm);
    arguments(comm);
    settings(comm);
    overlap_on_one_rank(comm);
    overlap_everywhere(comm);
    MPI_Comm_free(&comm);
    static const functions_t functions = FUNCTIONS(TRV_), library = FUNCTIONS(MPI_);
    if (test_ranks > 1)
        argument_cases(&functions, &library, test_comm, compare);
}
