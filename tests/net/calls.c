/*
 * A program for any number of ranks: what only libtrivance_net has. Messages, flow control, plans of a schedule and
 * their properties, the number of decisions, ports, and the reasons of errors. tests/guarantees tests what MPI programs
 * have, too.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/algorithms.h>
#include <trivance/net.h>
#include <trivance/network.h>

#include "job.h"

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static void test_messages(trv_net_comm_t *comm)
{
    static const size_t bytes[] = {0, 1, 64, 65, 5000, 300000};
    const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    unsigned char *out = malloc(300000), *in = malloc(300000);
    for (size_t k = 0; k < sizeof bytes / sizeof bytes[0]; k++) {
        trv_net_request_t request[4];
        memset(out, rank + (int)k, bytes[k]);
        memset(in, 255, bytes[k]);
        expect(trv_net_send_start(comm, out, bytes[k], next, 5, &request[0]) == TRV_OK);
        expect(trv_net_receive(comm, in, bytes[k], last, 5) == TRV_OK);
        expect(trv_net_wait(&request[0]) == TRV_OK);
        for (size_t i = 0; i < bytes[k]; i++)
            expect(in[i] == last + (int)k);
    }
    /* Tags and order: two messages with one tag and one with another, received in another order. */
    int sent[3] = {rank, rank + 100, rank + 200}, received[3];
    trv_net_request_t request[3];
    for (int k = 0; k < 3; k++)
        expect(trv_net_send_start(comm, &sent[k], sizeof sent[k], next, k == 1 ? TRV_NET_TAG_MAX : 0, &request[k]) ==
               TRV_OK);
    expect(trv_net_receive(comm, &received[1], sizeof received[1], last, TRV_NET_TAG_MAX) == TRV_OK);
    expect(trv_net_receive(comm, &received[0], sizeof received[0], last, 0) == TRV_OK);
    expect(trv_net_receive(comm, &received[2], sizeof received[2], last, 0) == TRV_OK);
    expect(trv_net_wait_all(request, 3) == TRV_OK);
    for (int k = 0; k < 3; k++)
        expect(received[k] == last + 100 * k);
    for (int root = 0; root < ranks; root++) {
        memset(out, rank == root ? 7 + root : 0, 70000);
        expect(trv_net_broadcast(comm, out, 70000, root) == TRV_OK);
        for (int i = 0; i < 70000; i++)
            expect(out[i] == 7 + root);
    }
    free(out);
    free(in);
}

/* Sends complete before their receive, but only a limited number; messages sent after that can still be received. */
static void test_flow_control(trv_net_comm_t *comm)
{
    enum { SENDS_MAX = 1000, BOUND = 64 };
    static int number[SENDS_MAX];
    trv_net_request_t request, go;
    bool done = true;
    int sends = 0;
    if (rank == 0) {
        for (; done && sends < SENDS_MAX; sends++) {
            number[sends] = sends;
            expect(trv_net_send_start(comm, &number[sends], sizeof(int), 1, 0, &request) == TRV_OK);
            expect(trv_net_wait_for(&request, sends < BOUND / 2 ? 60 : 0.3, &done) == TRV_OK);
        }
        expect(!done && sends > BOUND / 2 && sends <= BOUND + 1);
        expect(trv_net_send_start(comm, &sends, sizeof(int), 1, 1, &go) == TRV_OK);
        expect(trv_net_wait(&request) == TRV_OK && trv_net_wait(&go) == TRV_OK);
    } else if (rank == 1) {
        expect(trv_net_receive(comm, &sends, sizeof(int), 0, 1) == TRV_OK);
        for (int k = 0; k < sends; k++) {
            int received = -1;
            expect(trv_net_receive(comm, &received, sizeof(int), 0, 0) == TRV_OK && received == k);
        }
    }
    /* Unexpected messages do not delay collectives, not even the decision on the first barrier of a communicator. */
    static trv_net_request_t early[2 * BOUND];
    trv_net_comm_t *fresh;
    expect(trv_net_split(comm, 0, rank, &fresh) == TRV_OK);
    for (int k = 0; rank == 0 && k < 2 * BOUND; k++)
        expect(trv_net_send_start(fresh, &number[k], sizeof(int), 1, 0, &early[k]) == TRV_OK);
    expect(trv_net_barrier(fresh) == TRV_OK);
    expect(trv_net_broadcast(fresh, &sends, sizeof sends, 0) == TRV_OK);
    for (int k = 0, received; rank == 1 && k < 2 * BOUND; k++)
        expect(trv_net_receive(fresh, &received, sizeof received, 0, 0) == TRV_OK);
    expect(rank != 0 || trv_net_wait_all(early, 2 * BOUND) == TRV_OK);
    trv_net_comm_free(&fresh);
    for (int k = 0; k < 10 * BOUND; k++) {
        int sent = rank == 0 ? k : -1;
        expect(trv_net_broadcast(comm, &sent, sizeof sent, 0) == TRV_OK && sent == k);
    }
}

/* A root completes broadcasts before other ranks have called them, but only a limited number, and not the first with a
 * signature, for which all ranks vote. Broadcasts that have not been received delay neither the decision on another
 * signature nor its call. */
static void test_ahead(trv_net_comm_t *comm)
{
    enum { MANY = 1000, BOUND = 64 };
    static int64_t number[MANY];
    trv_net_request_t request[MANY];
    bool done = true;
    int64_t calls = 0;
    trv_net_comm_t *fresh;
    expect(trv_net_split(comm, 0, rank, &fresh) == TRV_OK);
    expect(trv_net_broadcast(comm, number, sizeof *number, 0) == TRV_OK);
    for (; rank == 0 && calls < MANY && done; calls++) {
        number[calls] = calls;
        expect(trv_net_broadcast_start(comm, &number[calls], sizeof *number, 0, &request[calls]) == TRV_OK);
        expect(trv_net_wait_for(&request[calls], calls < BOUND / 2 ? 60 : 0.3, &done) == TRV_OK);
    }
    expect(rank != 0 || (!done && calls > BOUND / 2 && calls <= BOUND + 1));
    expect(trv_net_allreduce(fresh, &calls, &calls, 1, TRV_INT64, TRV_MAX) == TRV_OK);
    for (int64_t k = 0; rank != 0 && k < calls; k++)
        expect(trv_net_broadcast(comm, &number[k], sizeof *number, 0) == TRV_OK && number[k] == k);
    if (rank == 0)
        expect(trv_net_wait(&request[calls - 1]) == TRV_OK);
    trv_net_comm_free(&fresh);
    /* Every root in turn, more roots than calls that may be ahead. */
    for (int k = 0; k < 5 * BOUND; k++) {
        int64_t sent = rank == k % ranks ? k : -1;
        expect(trv_net_broadcast(comm, &sent, sizeof sent, k % ranks) == TRV_OK && sent == k);
    }
}

/* With long vectors, the root is at most two calls ahead, and completes when the others have caught up. */
static void test_ahead_with_long_vectors(trv_net_comm_t *comm)
{
    enum { LONG = 200000, LONG_CALLS = 6 };
    static int64_t vector[LONG_CALLS][LONG];
    trv_net_request_t request[LONG_CALLS];
    trv_net_comm_t *fresh;
    bool done;
    int completed = 0;
    expect(trv_net_split(comm, 0, rank, &fresh) == TRV_OK);
    expect(trv_net_broadcast(comm, vector[0], sizeof vector[0], 0) == TRV_OK);
    for (int k = 0; rank == 0 && k < LONG_CALLS; k++) {
        vector[k][LONG - 1] = k + 1;
        expect(trv_net_broadcast_start(comm, vector[k], sizeof vector[k], 0, &request[k]) == TRV_OK);
        expect(trv_net_wait_for(&request[k], 0.2, &done) == TRV_OK);
        completed += done;
    }
    expect(completed <= 2);
    expect(trv_net_barrier(fresh) == TRV_OK);
    for (int k = 0; rank != 0 && k < LONG_CALLS; k++)
        expect(trv_net_broadcast(comm, vector[k], sizeof vector[k], 0) == TRV_OK && vector[k][LONG - 1] == k + 1);
    expect(rank != 0 || trv_net_wait_all(request, LONG_CALLS) == TRV_OK);
    trv_net_comm_free(&fresh);
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

static void test_plan_properties(trv_net_comm_t *comm)
{
    trv_net_plan_t *plan;
    trv_net_plan_info_t info = {TRV_NET_PLAN_INFO};
    const trv_net_plan_options_t options = {TRV_NET_PLAN_OPTIONS, .algorithm = "trivance-b"};
    expect(trv_net_plan_create(&plan, comm, TRV_ALLREDUCE, 5000, TRV_INT64, TRV_SUM, &options) == TRV_OK);
    expect(trv_net_plan_query(plan, &info) == TRV_OK);
    expect(strcmp(info.algorithm, "trivance-b") == 0 && info.steps > 0 && info.bytes_sent > 0);
    expect(trv_net_plan_free(&plan) == TRV_OK && !plan);
}

/* A user-defined schedule has a root of its own. */
static void test_schedule(trv_net_comm_t *comm)
{
    const int root = ranks / 2;
    trv_network_t ring = {TRV_NETWORK};
    trv_schedule_t *schedule;
    trv_net_plan_t *plan;
    int64_t *vector = make(999, rank);
    expect(trv_torus_init(&ring.torus, 1, &ranks) == TRV_OK);
    expect(trv_schedule_create_on(&schedule, &ring, "binomial", TRV_BROADCAST, root) == TRV_OK);
    trv_net_plan_options_t options = {TRV_NET_PLAN_OPTIONS, .schedule = schedule, .root = (root + 1) % ranks};
    expect(trv_net_plan_create(&plan, comm, TRV_BROADCAST, 999, TRV_INT64, TRV_SUM, &options) == TRV_ERR_ARGUMENT);
    options.root = root;
    expect(trv_net_plan_create(&plan, comm, TRV_BROADCAST, 999, TRV_INT64, TRV_SUM, &options) == TRV_OK);
    expect(trv_net_plan_run(plan, vector, vector) == TRV_OK);
    for (size_t i = 0; i < 999; i++)
        expect(vector[i] == value(root, i));
    expect(trv_net_plan_free(&plan) == TRV_OK);
    trv_schedule_destroy(schedule);
    free(vector);
}

static atomic_bool planned;

static void *progress(void *context)
{
    while (!atomic_load(&planned))
        expect(trv_net_progress(context) == TRV_OK);
    return NULL;
}

/* Another thread makes progress while plans are created, whose requests have no buffers. */
static void test_plans_with_progress(trv_net_t *net)
{
    trv_net_comm_t *world = trv_net_world(net);
    const trv_net_plan_options_t options = {TRV_NET_PLAN_OPTIONS, .algorithm = ranks > 1 ? "trivance-b" : NULL};
    pthread_t thread;
    pthread_create(&thread, NULL, progress, net);
    for (int k = 0; k < 40; k++) {
        const size_t count = 100;
        int64_t *data = make(count, rank);
        trv_net_plan_t *plan;
        expect(trv_net_plan_create(&plan, world, TRV_ALLREDUCE, count, TRV_INT64, TRV_SUM, &options) == TRV_OK);
        expect(trv_net_plan_run(plan, data, data) == TRV_OK);
        for (size_t i = 0; i < count; i++)
            expect(data[i] == sum(ranks, i, NULL));
        expect(trv_net_plan_free(&plan) == TRV_OK);
        free(data);
    }
    atomic_store(&planned, true);
    pthread_join(thread, NULL);
}

/* ---- Decisions --------------------------------------------------------------------------------------------------- */

static int decisions; /* lines about broadcasts in the log */

static void count_decisions(void *context, const char *sentence)
{
    (void)context;
    decisions += strstr(sentence, "Broadcast of ") != NULL;
}

/* Rank 0 makes one decision for all roots; on a line, one for each root. */
static void test_decisions(trv_net_comm_t *comm)
{
    char line[16];
    trv_net_comm_t *fresh;
    expect(trv_net_split(comm, 0, rank, &fresh) == TRV_OK);
    for (int lines = 0; lines < 2; lines++) {
        snprintf(line, sizeof line, "%d%s", ranks, lines ? "m" : "");
        expect(trv_net_comm_set(fresh, line, NULL) == TRV_OK);
        decisions = 0;
        for (int root = 0; root < 2 * ranks; root++) {
            int64_t sent[3] = {rank == root % ranks ? root : -1, 0, 0};
            expect(trv_net_broadcast(fresh, sent, sizeof sent, root % ranks) == TRV_OK && sent[0] == root);
        }
        expect(decisions == (rank > 0 ? 0 : lines ? ranks : 1));
    }
    trv_net_comm_free(&fresh);
}

/* ---- A size per rank --------------------------------------------------------------------------------------------- */

enum { RANKS_MAX = 64, AHEAD = 300 };

/* One rank sends everything, often, and the others are late; then the opposite. Requests are outstanding together. */
static void test_sizes_ahead(trv_net_comm_t *comm)
{
    const int me = trv_net_rank(comm), size = trv_net_size(comm);
    static int64_t data[AHEAD], result[AHEAD][2];
    static trv_net_request_t request[AHEAD];
    size_t count[RANKS_MAX] = {1};
    for (int i = 0; i < AHEAD; i++) {
        data[i] = i;
        expect(trv_net_allgatherv_start(comm, &data[i], result[i], count, NULL, TRV_INT64, &request[i]) == TRV_OK);
    }
    expect(trv_net_wait_all(request, AHEAD) == TRV_OK);
    for (int i = 0; i < AHEAD; i++)
        expect(result[i][0] == i);
    for (int i = 0; i < AHEAD; i++)
        expect(trv_net_reduce_scatterv(comm, &data[i], result[i], count, NULL, TRV_INT64, TRV_SUM) == TRV_OK);
    for (int i = 0; me == 0 && i < AHEAD; i++)
        expect(result[i][0] == i * size);
    for (int i = 0; i < AHEAD; i++)
        expect(trv_net_scatterv_start(comm, result, (size_t[RANKS_MAX]){[1] = size > 1}, NULL, &data[i],
                                      me == 1 && size > 1, TRV_INT64, 0, &request[i]) == TRV_OK);
    expect(trv_net_wait_all(request, AHEAD) == TRV_OK);
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static void expect_error(int rc, const char *part) { expect(rc == TRV_ERR_ARGUMENT && strstr(trv_last_error(), part)); }

static void test_arguments(trv_net_comm_t *comm)
{
    int64_t data[64] = {0};
    trv_net_plan_t *plan;
    char no_root[64];
    snprintf(no_root, sizeof no_root, "there is no root %d among %d ranks", ranks, ranks);
    expect_error(trv_net_broadcast(comm, data, 8, ranks), no_root);
    expect_error(trv_net_reduce(comm, data, data, 1, TRV_INT64, TRV_SUM, -1), "there is no root -1");
    expect_error(trv_net_scatter(comm, data, data, 1, TRV_INT64, ranks), no_root);
    expect_error(trv_net_gather(comm, data, data, 1, TRV_INT64, ranks), no_root);
    expect_error(trv_net_scatter(comm, data, NULL, 1, TRV_INT64, 0), "the output buffer is NULL");
    expect_error(trv_net_gather(comm, NULL, data, 1, TRV_INT64, 0), "the input buffer is NULL");
    expect_error(trv_net_alltoall(comm, data, (char *)data + 1, 1, TRV_INT64), "overlap");
    trv_net_plan_options_t options = {TRV_NET_PLAN_OPTIONS, .root = 1};
    expect_error(trv_net_plan_create(&plan, comm, TRV_ALLREDUCE, 1, TRV_INT64, TRV_SUM, &options), "has no root");
    options.root = ranks;
    expect_error(trv_net_plan_create(&plan, comm, TRV_REDUCE, 1, TRV_INT64, TRV_SUM, &options), no_root);
    expect_error(trv_net_plan_create(&plan, comm, (trv_collective_t)99, 1, TRV_INT64, TRV_SUM, NULL),
                 "there is no collective 99");
}

static void test_calls_after_errors(trv_net_t *net)
{
    trv_net_comm_t *world = trv_net_world(net);
    char byte[8] = "";
    expect(trv_net_allreduce(NULL, byte, byte, 1, TRV_INT8, TRV_SUM) == TRV_ERR_ARGUMENT);
    expect(trv_net_allreduce(world, NULL, byte, 1, TRV_INT8, TRV_SUM) == TRV_ERR_ARGUMENT);
    expect(trv_net_allreduce(world, byte, byte + 1, 4, TRV_INT8, TRV_SUM) == TRV_ERR_ARGUMENT);
    expect(trv_net_allreduce(world, byte, byte, 1, TRV_TYPES, TRV_SUM) == TRV_ERR_ARGUMENT);
    expect(trv_net_allreduce(world, byte, byte, 1, TRV_FLOAT, TRV_BXOR) == TRV_ERR_UNSUPPORTED);
    expect(trv_net_allreduce(world, byte, byte, SIZE_MAX / 2, TRV_INT64, TRV_SUM) == TRV_ERR_ARGUMENT);
    expect(trv_net_send(world, byte, 1, ranks, 0) == TRV_ERR_ARGUMENT);
    expect(trv_net_send(world, byte, 1, 0, -1) == TRV_ERR_ARGUMENT);
    expect(trv_net_broadcast(world, byte, 1, -1) == TRV_ERR_ARGUMENT);
    expect(trv_net_comm_set(world, "axb", NULL) == TRV_ERR_ARGUMENT);
    /* A call for which there is no algorithm fails on all ranks, and does not break the net. */
    expect(trv_net_comm_set(world, NULL, "no-such-algorithm") == TRV_OK);
    expect(trv_net_allreduce(world, byte, byte, 1, TRV_INT8, TRV_SUM) < 0 || ranks == 1);
    expect(trv_net_comm_set(world, NULL, "") == TRV_OK);
    expect(trv_net_progress(net) == TRV_OK);
    trv_net_port_t port = {TRV_NET_PORT};
    expect(trv_net_ports(net) >= 1 && trv_net_port(net, 0, &port) == TRV_OK);
    expect(ranks == 1 || (port.bytes_sent > 0 && port.bytes_received > 0));
}

/* Invalid calls send nothing. */
static void test_sizes_errors(trv_net_comm_t *comm)
{
    size_t count[RANKS_MAX] = {2, 1}, displacement[RANKS_MAX] = {1, 1}, huge[RANKS_MAX] = {SIZE_MAX / 4};
    int64_t in[4] = {0}, out[RANKS_MAX];
    expect_error(trv_net_allgatherv(comm, in, out, NULL, NULL, TRV_INT64), "the counts of the blocks are NULL");
    expect_error(trv_net_allgatherv(comm, in, out, huge, NULL, TRV_INT64), "exceeds the address space");
    if (ranks > 1)
        expect_error(trv_net_allgatherv(comm, in, out, count, displacement, TRV_INT64), "overlaps the one before it");
    expect_error(trv_net_alltoallv(comm, in, NULL, NULL, out, count, NULL, TRV_INT64),
                 "the counts of the blocks to send are NULL");
    expect_error(trv_net_gatherv(comm, in, 1, out, count, NULL, TRV_INT64, ranks), "there is no root");
    expect_error(trv_net_gatherv(comm, in, 1, out, NULL, NULL, TRV_INT64, rank), "counts of the blocks to receive");
    expect_error(trv_net_gatherv(comm, in, 1, out, count, NULL, (trv_type_t)99, 0), "element type 99 does not exist");
    expect_error(trv_net_gatherv(comm, in, SIZE_MAX / 2, out, count, NULL, TRV_INT64, 0), "exceeds the address space");
    expect_error(trv_net_scatterv(comm, in, count, NULL, out, SIZE_MAX / 2, TRV_INT64, 0), "exceeds the address space");
    const size_t sent[RANKS_MAX] = {1, 1, 1, 1}, far[RANKS_MAX] = {SIZE_MAX - 1};
    expect_error(trv_net_alltoallv(comm, in, sent, far, out, sent, NULL, TRV_INT64), "exceeds the address space");
    if (ranks <= 2)
        expect_error(trv_net_alltoallv(comm, in, sent, NULL, out, rank ? huge : count, NULL, TRV_INT64),
                     rank ? "exceeds the address space" : "bytes to itself, but receives");
    expect(trv_net_barrier(comm) == TRV_OK);
}

/* Counts that differ between ranks in the first call break the net on all of them. */
static void test_sizes_differ(trv_net_comm_t *comm)
{
    size_t count[RANKS_MAX] = {3, 2};
    int64_t in[8] = {0}, out[RANKS_MAX * 8];
    count[1] += rank == ranks - 1;
    expect(trv_net_allgatherv(comm, in, out, count, NULL, TRV_INT64) < 0);
    expect(strstr(trv_last_error(), "differ"));
}

/* The argument `alone` excludes what blocks with libfabric's shm: threads, and unexpected long messages, which delay
 * all others. */
int main(int argc, char **argv)
{
    const bool alone = argc > 1 && strcmp(argv[1], "alone") == 0;
    trv_net_t *net;
    trv_net_options_t options = {TRV_NET_OPTIONS, .log = count_decisions};
    setenv("TRIVANCE_DEBUG", "info", 1);
    expect(trv_net_init(&net, &options) == TRV_OK);
    trv_net_comm_t *world = trv_net_world(net);
    rank = trv_net_rank(world);
    ranks = trv_net_size(world);
    test_messages(world);
    if (ranks > 1) {
        trv_net_comm_t *fresh;
        expect(trv_net_split(world, 0, rank, &fresh) == TRV_OK);
        test_flow_control(fresh);
        trv_net_comm_free(&fresh);
        test_plan_properties(world);
        test_schedule(world);
        test_decisions(world);
        test_ahead(world);
        if (!alone)
            test_ahead_with_long_vectors(world);
    }
    if (ranks <= 4 && !alone) /* its threads poll continuously */
        test_plans_with_progress(net);
    test_arguments(world);
    test_sizes_ahead(world);
    test_sizes_errors(world);
    test_calls_after_errors(net);
    if (ranks > 1)
        test_sizes_differ(world);
    expect(trv_net_finalize(&net) == (ranks > 1 ? TRV_ERR_TRANSPORT : TRV_OK) && !net);
    return 0;
}
