/*
 * A program for any number of ranks: AllReduce, Reduce-Scatter and AllGather with many counts and types, in place and
 * out of place, blocking and non-blocking; plans, communicators, messages, threads. All results are compared with the
 * expected ones. rooted.c tests the other collectives.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/algorithms.h>
#include <trivance/net.h>

#include "job.h"

/* ---- Collectives ------------------------------------------------------------------------------------------------- */

static void test_allreduce(trv_net_comm_t *comm, size_t count)
{
    int64_t *input = make(count, rank), *output = malloc((count + 1) * sizeof *output);
    expect(trv_net_allreduce(comm, input, output, count, TRV_INT64, TRV_SUM) == TRV_OK);
    expect(trv_net_allreduce(comm, input, input, count, TRV_INT64, TRV_SUM) == TRV_OK);
    for (size_t i = 0; i < count; i++)
        expect(output[i] == sum(ranks, i, NULL) && input[i] == output[i]);
    float *real = malloc((count + 1) * sizeof *real);
    for (size_t i = 0; i < count; i++)
        real[i] = (float)value(rank, i);
    expect(trv_net_allreduce(comm, real, real, count, TRV_FLOAT, TRV_MAX) == TRV_OK);
    for (size_t i = 0; i < count; i++) {
        int64_t max = value(0, i);
        for (int r = 1; r < ranks; r++)
            max = value(r, i) > max ? value(r, i) : max;
        expect(real[i] == (float)max);
    }
    free(input);
    free(output);
    free(real);
}

static void test_reduce_scatter_allgather(trv_net_comm_t *comm, size_t count)
{
    const size_t all = count * (size_t)ranks;
    int64_t *input = make(all, rank), *output = malloc((all + 1) * sizeof *output);
    expect(trv_net_reduce_scatter(comm, input, output, count, TRV_INT64, TRV_SUM) == TRV_OK);
    for (size_t i = 0; i < count; i++)
        expect(output[i] == sum(ranks, (size_t)rank * count + i, NULL));
    expect(trv_net_allgather(comm, input, output, count, TRV_INT64) == TRV_OK);
    for (int r = 0; r < ranks; r++)
        for (size_t i = 0; i < count; i++)
            expect(output[(size_t)r * count + i] == value(r, i));
    free(input);
    free(output);
}

static void test_counts(trv_net_comm_t *comm)
{
    static const size_t count[] = {0, 1, 2, 3, 5, 17, 100, 1000, 4097, 70001};
    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++) {
        test_allreduce(comm, count[i]);
        test_reduce_scatter_allgather(comm, count[i]);
    }
    expect(trv_net_barrier(comm) == TRV_OK);
}

/* Several requests at a time; ranks with even and odd numbers wait for them in opposite orders. */
static void test_requests(trv_net_comm_t *comm)
{
    enum { MANY = 12 };
    const size_t count = 3000;
    trv_net_request_t request[MANY];
    int64_t *data[MANY];
    bool done = false;
    for (int k = 0; k < MANY; k++) {
        data[k] = make(count, rank);
        expect(trv_net_allreduce_start(comm, data[k], data[k], count - (size_t)k, TRV_INT64, TRV_SUM, &request[k]) ==
               TRV_OK);
    }
    while (!done)
        expect(trv_net_test(&request[MANY / 2], &done) == TRV_OK);
    expect(request[MANY / 2] == TRV_NET_REQUEST_NULL);
    for (int k = 0; k < MANY; k++)
        expect(trv_net_wait(&request[rank % 2 ? k : MANY - 1 - k]) == TRV_OK);
    for (int k = 0; k < MANY; k++) {
        for (size_t i = 0; i < count - (size_t)k; i++)
            expect(data[k][i] == sum(ranks, i, NULL));
        free(data[k]);
    }
}

/* Active requests are not affected when the algorithm of the communicator is changed. */
static void test_change_algorithm(trv_net_comm_t *comm)
{
    enum { MANY = 8 };
    static const char *const algorithm[] = {"trivance-b", "trivance-l-grouped", "", "trivance-b"};
    const size_t count = 2000;
    trv_net_request_t request[MANY];
    int64_t *data[MANY];
    for (int k = 0; k < MANY; k++) {
        data[k] = make(count, rank);
        expect(trv_net_comm_set(comm, NULL, algorithm[k % 4]) == TRV_OK);
        expect(trv_net_allreduce_start(comm, data[k], data[k], count, TRV_INT64, TRV_SUM, &request[k]) == TRV_OK);
    }
    expect(trv_net_comm_set(comm, NULL, "") == TRV_OK);
    expect(trv_net_wait_all(request, MANY) == TRV_OK);
    for (int k = 0; k < MANY; k++) {
        for (size_t i = 0; i < count; i++)
            expect(data[k][i] == sum(ranks, i, NULL));
        free(data[k]);
    }
}

static void test_plans(trv_net_comm_t *comm)
{
    const size_t count = 5000;
    trv_net_plan_t *plan[2];
    trv_net_plan_info_t info = {TRV_NET_PLAN_INFO};
    int64_t *input = make(count, rank), *output[2];
    trv_schedule_t *schedule = NULL;
    trv_torus_t torus;
    trv_net_plan_options_t options = {TRV_NET_PLAN_OPTIONS, .algorithm = "trivance-b"};
    expect(trv_torus_init(&torus, 1, &ranks) == TRV_OK);
    expect(trv_net_plan_create(&plan[0], comm, TRV_ALLREDUCE, count, TRV_INT64, TRV_SUM, ranks > 1 ? &options : NULL) ==
           TRV_OK);
    if (ranks > 1) {
        expect(trv_schedule_create(&schedule, &torus, "trivance-l", TRV_ALLREDUCE) == TRV_OK);
        options = (trv_net_plan_options_t){TRV_NET_PLAN_OPTIONS, .schedule = schedule};
    }
    expect(trv_net_plan_create(&plan[1], comm, TRV_ALLREDUCE, count, TRV_INT64, TRV_SUM, &options) == TRV_OK ||
           ranks == 1);
    if (ranks == 1)
        expect(trv_net_plan_create(&plan[1], comm, TRV_ALLREDUCE, count, TRV_INT64, TRV_SUM, NULL) == TRV_OK);
    expect(trv_net_plan_query(plan[0], &info) == TRV_OK);
    expect(ranks == 1 || (strcmp(info.algorithm, "trivance-b") == 0 && info.steps > 0 && info.bytes_sent > 0));
    for (int k = 0; k < 2; k++)
        output[k] = malloc(count * sizeof *output[k]);
    for (int run = 0; run < 20; run++) {
        const int first = (rank + run) % 2; /* in any order */
        expect(trv_net_plan_start(plan[first], input, output[first]) == TRV_OK);
        expect(trv_net_plan_start(plan[!first], input, output[!first]) == TRV_OK);
        expect(trv_net_plan_start(plan[first], input, output[first]) == TRV_ERR_STATE);
        expect(trv_net_plan_wait(plan[0]) == TRV_OK && trv_net_plan_wait(plan[1]) == TRV_OK);
        for (size_t i = 0; i < count; i++)
            expect(output[0][i] == sum(ranks, i, NULL) && output[1][i] == output[0][i]);
        memset(output[0], 0, count * sizeof *output[0]);
        memset(output[1], 0, count * sizeof *output[1]);
    }
    for (int k = 0; k < 2; k++) {
        expect(trv_net_plan_free(&plan[k]) == TRV_OK && !plan[k]);
        free(output[k]);
    }
    trv_schedule_destroy(schedule);
    free(input);
}

/* ---- Communicators ----------------------------------------------------------------------------------------------- */

static void test_split(trv_net_comm_t *world)
{
    trv_net_comm_t *part, *back, *none;
    expect(trv_net_split(world, rank % 2, 0, &part) == TRV_OK);
    expect(trv_net_split(world, 0, -rank, &back) == TRV_OK);
    expect(trv_net_split(world, -1, 0, &none) == TRV_OK && !none);
    expect(trv_net_size(part) == (ranks + 1 - rank % 2) / 2 && trv_net_rank(part) == rank / 2);
    expect(trv_net_size(back) == ranks && trv_net_rank(back) == ranks - 1 - rank);
    expect(trv_net_world_rank(back, 0) == ranks - 1);
    const size_t count = 999;
    int member[64];
    for (int r = 0; r < trv_net_size(part); r++)
        member[r] = 2 * r + rank % 2;
    int64_t *a = make(count, rank), *b = make(count, rank), *c = make(count, rank);
    trv_net_request_t request[3];
    expect(trv_net_allreduce_start(part, a, a, count, TRV_INT64, TRV_SUM, &request[0]) == TRV_OK);
    expect(trv_net_allreduce_start(back, b, b, count, TRV_INT64, TRV_SUM, &request[1]) == TRV_OK);
    expect(trv_net_allreduce_start(world, c, c, count, TRV_INT64, TRV_SUM, &request[2]) == TRV_OK);
    expect(trv_net_wait_all(request, 3) == TRV_OK);
    for (size_t i = 0; i < count; i++)
        expect(a[i] == sum(trv_net_size(part), i, member) && b[i] == sum(ranks, i, NULL) && c[i] == b[i]);
    if (trv_net_size(part) == 4)
        expect(trv_net_comm_set(part, "2x2", "trivance-b") == TRV_OK);
    expect(trv_net_comm_set(back, "1000", NULL) == TRV_ERR_ARGUMENT || ranks == 1000);
    memcpy(a, c, count * sizeof *a);
    expect(trv_net_allreduce(part, a, a, count, TRV_INT64, TRV_MAX) == TRV_OK && memcmp(a, c, count * sizeof *a) == 0);
    trv_net_comm_free(&part);
    trv_net_comm_free(&back);
    free(a);
    free(b);
    free(c);
}

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

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static void *work(void *context)
{
    trv_net_comm_t *comm = context;
    const size_t count = 700;
    for (int run = 0; run < 30; run++) {
        int64_t *data = make(count, rank);
        expect(trv_net_allreduce(comm, data, data, count, TRV_INT64, TRV_SUM) == TRV_OK);
        for (size_t i = 0; i < count; i++)
            expect(data[i] == sum(ranks, i, NULL));
        free(data);
    }
    return NULL;
}

static void test_threads(trv_net_comm_t *world)
{
    enum { THREADS = 3 };
    pthread_t thread[THREADS];
    trv_net_comm_t *comm[THREADS];
    for (int t = 0; t < THREADS; t++)
        expect(trv_net_split(world, 0, rank, &comm[t]) == TRV_OK);
    for (int t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, work, comm[t]);
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    for (int t = 0; t < THREADS; t++)
        trv_net_comm_free(&comm[t]);
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

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static void test_arguments(trv_net_t *net)
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

/* The argument `alone` excludes the tests with threads, of which some block forever with libfabric's shm. */
int main(int argc, char **argv)
{
    const bool alone = argc > 1 && strcmp(argv[1], "alone") == 0;
    trv_net_t *net;
    expect(trv_net_init(&net, NULL) == TRV_OK);
    trv_net_comm_t *world = trv_net_world(net);
    rank = trv_net_rank(world);
    ranks = trv_net_size(world);
    test_counts(world);
    test_requests(world);
    test_change_algorithm(world);
    test_plans(world);
    test_split(world);
    test_messages(world);
    if (ranks > 1) {
        trv_net_comm_t *fresh;
        expect(trv_net_split(world, 0, rank, &fresh) == TRV_OK);
        test_flow_control(fresh);
        trv_net_comm_free(&fresh);
    }
    if (!alone)
        test_threads(world);
    if (ranks <= 4 && !alone) /* its threads poll continuously */
        test_plans_with_progress(net);
    test_arguments(net);
    expect(trv_net_finalize(&net) == TRV_OK && !net);
    return 0;
}
