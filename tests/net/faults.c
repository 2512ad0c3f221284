/*
 * Faults: `faults WHAT` in a job in which rank 1 causes a fault. All other ranks must report it within seconds, all
 * with the same sentence, which names the fault, and must end without an error of their own.
 *
 *     killed    dies by SIGKILL during collectives, with one blocking call and one request that was only started
 *     aborts    calls trv_net_abort while other ranks wait
 *     count     has another count in its allreduce, of the same class of sizes
 *     first     has another count in the first allreduce of a class of sizes, in which the ranks vote
 *     fewer     has a count so much smaller that its messages have fewer fragments, if messages are fragmented
 *     more      has a count so much larger that its messages have more fragments
 *     length    sends a message of another length, which may also close its connection
 *     leaves    exits without trv_net_finalize while other ranks use the net
 *     sleeps    makes no call for longer than TRIVANCE_TIMEOUT
 *     pending   calls trv_net_finalize with a request that is not complete, which fails; then completes the request
 *     abandons  aborts while all ranks have requests, and a plan that is running, for which no rank waits; a build
 *               with AddressSanitizer detects what trv_net_finalize does not free
 *     barrier   calls trv_net_barrier where the other ranks make the AllReduce whose messages a barrier sends
 *     anew      has another count in each of many consecutive jobs: connections close with messages in flight
 *     limits    has another eager limit in its environment
 *     forks     like all ranks, has a child that exits normally
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <trivance/net.h>

#include "base/clock.h"

enum { COUNT = 100000, LESS = 5000, JOBS = 12 };

static int rank, ranks;
static double data[2][COUNT + LESS];

static void fail(const char *what)
{
    fprintf(stderr, "rank %d: %s (%s)\n", rank, what, trv_last_error());
    exit(1);
}

/* One round of use of the net, in which rank 1 causes its fault at a certain round. */
static int use(trv_net_comm_t *world, const char *what, int round)
{
    const bool wrong = rank == 1 && round == 20;
    trv_net_request_t request;
    size_t count = round % 2 ? COUNT : 10;
    int rc;
    if (wrong && strcmp(what, "killed") == 0)
        raise(SIGKILL);
    if (wrong && strcmp(what, "leaves") == 0)
        _exit(0);
    if (wrong && strcmp(what, "sleeps") == 0)
        usleep(1500000);
    if (round == 20 && strcmp(what, "length") == 0 && rank < 2) {
        rc = rank == 1 ? trv_net_send(world, data[0], 9, 0, 3) : trv_net_receive(world, data[1], 8, 1, 3);
        if (rc < 0)
            return rc;
    }
    if (wrong && strcmp(what, "count") == 0)
        count++;
    if (strcmp(what, "barrier") == 0 && round == 20) {
        static uint8_t byte;
        return rank == 1 ? trv_net_barrier(world) : trv_net_allreduce(world, &byte, &byte, 1, TRV_UINT8, TRV_BOR);
    }
    if (strcmp(what, "first") == 0 && round == 20)
        count = COUNT / 4 + (size_t)rank % 2;
    if (rank == 1 && round == 21)
        count += strcmp(what, "more") == 0 ? LESS : strcmp(what, "fewer") == 0 ? -LESS : 0;
    rc = trv_net_allreduce_start(world, data[0], data[1], count, TRV_DOUBLE, TRV_SUM, &request);
    if (rc < 0)
        return rc;
    rc = trv_net_allreduce(world, data[0], data[0], 8, TRV_DOUBLE, TRV_MIN);
    const int other = trv_net_wait(&request);
    return rc < 0 ? rc : other;
}

static void expect_reason(const char *what)
{
    static const struct {
        const char *what, *reason;
    } expected[] = {{"killed", "rank 1 at 127.0.0.1 has died"},
                    {"aborts", "rank 1 has aborted: enough"},
                    {"abandons", "rank 1 has aborted: enough"},
                    {"barrier", "rank 1 calls Barrier where rank 0 calls AllReduce of uint8 with bor"},
                    {"count", "bytes are expected: the ranks' counts or types differ"},
                    {"first", ": the count differs between ranks: from 25000 elements of 8 bytes to 25001; "},
                    {"fewer", "bytes are expected: the ranks' counts or types differ"},
                    {"more", "bytes are expected: the ranks' counts or types differ"},
                    {"length",
                     "rank 1 sent more than 8 bytes to rank 0 where 8 bytes are expected: the ranks' counts or types "
                     "differ"},
                    {"leaves", "rank 1 at 127.0.0.1 has died"},
                    {"sleeps", "took longer than 0.5 s"}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        if (strcmp(expected[i].what, what) == 0 && !strstr(trv_last_error(), expected[i].reason))
            fail("unexpected reason");
    const bool cut = (strcmp(what, "more") == 0 || strcmp(what, "fewer") == 0) && getenv("TRIVANCE_PIECE");
    if (cut && strstr(trv_last_error(), "more than"))
        fail("the reason lacks the length, which every fragment carries");
}

static void *wait_for_abort(trv_net_comm_t *world)
{
    if (rank != 1 && trv_net_barrier(world) == TRV_OK)
        fail("a barrier without rank 1 has succeeded");
    return NULL;
}

/* Abandons requests in a job of one rank, where libfabric has no pointers to them that a leak detector would follow. */
static void abandon_alone(void)
{
    trv_net_options_t options = {TRV_NET_OPTIONS, .ranks = 1, .address = "127.0.0.1"};
    trv_net_request_t request[2];
    trv_net_t *net;
    options.rank = 0;
    if (trv_net_init(&net, &options) < 0)
        fail("trv_net_init of one rank");
    for (int i = 0; i < 2; i++)
        if (trv_net_allreduce_start(trv_net_world(net), data[0], data[1], 10, TRV_DOUBLE, TRV_SUM, &request[i]) < 0)
            fail("trv_net_allreduce_start of one rank");
    trv_net_abort(net, "enough");
    if (trv_net_finalize(&net) != TRV_ERR_TRANSPORT)
        fail("trv_net_finalize of a broken net returned no error");
}

/* Starts operations that rank 1 does not take part in, and does not wait for them. */
static int start_and_abandon(trv_net_t *net)
{
    enum { REQUESTS = 4, BEGUN = 1 /* a tag */ };
    trv_net_comm_t *world = trv_net_world(net);
    trv_net_request_t request[REQUESTS], begun;
    trv_net_plan_t *plan;
    size_t counts[] = {1, 1, 1, 1};
    bool done;
    int rc;
    abandon_alone();
    if (trv_net_plan_create(&plan, world, TRV_ALLREDUCE, 10, TRV_DOUBLE, TRV_SUM, NULL) < 0 ||
        trv_net_barrier(world) < 0)
        fail("trv_net_plan_create or trv_net_barrier");
    if (rank == 1) { /* aborts when all other ranks have started their operations */
        for (int r = 0; r < ranks; r++)
            if (r != 1 && trv_net_receive(world, data[0], 8, r, BEGUN) < 0)
                fail("trv_net_receive");
        trv_net_abort(net, "enough");
    } else {
        if (trv_net_plan_start(plan, data[0], data[1]) < 0 ||
            trv_net_allreduce_start(world, data[0], data[1] + 100, COUNT, TRV_DOUBLE, TRV_SUM, &request[0]) < 0 ||
            trv_net_alltoallv_start(world, data[0], counts, NULL, data[1] + 20, counts, NULL, TRV_DOUBLE, &request[1]) <
                0 ||
            trv_net_receive_start(world, data[1] + 10, 8, 1, 0, &request[2]) < 0 ||
            trv_net_send_start(world, data[0], 8, 1, 0, &request[3]) < 0)
            fail("an operation cannot be started");
        if (trv_net_plan_test(plan, &done) < 0 || done)
            fail("the plan is complete");
        for (int i = 0; i < REQUESTS - 1; i++) /* a short message may be sent before its receive is posted */
            if (trv_net_test(&request[i], &done) < 0 || done)
                fail("a request is complete");
        if (trv_net_send_start(world, data[0], 8, 1, BEGUN, &begun) < 0)
            fail("trv_net_send_start");
    }
    while ((rc = trv_net_progress(net)) == TRV_OK)
        ;
    return rc;
}

static void finalize_with_request(trv_net_t *net)
{
    trv_net_comm_t *world = trv_net_world(net);
    trv_net_request_t request;
    if (trv_net_receive_start(world, data[0], 8, (rank + 1) % ranks, 0, &request) < 0 ||
        trv_net_finalize(&net) != TRV_ERR_STATE || trv_net_send(world, data[1], 8, (rank + ranks - 1) % ranks, 0) < 0 ||
        trv_net_wait(&request) < 0 || trv_net_finalize(&net) < 0)
        fail("trv_net_finalize with a request that is not complete");
}

static void close_with_messages(void)
{
    for (int job = 0; job < JOBS; job++) {
        trv_net_t *net;
        int rc = trv_net_init(&net, NULL);
        if (rc < 0)
            fail("trv_net_init");
        trv_net_comm_t *world = trv_net_world(net);
        const size_t more = trv_net_rank(world) == 1; /* from the second call on, because the vote precedes the first */
        for (int round = 0; rc == 0 && round < 1000; round++)
            rc = trv_net_allreduce(world, data[0], data[1], COUNT / 6 + (round > 0 ? more : 0), TRV_DOUBLE, TRV_SUM);
        if (rc != TRV_ERR_TRANSPORT || !strstr(trv_last_error(), "the ranks' counts or types differ"))
            fail("no error, or an unexpected reason");
        trv_net_finalize(&net);
    }
}

static void start_with_other_limits(void)
{
    trv_net_t *net;
    if (strcmp(getenv("RANK"), "1") == 0)
        setenv("FI_OFI_RXM_EAGER_LIMIT", "32768", 1);
    if (trv_net_init(&net, NULL) == TRV_OK ||
        !strstr(trv_last_error(), "FI_OFI_RXM_EAGER_LIMIT=32768 FI_OFI_RXM_USE_RNDV_WRITE=1 on rank 1, and "))
        fail("a start with different limits has succeeded or has an unexpected reason");
}

static void fork_children(void)
{
    trv_net_t *net;
    int status = -1;
    if (trv_net_init(&net, NULL) < 0)
        fail("trv_net_init");
    const pid_t child = fork();
    if (child == 0)
        exit(7);
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
        fail("unexpected exit status of the child");
    if (trv_net_barrier(trv_net_world(net)) < 0 || trv_net_finalize(&net) < 0)
        fail("trv_net_barrier or trv_net_finalize");
}

int main(int argc, char **argv)
{
    trv_net_t *net;
    const char *what = argc == 2 ? argv[1] : "";
    static const struct {
        const char *what;
        void (*job)(void);
    } whole[] = {{"anew", close_with_messages}, {"limits", start_with_other_limits}, {"forks", fork_children}};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (strcmp(what, whole[i].what) == 0) {
            whole[i].job();
            return 0;
        }
    if (trv_net_init(&net, NULL) < 0)
        fail("trv_net_init");
    trv_net_comm_t *world = trv_net_world(net);
    rank = trv_net_rank(world);
    ranks = trv_net_size(world);
    if (strcmp(what, "pending") == 0) {
        finalize_with_request(net);
        return 0;
    }
    const double start = trv_now_s();
    int rc = 0;
    if (strcmp(what, "aborts") == 0) {
        if (rank == 1) {
            usleep(300000);
            trv_net_abort(net, "enough");
        }
        wait_for_abort(world);
    }
    if (strcmp(what, "abandons") == 0)
        rc = start_and_abandon(net);
    for (int round = 0; rc == 0 && trv_now_s() - start < 60; round++)
        rc = use(world, what, round);
    if (rc == 0)
        fail("the fault was not reported");
    if (rc != TRV_ERR_TRANSPORT)
        fail("unexpected error code");
    expect_reason(what);
    if (trv_now_s() - start > 30)
        fail("the report took too long");
    if (strcmp(what, "abandons") != 0 && trv_net_barrier(world) != TRV_ERR_TRANSPORT)
        fail("a call on a broken net has succeeded");
    expect_reason(what);
    if (trv_net_finalize(&net) != TRV_ERR_TRANSPORT || net)
        fail("trv_net_finalize of a broken net returned no error");
    fprintf(stderr, "rank %d: %s\n", rank, trv_last_error());
    return 0;
}
