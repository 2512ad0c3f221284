/*
 * The progress engine: executes the stages of every lane.
 *
 * When a lane enters a stage it posts the stage's messages. When the stage's receives (the bits of its readiness entry)
 * and sends are complete, its work is executed and the lane enters the next stage. Lanes do not wait for each other, so
 * that the reductions of one overlap with the messages of another. Progress is made by polling only and allocates no
 * memory.
 *
 * A run fails on this rank alone: no more messages are posted and all pending operations are cancelled. The caller
 * decides how to inform the other ranks, which may wait for messages of this one.
 */
#include <assert.h>
#include <stdio.h>

#include "base/error.h"
#include "execute/run/plan.h"

static const trv_program_t *program_of(const trv_lane_t *lane) { return lane->sized->program; }

/* The request slot of the first receive of a stage. */
static int receive_slot(const trv_plan_t *plan, const trv_lane_t *lane, int stage)
{
    return lane->slot + plan->lane_sends + stage % 2 * plan->lane_receives;
}

static trv_sized_t *sized_of(trv_plan_t *plan, const trv_lane_t *lane, size_t chunk)
{
    if (plan->unequal)
        return trv_blocks_size_lane(plan, lane->number, chunk);
    return &plan->sized[2 * lane->stream + (chunk == plan->chunks - 1)];
}

/* The first failure of a run is the one that is reported. */
static void run_fail(trv_plan_t *plan, int code)
{
    if (plan->failure)
        return;
    plan->failure = code;
    snprintf(plan->reason, sizeof plan->reason, "%s", trv_last_error());
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static char *address(const trv_plan_t *plan, const trv_lane_t *lane, const trv_extent_t *extent)
{
    if (extent->containers)
        return lane->base[TRV_AT_SCRATCH] + lane->sized->offset[extent->location.container];
    return trv_location_address(plan, lane, extent->location, extent->first);
}

/* Executes works of the lane's program. Only a reduction callback of the caller can fail. */
static void perform(trv_plan_t *plan, const trv_lane_t *lane, int first, int works)
{
    int rc = works && !plan->failure ? trv_perform(plan, lane, first, works) : 0;
    if (rc)
        run_fail(plan, rc);
}

static void post_receives(trv_plan_t *plan, trv_lane_t *lane, int number)
{
    const trv_program_t *program = program_of(lane);
    const trv_stage_t *stage = &program->stage[number];
    const trv_transport_t *t = &plan->transport;
    trv_ready_t *ready = &lane->ready[number % 2];
    const int slot = receive_slot(plan, lane, number);
    ready->generation = lane->generation;
    ready->stage = number;
    ready->missing = 0;
    for (int i = 0; i < stage->receives && !plan->failure; i++) {
        const trv_extent_t *receive = &program->receive[stage->receive + i];
        const size_t bytes = lane->sized->received[stage->receive + i];
        if (bytes == 0)
            continue;
        if (t->port)
            t->port(t->context, plan->handle, receive->port);
        int rc = t->receive(t->context, plan->handle, slot + i, receive->peer, lane->tag, address(plan, lane, receive),
                            bytes);
        if (rc) {
            run_fail(plan, rc);
            return;
        }
        ready->pending[i / 64] |= (uint64_t)1 << (i % 64);
        ready->missing++;
    }
}

static void post_sends(trv_plan_t *plan, trv_lane_t *lane, const trv_stage_t *stage)
{
    const trv_transport_t *t = &plan->transport;
    for (int i = 0; i < stage->sends && !plan->failure; i++) {
        const trv_extent_t *send = &program_of(lane)->send[stage->send + i];
        const size_t bytes = lane->sized->sent[stage->send + i];
        if (bytes == 0)
            continue;
        perform(plan, lane, send->work, send->works);
        if (plan->failure)
            return;
        if (t->port)
            t->port(t->context, plan->handle, send->port);
        int rc = t->send(t->context, plan->handle, lane->slot + i, send->peer, lane->tag, address(plan, lane, send),
                         bytes);
        lane->pending_send[i / 64] |= (uint64_t)1 << (i % 64); /* also after a failure: it may have sent a part */
        lane->sending++;
        if (rc) {
            run_fail(plan, rc);
            return;
        }
    }
}

static void enter_stage(trv_plan_t *plan, trv_lane_t *lane)
{
    const trv_program_t *program = program_of(lane);
    const trv_stage_t *stage = &program->stage[lane->stage];
    if (!stage->early)
        post_receives(plan, lane, lane->stage);
    post_sends(plan, lane, stage);
    if (lane->stage + 1 < program->stages && stage[1].early)
        post_receives(plan, lane, lane->stage + 1);
    perform(plan, lane, stage->unpack, stage->unpacks);
}

/* Makes `chunk` the lane's present chunk, before its first stage. */
static void load_chunk(trv_plan_t *plan, trv_lane_t *lane, size_t chunk)
{
    const size_t offset = chunk * plan->chunk_elements * plan->element_size;
    lane->chunk = chunk;
    lane->sized = sized_of(plan, lane, chunk);
    lane->base[TRV_AT_INPUT] = plan->input ? (char *)plan->input + offset : NULL;
    lane->base[TRV_AT_OUTPUT] = plan->output ? plan->output + offset : NULL;
    lane->base[TRV_AT_SCRATCH] = plan->scratch.data
                                     ? plan->scratch.data + (size_t)lane->number * plan->lane_scratch_bytes
                                     : NULL;
    lane->stage = 0;
    lane->generation++;
}

/* Begins the lane's next chunk, or ends the lane. A program without stages completes at once. A chunk whose input is
 * not available yet is only loaded. */
static void begin_chunk(trv_plan_t *plan, trv_lane_t *lane, size_t chunk)
{
    for (; chunk < plan->chunks; chunk += (size_t)plan->window) {
        load_chunk(plan, lane, chunk);
        lane->waits_for_input = !trv_chunk_input_ready(plan, chunk);
        if (lane->waits_for_input)
            return;
        if (program_of(lane)->stages) {
            enter_stage(plan, lane);
            return;
        }
        perform(plan, lane, program_of(lane)->tail, program_of(lane)->tails);
    }
    lane->done = true;
    plan->unfinished--;
}

void trv_run_start(trv_plan_t *plan)
{
    plan->unfinished = plan->lanes;
    plan->failure = 0;
    for (int i = 0; i < plan->lanes; i++) {
        trv_lane_t *lane = &plan->lane[i];
        lane->done = false;
        lane->sending = lane->ready[0].missing = lane->ready[1].missing = 0;
        lane->chunk = (size_t)(i / plan->streams);
    }
    for (int i = 0; i < plan->lanes && !plan->failure; i++)
        begin_chunk(plan, &plan->lane[i], plan->lane[i].chunk);
}

/* Tests the requests whose bits are set, and clears the bits of complete ones. */
static void poll_bits(trv_plan_t *plan, uint64_t *bits, int *missing, int slot, int count)
{
    const trv_transport_t *t = &plan->transport;
    for (int word = 0; *missing > 0 && word < (count + 63) / 64; word++)
        for (uint64_t remaining = bits[word]; remaining; remaining &= remaining - 1) {
            const int bit = __builtin_ctzll(remaining);
            int rc = t->test(t->context, plan->handle, slot + 64 * word + bit);
            if (rc == 0)
                continue;
            bits[word] &= ~((uint64_t)1 << bit);
            --*missing;
            if (rc < 0)
                run_fail(plan, rc);
        }
}

/* Whether the stage's messages are complete. */
static bool poll_stage(trv_plan_t *plan, trv_lane_t *lane, bool *progressed)
{
    trv_ready_t *ready = &lane->ready[lane->stage % 2];
    const int before = ready->missing + lane->sending;
    assert(ready->stage == lane->stage && ready->generation == lane->generation);
    if (ready->missing)
        poll_bits(plan, ready->pending, &ready->missing, receive_slot(plan, lane, lane->stage), plan->lane_receives);
    if (lane->sending)
        poll_bits(plan, lane->pending_send, &lane->sending, lane->slot, plan->lane_sends);
    *progressed = *progressed || ready->missing + lane->sending < before;
    return ready->missing == 0 && lane->sending == 0;
}

static void finish_stage(trv_plan_t *plan, trv_lane_t *lane)
{
    const trv_program_t *program = program_of(lane);
    const trv_stage_t *stage = &program->stage[lane->stage];
    perform(plan, lane, stage->work, stage->works);
    if (++lane->stage < program->stages) {
        enter_stage(plan, lane);
        return;
    }
    perform(plan, lane, program->tail, program->tails);
    begin_chunk(plan, lane, lane->chunk + (size_t)plan->window);
}

int trv_run_progress(trv_plan_t *plan, bool *progressed)
{
    for (int i = 0; i < plan->lanes && !plan->failure; i++) {
        trv_lane_t *lane = &plan->lane[i];
        if (!lane->done && lane->waits_for_input && trv_chunk_input_ready(plan, lane->chunk)) {
            begin_chunk(plan, lane, lane->chunk);
            *progressed = true;
        }
        while (!plan->failure && !lane->done && !lane->waits_for_input && poll_stage(plan, lane, progressed)) {
            finish_stage(plan, lane);
            *progressed = true;
        }
    }
    if (plan->failure)
        return trv_fail(plan->failure, "%s", plan->reason);
    return plan->unfinished == 0;
}

bool trv_run_cancel(trv_plan_t *plan)
{
    const trv_transport_t *t = &plan->transport;
    bool remaining = false;
    for (int i = 0; i < plan->lanes; i++) {
        trv_lane_t *lane = &plan->lane[i];
        if (lane->done)
            continue;
        for (int s = 0; s < plan->lane_sends; s++)
            if (lane->sending && lane->pending_send[s / 64] >> (s % 64) & 1)
                remaining = t->cancel(t->context, plan->handle, lane->slot + s) > 0 || remaining;
        for (int half = 0; half < 2; half++)
            for (int r = 0; r < plan->lane_receives; r++)
                if (lane->ready[half].missing && lane->ready[half].pending[r / 64] >> (r % 64) & 1)
                    t->cancel(t->context, plan->handle, receive_slot(plan, lane, half) + r);
        lane->done = true;
    }
    return remaining;
}
