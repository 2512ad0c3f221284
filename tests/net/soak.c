/*
 * Random programs of a job, with a check of every result: `soak CALLS SEED` in a job of any size. Several threads, each
 * with its own overlapping communicators, draw collectives, types, counts, algorithms, plans, broadcasts and messages,
 * blocking or several at a time, from random numbers that are the same on all ranks. Prints one line.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/net.h>

enum { THREADS = 3, PENDING_MAX = 4, COUNT_MAX = 20000 };

static int world_rank;
static long calls_each;
static uint64_t seed;
static atomic_long calls, differ;

static void check(int rc, const char *what)
{
    if (rc == TRV_OK)
        return;
    fprintf(stderr, "rank %d: %s: %s\n", world_rank, what, trv_last_error());
    exit(1);
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

static uint64_t next(uint64_t *state) { return mix(*state += UINT64_C(0x9e3779b97f4a7c15)); }

static int below(uint64_t *state, int limit) { return (int)(next(state) % (uint64_t)limit); }

/* Draws a count: mostly small, sometimes large. */
static size_t draw_count(uint64_t *state)
{
    const int max = below(state, 8) == 0 ? COUNT_MAX : below(state, 2) ? 600 : 16;
    return (size_t)below(state, max + 1);
}

/* ---- Contributions and expected results -------------------------------------------------------------------------- */

/* Element i of the contribution of world rank r: small, so that sums of floats are exact. */
static int64_t value(uint64_t key, int r, size_t i)
{
    return (int64_t)(mix(key + (uint64_t)r * 1000003 + i) % 201) - 100;
}

static int64_t combine(trv_op_t op, int64_t a, int64_t b)
{
    return op == TRV_SUM ? a + b : op == TRV_MAX ? (a > b ? a : b) : (a < b ? a : b);
}

static int64_t result(const trv_net_comm_t *comm, uint64_t key, trv_op_t op, size_t i)
{
    int64_t all = value(key, trv_net_world_rank(comm, 0), i);
    for (int r = 1; r < trv_net_size(comm); r++)
        all = combine(op, all, value(key, trv_net_world_rank(comm, r), i));
    return all;
}

static void put(void *data, trv_type_t type, size_t i, int64_t number)
{
    if (type == TRV_INT64)
        ((int64_t *)data)[i] = number;
    else if (type == TRV_DOUBLE)
        ((double *)data)[i] = (double)number;
    else
        ((float *)data)[i] = (float)number;
}

static bool is(const void *data, trv_type_t type, size_t i, int64_t number)
{
    return type == TRV_INT64    ? ((const int64_t *)data)[i] == number
           : type == TRV_DOUBLE ? ((const double *)data)[i] == (double)number
                                : ((const float *)data)[i] == (float)number;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

typedef enum kind {
    ALLREDUCE,
    PLAN,
    REDUCE_SCATTER,
    ALLGATHER,
    BROADCAST,
    REDUCE,
    SCATTER,
    GATHER,
    ALLTOALL,
    RING,
    BARRIER,
    KINDS
} kind_t;

static const char *const name[KINDS] = {"allreduce", "plan",   "reduce-scatter", "allgather", "broadcast", "reduce",
                                        "scatter",   "gather", "all-to-all",     "ring",      "barrier"};

typedef struct call {
    trv_net_comm_t *comm;
    kind_t kind;
    uint64_t key;
    size_t count;
    trv_type_t type;
    trv_op_t op;
    int root;
    bool in_place;
    void *input, *output;
    trv_net_plan_t *plan;
    trv_net_request_t request, second;
} call_t;

static call_t draw(uint64_t *state, trv_net_comm_t *comm)
{
    static const trv_type_t type[] = {TRV_INT64, TRV_DOUBLE, TRV_FLOAT};
    static const trv_op_t op[] = {TRV_SUM, TRV_MAX, TRV_MIN};
    call_t call = {.comm = comm, .kind = (kind_t)below(state, KINDS), .key = next(state)};
    call.count = draw_count(state);
    call.type = type[below(state, 3)];
    call.op = op[below(state, 3)];
    call.root = below(state, trv_net_size(comm));
    call.in_place = below(state, 2);
    return call;
}

static void start(call_t *call)
{
    trv_net_comm_t *comm = call->comm;
    const int size = trv_net_size(comm), rank = trv_net_rank(comm), next_rank = (rank + 1) % size;
    const size_t one = trv_type_size(call->type), all = call->count * (size_t)size;
    const bool blocks = call->kind == REDUCE_SCATTER || call->kind == SCATTER || call->kind == ALLTOALL;
    const bool is_root = rank == call->root;
    const size_t inputs = blocks ? all : call->count;
    call->input = malloc((all + 1) * one);
    call->output = call->in_place ? call->input : malloc((all + 1) * one);
    char *input = call->input;
    if (call->in_place && (call->kind == ALLGATHER || (call->kind == GATHER && is_root)))
        input += (size_t)rank * call->count * one;
    const bool empty = (call->kind == BROADCAST || call->kind == SCATTER) && !is_root;
    for (size_t i = 0; i < inputs; i++)
        put(input, call->type, i, empty ? 1000 : value(call->key, world_rank, i));
    switch (call->kind) {
    case ALLREDUCE:
        check(trv_net_allreduce_start(comm, call->input, call->output, call->count, call->type, call->op,
                                      &call->request),
              "allreduce");
        break;
    case PLAN:
        check(trv_net_plan_create(&call->plan, comm, TRV_ALLREDUCE, call->count, call->type, call->op, NULL), "plan");
        check(trv_net_plan_start(call->plan, call->input, call->output), "plan");
        break;
    case REDUCE_SCATTER:
        check(trv_net_reduce_scatter_start(comm, call->input, call->output, call->count, call->type, call->op,
                                           &call->request),
              "reduce-scatter");
        break;
    case ALLGATHER:
        check(trv_net_allgather_start(comm, call->input, call->output, call->count, call->type, &call->request),
              "allgather");
        break;
    case BROADCAST:
        check(trv_net_broadcast_start(comm, call->input, call->count * one, call->root, &call->request), "broadcast");
        break;
    case REDUCE:
        check(trv_net_reduce_start(comm, call->input, call->output, call->count, call->type, call->op, call->root,
                                   &call->request),
              "reduce");
        break;
    case SCATTER:
        check(trv_net_scatter_start(comm, call->input, call->output, call->count, call->type, call->root,
                                    &call->request),
              "scatter");
        break;
    case GATHER:
        check(trv_net_gather_start(comm, call->input, call->output, call->count, call->type, call->root,
                                   &call->request),
              "gather");
        break;
    case ALLTOALL:
        check(trv_net_alltoall_start(comm, call->input, call->output, call->count, call->type, &call->request),
              "all-to-all");
        break;
    case RING:
        call->output = call->in_place ? malloc((all + 1) * one) : call->output;
        check(trv_net_send_start(comm, call->input, call->count * one, next_rank, 7, &call->request), "send");
        check(trv_net_receive_start(comm, call->output, call->count * one, (rank + size - 1) % size, 7, &call->second),
              "receive");
        break;
    default: check(trv_net_barrier_start(comm, &call->request), "barrier");
    }
}

static int64_t expected(const call_t *call, size_t i)
{
    const trv_net_comm_t *comm = call->comm;
    const int size = trv_net_size(comm), rank = trv_net_rank(comm);
    switch (call->kind) {
    case REDUCE_SCATTER: return result(comm, call->key, call->op, (size_t)rank * call->count + i);
    case ALLGATHER: return value(call->key, trv_net_world_rank(comm, (int)(i / call->count)), i % call->count);
    case GATHER: return value(call->key, trv_net_world_rank(comm, (int)(i / call->count)), i % call->count);
    case BROADCAST: return value(call->key, trv_net_world_rank(comm, call->root), i);
    case SCATTER: return value(call->key, trv_net_world_rank(comm, call->root), (size_t)rank * call->count + i);
    case ALLTOALL:
        return value(call->key, trv_net_world_rank(comm, (int)(i / call->count)),
                     (size_t)rank * call->count + i % call->count);
    case RING: return value(call->key, trv_net_world_rank(comm, (rank + size - 1) % size), i);
    default: return result(comm, call->key, call->op, i);
    }
}

static void finish(call_t *call)
{
    if (call->plan) {
        check(trv_net_plan_wait(call->plan), "plan");
        check(trv_net_plan_free(&call->plan), "plan");
    }
    check(trv_net_wait(&call->request), name[call->kind]);
    check(trv_net_wait(&call->second), "receive");
    const int rank = trv_net_rank(call->comm);
    const bool every_block = call->kind == ALLGATHER || call->kind == GATHER || call->kind == ALLTOALL;
    const bool none = call->kind == BARRIER || ((call->kind == REDUCE || call->kind == GATHER) && rank != call->root);
    const size_t count = none ? 0 : every_block ? call->count * (size_t)trv_net_size(call->comm) : call->count;
    const char *got = call->kind == BROADCAST ? call->input : call->output;
    if (call->kind == SCATTER && call->in_place && rank == call->root)
        got += (size_t)rank * call->count * trv_type_size(call->type);
    for (size_t i = 0; i < count; i++)
        if (!is(got, call->type, i, expected(call, i))) {
            fprintf(stderr, "rank %d: a wrong result: %s of %zu elements, index %zu, seed %llu\n", world_rank,
                    name[call->kind], call->count, i, (unsigned long long)seed);
            atomic_fetch_add(&differ, 1);
            break;
        }
    if (call->output != call->input)
        free(call->output);
    free(call->input);
    atomic_fetch_add(&calls, 1);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

typedef struct worker {
    pthread_t thread;
    int number;
    trv_net_comm_t *comm[3]; /* all ranks; all ranks in another order; some ranks */
} worker_t;

static void *work(void *context)
{
    static const char *const algorithm[] = {"", "trivance-b", "trivance-l-grouped", "bucket"};
    worker_t *worker = context;
    uint64_t state = mix(seed) + (uint64_t)worker->number;
    for (long done = 0; done < calls_each;) {
        call_t call[PENDING_MAX];
        const int many = 1 + below(&state, PENDING_MAX), which = below(&state, 3), set = below(&state, 16);
        trv_net_comm_t *comm = worker->comm[which];
        uint64_t own = mix(state + (uint64_t)which); /* the same on all ranks of the communicator */
        if (set < 4)
            check(trv_net_comm_set(comm, NULL, algorithm[set]), "set");
        for (int i = 0; i < many; i++) {
            call[i] = draw(&own, comm);
            start(&call[i]);
        }
        const int first = (world_rank + below(&state, 2)) % many; /* in any order */
        for (int i = 0; i < many; i++)
            finish(&call[(first + i) % many]);
        done += many;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    trv_net_t *net;
    worker_t worker[THREADS];
    if (argc != 3) {
        fprintf(stderr, "soak: usage: trivance launch -n 4 soak CALLS SEED\n");
        return 2;
    }
    calls_each = atol(argv[1]) / THREADS + 1;
    seed = strtoull(argv[2], NULL, 10);
    check(trv_net_init(&net, NULL), "start");
    trv_net_comm_t *world = trv_net_world(net);
    world_rank = trv_net_rank(world);
    for (int t = 0; t < THREADS; t++) {
        worker[t].number = t;
        check(trv_net_split(world, 0, 0, &worker[t].comm[0]), "split");
        check(trv_net_split(world, 0, (int)(mix(seed + (uint64_t)(world_rank + 16 * t)) % 100), &worker[t].comm[1]),
              "split");
        check(trv_net_split(world, (int)(mix(seed + (uint64_t)world_rank) % 2), 0, &worker[t].comm[2]), "split");
    }
    for (int t = 0; t < THREADS; t++)
        pthread_create(&worker[t].thread, NULL, work, &worker[t]);
    for (int t = 0; t < THREADS; t++)
        pthread_join(worker[t].thread, NULL);
    long total[2] = {atomic_load(&calls), atomic_load(&differ)};
    check(trv_net_allreduce(world, total, total, 2, TRV_INT64, TRV_SUM), "sum");
    if (world_rank == 0)
        printf("%ld calls compared, %ld differ, on %d ranks with seed %llu\n", total[0], total[1], trv_net_size(world),
               (unsigned long long)seed);
    check(trv_net_finalize(&net), "end");
    return total[1] > 0;
}
