/*
 * Calls with known values (work.h). Each rank computes the expected result from the contributions of all ranks.
 */
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../values.h"

enum { GUARD = 4 };
static const int64_t EMPTY = -77777;
static const work_t *checked;                /* the latest call that was checked */
static void *const not_accessed = (void *)8; /* an argument that the rank must not access */

void work_expect(bool condition, const char *text, const char *file, int line)
{
    if (condition)
        return;
    fprintf(stderr, "%s:%d: expected: %s (%s)\n", file, line, text, front_reason());
    if (checked)
        fprintf(stderr, "latest check: rank %d of %d, collective %d, form %d, %zu elements, root %d, salt %d%s\n",
                checked->rank, checked->ranks, (int)checked->call.collective, (int)checked->call.form,
                checked->call.count, checked->call.root, checked->salt, checked->in_place ? ", in place" : "");
    fflush(stderr);
    exit(1);
}

/* Element i of the contribution of rank r. */
static int64_t contribution(const work_t *work, int r, size_t i) { return value(r + work->salt, i); }

/* Whether the rank has a block for each rank before the call, or after it. */
static bool sends_blocks(trv_collective_t c)
{
    return c == TRV_REDUCE_SCATTER || c == TRV_SCATTER || c == TRV_ALLTOALL;
}

static bool receives_blocks(trv_collective_t c) { return c == TRV_ALLGATHER || c == TRV_GATHER || c == TRV_ALLTOALL; }

static int64_t expected(const work_t *work, size_t i)
{
    const trv_collective_t c = work->call.collective;
    const size_t own = sends_blocks(c) ? (size_t)work->rank * work->call.count : 0;
    if (receives_blocks(c))
        return contribution(work, (int)(i / work->call.count), own + i % work->call.count);
    if (c == TRV_BROADCAST || c == TRV_SCATTER)
        return contribution(work, work->call.root, own + i);
    int64_t all = contribution(work, 0, own + i);
    for (int r = 1; r < work->ranks; r++) {
        const int64_t next = contribution(work, r, own + i);
        all = work->call.op == TRV_SUM ? all + next : next > all ? next : all;
    }
    return all;
}

static int64_t *buffer_create(size_t count)
{
    int64_t *data = malloc((count + GUARD) * sizeof *data);
    for (size_t i = 0; i < count + GUARD; i++)
        data[i] = EMPTY;
    return data;
}

/* The first element of this rank's input. */
static int64_t *input_at(const work_t *work)
{
    const bool inside = work->in_place && work->out > work->in; /* its block of the result */
    return work->input + (inside ? (size_t)work->rank * work->call.count : 0);
}

static void work_fill(const work_t *work)
{
    for (size_t i = 0; i < work->out; i++)
        work->output[i] = EMPTY;
    for (size_t i = 0; i < work->in; i++)
        input_at(work)[i] = contribution(work, work->rank, i);
}

work_t work_create(front_comm_t *comm, trv_collective_t c, form_t form, size_t count, int root, bool in_place)
{
    work_t work = {.comm = comm, .rank = front_rank(comm), .ranks = front_size(comm)};
    const size_t all = count * (size_t)work.ranks;
    const bool is_root = work.rank == root;
    work.in = (c == TRV_BROADCAST || c == TRV_SCATTER) && !is_root ? 0 : sends_blocks(c) ? all : count;
    work.out = (c == TRV_REDUCE || c == TRV_GATHER) && !is_root ? 0 : receives_blocks(c) ? all : count;
    work.in_place = c == TRV_BROADCAST || (in_place && (!is_rooted(c) || is_root));
    if (work.in_place) {
        work.input = work.output = buffer_create(work.in > work.out ? work.in : work.out);
    } else {
        work.input = work.in > 0 || count == 0 ? buffer_create(work.in) : not_accessed;
        work.output = work.out > 0 || count == 0 ? buffer_create(work.out) : not_accessed;
    }
    work.call = (call_t){c,          form,        TRV_INT64, count % 2 ? TRV_SUM : TRV_MAX,
                         work.input, work.output, count,     is_rooted(c) ? root : 0};
    work_fill(&work); /* for MPICH's own persistent calls, which read their input when they are created */
    expect(front_create(&work.task, comm, &work.call) == 0);
    return work;
}

void work_start(work_t *work, int salt)
{
    work->salt = salt;
    if (work->call.form != REUSED || front_limits.can_restart)
        work_fill(work);
    expect(front_start(work->task) == 0);
}

void work_check(const work_t *work)
{
    checked = work;
    const bool scatters = work->call.collective == TRV_SCATTER; /* in place, the root's block stays in its input */
    const int64_t *result = work->output + (scatters && work->in_place ? (size_t)work->rank * work->call.count : 0);
    const size_t most = work->in_place && work->in > work->out ? work->in : work->out;
    for (size_t i = 0; i < work->out; i++)
        expect(result[i] == expected(work, i));
    for (size_t i = 0; work->output != not_accessed && i < GUARD; i++)
        expect(work->output[most + i] == EMPTY);
    for (size_t i = 0; (!work->in_place || scatters) && i < work->in; i++)
        expect(work->input[i] == contribution(work, work->rank, i));
}

void work_free(work_t *work)
{
    checked = NULL;
    expect(front_destroy(work->task) == 0);
    if (work->input != not_accessed)
        free(work->input);
    if (!work->in_place && work->output != not_accessed)
        free(work->output);
}

void work_run(front_comm_t *comm, trv_collective_t c, form_t form, size_t count, int root, bool in_place)
{
    work_t work = work_create(comm, c, form, count, root, in_place);
    for (int run = 0; run < (form == REUSED && front_limits.can_restart ? 2 : 1); run++) {
        work_start(&work, run);
        expect(front_wait(work.task) == 0);
        work_check(&work);
    }
    work_free(&work);
}

uint64_t work_hash(const void *data, size_t bytes)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * 1099511628211u;
    return hash;
}

bool work_same(front_comm_t *comm, const void *data, size_t bytes)
{
    const int64_t mine = (int64_t)(work_hash(data, bytes) >> 2), send[2] = {mine, -mine};
    int64_t most[2];
    front_task_t *task;
    const call_t call = {TRV_ALLREDUCE, BLOCKING, TRV_INT64, TRV_MAX, send, most, 2, 0};
    expect(front_create(&task, comm, &call) == 0 && front_start(task) == 0 && front_destroy(task) == 0);
    return most[0] == -most[1];
}
