/*
 * What orders the threadblocks of a plan of MSCCL++: signals, waits and barriers.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/mscclpp_run.h"

int trv_pp_fault(run_t *run, int block, const char *format, ...)
{
    trv_msccl_verdict_t *verdict = run->verdict;
    int used = 0;
    va_list arguments;
    verdict->valid = false;
    if (block >= 0) {
        verdict->gpu = run->program->block[block].gpu;
        verdict->block = run->program->block[block].number;
        verdict->step = run->block[block].at;
        used = snprintf(verdict->fault, sizeof verdict->fault, "GPU %d, threadblock %d, operation %d%s: ", verdict->gpu,
                        verdict->block, verdict->step, run->block[block].launch ? " of the second launch" : "");
    }
    va_start(arguments, format);
    vsnprintf(verdict->fault + used, sizeof verdict->fault - (size_t)used, format, arguments);
    va_end(arguments);
    return 1;
}

static bool knows(const int32_t *mine, const int32_t *known, int count)
{
    for (int i = 0; i < count; i++)
        if (mine[i] < known[i])
            return false;
    return true;
}

static int take_room(run_t *run, uint64_t numbers)
{
    run->room += numbers;
    return run->room <= TRV_PP_ROOM_MAX
               ? TRV_OK
               : trv_fail(TRV_ERR_UNSUPPORTED,
                          "the plan has too many threadblocks, barriers and signals to be verified");
}

/* Who signals, or waits, at an end of a channel must know of who did so before. */
static int use_end(run_t *run, int block, int number, bool waits)
{
    end_t *end = &run->end[number];
    const int other = end->user[waits];
    if (other >= 0 && other != block && clock_of(run, block)[other] < end->used[waits])
        return trv_pp_fault(run, block, "threadblock %d %s channel, too, and nothing says which comes first",
                            run->program->block[other].number, waits ? "waits at the same" : "signals by the same");
    end->user[waits] = block;
    end->used[waits] = clock_of(run, block)[block] + 1;
    return 0;
}

int trv_pp_signal(run_t *run, int block, const trv_pp_op_t *op)
{
    const size_t own = (size_t)run->blocks, count = op->relaxed ? own : 2 * own;
    if (run->block[block].moved)
        return trv_pp_fault(run, block, "a nop is missing between what it has moved and the signal");
    for (int i = 0; i < op->count; i++) {
        const int from = run->program->channel[op->first + i];
        end_t *to = &run->end[run->program->other[from]];
        int rc = use_end(run, block, from, false);
        rc = rc ? rc : take_room(run, count);
        news_t *news = rc ? NULL : malloc(sizeof *news + count * sizeof(int32_t));
        if (!news)
            return rc ? rc : trv_fail_memory();
        *news = (news_t){.relaxed = op->relaxed, .count = (int)count};
        memcpy(news->clock, clock_of(run, block), count * sizeof(int32_t));
        for (size_t at = (size_t)block; at < count; at += own)
            news->clock[at]++; /* this operation is done when it arrives */
        *to->last = news;
        to->last = &news->next;
    }
    return 0;
}

/* *done: false where it has to wait. What it waits for is known from the next nop on. */
int trv_pp_wait(run_t *run, int block, const trv_pp_op_t *op, bool *done)
{
    const int *channel = &run->program->channel[op->first];
    block_t *state = &run->block[block];
    for (int i = 0; i < op->count && *done; i++)
        *done = run->end[channel[i]].first != NULL;
    for (int i = 0; i < op->count && *done; i++) {
        end_t *end = &run->end[channel[i]];
        news_t *news = end->first;
        if (!news)
            return trv_pp_fault(run, block, "it waits for more signals at once than there are");
        if (use_end(run, block, channel[i], true))
            return 1;
        end->first = news->next;
        if (!end->first)
            end->last = &end->first;
        news->relaxed |= op->relaxed;
        news->next = state->waited_for;
        state->waited_for = news;
        state->waited = true;
    }
    return 0;
}

void trv_pp_begin_stretch(run_t *run, int block)
{
    block_t *state = &run->block[block];
    run->own_stretch[block] = ++run->stretch;
    state->moved = state->waited = false;
    for (news_t *news; (news = state->waited_for) != NULL; free(news)) {
        join(clock_of(run, block), news->clock, news->relaxed ? run->blocks : 2 * run->blocks);
        run->room -= (uint64_t)news->count;
        state->waited_for = news->next;
    }
}

static int make_barrier(run_t *run, barrier_t *barrier)
{
    const size_t count = 2 * (size_t)run->blocks;
    int rc = take_room(run, 2 * count);
    barrier->coming = rc ? NULL : calloc(count, sizeof(int32_t));
    barrier->gone = rc ? NULL : calloc(count, sizeof(int32_t));
    return rc || (barrier->coming && barrier->gone) ? rc : trv_fail_memory();
}

static int arrive(run_t *run, int block, const trv_pp_op_t *op, barrier_t *barrier)
{
    const size_t bytes = 2 * (size_t)run->blocks * sizeof(int32_t);
    trv_pp_begin_stretch(run, block);
    if (barrier->arrived > 0 && barrier->blocks != op->blocks)
        return trv_pp_fault(run, block, "the barrier is for %d threadblocks, and for another one for %d", op->blocks,
                            barrier->blocks);
    if (!knows(clock_of(run, block), barrier->gone, run->blocks))
        return trv_pp_fault(run, block,
                            "other threadblocks meet at the same barrier, and nothing says which come first");
    go_on(run, block);
    join(barrier->coming, clock_of(run, block), 2 * run->blocks);
    run->block[block].barrier = barrier->turn;
    barrier->blocks = op->blocks;
    if (++barrier->arrived >= op->blocks) {
        memcpy(barrier->gone, barrier->coming, bytes);
        barrier->arrived = 0;
        barrier->turn++;
    }
    return 0;
}

int trv_pp_meet(run_t *run, int block, const trv_pp_op_t *op, bool *done)
{
    block_t *state = &run->block[block];
    barrier_t *barrier = &run->barrier[(size_t)run->program->block[block].gpu * TRV_PP_BARRIERS + (size_t)op->barrier];
    int rc = barrier->coming ? 0 : make_barrier(run, barrier);
    if (!rc && state->barrier < 0)
        rc = arrive(run, block, op, barrier);
    *done = !rc && barrier->turn > state->barrier;
    if (*done) {
        join(clock_of(run, block), barrier->gone, 2 * run->blocks);
        state->barrier = -1;
        trv_pp_begin_stretch(run, block);
    }
    return rc;
}

static void free_news(news_t *news)
{
    for (news_t *next; news; news = next) {
        next = news->next;
        free(news);
    }
}

void trv_pp_order_clear(run_t *run)
{
    for (int end = 0; run->end && end < run->program->ends; end++)
        free_news(run->end[end].first);
    for (int b = 0; run->block && b < run->blocks; b++)
        free_news(run->block[b].waited_for);
    for (size_t b = 0; run->barrier && b < (size_t)run->program->head.gpus * TRV_PP_BARRIERS; b++) {
        free(run->barrier[b].coming);
        free(run->barrier[b].gone);
    }
}
