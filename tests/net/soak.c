/*
 * Random programs of a job, with a check of every result: `soak CALLS SEED` in a job of any size. Several threads, each
 * with its own overlapping communicators, draw collectives, types, counts, roots, algorithms and messages from random
 * numbers that are the same on all ranks; calls are blocking, several at a time, or plans. Each rank computes the
 * expected results itself. Results that all ranks have are also compared bit by bit between ranks. Prints one line, in
 * which a call counts once, whatever the number of its ranks.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/net.h>

enum { THREADS = 3, PENDING_MAX = 4, COUNT_MAX = 20000, RANKS_MAX = 64, GUARD = 32, GUARD_BYTE = 0x5a };

static int world_rank;
static long calls_each;
static uint64_t seed;
static atomic_long calls, differ;

static void check(int rc, const char *what)
{
    if (rc == TRV_OK)
        return;
    fprintf(stderr, "rank %d, seed %llu: %s: %s\n", world_rank, (unsigned long long)seed, what, trv_last_error());
    exit(1);
}

static void report_wrong(const char *what, size_t count, const char *wrong)
{
    if (atomic_fetch_add(&differ, 1) < 5)
        fprintf(stderr, "rank %d, seed %llu: %s of %zu elements: %s\n", world_rank, (unsigned long long)seed, what,
                count, wrong);
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

/* ---- Collectives ------------------------------------------------------------------------------------------------- */

typedef enum name {
    ALLREDUCE,
    REDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTERV,
    BROADCAST,
    ALLGATHER,
    ALLGATHERV,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLTOALL,
    ALLTOALLV,
    RING,
    BARRIER,
    KINDS
} name_t;

/* The data of a rank before or after a collective: one block, or one block per rank; on every rank or on the root. */
typedef enum data { NO_DATA, BLOCK, ALL_BLOCKS, ROOT_BLOCK, ROOT_ALL_BLOCKS } data_t;

typedef struct kind {
    const char *name;
    data_t input, output;
    int plan; /* the collective of a plan, or NO_PLAN */
    bool reduces;
    bool same;  /* all ranks have the same output */
    bool sizes; /* a size per rank, and displacements */
} kind_t;

enum { NO_PLAN = -1 };

static const kind_t kinds[KINDS] =
    {[ALLREDUCE] = {"allreduce", BLOCK, BLOCK, TRV_ALLREDUCE, .reduces = true, .same = true},
     [REDUCE] = {"reduce", BLOCK, ROOT_BLOCK, TRV_REDUCE, .reduces = true},
     [REDUCE_SCATTER] = {"reduce-scatter", ALL_BLOCKS, BLOCK, TRV_REDUCE_SCATTER, .reduces = true},
     [REDUCE_SCATTERV] = {"reduce_scatterv", ALL_BLOCKS, BLOCK, NO_PLAN, .reduces = true, .sizes = true},
     [BROADCAST] = {"broadcast", ROOT_BLOCK, BLOCK, TRV_BROADCAST, .same = true},
     [ALLGATHER] = {"allgather", BLOCK, ALL_BLOCKS, TRV_ALLGATHER, .same = true},
     [ALLGATHERV] = {"allgatherv", BLOCK, ALL_BLOCKS, NO_PLAN, .same = true, .sizes = true},
     [GATHER] = {"gather", BLOCK, ROOT_ALL_BLOCKS, TRV_GATHER, .same = false},
     [GATHERV] = {"gatherv", BLOCK, ROOT_ALL_BLOCKS, NO_PLAN, .sizes = true},
     [SCATTER] = {"scatter", ROOT_ALL_BLOCKS, BLOCK, TRV_SCATTER, .same = false},
     [SCATTERV] = {"scatterv", ROOT_ALL_BLOCKS, BLOCK, NO_PLAN, .sizes = true},
     [ALLTOALL] = {"all-to-all", ALL_BLOCKS, ALL_BLOCKS, TRV_ALLTOALL, .same = false},
     [ALLTOALLV] = {"alltoallv", ALL_BLOCKS, ALL_BLOCKS, NO_PLAN, .sizes = true},
     [RING] = {"ring", BLOCK, BLOCK, NO_PLAN, .same = false},
     [BARRIER] = {"barrier", NO_DATA, NO_DATA, NO_PLAN, .same = false}};

static bool is_all_blocks(data_t data) { return data == ALL_BLOCKS || data == ROOT_ALL_BLOCKS; }

static bool is_root_only(data_t data) { return data == ROOT_BLOCK || data == ROOT_ALL_BLOCKS; }

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

typedef struct buffer {
    char *data; /* NULL if the rank has none */
    int blocks;
    size_t count[RANKS_MAX], start[RANKS_MAX]; /* of each block, in elements */
    size_t bytes;
} buffer_t;

typedef enum form { BLOCKING, NONBLOCKING, PLAN } form_t;

typedef struct call {
    trv_net_comm_t *comm;
    name_t name;
    const kind_t *kind;
    form_t form;
    uint64_t key;
    size_t count;
    trv_type_t type;
    trv_op_t op;
    double scale; /* of the values; sums are exact if it is 1 */
    int root, rank, size;
    bool in_place;
    bool again;             /* a plan runs twice; not in place, where the first run overwrites the input */
    buffer_t input, output; /* one of them has no data in place */
    uint64_t hash;
    trv_net_plan_t *plan;
    trv_net_request_t request, second;
} call_t;

/* Elements that rank `from` sends to rank `to`. In place, an all-to-all has the same number in both directions. */
static size_t block_count(const call_t *call, int from, int to)
{
    if (!call->kind->sizes)
        return call->count;
    int one = is_all_blocks(call->kind->input) ? to : from, other = 0;
    if (call->name == ALLTOALLV) {
        const bool exchanged = call->in_place && from > to;
        one = exchanged ? to : from;
        other = exchanged ? from : to;
    }
    const uint64_t drawn = mix(call->key + (uint64_t)(one * RANKS_MAX + other) * 7919 + 1);
    return drawn % 4 == 0 ? 0 : (drawn >> 8) % (2 * call->count + 1);
}

/* Displacements differ between ranks, and leave holes. */
static buffer_t buffer_create(const call_t *call, data_t data, bool sends)
{
    buffer_t buffer = {.blocks = is_all_blocks(data) ? call->size : 1};
    uint64_t own = mix(call->key + (uint64_t)call->rank * 31 + (sends ? 17 : 5));
    const bool displaced = call->kind->sizes && is_all_blocks(data), descending = displaced && below(&own, 2);
    size_t end = 0;
    for (int i = 0; i < buffer.blocks; i++) {
        const int b = descending ? buffer.blocks - 1 - i : i, peer = is_all_blocks(data) ? b : call->rank;
        end += displaced ? (size_t)below(&own, 3) : 0;
        buffer.start[b] = end;
        buffer.count[b] = sends ? block_count(call, call->rank, peer) : block_count(call, peer, call->rank);
        end += buffer.count[b];
    }
    buffer.bytes = end * trv_type_size(call->type) + GUARD;
    buffer.data = malloc(buffer.bytes);
    memset(buffer.data, GUARD_BYTE, buffer.bytes);
    return buffer;
}

static char *element_at(const call_t *call, const buffer_t *buffer, int block, size_t i)
{
    return buffer->data + (buffer->start[block] + i) * trv_type_size(call->type);
}

/* Returns whether all bytes outside the blocks still have the guard's value. Overwrites the blocks. */
static bool buffer_is_clean(const call_t *call, buffer_t *buffer)
{
    for (int b = 0; b < buffer->blocks; b++)
        memset(element_at(call, buffer, b, 0), GUARD_BYTE, buffer->count[b] * trv_type_size(call->type));
    for (size_t i = 0; i < buffer->bytes; i++)
        if (buffer->data[i] != GUARD_BYTE)
            return false;
    return true;
}

/* ---- Contributions and expected results -------------------------------------------------------------------------- */

/* Element i of block `block` of the contribution of a rank: small, so that sums of floats are exact. */
static int64_t value(const call_t *call, int rank, int block, size_t i)
{
    const uint64_t place = ((uint64_t)trv_net_world_rank(call->comm, rank) * RANKS_MAX + (uint64_t)block) << 20;
    return (int64_t)(mix(call->key + place + i) % 201) - 100;
}

static int64_t combine(trv_op_t op, int64_t a, int64_t b)
{
    return op == TRV_SUM ? a + b : op == TRV_MAX ? (a > b ? a : b) : (a < b ? a : b);
}

/* Element i of a block of the output. */
static int64_t expected(const call_t *call, int block, size_t i)
{
    const kind_t *kind = call->kind;
    const int own = is_all_blocks(kind->input) ? call->rank : 0; /* the block of the input of other ranks */
    if (call->name == RING)
        return value(call, (call->rank + call->size - 1) % call->size, 0, i);
    if (is_root_only(kind->input))
        return value(call, call->root, own, i);
    if (is_all_blocks(kind->output))
        return value(call, block, own, i);
    int64_t all = value(call, 0, own, i);
    for (int r = 1; r < call->size; r++)
        all = combine(call->op, all, value(call, r, own, i));
    return all;
}

static void put(const call_t *call, char *at, int64_t number)
{
    if (call->type == TRV_INT64)
        *(int64_t *)(void *)at = number;
    else if (call->type == TRV_DOUBLE)
        *(double *)(void *)at = (double)number * call->scale;
    else
        *(float *)(void *)at = (float)((double)number * call->scale);
}

static bool is(const call_t *call, const char *at, int64_t number)
{
    if (call->type == TRV_INT64)
        return *(const int64_t *)(const void *)at == number;
    const double got = call->type == TRV_DOUBLE ? *(const double *)(const void *)at
                                                : (double)*(const float *)(const void *)at;
    return fabs(got - (double)number * call->scale) <= (call->scale == 1 ? 0 : 1e-3);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static call_t draw(uint64_t *state, trv_net_comm_t *comm)
{
    static const trv_type_t type[] = {TRV_INT64, TRV_DOUBLE, TRV_FLOAT};
    static const trv_op_t op[] = {TRV_SUM, TRV_MAX, TRV_MIN};
    call_t call = {.comm = comm, .name = (name_t)below(state, KINDS), .key = next(state)};
    call.kind = &kinds[call.name];
    call.size = trv_net_size(comm);
    call.rank = trv_net_rank(comm);
    call.form = below(state, 8) == 0 ? PLAN : below(state, 2) ? BLOCKING : NONBLOCKING;
    if ((call.form == PLAN && call.kind->plan == NO_PLAN) || call.name == RING)
        call.form = NONBLOCKING;
    call.count = draw_count(state);
    if (is_all_blocks(call.kind->input) || is_all_blocks(call.kind->output))
        call.count = call.count > 2000 ? call.count / (size_t)call.size : call.count;
    call.type = type[below(state, 3)];
    call.op = op[below(state, 3)];
    call.scale = below(state, 2) && call.type != TRV_INT64 ? 0.1 : 1;
    const bool rooted = is_root_only(call.kind->input) || is_root_only(call.kind->output);
    call.root = below(state, call.size);
    call.in_place = below(state, 2) && call.name != RING && call.name != BARRIER && call.name != BROADCAST;
    call.again = !call.in_place;
    if (rooted && call.rank != call.root)
        call.in_place = false;
    return call;
}

static void create_buffers(call_t *call)
{
    const kind_t *kind = call->kind;
    const bool is_root = call->rank == call->root;
    const bool has_input = kind->input != NO_DATA && (is_root || !is_root_only(kind->input));
    const bool has_output = kind->output != NO_DATA && (is_root || !is_root_only(kind->output));
    const bool in_input = call->in_place && (kind->reduces || is_root_only(kind->input)); /* is the only buffer */
    if (has_input && (!call->in_place || in_input) && call->name != BROADCAST)
        call->input = buffer_create(call, kind->input, true);
    if (has_output && !in_input)
        call->output = buffer_create(call, kind->output, false);
    if (!has_input)
        return;
    const buffer_t *to = call->input.data ? &call->input : &call->output;
    const bool one_of_many = to->blocks > 1 && !is_all_blocks(kind->input);
    for (int b = 0; b < to->blocks; b++)
        for (size_t i = 0; (!one_of_many || b == call->rank) && i < to->count[b]; i++)
            put(call, element_at(call, to, b, i), value(call, call->rank, one_of_many ? 0 : b, i));
}

/* Calls the function of that name, or the one that starts it. */
#define RUN(name, ...)                                                                                                 \
    check(call->form == BLOCKING ? trv_net_##name(__VA_ARGS__) : trv_net_##name##_start(__VA_ARGS__, &call->request),  \
          #name)

static void start_plan(call_t *call, const void *input, void *output)
{
    trv_net_plan_options_t options = {TRV_NET_PLAN_OPTIONS};
    static const char *const tree[] = {NULL, "binomial", "linear", "by-dimension"};
    const bool rooted = is_root_only(call->kind->input) || is_root_only(call->kind->output);
    if (rooted)
        options.root = call->root;
    if (rooted || call->name == ALLTOALL)
        options.algorithm = tree[call->key % 4];
    check(trv_net_plan_create(&call->plan, call->comm, (trv_collective_t)call->kind->plan, call->count, call->type,
                              call->op, &options),
          call->kind->name);
    if (call->again)
        check(trv_net_plan_run(call->plan, input, output), call->kind->name);
    check(trv_net_plan_start(call->plan, input, output), call->kind->name);
}

static void start_sizes(call_t *call, const void *input, void *output)
{
    const buffer_t *in = &call->input, *out = &call->output;
    trv_net_comm_t *comm = call->comm;
    const size_t own = block_count(call, call->rank, call->rank);
    size_t counts[RANKS_MAX];
    for (int r = 0; r < call->size; r++)
        counts[r] = block_count(call, r, r);
    switch (call->name) {
    case ALLGATHERV: RUN(allgatherv, comm, input, output, counts, out->start, call->type); break;
    case REDUCE_SCATTERV: RUN(reduce_scatterv, comm, input, output, counts, in->start, call->type, call->op); break;
    case GATHERV: RUN(gatherv, comm, input, own, output, out->count, out->start, call->type, call->root); break;
    case SCATTERV: RUN(scatterv, comm, input, in->count, in->start, output, own, call->type, call->root); break;
    default:
        RUN(alltoallv, comm, input, call->in_place ? NULL : in->count, call->in_place ? NULL : in->start, output,
            out->count, out->start, call->type);
    }
}

static void start(call_t *call)
{
    create_buffers(call);
    trv_net_comm_t *comm = call->comm;
    const int size = call->size, rank = call->rank, root = call->root;
    const size_t count = call->count, bytes = count * trv_type_size(call->type);
    void *const nowhere = (void *)(uintptr_t)8; /* is not accessed */
    void *input = call->input.data, *output = call->output.data;
    if (call->in_place)
        input = output = input ? input : output;
    input = input ? input : nowhere;
    output = output ? output : nowhere;
    if (call->form == PLAN) {
        start_plan(call, call->name == BROADCAST ? output : input, output);
        return;
    }
    if (call->kind->sizes) {
        start_sizes(call, input, output);
        return;
    }
    switch (call->name) {
    case ALLREDUCE: RUN(allreduce, comm, input, output, count, call->type, call->op); break;
    case REDUCE: RUN(reduce, comm, input, output, count, call->type, call->op, root); break;
    case REDUCE_SCATTER: RUN(reduce_scatter, comm, input, output, count, call->type, call->op); break;
    case BROADCAST: RUN(broadcast, comm, output, bytes, root); break;
    case ALLGATHER: RUN(allgather, comm, input, output, count, call->type); break;
    case GATHER: RUN(gather, comm, input, output, count, call->type, root); break;
    case SCATTER: RUN(scatter, comm, input, output, count, call->type, root); break;
    case ALLTOALL: RUN(alltoall, comm, input, output, count, call->type); break;
    case RING:
        RUN(send, comm, input, bytes, (rank + 1) % size, 7);
        check(trv_net_receive_start(comm, output, bytes, (rank + size - 1) % size, 7, &call->second), "receive");
        break;
    default: RUN(barrier, comm);
    }
}

/* ---- Comparison -------------------------------------------------------------------------------------------------- */

static void compare_output(call_t *call)
{
    const kind_t *kind = call->kind;
    const bool at_start = call->in_place && kind->reduces; /* of the input */
    const buffer_t *output = at_start ? &call->input : &call->output;
    char wrong[80];
    for (int b = 0; output->data && b < (at_start ? 1 : output->blocks); b++) {
        const size_t count = at_start ? block_count(call, call->rank, call->rank) : output->count[b];
        const char *at = output->data + (at_start ? 0 : output->start[b]) * trv_type_size(call->type);
        for (size_t i = 0; i < count; i++, at += trv_type_size(call->type)) {
            if (!is(call, at, expected(call, b, i))) {
                snprintf(wrong, sizeof wrong, "element %zu of block %d is wrong", i, b);
                report_wrong(kind->name, call->count, wrong);
                return;
            }
            for (size_t byte = 0; kind->same && byte < trv_type_size(call->type); byte++)
                call->hash = (call->hash ^ (unsigned char)at[byte]) * UINT64_C(1099511628211);
        }
    }
}

/* The input is unchanged, unless it is also the buffer of the output. */
static void compare_input(const call_t *call)
{
    const bool overwritten = call->in_place && call->kind->reduces;
    for (int b = 0; call->input.data && !overwritten && b < call->input.blocks; b++)
        for (size_t i = 0; i < call->input.count[b]; i++)
            if (!is(call, element_at(call, &call->input, b, i), value(call, call->rank, b, i))) {
                report_wrong(call->kind->name, call->count, "the input has changed");
                return;
            }
}

static void finish(call_t *call)
{
    if (call->plan) {
        check(trv_net_plan_wait(call->plan), "plan");
        check(trv_net_plan_free(&call->plan), "plan");
    }
    check(trv_net_wait(&call->request), call->kind->name);
    check(trv_net_wait(&call->second), "receive");
    compare_output(call);
    compare_input(call);
    const bool overwritten = call->in_place && call->name == REDUCE_SCATTERV; /* the result may extend into holes */
    if ((call->input.data && !overwritten && !buffer_is_clean(call, &call->input)) ||
        (call->output.data && !buffer_is_clean(call, &call->output)))
        report_wrong(call->kind->name, call->count, "bytes outside the buffer were written");
    free(call->input.data);
    free(call->output.data);
    if (call->rank == 0)
        atomic_fetch_add(&calls, 1);
}

/* Results that all ranks have must have the same hash: the largest hash is then the smallest. */
static void compare_ranks(const call_t *call, int many)
{
    int64_t hash[2 * PENDING_MAX];
    for (int i = 0; i < many; i++) {
        hash[2 * i] = (int64_t)call[i].hash;
        hash[2 * i + 1] = (int64_t)~call[i].hash;
    }
    check(trv_net_allreduce(call->comm, hash, hash, 2 * (size_t)many, TRV_INT64, TRV_MAX), "comparison");
    for (int i = 0; i < many; i++)
        if (hash[2 * i] != ~hash[2 * i + 1])
            report_wrong(call[i].kind->name, call[i].count, "not the same bits on all ranks");
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

typedef struct worker {
    pthread_t thread;
    int number;
    trv_net_comm_t *comm[3]; /* all ranks; all ranks in another order; some ranks */
} worker_t;

/* Sets an algorithm, or a torus or a mesh, with the algorithms of the planner. */
static void change_networks(trv_net_comm_t *comm, int drawn)
{
    static const char *const algorithm[] = {"", "trivance-b", "trivance-l-grouped", "bucket"};
    char torus[64] = "";
    const int size = trv_net_size(comm), rows = size % 3 == 0 ? 3 : 2;
    if (drawn < 4) {
        check(trv_net_comm_set(comm, "", algorithm[drawn]), "set");
        return;
    }
    if (size % rows == 0 && size > rows)
        snprintf(torus, sizeof torus, drawn % 2 ? "%dx%d" : "%dmx%dm", rows, size / rows);
    check(trv_net_comm_set(comm, torus, ""), "set");
}

static void *work(void *context)
{
    worker_t *worker = context;
    uint64_t state = mix(seed) + (uint64_t)worker->number;
    for (long done = 0; done < calls_each;) {
        call_t call[PENDING_MAX];
        const int many = 1 + below(&state, PENDING_MAX), which = below(&state, 3), set = below(&state, 100);
        const uint64_t colors = next(&state);
        if (colors % 32 == 0) {
            trv_net_comm_free(&worker->comm[2]);
            check(trv_net_split(worker->comm[0], (int)(mix(colors + (uint64_t)world_rank) % 2), 0, &worker->comm[2]),
                  "split");
        }
        trv_net_comm_t *comm = worker->comm[which];
        uint64_t own = mix(state + (uint64_t)which); /* the same on all ranks of the communicator */
        if (set < 6)
            change_networks(comm, set);
        for (int i = 0; i < many; i++) {
            call[i] = draw(&own, comm);
            start(&call[i]);
        }
        const int first = (world_rank + below(&state, 2)) % many; /* in any order */
        for (int i = 0; i < many; i++)
            finish(&call[(first + i) % many]);
        compare_ranks(call, many);
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
