/*
 * Non-blocking and persistent calls: many outstanding at a time, which every rank completes, starts and frees in
 * another order; no call before TRV_Wait waits for another rank.
 */
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance_mpi.h>

#include "harness.h"
#include "topics.h"
#include "base/error.h"
#include "transport/mpi/waiting.h"

enum { MANY = 40, COUNT = 700 };

/* Tests requests until all are complete; each rank begins with another one. */
static void complete(TRV_Request *request, int requests, const char *what)
{
    int left = requests;
    for (int r = 0; r < requests; r++)
        left -= request[r] == TRV_REQUEST_NULL;
    for (unsigned turn = 0; left > 0; turn++) {
        int r = (int)((turn + 7 * (unsigned)test_rank) % (unsigned)requests), done = 0;
        if (request[r] == TRV_REQUEST_NULL)
            continue;
        if (!expect_class(TRV_Test(&request[r], &done), MPI_SUCCESS, NULL, what))
            return;
        left -= done;
        expect(!done == (request[r] != TRV_REQUEST_NULL), "%s: a complete request is left", what);
        trv_mpi_pause(turn);
    }
}

/* More requests than there are positions, with the same and with other operation signatures, and blocking calls in
 * between. */
static void many(MPI_Comm comm, const char *what)
{
    static int in[MANY][COUNT], out[MANY][COUNT], more[COUNT];
    TRV_Request request[MANY];
    for (int r = 0; r < MANY; r++) {
        int count = COUNT - r % 3 * 100;
        test_fill(in[r], count, r);
        expect_class(TRV_Iallreduce(in[r], out[r], count, MPI_INT, MPI_SUM, comm, &request[r]), MPI_SUCCESS, NULL,
                     what);
        if (r % 15 == 14) {
            test_fill(more, COUNT, r);
            expect_class(TRV_Allreduce(MPI_IN_PLACE, more, COUNT, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, NULL, what);
            expect_sums(more, COUNT, r, "a blocking call in between");
        }
    }
    if (test_rank % 2)
        expect_class(TRV_Wait(&request[MANY - 1]), MPI_SUCCESS, NULL, what);
    complete(request, MANY, what);
    for (int r = 0; r < MANY; r++)
        expect_sums(out[r], COUNT - r % 3 * 100, r, what);
}

/* Rank 0 posts and then notifies the others, which post, too; if posting waited for them, this would never end. */
static void posting_does_not_wait(MPI_Comm comm, bool prepared)
{
    int value = test_rank + 1, sum = 0, word = 0;
    MPI_Comm own;
    MPI_Request notification = MPI_REQUEST_NULL;
    TRV_Request request[2];
    MPI_Comm_dup(comm, &own);
    if (prepared)
        expect_class(TRV_Comm_set(own, NULL, NULL), MPI_SUCCESS, NULL, "TRV_Comm_set");
    if (test_rank > 0)
        MPI_Irecv(&word, 1, MPI_INT, test_rank - 1, 0, comm, &notification);
    trv_mpi_poll(&notification);
    expect_class(TRV_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, own, &request[0]), MPI_SUCCESS, NULL, "posting");
    expect_class(TRV_Allreduce_init(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, own, MPI_INFO_NULL, &request[1]),
                 MPI_SUCCESS, NULL, "TRV_Allreduce_init");
    if (test_rank + 1 < test_ranks)
        MPI_Send(&word, 1, MPI_INT, test_rank + 1, 0, comm);
    expect_class(TRV_Wait(&request[0]), MPI_SUCCESS, NULL, "waiting");
    expect(sum == test_ranks * (test_ranks + 1) / 2, "one word: %d", sum);
    expect_class(TRV_Start(&request[1]), MPI_SUCCESS, NULL, "TRV_Start");
    expect_class(TRV_Wait(&request[1]), MPI_SUCCESS, NULL, "waiting");
    expect(value == sum, "one word in place: %d", value);
    expect_class(TRV_Request_free(&request[1]), MPI_SUCCESS, NULL, "TRV_Request_free");
    MPI_Comm_free(&own);
}

/* Persistent requests, started and freed in another order on every rank; the buffers are read at every start. */
static void persistent(MPI_Comm comm)
{
    enum { REQUESTS = 7, ROUNDS = 4 };
    static int in[REQUESTS][COUNT], out[REQUESTS][COUNT];
    TRV_Request request[REQUESTS];
    for (int again = 0; again < 2; again++) {
        for (int r = 0; r < REQUESTS; r++)
            expect_class(TRV_Allreduce_init(in[r], out[r], COUNT, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request[r]),
                         MPI_SUCCESS, NULL, "TRV_Allreduce_init");
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < REQUESTS; i++) {
                int r = (i * (test_rank % 2 ? 1 : REQUESTS - 1) + test_rank) % REQUESTS;
                test_fill(in[r], COUNT, r + round);
                expect_class(TRV_Start(&request[r]), MPI_SUCCESS, NULL, "TRV_Start");
            }
            expect_class(TRV_Start(&request[0]), MPI_ERR_REQUEST, "is active", "starting twice");
            expect_class(TRV_Request_free(&request[0]), MPI_ERR_REQUEST, "is active", "freeing an active request");
            for (int r = 0; r < REQUESTS; r++) {
                expect_class(TRV_Wait(&request[r]), MPI_SUCCESS, NULL, "TRV_Wait");
                expect_sums(out[r], COUNT, r + round, "persistent");
            }
        }
        for (int i = 0; i < REQUESTS; i++)
            expect_class(TRV_Request_free(&request[(i + test_rank) % REQUESTS]), MPI_SUCCESS, NULL, "freeing");
    }
}

/* Reduce-Scatter, and AllGather of a type that has gaps on every second rank only. */
static void others(MPI_Comm comm)
{
    enum { BLOCK = 50 };
    size_t all = (size_t)BLOCK * (size_t)test_ranks;
    int *wide = malloc(all * sizeof *wide), *gathered = calloc(2 * all, sizeof *gathered), sums[BLOCK], own[2 * BLOCK];
    int stride = 1 + test_rank % 2, wrong = 0;
    MPI_Datatype word;
    TRV_Request request[4];
    MPI_Type_create_resized(MPI_INT, 0, stride * (MPI_Aint)sizeof(int), &word);
    MPI_Type_commit(&word);
    test_fill(wide, (int)all, 3);
    memset(own, 0, sizeof own);
    for (int i = 0; i < BLOCK; i++)
        own[i * stride] = 1000 * test_rank + i;
    expect_class(TRV_Ireduce_scatter_block(wide, sums, BLOCK, MPI_INT, MPI_SUM, comm, &request[0]), MPI_SUCCESS, NULL,
                 "TRV_Ireduce_scatter_block");
    expect_class(TRV_Iallgather(own, BLOCK, word, gathered, BLOCK, word, comm, &request[1]), MPI_SUCCESS, NULL,
                 "TRV_Iallgather");
    complete(request, 2, "Reduce-Scatter and AllGather");
    for (int i = 0; i < BLOCK; i++)
        wrong += sums[i] != test_ranks * (test_ranks + 1) / 2 * ((test_rank * BLOCK + i) % 100 + 3);
    for (size_t i = 0; i < all; i++)
        wrong += gathered[i * (size_t)stride] != 1000 * (int)(i / BLOCK) + (int)(i % BLOCK);
    expect(wrong == 0, "Reduce-Scatter and AllGather: %d elements are wrong", wrong);
    expect_class(TRV_Reduce_scatter_block_init(wide, sums, BLOCK, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request[2]),
                 MPI_SUCCESS, NULL, "TRV_Reduce_scatter_block_init");
    expect_class(TRV_Allgather_init(own, BLOCK, word, gathered, BLOCK, word, comm, MPI_INFO_NULL, &request[3]),
                 MPI_SUCCESS, NULL, "TRV_Allgather_init");
    memset(gathered, 0, 2 * all * sizeof *gathered);
    for (int r = 2; r < 4; r++)
        expect_class(TRV_Start(&request[r]), MPI_SUCCESS, NULL, "TRV_Start");
    for (int r = 2; r < 4; r++)
        expect_class(TRV_Wait(&request[r]), MPI_SUCCESS, NULL, "TRV_Wait");
    for (size_t i = 0; i < all; i++)
        wrong += gathered[i * (size_t)stride] != 1000 * (int)(i / BLOCK) + (int)(i % BLOCK);
    expect(wrong == 0, "persistent AllGather: %d elements are wrong", wrong);
    for (int r = 2; r < 4; r++)
        expect_class(TRV_Request_free(&request[r]), MPI_SUCCESS, NULL, "TRV_Request_free");
    MPI_Type_free(&word);
    free(wide);
    free(gathered);
}

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
    complete(request, 4, "operations of one's own");
    for (int i = 0; i < 3; i++)
        expect(sum[i] == test_ranks * (test_ranks + 1) / 2, "sum %d is %d", i, sum[i]);
    expect(largest[0] == test_ranks && largest[1] == test_ranks, "the largest are %d, %d", largest[0], largest[1]);
    MPI_Op_free(&op[0]);
    MPI_Op_free(&op[1]);
}

/* One rank makes a call with a new operation signature, whose decision needs all ranks, while the others first wait for
 * an earlier request: the rank must make progress on that request meanwhile. */
static void other_orders(MPI_Comm comm)
{
    static int in[COUNT], out[COUNT];
    short smallest = (short)(test_rank + 3), found = 0;
    TRV_Request request;
    test_fill(in, COUNT, 5);
    expect_class(TRV_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, NULL, "a blocking call");
    expect_class(TRV_Iallreduce(in, out, COUNT, MPI_INT, MPI_SUM, comm, &request), MPI_SUCCESS, NULL, "a request");
    if (test_rank != 0)
        expect_class(TRV_Wait(&request), MPI_SUCCESS, NULL, "waiting before a call with a new signature");
    expect_class(TRV_Allreduce(&smallest, &found, 1, MPI_SHORT, MPI_MIN, comm), MPI_SUCCESS, NULL,
                 "a call with a new signature");
    expect_class(TRV_Wait(&request), MPI_SUCCESS, NULL, "waiting after it");
    expect_sums(out, COUNT, 5, "other orders");
    expect(found == 3, "the minimum is %d", found);
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
    MPI_Comm comm, fresh;
    MPI_Comm_dup(test_comm, &comm);
    MPI_Comm_dup(test_comm, &fresh);
    posting_does_not_wait(comm, false);
    posting_does_not_wait(comm, true);
    TRV_Comm_set(comm, NULL, NULL);
    many(comm, "many");
    expect_class(TRV_Comm_set(comm, NULL, "trivance-b"), MPI_SUCCESS, NULL, "another algorithm");
    many(comm, "many, by trivance-b");
    many(fresh, "many, on a communicator that is not prepared");
    persistent(comm);
    others(comm);
    own_operations(comm);
    MPI_Comm_free(&fresh);
    MPI_Comm_dup(test_comm, &fresh);
    freed_communicator();
    own_messages(comm);
    other_orders(comm);
    invalid_calls(comm);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&fresh);
}
