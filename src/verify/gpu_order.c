/*
 * The order of threadblocks in a program: signals, waits and barriers. Each threadblock records the progress that it
 * knows of the others; these operations transfer this knowledge.
 *
 * The effect of a wait begins after the next nop or barrier. It must be determined which threadblocks meet at a barrier
 * and which signal a wait receives, so threadblocks that use the same barrier or channel must know of each other.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "verify/gpu_state.h"

/* ---- Queues ------------------------------------------------------------------------------------------------------ */

/* Appends a signal with the threadblock's knowledge after its present operation: the first `count` entries of its
 * clock. */
static int queue_post(run_t *run, int block, queue_t *queue, int count)
{
    pending_t *pending = malloc(sizeof *pending + (size_t)count * sizeof pending->clock[0]);
    if (!pending)
        return trv_fail_memory();
    *pending = (pending_t){.count = count};
    memcpy(pending->clock, clock_of(run, block), (size_t)count * sizeof pending->clock[0]);
    clock_tick(run, block, pending->clock, count);
    *queue->last = pending;
    queue->last = &pending->next;
    return 0;
}

/* Removes the first signal of the queue, which must not be empty. */
static pending_t *queue_take(queue_t *queue)
{
    pending_t *pending = queue->first;
    queue->first = pending->next;
    if (!queue->first)
        queue->last = &queue->first;
    return pending;
}

static void queue_free(pending_t *pending)
{
    for (pending_t *next; pending; pending = next) {
        next = pending->next;
        free(pending);
    }
}

/* ---- Signals and waits ------------------------------------------------------------------------------------------- */

static int count_values(run_t *run, uint64_t values)
{
    run->held_values += values;
    return trv_run_limit(run->held_values, "threadblocks, barriers and signals");
}

/* Checks that a threadblock that signals, or waits, at an end of a channel knows of the previous threadblock that did
 * so. */
static int channel_use(run_t *run, int block, int end, bool waits)
{
    queue_t *queue = &run->queue[end];
    const int other = queue->user[waits];
    if (other >= 0 && other != block && clock_of(run, block)[other] < queue->used[waits])
        return trv_run_fault(run, block, "threadblock %d %s channel, too, and their order is undefined",
                             run->program->block[other].number, waits ? "waits at the same" : "signals by the same");
    queue->user[waits] = block;
    queue->used[waits] = clock_of(run, block)[block] + 1;
    return 0;
}

int trv_run_signal(run_t *run, int block, const trv_gpu_op_t *op)
{
    const int count = op->relaxed ? run->blocks : 2 * run->blocks;
    if (run->block[block].moved)
        return trv_run_fault(run, block, "a nop is missing between the data that it has moved and the signal");
    for (int i = 0; i < op->count; i++) {
        const int from = run->program->channel[op->first + i];
        queue_t *to = &run->queue[run->program->other[from]];
        int rc = channel_use(run, block, from, false);
        rc = rc ? rc : count_values(run, (uint64_t)count);
        rc = rc ? rc : queue_post(run, block, to, count);
        if (rc)
            return rc;
    }
    return 0;
}

int trv_run_wait(run_t *run, int block, const trv_gpu_op_t *op, bool *done)
{
    const int *end = &run->program->channel[op->first];
    block_t *state = &run->block[block];
    for (int i = 0; i < op->count && *done; i++)
        *done = run->queue[end[i]].first != NULL;
    for (int i = 0; i < op->count && *done; i++) {
        if (!run->queue[end[i]].first)
            return trv_run_fault(run, block, "it waits for more signals than were sent");
        if (channel_use(run, block, end[i], true))
            return 1;
        pending_t *pending = queue_take(&run->queue[end[i]]);
        pending->relaxed = op->relaxed;
        pending->next = state->acquired;
        state->acquired = pending;
        state->waited = true;
    }
    return 0;
}

void trv_run_begin_epoch(run_t *run, int block)
{
    block_t *state = &run->block[block];
    state->epoch = ++run->epoch;
    state->moved = state->waited = false;
    for (pending_t *pending; (pending = state->acquired) != NULL; free(pending)) {
        trv_clock_join(clock_of(run, block), pending->clock, pending->relaxed ? run->blocks : pending->count);
        run->held_values -= (uint64_t)pending->count;
        state->acquired = pending->next;
    }
}

/* ---- Barriers ---------------------------------------------------------------------------------------------------- */

static int barrier_create(run_t *run, barrier_t *barrier)
{
    const size_t count = 2 * (size_t)run->blocks;
    int rc = count_values(run, 2 * count);
    barrier->arriving = rc ? NULL : calloc(count, sizeof(int32_t));
    barrier->released = rc ? NULL : calloc(count, sizeof(int32_t));
    return rc || (barrier->arriving && barrier->released) ? rc : trv_fail_memory();
}

static int barrier_arrive(run_t *run, int block, const trv_gpu_op_t *op, barrier_t *barrier)
{
    const int count = 2 * run->blocks;
    int32_t *mine = clock_of(run, block);
    trv_run_begin_epoch(run, block);
    if (barrier->arrived > 0 && barrier->blocks != op->blocks)
        return trv_run_fault(run, block, "it expects %d threadblocks at the barrier, but another one expects %d",
                             op->blocks, barrier->blocks);
    if (!trv_clock_knows(mine, barrier->released, run->blocks))
        return trv_run_fault(run, block, "other threadblocks meet at the same barrier, and their order is undefined");
    clock_tick(run, block, mine, count);
    trv_clock_join(barrier->arriving, mine, count);
    run->block[block].barrier = barrier->turn;
    barrier->blocks = op->blocks;
    if (++barrier->arrived >= op->blocks) {
        memcpy(barrier->released, barrier->arriving, (size_t)count * sizeof *mine);
        barrier->arrived = 0;
        barrier->turn++;
    }
    return 0;
}

int trv_run_barrier(run_t *run, int block, const trv_gpu_op_t *op, bool *done)
{
    block_t *state = &run->block[block];
    barrier_t
        *barrier = &run->barrier[(size_t)run->program->block[block].gpu * TRV_GPU_BARRIERS_MAX + (size_t)op->barrier];
    int rc = barrier->arriving ? 0 : barrier_create(run, barrier);
    if (!rc && state->barrier < 0)
        rc = barrier_arrive(run, block, op, barrier);
    *done = !rc && barrier->turn > state->barrier;
    if (*done) {
        trv_clock_join(clock_of(run, block), barrier->released, 2 * run->blocks);
        state->barrier = -1;
        trv_run_begin_epoch(run, block);
    }
    return rc;
}

void trv_run_clear_order(run_t *run)
{
    for (int q = 0; run->queue && q < run->program->ends; q++)
        queue_free(run->queue[q].first);
    for (int b = 0; run->block && b < run->blocks; b++)
        queue_free(run->block[b].acquired);
    for (int b = 0; run->barrier && b < run->barriers; b++) {
        free(run->barrier[b].arriving);
        free(run->barrier[b].released);
    }
}
