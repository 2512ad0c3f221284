/*
 * The order of threadblocks in a program: messages, dependencies, signals, waits and barriers. Each threadblock records
 * the progress that it knows of the others; these operations transfer this knowledge.
 *
 * A connection of MSCCL holds two messages, as in MSCCL itself; a program that needs more waits forever. In a plan the
 * effect of a wait begins after the next nop or barrier. It must be determined which threadblocks meet at a barrier and
 * which signal a wait receives, so threadblocks that use the same barrier or channel must know of each other.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "verify/gpu_state.h"

#define CONNECTION_MESSAGES 2

/* ---- Queues ------------------------------------------------------------------------------------------------------ */

/* Appends an entry with the threadblock's knowledge after its present operation; `rows` is the content of a message. */
static int queue_post(run_t *run, int block, queue_t *queue, int clocks, int chunks, const int32_t *rows)
{
    const size_t count = (size_t)clocks, values = (size_t)chunks * (size_t)run->width;
    pending_t *pending = malloc(sizeof *pending + (count + values) * sizeof pending->value[0]);
    if (!pending)
        return trv_fail_memory();
    *pending = (pending_t){.count = clocks, .chunks = chunks};
    memcpy(pending->value, clock_of(run, block), count * sizeof pending->value[0]);
    clock_tick(run, block, pending->value, clocks);
    if (chunks)
        memcpy(pending->value + count, rows, values * sizeof pending->value[0]);
    *queue->last = pending;
    queue->last = &pending->next;
    queue->held++;
    return 0;
}

/* Removes the first entry of the queue, which must not be empty. */
static pending_t *queue_take(queue_t *queue)
{
    pending_t *pending = queue->first;
    queue->first = pending->next;
    if (!queue->first)
        queue->last = &queue->first;
    queue->held--;
    return pending;
}

static void queue_free(pending_t *pending)
{
    for (pending_t *next; pending; pending = next) {
        next = pending->next;
        free(pending);
    }
}

/* ---- MSCCL: messages and dependencies ---------------------------------------------------------------------------- */

static bool connection_is_used(const trv_gpu_program_t *program, const trv_threadblock_t *block)
{
    for (int i = 0; i < block->ops; i++)
        if (program->op[block->first_op + i].actions & TRV_ACT_SEND)
            return true;
    return false;
}

/* The threadblock of `gpu` that receives from `from` on the channel; -1: none, -2: several. */
static int connection_receiver(const trv_gpu_program_t *program, int gpu, int from, int channel)
{
    int found = -1;
    for (int b = program->first_block[gpu]; b < program->first_block[gpu + 1]; b++)
        if (program->block[b].receive == from && program->block[b].channel == channel)
            found = found == -1 ? b : -2;
    return found;
}

/* The operation that a step waits for. */
static int dependency_op(const run_t *run, int block, const trv_gpu_op_t *op)
{
    const trv_gpu_program_t *program = run->program;
    return program->block[program->first_block[program->block[block].gpu] + op->wait_block].first_op + op->wait_step;
}

static int dependency_check(run_t *run, int block, const trv_gpu_op_t *op)
{
    const trv_gpu_program_t *program = run->program;
    const int gpu = program->block[block].gpu, first = program->first_block[gpu];
    if (op->wait_block < 0)
        return 0;
    if (op->wait_block >= program->first_block[gpu + 1] - first || op->wait_step < 0 ||
        op->wait_step >= program->block[first + op->wait_block].ops)
        return trv_run_fault(run, block, "it depends on step %d of threadblock %d, which does not exist", op->wait_step,
                             op->wait_block);
    if (!program->op[dependency_op(run, block, op)].waited)
        return trv_run_fault(run, block, "it depends on step %d of threadblock %d, which lacks hasdep=\"1\"",
                             op->wait_step, op->wait_block);
    return 0;
}

int trv_run_connect(run_t *run)
{
    const trv_gpu_program_t *program = run->program;
    for (int b = 0; b < run->blocks; b++) {
        const trv_threadblock_t *block = &program->block[b];
        if (block->send == block->gpu || block->receive == block->gpu)
            return trv_run_fault(run, b, "the threadblock exchanges messages with its own GPU");
        if (!connection_is_used(program, block))
            continue;
        const int to = block->send < 0 ? -1 : connection_receiver(program, block->send, block->gpu, block->channel);
        if (to < 0)
            return trv_run_fault(run, b, "the threadblock sends to GPU %d on channel %d, where %s", block->send,
                                 block->channel,
                                 to == -1 ? "no threadblock receives from it" : "several threadblocks receive from it");
        if (run->queue[to].user[0] >= 0)
            return trv_run_fault(run, b, "threadblock %d sends to GPU %d on channel %d, too",
                                 program->block[run->queue[to].user[0]].number, block->send, block->channel);
        run->queue[to].user[0] = b;
        run->block[b].to = to;
    }
    for (int b = 0; b < run->blocks; b++) {
        block_t *state = &run->block[b]; /* `at` is the step that a fault reports */
        for (; state->at < program->block[b].ops; state->at++)
            if (dependency_check(run, b, &program->op[program->block[b].first_op + state->at]))
                return 1;
        state->at = 0;
    }
    return 0;
}

bool trv_run_is_ready(run_t *run, int block, const trv_gpu_op_t *op)
{
    const int32_t *known = op->wait_block < 0 ? NULL : run->saved_clock[dependency_op(run, block, op)];
    if ((op->wait_block >= 0 && !known) || (op->actions & TRV_ACT_RECEIVE && !run->queue[block].first) ||
        (op->actions & TRV_ACT_SEND && run->queue[run->block[block].to].held == CONNECTION_MESSAGES))
        return false;
    if (known)
        trv_clock_join(clock_of(run, block), known, run->blocks);
    return true;
}

int trv_run_receive(run_t *run, int block, int chunks)
{
    pending_t *pending = queue_take(&run->queue[block]);
    const int sent = pending->chunks;
    if (sent == chunks) {
        memcpy(run->row, pending->value + pending->count, (size_t)chunks * (size_t)run->width * sizeof *run->row);
        trv_clock_join(clock_of(run, block), pending->value, pending->count);
    }
    free(pending);
    return sent == chunks ? 0 : trv_run_fault(run, block, "it receives %d chunks, but %d are sent to it", chunks, sent);
}

int trv_run_send(run_t *run, int block, int chunks)
{
    run->verdict->messages++;
    return queue_post(run, block, &run->queue[run->block[block].to], run->blocks, chunks, run->row);
}

int trv_run_save_clock(run_t *run, int block)
{
    const int op = run->program->block[block].first_op + run->block[block].at;
    const size_t bytes = (size_t)run->blocks * sizeof(int32_t);
    if (!run->program->op[op].waited)
        return 0;
    run->saved_clock[op] = malloc(bytes);
    if (!run->saved_clock[op])
        return trv_fail_memory();
    memcpy(run->saved_clock[op], clock_of(run, block), bytes);
    clock_tick(run, block, run->saved_clock[op], run->blocks);
    return 0;
}

/* ---- Plans: signals and waits ------------------------------------------------------------------------------------ */

static int count_values(run_t *run, uint64_t values)
{
    run->held_values += values;
    return trv_run_limit(run, run->held_values, "threadblocks, barriers and signals");
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
    const int count = op->relaxed ? run->blocks : run->planes * run->blocks;
    if (run->block[block].moved)
        return trv_run_fault(run, block, "a nop is missing between the data that it has moved and the signal");
    for (int i = 0; i < op->count; i++) {
        const int from = run->program->channel[op->first + i];
        queue_t *to = &run->queue[run->program->other[from]];
        int rc = channel_use(run, block, from, false);
        rc = rc ? rc : count_values(run, (uint64_t)count);
        rc = rc ? rc : queue_post(run, block, to, count, 0, NULL);
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
        trv_clock_join(clock_of(run, block), pending->value, pending->relaxed ? run->blocks : pending->count);
        run->held_values -= (uint64_t)pending->count;
        state->acquired = pending->next;
    }
}

/* ---- Plans: barriers --------------------------------------------------------------------------------------------- */

static int barrier_create(run_t *run, barrier_t *barrier)
{
    const size_t count = (size_t)run->planes * (size_t)run->blocks;
    int rc = count_values(run, 2 * count);
    barrier->arriving = rc ? NULL : calloc(count, sizeof(int32_t));
    barrier->released = rc ? NULL : calloc(count, sizeof(int32_t));
    return rc || (barrier->arriving && barrier->released) ? rc : trv_fail_memory();
}

static int barrier_arrive(run_t *run, int block, const trv_gpu_op_t *op, barrier_t *barrier)
{
    const int count = run->planes * run->blocks;
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
        trv_clock_join(clock_of(run, block), barrier->released, run->planes * run->blocks);
        state->barrier = -1;
        trv_run_begin_epoch(run, block);
    }
    return rc;
}

void trv_run_clear_order(run_t *run)
{
    for (int q = 0; run->queue && q < run->queues; q++)
        queue_free(run->queue[q].first);
    for (int b = 0; run->block && b < run->blocks; b++)
        queue_free(run->block[b].acquired);
    for (int b = 0; run->barrier && b < run->barriers; b++) {
        free(run->barrier[b].arriving);
        free(run->barrier[b].released);
    }
    for (int i = 0; run->saved_clock && i < run->program->ops; i++)
        free(run->saved_clock[i]);
}
