/*
 * Non-blocking and persistent calls beside what only MPI has: user-defined operations, messages and freed communicators
 * of the program. tests/guarantees tests their order and progress.
 */
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance_mpi.h>

#include "harness.h"
#include "topics.h"
#include "base/error.h"
#include "transport/mpi/waiting.h"

enum { COUNT = 700 };

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void maximum(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        if (((int *)in)[i] > ((int *)inout)[i])
            ((int *)inout)[i] = ((int *)in)[i];
}

/* Two user-defined operations with the same types at the same time, and a blocking call with the other one. */
static void own_operations(MPI_Comm comm)
{
    int value = test_rank + 1, sum[3] = {0}, largest[2] = {0};
    MPI_Op op[2];
    TRV_Request request[4];
    MPI_Op_create(add, 1, &op[0]);
    MPI_Op_create(maximum, 1, &op[1]);
    for (int i = 0; i < 2; i++) {
        TRV_Iallreduce(&value, &sum[i], 1, MPI_INT, op[0], comm, &request[2 * i]);
        TRV_Iallreduce(&value, &largest[i], 1, MPI_INT, op[1], comm, &request[2 * i + 1]);
    }
    expect_class(TRV_Allreduce(&value, &sum[2], 1, MPI_INT, op[0], comm), MPI_SUCCESS, NULL, "a blocking call");
    for (int r = 0; r < 4; r++)
        expect_class(TRV_Wait(&request[(r + test_rank) % 4]), MPI_SUCCESS, NULL, "operations of one's own");
    for (int i = 0; i < 3; i++)
        expect(sum[i] == test_ranks * (test_ranks + 1) / 2, "sum %d is %d", i, sum[i]);
    expect(largest[0] == test_ranks && largest[1] == test_ranks, "the largest are %d, %d", largest[0], largest[1]);
    MPI_Op_free(&op[0]);
    MPI_Op_free(&op[1]);
}

/* The program sends a large message, whose sender waits for a collective that the receiver calls only after it has
 * received the message. */
static void own_messages(MPI_Comm comm)
{
    enum { LARGE = 1 << 20, TAG = 7 };
    static int large[LARGE], in[COUNT], out[COUNT];
    MPI_Request sent = MPI_REQUEST_NULL;
    int wrong = 0;
    test_fill(in, COUNT, 6);
    expect_class(TRV_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, NULL, "a blocking call");
    for (int i = 0; i < LARGE; i++)
        large[i] = test_rank == 0 ? i : -1;
    if (test_rank == 0 && test_ranks > 1)
        MPI_Isend(large, LARGE, MPI_INT, 1, TAG, comm, &sent);
    if (test_rank == 1)
        MPI_Recv(large, LARGE, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE);
    expect_class(TRV_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, NULL, "a call beside a message");
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    expect_sums(out, COUNT, 6, "beside a message");
    for (int i = 0; test_rank < 2 && i < LARGE; i++)
        wrong += large[i] != i;
    expect(wrong == 0, "%d elements of the message are wrong", wrong);
}

static void freed_communicator(void)
{
    int value = test_rank + 1, sum = 0;
    MPI_Comm own;
    TRV_Request request;
    MPI_Comm_dup(test_comm, &own);
    TRV_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, own); /* so such requests are dispatched */
    sum = 0;
    TRV_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, own, &request);
    MPI_Comm_free(&own);
    expect_class(TRV_Wait(&request), MPI_SUCCESS, NULL, "waiting after the communicator was freed");
    expect(sum == test_ranks * (test_ranks + 1) / 2, "after the communicator was freed: %d", sum);
}

static void invalid_calls(MPI_Comm comm)
{
    int value = 1, done = 0, wide[2] = {1, 1};
    TRV_Request request = TRV_REQUEST_NULL;
    expect_class(TRV_Iallreduce(&value, wide, 1, MPI_INT, MPI_SUM, comm, NULL), MPI_ERR_ARG, "address", "no request");
    expect_class(TRV_Iallreduce(&value, wide, -1, MPI_INT, MPI_SUM, comm, &request), MPI_ERR_COUNT, "-1", "a count");
    expect_class(TRV_Iallreduce(NULL, wide, 1, MPI_INT, MPI_SUM, comm, &request), MPI_ERR_BUFFER, "NULL", "a buffer");
    expect_class(TRV_Iallreduce(&value, wide, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL, &request), MPI_ERR_COMM,
                 "MPI_COMM_NULL", "a communicator");
    expect_class(TRV_Start(&request), MPI_ERR_REQUEST, "TRV_Allreduce_init", "starting nothing");
    expect_class(TRV_Request_free(&request), MPI_ERR_REQUEST, "TRV_REQUEST_NULL", "freeing nothing");
    expect_class(TRV_Wait(&request), MPI_SUCCESS, NULL, "waiting for nothing");
    expect(TRV_Test(&request, &done) == MPI_SUCCESS && done, "nothing is complete");
    expect_class(TRV_Test(&request, NULL), MPI_ERR_ARG, "the argument flag is NULL", "no flag");
    expect_class(TRV_Iallreduce(&value, wide, 0, MPI_INT, MPI_SUM, comm, &request), MPI_SUCCESS, NULL, "no elements");
    expect_class(TRV_Wait(&request), MPI_SUCCESS, NULL, "waiting for no elements");
    expect_class(TRV_Allreduce_init(&value, wide, 0, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request), MPI_SUCCESS,
                 NULL, "no elements, persistent");
    expect(TRV_Start(&request) == MPI_SUCCESS && TRV_Wait(&request) == MPI_SUCCESS &&
               TRV_Request_free(&request) == MPI_SUCCESS && request == TRV_REQUEST_NULL,
           "no elements, persistent");
    TRV_Allreduce(&(int[]){1, 1}, wide, 2, MPI_INT, MPI_SUM, comm); /* so such requests are dispatched */
    wide[0] = wide[1] = 1;
    TRV_Iallreduce(wide, wide, 2, MPI_INT, MPI_SUM, comm, &request);
    expect_class(TRV_Start(&request), MPI_ERR_REQUEST, "persistent", "starting a non-blocking request");
    expect_class(TRV_Wait(&request), MPI_ERR_BUFFER, "MPI_IN_PLACE", "buffers that overlap");
    expect(wide[0] == test_ranks && wide[1] == test_ranks, "buffers that overlap: %d, %d", wide[0], wide[1]);
}

void topic_requests(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(test_comm, &comm);
    TRV_Comm_set(comm, NULL, NULL);
    own_operations(comm);
    freed_communicator();
    own_messages(comm);
    invalid_calls(comm);
    MPI_Comm_free(&comm);
}
