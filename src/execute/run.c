/*
 * The progress engine: takes every lane through its stages.
 *
 * Entering a stage posts its messages; as soon as the stage's receives (the bits of its readiness entry) and its sends
 * are complete, its work runs and the lane enters the next stage. Lanes do not wait for each other, so while one lane's
 * messages travel another one's reductions run. Progress is made by polling only and allocates nothing.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "execute/plan.h"

static char *at(const trv_lane_t *lane, trv_place_t place)
{
    return lane->base[place.base] + place.offset;
}

/* Slots of a lane: the sends, then the receives of even stages, then those of odd ones. */
static int slot_of(const trv_plan_t *plan, const trv_lane_t *lane, int index)
{
    return TRV_CHECK_SLOTS + lane->number * (plan->lane_sends + 2 * plan->lane_receives) + index;
}

static int receive_slot(const trv_plan_t *plan, const trv_lane_t *lane, int stage, int index)
{
    return slot_of(plan, lane, plan->lane_sends + stage % 2 * plan->lane_receives + index);
}

static int tag_of(const trv_lane_t *lane)
{
    return TRV_CHECK_TAGS + lane->number;
}

static void copy(const trv_lane_t *lane, int first, int copies)
{
    for (int i = first; i < first + copies; i++) {
        const trv_copy_t *c = &lane->program->copy[i];
        char *to = at(lane, c->to);
        const char *from = at(lane, c->from);
        if (to != from) /* in place, a result may be there already */
            memcpy(to, from, c->bytes);
    }
}

static int work(const trv_plan_t *plan, const trv_lane_t *lane, const trv_work_t *w)
{
    const trv_elements_t *elements = &plan->elements;
    for (int s = 0; s < w->sources; s++)
        plan->source[s] = at(lane, lane->program->source[w->source + s]);
    if (!elements->reduce)
        return trv_reduce(elements->op, elements->type, at(lane, w->to), plan->source, w->sources, w->count);
    return elements->reduce(elements->reduce_context, at(lane, w->to), plan->source, w->sources, w->count);
}

static void set_bits(uint64_t *bits, int count)
{
    for (int i = 0; i < count; i += 64)
        bits[i / 64] = count - i >= 64 ? UINT64_MAX : ((uint64_t)1 << (count - i)) - 1;
}

static int post_receives(trv_plan_t *plan, trv_lane_t *lane, int number)
{
    const trv_stage_t *stage = &lane->program->stage[number];
    trv_ready_t *ready = &lane->ready[number % 2];
    ready->generation = lane->generation;
    ready->stage = number;
    ready->missing = 0;
    int rc = 0;
    for (int i = 0; !rc && i < stage->receives; i++, ready->missing += !rc) {
        const trv_extent_t *receive = &lane->program->receive[stage->receive + i];
        rc = plan->transport.receive(plan->transport.context, plan->handle, receive_slot(plan, lane, number, i),
                                     receive->peer, tag_of(lane), at(lane, receive->place), receive->bytes);
    }
    set_bits(ready->pending, ready->missing);
    return rc;
}

static int post_sends(trv_plan_t *plan, trv_lane_t *lane, const trv_stage_t *stage)
{
    int rc = 0;
    lane->sending = 0;
    for (int i = 0; !rc && i < stage->sends; i++, lane->sending += !rc) {
        const trv_extent_t *send = &lane->program->send[stage->send + i];
        copy(lane, send->copy, send->copies);
        rc = plan->transport.send(plan->transport.context, plan->handle, slot_of(plan, lane, i), send->peer,
                                  tag_of(lane), at(lane, send->place), send->bytes);
    }
    set_bits(lane->pending_send, lane->sending);
    return rc;
}

static int enter_stage(trv_plan_t *plan, trv_lane_t *lane)
{
    const trv_stage_t *stage = &lane->program->stage[lane->stage];
    int rc = 0;
    if (!stage->early)
        rc = post_receives(plan, lane, lane->stage);
    if (!rc)
        rc = post_sends(plan, lane, stage);
    if (!rc && lane->stage + 1 < lane->program->stages && stage[1].early)
        rc = post_receives(plan, lane, lane->stage + 1);
    if (!rc)
        copy(lane, stage->unpack, stage->unpacks);
    return rc;
}

/* Begins the lane's next chunk, or ends the lane; programs without stages are over at once. */
static int begin_chunk(trv_plan_t *plan, trv_lane_t *lane, size_t chunk)
{
    for (; chunk < plan->chunks; chunk += (size_t)plan->window) {
        size_t offset = chunk * plan->chunk_elements * plan->element_size;
        lane->chunk = chunk;
        lane->program = &plan->program[2 * lane->stream + (chunk == plan->chunks - 1)];
        lane->base[TRV_AT_INPUT] = plan->count ? (char *)plan->input + offset : NULL;
        lane->base[TRV_AT_OUTPUT] = plan->count ? plan->output + offset : NULL;
        lane->base[TRV_AT_SCRATCH] = plan->scratch + (size_t)lane->number * plan->lane_scratch_bytes;
        lane->stage = 0;
        lane->generation++;
        if (lane->program->stages)
            return enter_stage(plan, lane);
        copy(lane, lane->program->tail, lane->program->tails);
    }
    lane->done = true;
    plan->unfinished--;
    return 0;
}

int trv_run_start(trv_plan_t *plan)
{
    plan->unfinished = plan->lanes;
    int rc = 0;
    for (int i = 0; i < plan->lanes; i++) {
        plan->lane[i].done = false;
        plan->lane[i].sending = plan->lane[i].ready[0].missing = plan->lane[i].ready[1].missing = 0;
    }
    for (int i = 0; !rc && i < plan->lanes; i++)
        rc = begin_chunk(plan, &plan->lane[i], (size_t)(i / plan->streams));
    return rc;
}

/* Tests the requests whose bits are set and clears those of the complete ones; returns how many are left. */
static int poll_bits(trv_plan_t *plan, uint64_t *bits, int missing, int slot)
{
    for (int word = 0; missing > 0; word++) {
        int seen = 0;
        for (uint64_t left = bits[word]; left; left &= left - 1, seen++) {
            int bit = __builtin_ctzll(left);
            int rc = plan->transport.test(plan->transport.context, plan->handle, slot + 64 * word + bit);
            if (rc < 0)
                return rc;
            bits[word] &= ~((uint64_t)(rc > 0) << bit);
        }
        missing -= seen;
    }
    return 0;
}

static int count_bits(const uint64_t *bits, int count)
{
    int set = 0;
    for (int i = 0; i < count; i += 64)
        set += __builtin_popcountll(bits[i / 64]);
    return set;
}

/* 1 when the stage's messages are complete. */
static int poll_stage(trv_plan_t *plan, trv_lane_t *lane, bool *moved)
{
    trv_ready_t *ready = &lane->ready[lane->stage % 2];
    const trv_stage_t *stage = &lane->program->stage[lane->stage];
    int before = ready->missing + lane->sending, rc = 0;
    assert(ready->stage == lane->stage && ready->generation == lane->generation);
    if (ready->missing) {
        rc = poll_bits(plan, ready->pending, ready->missing, receive_slot(plan, lane, lane->stage, 0));
        ready->missing = count_bits(ready->pending, stage->receives);
    }
    if (!rc && lane->sending) {
        rc = poll_bits(plan, lane->pending_send, lane->sending, slot_of(plan, lane, 0));
        lane->sending = count_bits(lane->pending_send, stage->sends);
    }
    *moved = *moved || ready->missing + lane->sending < before;
    return rc < 0 ? rc : ready->missing + lane->sending == 0;
}

static int finish_stage(trv_plan_t *plan, trv_lane_t *lane)
{
    const trv_program_t *program = lane->program;
    const trv_stage_t *stage = &program->stage[lane->stage];
    int rc = 0;
    for (int i = 0; !rc && i < stage->works; i++)
        rc = work(plan, lane, &program->work[stage->work + i]);
    if (rc)
        return rc;
    if (++lane->stage < program->stages)
        return enter_stage(plan, lane);
    copy(lane, program->tail, program->tails);
    return begin_chunk(plan, lane, lane->chunk + (size_t)plan->window);
}

int trv_run_progress(trv_plan_t *plan, bool *moved)
{
    for (int i = 0; i < plan->lanes; i++) {
        trv_lane_t *lane = &plan->lane[i];
        while (!lane->done) {
            int rc = poll_stage(plan, lane, moved);
            if (rc > 0)
                rc = finish_stage(plan, lane);
            else if (rc == 0)
                break;
            if (rc < 0)
                return rc;
            *moved = true;
        }
    }
    return plan->unfinished == 0;
}

void trv_run_cancel(trv_plan_t *plan)
{
    const trv_transport_t *t = &plan->transport;
    for (int i = 0; i < plan->lanes; i++) {
        trv_lane_t *lane = &plan->lane[i];
        if (lane->done || !lane->program)
            continue;
        for (int s = 0; s < plan->lane_sends; s++)
            if (lane->sending && lane->pending_send[s / 64] >> (s % 64) & 1)
                t->cancel(t->context, plan->handle, slot_of(plan, lane, s));
        for (int half = 0; half < 2; half++)
            for (int r = 0; r < plan->lane_receives; r++)
                if (lane->ready[half].missing && lane->ready[half].pending[r / 64] >> (r % 64) & 1)
                    t->cancel(t->context, plan->handle, receive_slot(plan, lane, half, r));
        lane->sending = lane->ready[0].missing = lane->ready[1].missing = 0;
        lane->done = true;
    }
}

/* ---- What a run waits for ---------------------------------------------------------------------------------------- */

#define LANES_TOLD 4

/* Text that grows to at most `size` bytes; `used` may exceed it. `name` is what ranks are called. */
typedef struct text {
    char *at;
    size_t size, used;
    const int *name;
} text_t;

static void add(text_t *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bool room = text->used < text->size;
    int length = vsnprintf(room ? text->at + text->used : NULL, room ? text->size - text->used : 0, format, arguments);
    va_end(arguments);
    text->used += (size_t)length;
}

static int name_of(const text_t *text, int rank)
{
    return text->name ? text->name[rank] : rank;
}

/* "before 1, 2" for the peers whose bits are set. */
static void add_peers(text_t *text, const char *before, const trv_extent_t *message, int messages,
                      const uint64_t *pending)
{
    for (int i = 0; i < messages; i++)
        if (pending[i / 64] >> (i % 64) & 1) {
            add(text, "%s%d", before, name_of(text, message[i].peer));
            before = ", ";
        }
}

static void add_lane(text_t *text, const trv_plan_t *plan, const trv_lane_t *lane)
{
    const trv_program_t *program = lane->program;
    const trv_stage_t *stage = &program->stage[lane->stage];
    const trv_ready_t *ready = &lane->ready[lane->stage % 2];
    add(text, "lane %d of %d, ", lane->number, plan->lanes);
    if (plan->chunks > 1)
        add(text, "chunk %zu of %zu, ", lane->chunk, plan->chunks);
    add(text, "step %d of %d, waits for ", stage->step, trv_schedule_steps(plan->schedule));
    if (ready->missing)
        add_peers(text, "ranks ", program->receive + stage->receive, stage->receives, ready->pending);
    if (lane->sending) {
        add_peers(text, ready->missing ? " and for " : "", program->send + stage->send, stage->sends,
                  lane->pending_send);
        add(text, " to take its data");
    }
}

void trv_plan_describe_as(const trv_plan_t *plan, const int *name, char *at, size_t size)
{
    static const char *const states[] = { "never started", "comparing notes with the other ranks", "running",
                                          "complete", "failed" };
    text_t text = {.at = at, .size = size, .name = name};
    int told = 0, more = 0;
    if (!size)
        return;
    add(&text, "rank %d: %s", name_of(&text, plan->rank), plan->state == TRV_PLAN_RUNNING ? "" : states[plan->state]);
    for (int i = 0; plan->state == TRV_PLAN_RUNNING && i < plan->lanes; i++) {
        if (plan->lane[i].done)
            continue;
        if (told++ >= LANES_TOLD) {
            more++;
            continue;
        }
        if (told > 1)
            add(&text, "; ");
        add_lane(&text, plan, &plan->lane[i]);
    }
    if (more)
        add(&text, "; and %d more lane%s", more, more == 1 ? "" : "s");
}

void trv_plan_describe(const trv_plan_t *plan, char *text, size_t size)
{
    trv_plan_describe_as(plan, NULL, text, size);
}
