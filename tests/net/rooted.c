/*
 * A program for any number of ranks: the collectives with a root, and all-to-all, with many counts, roots and tori, in
 * place and out of place, blocking and not, and as plans. All results are compared with the expected ones.
 */
#include <string.h>

#include <trivance/network.h>

#include "job.h"

/* ---- Collectives ------------------------------------------------------------------------------------------------- */

/* Buffers for a vector of `all` elements, of which none has its expected value yet. */
static int64_t *make_empty(size_t all)
{
    int64_t *data = malloc((all + 1) * sizeof *data);
    for (size_t i = 0; i < all; i++)
        data[i] = -1000;
    return data;
}

static void expect_values(const int64_t *data, size_t count, int r, size_t first)
{
    for (size_t i = 0; i < count; i++)
        expect(data[i] == value(r, first + i));
}

static void expect_sum(const int64_t *data, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect(data[i] == sum(ranks, i, NULL));
}

static void test_broadcast_reduce(trv_net_comm_t *comm, size_t count, int root)
{
    const bool is_root = rank == root;
    int64_t *input = make(count, rank), *output = make_empty(count), *vector = is_root ? make(count, rank) : output;
    expect(trv_net_broadcast(comm, vector, count * sizeof *vector, root) == TRV_OK);
    expect_values(vector, count, root, 0);
    expect(trv_net_reduce(comm, input, is_root ? output : NULL, count, TRV_INT64, TRV_SUM, root) == TRV_OK);
    expect_values(input, count, rank, 0);
    if (is_root)
        expect_sum(output, count);
    else
        expect_values(output, count, root, 0);
    expect(trv_net_reduce(comm, input, is_root ? input : NULL, count, TRV_INT64, TRV_SUM, root) == TRV_OK);
    if (is_root)
        expect_sum(input, count);
    if (vector != output)
        free(vector);
    free(input);
    free(output);
}

/* Scatters the vector of the root, and gathers it again, out of place and in place. */
static void test_scatter_gather(trv_net_comm_t *comm, size_t count, int root)
{
    const bool is_root = rank == root;
    const size_t all = count * (size_t)ranks, own = (size_t)rank * count;
    int64_t *input = make(all, root), *block = make_empty(count), *output = make_empty(all);
    expect(trv_net_scatter(comm, is_root ? input : NULL, block, count, TRV_INT64, root) == TRV_OK);
    expect_values(block, count, root, own);
    expect(trv_net_gather(comm, block, is_root ? output : NULL, count, TRV_INT64, root) == TRV_OK);
    if (is_root)
        expect_values(output, all, root, 0);
    for (size_t i = 0; i < count; i++)
        block[i] = -1000;
    expect(trv_net_scatter(comm, is_root ? input : NULL, is_root ? input : block, count, TRV_INT64, root) == TRV_OK);
    expect_values(input, all, root, 0);
    if (!is_root)
        expect_values(block, count, root, own);
    for (size_t i = 0; is_root && i < all; i++)
        input[i] = i / (count ? count : 1) == (size_t)rank ? value(root, i) : -1000;
    expect(trv_net_gather(comm, is_root ? input : block, is_root ? input : NULL, count, TRV_INT64, root) == TRV_OK);
    expect_values(input, all, root, 0);
    free(input);
    free(block);
    free(output);
}

/* Block s of the result is this rank's block of the input of rank s. */
static void test_alltoall(trv_net_comm_t *comm, size_t count)
{
    const size_t all = count * (size_t)ranks, own = (size_t)rank * count;
    int64_t *input = make(all, rank), *output = make_empty(all);
    expect(trv_net_alltoall(comm, input, output, count, TRV_INT64) == TRV_OK);
    expect_values(input, all, rank, 0);
    expect(trv_net_alltoall(comm, input, input, count, TRV_INT64) == TRV_OK);
    for (int s = 0; s < ranks; s++) {
        expect_values(output + (size_t)s * count, count, s, own);
        expect_values(input + (size_t)s * count, count, s, own);
    }
    free(input);
    free(output);
}

static void test_counts(trv_net_comm_t *comm)
{
    static const size_t count[] = {0, 1, 2, 5, 100, 4097, 70001};
    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++) {
        for (int root = 0; root<ranks; root += ranks> 4 ? 1 + ranks / 3 : 1) {
            test_broadcast_reduce(comm, count[i], root);
            test_scatter_gather(comm, count[i], root);
        }
        test_alltoall(comm, count[i]);
    }
}

/* Named algorithms on a line, where roots are not equivalent, and on meshes. An algorithm that does not support a
 * collective leaves the choice to the planner. */
static void test_networks(trv_net_comm_t *comm)
{
    static const char *const algorithm[] = {"",       "binomial", "disjoint-trees", "scatter-allgather",
                                            "linear", "pairwise"};
    static const char *const mesh[] = {[4] = "2mx2m", [9] = "3mx3", [16] = "4x4m"};
    char line[16];
    snprintf(line, sizeof line, "%dm", ranks);
    const char *const torus[] = {line, ranks <= 16 && mesh[ranks % 17] ? mesh[ranks] : line};
    for (int t = 0; t < 2; t++)
        for (size_t a = 0; a < sizeof algorithm / sizeof algorithm[0]; a++) {
            expect(trv_net_comm_set(comm, torus[t], algorithm[a]) == TRV_OK);
            for (int root = 0; root < ranks; root += 1 + ranks / 3) {
                test_broadcast_reduce(comm, 5000, root);
                test_scatter_gather(comm, 300, root);
            }
            test_alltoall(comm, 300);
        }
    expect(trv_net_comm_set(comm, "", "") == TRV_OK);
}

/* ---- Requests and plans ------------------------------------------------------------------------------------------ */

/* All collectives at a time, with different roots; ranks wait for them in different orders. */
static void test_requests(trv_net_comm_t *comm)
{
    enum { KINDS = 5, ROUNDS = 20 };
    const size_t count = 700, all = count * (size_t)ranks, own = (size_t)rank * count;
    for (int round = 0; round < ROUNDS; round++) {
        const int root = round % ranks, other = (round * 3 + 1) % ranks;
        int64_t *vector = rank == root ? make(count, rank) : make_empty(count), *block = make_empty(count);
        int64_t *input = make(all, rank), *total = make_empty(count), *gathered = make_empty(all);
        int64_t *exchanged = make_empty(all);
        trv_net_request_t request[KINDS];
        expect(trv_net_broadcast_start(comm, vector, count * sizeof *vector, root, &request[0]) == TRV_OK);
        expect(trv_net_reduce_start(comm, input, total, count, TRV_INT64, TRV_SUM, other, &request[1]) == TRV_OK);
        expect(trv_net_scatter_start(comm, input, block, count, TRV_INT64, root, &request[2]) == TRV_OK);
        expect(trv_net_gather_start(comm, input, gathered, count, TRV_INT64, other, &request[3]) == TRV_OK);
        expect(trv_net_alltoall_start(comm, input, exchanged, count, TRV_INT64, &request[4]) == TRV_OK);
        for (int k = 0; k < KINDS; k++)
            expect(trv_net_wait(&request[(k + rank) % KINDS]) == TRV_OK);
        expect_values(vector, count, root, 0);
        expect_values(block, count, root, own);
        if (rank == other)
            expect_sum(total, count);
        for (int r = 0; r < ranks; r++) {
            expect_values(exchanged + (size_t)r * count, count, r, own);
            if (rank == other)
                expect_values(gathered + (size_t)r * count, count, r, 0);
        }
        free(vector);
        free(block);
        free(input);
        free(total);
        free(gathered);
        free(exchanged);
    }
}

/* Plans whose runs are started in another order on every rank. */
static void test_plans(trv_net_comm_t *comm)
{
    enum { KINDS = 5, RUNS = 100 };
    static const trv_collective_t collective[KINDS] = {TRV_BROADCAST, TRV_REDUCE, TRV_SCATTER, TRV_GATHER,
                                                       TRV_ALLTOALL};
    const size_t count = 500, all = count * (size_t)ranks, own = (size_t)rank * count;
    const int root = ranks - 1;
    trv_net_plan_t *plan[KINDS];
    int64_t *input = make(all, rank), *output[KINDS];
    for (int k = 0; k < KINDS; k++) {
        const trv_net_plan_options_t options = {TRV_NET_PLAN_OPTIONS, .root = collective[k] == TRV_ALLTOALL ? 0 : root};
        expect(trv_net_plan_create(&plan[k], comm, collective[k], count, TRV_INT64, TRV_SUM, &options) == TRV_OK);
        output[k] = make_empty(all);
    }
    for (int run = 0; run < RUNS; run++) {
        for (int k = 0; k < KINDS; k++) {
            const int next = (k + rank + run) % KINDS;
            expect(trv_net_plan_start(plan[next], input, output[next]) == TRV_OK);
        }
        for (int k = 0; k < KINDS; k++)
            expect(trv_net_plan_wait(plan[(k + rank) % KINDS]) == TRV_OK);
    }
    expect_values(output[0], count, root, 0);
    expect_values(output[2], count, root, own);
    if (rank == root)
        expect_sum(output[1], count);
    for (int r = 0; r < ranks; r++) {
        expect_values(output[4] + (size_t)r * count, count, r, own);
        if (rank == root)
            expect_values(output[3] + (size_t)r * count, count, r, 0);
    }
    for (int k = 0; k < KINDS; k++) {
        expect(trv_net_plan_free(&plan[k]) == TRV_OK);
        free(output[k]);
    }
    free(input);
}

/* A user-defined schedule has a root of its own. */
static void test_schedule(trv_net_comm_t *comm)
{
    const int root = ranks / 2;
    trv_network_t ring = {TRV_NETWORK};
    trv_schedule_t *schedule;
    trv_net_plan_t *plan;
    int64_t *vector = rank == root ? make(999, rank) : make_empty(999);
    expect(trv_torus_init(&ring.torus, 1, &ranks) == TRV_OK);
    expect(trv_schedule_create_on(&schedule, &ring, "binomial", TRV_BROADCAST, root) == TRV_OK);
    trv_net_plan_options_t options = {TRV_NET_PLAN_OPTIONS, .schedule = schedule, .root = (root + 1) % ranks};
    expect(trv_net_plan_create(&plan, comm, TRV_BROADCAST, 999, TRV_INT64, TRV_SUM, &options) == TRV_ERR_ARGUMENT);
    options.root = root;
    expect(trv_net_plan_create(&plan, comm, TRV_BROADCAST, 999, TRV_INT64, TRV_SUM, &options) == TRV_OK);
    expect(trv_net_plan_run(plan, vector, vector) == TRV_OK);
    expect_values(vector, 999, root, 0);
    expect(trv_net_plan_free(&plan) == TRV_OK);
    trv_schedule_destroy(schedule);
    free(vector);
}

/* ---- Flow control ------------------------------------------------------------------------------------------------ */

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

/* The argument `alone` excludes a test that blocks with libfabric's shm: unexpected long messages delay all others. */
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
    test_counts(world);
    if (ranks > 1)
        test_networks(world);
    test_requests(world);
    test_plans(world);
    if (ranks > 1) {
        test_schedule(world);
        test_decisions(world);
        test_ahead(world);
        if (!alone)
            test_ahead_with_long_vectors(world);
    }
    test_arguments(world);
    expect(trv_net_finalize(&net) == TRV_OK && !net);
    return 0;
}
