/*
 * Reader of MSCCL++ execution plans that applies the executor's rules. Threadblocks execute their operations in order;
 * a put writes the peer's memory immediately; signals are counted per channel, and the k-th channel from a GPU to
 * another is the opposite end of the k-th channel in the other direction. The threads of a threadblock see each other's
 * work only after a nop (or barrier). The plan is launched twice, and a GPU may begin the second launch before the
 * others have finished the first.
 */
#include "formats.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define OPS_MAX      64
#define CHANNELS_MAX 16
#define PER_OP_MAX   8
#define BARRIERS_MAX 16
#define LAUNCHES     2
#define IDLE_MAX     20000 /* draws without progress after which all threadblocks are considered deadlocked */

typedef struct block {
    json_t *ops, *channels, *buffers; /* ids of the GPU's channels and buffers */
    size_t at;
    bool waited, moved; /* since the last nop: executed a wait; executed an operation on memory */
    char *touched;      /* [value]: bit 0 read, bit 1 written since the last nop */
    bool in_barrier;
} block_t;

typedef struct gpu {
    memory_t memory;
    json_t *connected_to, *remote_buffers;
    int *signals; /* per channel: signals received but not yet waited for */
    int blocks, launch, arrived[BARRIERS_MAX];
    block_t *block;
} gpu_t;

typedef struct plan {
    int gpus;
    gpu_t gpu[FORMAT_RANKS_MAX];
    bool no_handshake;
} plan_t;

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static const char *read_block(gpu_t *gpu, json_t *object, int id)
{
    block_t *block = &gpu->block[id];
    const char *channel_type = "memory", *access_type = "memory";
    int number;
    if (json_unpack(object, "{s:i, s:o, s:[{s:s, s:o !}!], s:[{s:s, s:o !}!] !}", "id", &number, "ops", &block->ops,
                    "channels", "channel_type", &channel_type, "channel_ids", &block->channels, "remote_buffer_refs",
                    "access_channel_type", &access_type, "remote_buffer_ids", &block->buffers) ||
        number != id)
        return format_error("threadblock %d has not the keys it should have", id);
    if (strcmp(channel_type, "memory") != 0 || strcmp(access_type, "memory") != 0)
        return "a channel is not memory";
    if (json_array_size(block->ops) > OPS_MAX || json_array_size(block->channels) > CHANNELS_MAX ||
        json_array_size(block->buffers) > CHANNELS_MAX)
        return format_error("threadblock %d has too many operations, channels or buffers", id);
    block->touched = calloc((size_t)(gpu->memory.chunks + gpu->memory.scratch), 1);
    return NULL;
}

static const char *read_gpu(gpu_t *gpu, json_t *object)
{
    const char *type;
    json_t *blocks, *semaphores;
    memory_t *m = &gpu->memory;
    int id;
    if (json_unpack(object, "{s:i, s:i, s:i, s:i, s:o, s:[{s:s, s:o !}!], s:o, s:o !}", "id", &id, "input_chunks",
                    &m->input, "output_chunks", &m->output, "scratch_chunks", &m->scratch, "threadblocks", &blocks,
                    "channels", "channel_type", &type, "connected_to", &gpu->connected_to, "remote_buffers",
                    &gpu->remote_buffers, "semaphores", &semaphores) ||
        id != m->rank)
        return format_error("GPU %d has not the keys it should have", m->rank);
    m->chunks = m->input > m->output ? m->input : m->output;
    m->value = calloc((size_t)m->chunks + (size_t)m->scratch, sizeof *m->value);
    for (int s = 0; s < m->scratch; s++)
        m->value[m->chunks + s].chunk = -1;
    gpu->signals = calloc(json_array_size(gpu->connected_to) + 1, sizeof *gpu->signals);
    gpu->blocks = (int)json_array_size(blocks);
    gpu->block = calloc((size_t)gpu->blocks + 1, sizeof *gpu->block);
    for (int b = 0; b < gpu->blocks; b++) {
        const char *error = read_block(gpu, json_array_get(blocks, (size_t)b), b);
        if (error)
            return error;
    }
    return NULL;
}

static const char *read_plan(json_t *root, int ranks, plan_t *plan)
{
    const char *name, *collective, *protocol, *error = NULL;
    json_t *gpus;
    int inplace, reuse, twice, threads, alignment;
    json_int_t min, most;
    format_collective_t kind;
    if (json_unpack(root, "{s:s, s:s, s:s, s:b, s:b, s:o, s:i, s:b, s:i, s:I, s:I !}", "name", &name, "collective",
                    &collective, "protocol", &protocol, "inplace", &inplace, "reuse_resources", &reuse, "gpus", &gpus,
                    "num_threads_per_block", &threads, "use_double_scratch_buffer", &twice, "buffer_alignment",
                    &alignment, "min_message_size", &min, "max_message_size", &most))
        return "the plan has not the keys it should have";
    if (strcmp(protocol, "Simple") != 0 || !inplace || reuse || twice || json_array_size(gpus) != (size_t)ranks ||
        !format_collective(collective, &kind))
        return "the plan's properties are wrong";
    plan->gpus = ranks;
    for (int g = 0; g < ranks && !error; g++) {
        plan->gpu[g].memory.collective = kind;
        plan->gpu[g].memory.rank = g;
        plan->gpu[g].memory.ranks = ranks;
        error = read_gpu(&plan->gpu[g], json_array_get(gpus, (size_t)g));
    }
    return error;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static int entry(json_t *array, int index)
{
    json_t *value = json_array_get(array, (size_t)index);
    return index >= 0 && json_is_integer(value) ? (int)json_integer_value(value) : -1;
}

/* Returns the first of `size` values that an operation names, in its own GPU's memory or, with buffer_id, in a
 * peer's. NULL if there is no such memory. */
static value_t *find_values(plan_t *plan, int g, const block_t *block, json_t *buffer, int *size)
{
    const char *type;
    int index, id, rank;
    const memory_t *m = &plan->gpu[g].memory;
    if (json_unpack(buffer, "{s:i, s:i, s:i !}", "buffer_id", &id, "index", &index, "size", size) == 0) {
        json_t *remote = json_array_get(plan->gpu[g].remote_buffers, (size_t)entry(block->buffers, id));
        const char *access;
        if (json_unpack(remote, "{s:i, s:s, s:[s!] !}", "rank", &rank, "type", &type, "access_channel_types",
                        &access) ||
            rank < 0 || rank >= plan->gpus || rank == g)
            return NULL;
        m = &plan->gpu[rank].memory;
    } else if (json_unpack(buffer, "{s:s, s:i, s:i !}", "type", &type, "index", &index, "size", size)) {
        return NULL;
    }
    if (*size < 1 || !format_at(m, type, index + *size - 1))
        return NULL;
    return format_at(m, type, index);
}

/* Records an access to values of the GPU's own memory; false if the access requires a nop before it. */
static bool record_access(const gpu_t *gpu, block_t *block, const value_t *value, int count, bool write)
{
    for (int i = 0; i < count; i++) {
        char *touched = &block->touched[value - gpu->memory.value + i];
        if (*touched & (write ? 3 : 2))
            return false;
        *touched = (char)(*touched | (write ? 2 : 1));
    }
    return !block->waited;
}

/* ---- Operations: 1 done, 0 to be retried, -1 wrong --------------------------------------------------------------- */

static int run_put(plan_t *plan, int g, block_t *block, json_t *op)
{
    json_t *src = json_object_get(op, "src_buff"), *dst = json_object_get(op, "dst_buff");
    size_t pairs = json_array_size(src);
    if (pairs < 1 || pairs > PER_OP_MAX || json_array_size(dst) != pairs)
        return -1;
    for (size_t i = 0; i < pairs; i++) {
        int from_size, to_size;
        value_t *from = find_values(plan, g, block, json_array_get(src, i), &from_size);
        value_t *to = find_values(plan, g, block, json_array_get(dst, i), &to_size);
        const char *type = json_string_value(json_object_get(json_array_get(src, i), "type"));
        if (!from || !to || from_size != to_size || !record_access(&plan->gpu[g], block, from, from_size, false) ||
            !type || strcmp(type, json_string_value(json_object_get(json_array_get(src, 0), "type"))) != 0)
            return -1;
        for (int k = 0; k < from_size; k++) {
            if (from[k].chunk < 0)
                return -1;
            to[k] = from[k];
        }
    }
    return 1;
}

static int run_reduce(plan_t *plan, int g, block_t *block, json_t *op, bool copy)
{
    json_t *src = json_object_get(op, "src_buff"), *dst = json_object_get(op, "dst_buff");
    size_t sources = json_array_size(src);
    int size, other;
    value_t *to = find_values(plan, g, block, json_array_get(dst, 0), &size), sum[1024], *from[PER_OP_MAX];
    if (!to || sources < (copy ? 1 : 2) || sources > (copy ? 1 : PER_OP_MAX) || json_array_size(dst) != 1 ||
        size > 1024)
        return -1;
    for (size_t s = 0; s < sources; s++) {
        from[s] = find_values(plan, g, block, json_array_get(src, s), &other);
        if (!from[s] || other != size || (from[s] != to && !record_access(&plan->gpu[g], block, from[s], size, false)))
            return -1;
    }
    if (!record_access(&plan->gpu[g], block, to, size, true))
        return -1;
    for (int k = 0; k < size; k++) {
        sum[k] = from[0][k];
        for (size_t s = 1; s < sources; s++)
            if (!format_add(&sum[k], &from[s][k]))
                return -1;
        if (sum[k].chunk < 0)
            return -1;
    }
    memcpy(to, sum, (size_t)size * sizeof *to);
    return 1;
}

/* Returns the signal counter of the opposite end of a channel. */
static int *opposite(plan_t *plan, int g, int channel)
{
    int peer = entry(plan->gpu[g].connected_to, channel), nth = 0, c;
    if (peer < 0 || peer >= plan->gpus || peer == g)
        return NULL;
    for (int i = 0; i < channel; i++)
        nth += entry(plan->gpu[g].connected_to, i) == peer;
    for (c = 0; entry(plan->gpu[peer].connected_to, c) != g || nth-- > 0; c++)
        if (entry(plan->gpu[peer].connected_to, c) < 0)
            return NULL;
    return &plan->gpu[peer].signals[c];
}

static int run_signal(plan_t *plan, int g, block_t *block, json_t *ids, bool wait)
{
    size_t count = json_array_size(ids);
    if (count < 1 || count > PER_OP_MAX || (!wait && block->moved))
        return -1;
    for (size_t i = 0; i < count; i++) {
        int channel = entry(block->channels, entry(ids, (int)i));
        int *other = opposite(plan, g, channel);
        if (!other)
            return -1;
        if (wait && plan->gpu[g].signals[channel] == 0)
            return 0;
        if (!wait)
            ++*other;
    }
    for (size_t i = 0; i < count && wait; i++)
        plan->gpu[g].signals[entry(block->channels, entry(ids, (int)i))]--;
    block->waited |= wait;
    return 1;
}

static void synchronise(const gpu_t *gpu, block_t *block)
{
    memset(block->touched, 0, (size_t)(gpu->memory.chunks + gpu->memory.scratch));
    block->waited = block->moved = false;
}

/* A barrier of two threadblocks; the counter is the number of threadblocks that have arrived, plus those that have
 * left. */
static int run_barrier(gpu_t *gpu, block_t *block, json_t *op)
{
    int id, blocks;
    if (json_unpack(op, "{s:s, s:i, s:i !}", "name", &(const char *){NULL}, "barrier_id", &id, "num_threadblocks",
                    &blocks) ||
        id < 0 || id >= BARRIERS_MAX || blocks != 2)
        return -1;
    gpu->arrived[id] += !block->in_barrier;
    block->in_barrier = true;
    if (gpu->arrived[id] < 2)
        return 0;
    gpu->arrived[id] += 1; /* 3: one threadblock has left, 4: both */
    if (gpu->arrived[id] == 4)
        gpu->arrived[id] = 0;
    block->in_barrier = false;
    return 1;
}

static int run_op(plan_t *plan, int g, block_t *block)
{
    gpu_t *gpu = &plan->gpu[g];
    json_t *op = json_array_get(block->ops, block->at), *ids = json_object_get(op, "channel_ids");
    const char *name = json_string_value(json_object_get(op, "name"));
    const char *type = json_string_value(json_object_get(op, "channel_type"));
    bool nop = strcmp(name, "nop") == 0, barrier = strcmp(name, "barrier") == 0;
    int rc = -1;
    if (ids && (!type || strcmp(type, "memory") != 0))
        return -1;
    if (strcmp(name, "put") == 0)
        rc = json_array_size(ids) == 1 ? run_put(plan, g, block, op) : -1;
    else if (strcmp(name, "re") == 0 || strcmp(name, "copy") == 0)
        rc = run_reduce(plan, g, block, op, name[0] == 'c');
    else if (strcmp(name, "rlxwait") == 0 && plan->no_handshake)
        rc = 1;
    else if (strcmp(name, "signal") == 0 || strcmp(name, "rlxsignal") == 0)
        rc = run_signal(plan, g, block, ids, false);
    else if (strcmp(name, "wait") == 0 || strcmp(name, "rlxwait") == 0)
        rc = run_signal(plan, g, block, ids, true);
    else if (barrier)
        rc = run_barrier(gpu, block, op);
    else if (nop)
        rc = 1;
    if (rc > 0 && (nop || barrier))
        synchronise(gpu, block);
    block->moved |= rc > 0 && (name[0] == 'p' || strcmp(name, "re") == 0 || name[0] == 'c');
    block->at += rc > 0;
    return rc;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* Begins the GPU's next launch if all its threadblocks have finished this one; false if the result is wrong. */
static bool relaunch(gpu_t *gpu)
{
    for (int b = 0; b < gpu->blocks; b++)
        if (gpu->block[b].at < json_array_size(gpu->block[b].ops))
            return true;
    if (gpu->launch == LAUNCHES)
        return true;
    if (!format_complete(&gpu->memory, gpu->launch))
        return false;
    if (++gpu->launch < LAUNCHES) {
        format_begin(&gpu->memory, gpu->launch);
        for (int b = 0; b < gpu->blocks; b++) {
            gpu->block[b].at = 0;
            synchronise(gpu, &gpu->block[b]);
        }
    }
    return true;
}

static const char *run_all(plan_t *plan, unsigned seed)
{
    for (int idle = 0; idle < IDLE_MAX; idle++) {
        int g = (int)(format_random(&seed) % (unsigned)plan->gpus), moved;
        gpu_t *gpu = &plan->gpu[g];
        int b = gpu->blocks ? (int)(format_random(&seed) % (unsigned)gpu->blocks) : 0;
        block_t *block = &gpu->block[b];
        while (gpu->blocks && block->at < json_array_size(block->ops) && (moved = run_op(plan, g, block)) != 0) {
            idle = 0;
            if (moved < 0)
                return format_error("GPU %d, threadblock %d, operation %d of launch %d is wrong", g, b, (int)block->at,
                                    gpu->launch);
        }
        if (!relaunch(gpu))
            return format_error("GPU %d ends launch %d with a wrong result", g, gpu->launch);
    }
    for (int g = 0; g < plan->gpus; g++)
        if (plan->gpu[g].launch < LAUNCHES)
            return format_error("GPU %d waits forever in launch %d", g, plan->gpu[g].launch);
    return NULL;
}

const char *mscclpp_run(const char *text, int ranks, const mscclpp_options_t *options)
{
    plan_t plan = {.no_handshake = options->no_handshake};
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const char *error = root ? read_plan(root, ranks, &plan) : "it is not JSON";
    for (int g = 0; g < ranks && !error; g++)
        format_begin(&plan.gpu[g].memory, 0);
    if (!error)
        error = run_all(&plan, options->seed);
    for (int g = 0; g < ranks; g++) {
        for (int b = 0; b < plan.gpu[g].blocks; b++)
            free(plan.gpu[g].block[b].touched);
        free(plan.gpu[g].block);
        free(plan.gpu[g].signals);
        free(plan.gpu[g].memory.value);
    }
    json_decref(root);
    return error;
}
