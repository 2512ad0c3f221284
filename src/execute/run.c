/*
 * The progress engine: takes every lane through its stages.
 *
 * Entering a stage posts its messages; as soon as the stage's receives (the bits of its readiness entry) and its sends
 * are complete, its work runs and the lane enters the next stage. Lanes do not wait for each other, so while one lane's
 * messages travel another one's reductions run. Progress is made by polling only and allocates nothing.
 *
 * A run that fails goes on to its end without data, so that nobody hangs and no message is left over: each lane tells
 * the peers that still expect something of it with one empty message (a refusal) each, in the place of the next one that
 * is due; then it goes through its stages receiving only, until all is there or the sender has refused, too. Whoever
 * gets a refusal does the same. Waiting for less than a run that succeeds, a failing one ends where that one does. Its
 * receives go where they always go; only where there is no scratch, and nowhere at all where the run was refused
 * from the start, they ask for 0 bytes, and are told of another length.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "execute/plan.h"

static const trv_program_t *program_of(const trv_lane_t *lane) { return lane->sized->program; }

/* Slots of a lane: the sends, then the receives of even stages, then those of odd ones. */
static int slot_of(const trv_plan_t *plan, const trv_lane_t *lane, int index)
{
    return plan->check_slots + lane->number * (plan->lane_sends + 2 * plan->lane_receives) + index;
}

static int receive_slot(const trv_plan_t *plan, const trv_lane_t *lane, int stage, int index)
{
    return slot_of(plan, lane, plan->lane_sends + stage % 2 * plan->lane_receives + index);
}

static int tag_of(const trv_plan_t *plan, const trv_lane_t *lane) { return plan->check_tags + lane->number; }

/* ---- Failure ----------------------------------------------------------------------------------------------------- */

static bool has_peer(const int *list, int count, int peer)
{
    for (int i = 0; i < count; i++)
        if (list[i] == peer)
            return true;
    return false;
}

static trv_sized_t *sized_of(const trv_plan_t *plan, const trv_lane_t *lane, size_t chunk)
{
    return &plan->sized[2 * lane->stream + (chunk == plan->chunks - 1)];
}

/* Lists the peers of a program's sends from number `first` on. */
static void list_expecting(trv_lane_t *lane, const trv_sized_t *sized, int first)
{
    const trv_program_t *program = sized->program;
    for (int i = first; i < program->sends; i++)
        if (!has_peer(lane->told, lane->tolds, program->send[i].peer) && sized->sent[i])
            lane->told[lane->tolds++] = program->send[i].peer;
}

/* Finds who is to be told that nothing more comes: the peers of all sends that have not been posted. */
static void find_told(const trv_plan_t *plan, trv_lane_t *lane)
{
    const trv_program_t *program = program_of(lane);
    const int first = lane->stage < program->stages ? program->stage[lane->stage].send + lane->posted : program->sends;
    list_expecting(lane, lane->sized, first);
    for (size_t chunk = lane->chunk + (size_t)plan->window; chunk < plan->chunks; chunk += (size_t)plan->window)
        list_expecting(lane, sized_of(plan, lane, chunk), 0);
}

/* Unless it had failed before. */
void trv_run_fail(trv_plan_t *plan, int code)
{
    if (plan->failure)
        return;
    plan->failure = code;
    snprintf(plan->reason, sizeof plan->reason, "%s", trv_last_error());
    for (int i = 0; i < plan->lanes; i++)
        if (!plan->lane[i].done)
            find_told(plan, &plan->lane[i]);
}

/* Tells who has not been told, as far as it can be done now. */
static void tell(trv_plan_t *plan, trv_lane_t *lane)
{
    const trv_transport_t *t = &plan->transport;
    for (int slot = 0; lane->told_next < lane->tolds; lane->told_next++) {
        const int peer = lane->told[lane->told_next];
        if (t->refuse && t->refuse(t->context, plan->handle, peer, tag_of(plan, lane)) == 0)
            continue;
        while (slot < plan->lane_sends && lane->pending_send[slot / 64] >> (slot % 64) & 1)
            slot++;
        if (slot == plan->lane_sends)
            return;
        if (t->send(t->context, plan->handle, slot_of(plan, lane, slot), peer, tag_of(plan, lane), plan, 0))
            continue; /* a transport that cannot even do that: all was tried */
        lane->pending_send[slot / 64] |= (uint64_t)1 << (slot % 64);
        lane->pending_told[slot / 64] |= (uint64_t)1 << (slot % 64);
        lane->sending++;
        lane->telling++;
    }
}

/* Nothing more comes from the peer: gives up what was posted ahead. */
static void drop_peer(trv_plan_t *plan, trv_lane_t *lane, int peer)
{
    if (!has_peer(lane->refused, lane->refusals, peer))
        lane->refused[lane->refusals++] = peer;
    for (int half = 0; half < 2; half++) {
        trv_ready_t *ready = &lane->ready[half];
        if (!ready->missing)
            continue;
        const trv_stage_t *stage = &program_of(lane)->stage[ready->stage];
        for (int i = 0; i < stage->receives; i++) {
            const uint64_t bit = (uint64_t)1 << (i % 64);
            if (program_of(lane)->receive[stage->receive + i].peer != peer || !(ready->pending[i / 64] & bit))
                continue;
            plan->transport.cancel(plan->transport.context, plan->handle, receive_slot(plan, lane, ready->stage, i));
            ready->pending[i / 64] &= ~bit;
            ready->missing--;
        }
    }
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static char *address(const trv_plan_t *plan, const trv_lane_t *lane, const trv_extent_t *extent)
{
    if (extent->containers)
        return lane->base[TRV_AT_SCRATCH] + lane->sized->offset[extent->place.container];
    return trv_place_address(plan, lane, extent->place, extent->first);
}

static int post_receive(trv_plan_t *plan, trv_lane_t *lane, int slot, const trv_extent_t *receive, size_t bytes)
{
    const bool nowhere = !lane->base[receive->containers ? TRV_AT_SCRATCH : receive->place.base];
    if (plan->transport.port)
        plan->transport.port(plan->transport.context, plan->handle, receive->port);
    void *to = nowhere ? (void *)plan->nowhere : address(plan, lane, receive);
    return plan->transport.receive(plan->transport.context, plan->handle, slot, receive->peer, tag_of(plan, lane), to,
                                   nowhere ? 0 : bytes);
}

/* A copy that cannot fail, or a reduction that may. */
static void perform(trv_plan_t *plan, const trv_lane_t *lane, int first, int works)
{
    int rc = works && !plan->failure ? trv_perform(plan, lane, first, works) : 0;
    if (rc)
        trv_run_fail(plan, rc);
}

static void post_receives(trv_plan_t *plan, trv_lane_t *lane, int number)
{
    const trv_program_t *program = program_of(lane);
    const trv_stage_t *stage = &program->stage[number];
    trv_ready_t *ready = &lane->ready[number % 2];
    ready->generation = lane->generation;
    ready->stage = number;
    ready->missing = 0;
    for (int i = 0; i < stage->receives; i++) {
        const trv_extent_t *receive = &program->receive[stage->receive + i];
        const int slot = receive_slot(plan, lane, number, i);
        const size_t bytes = lane->sized->received[stage->receive + i];
        if (bytes == 0 || has_peer(lane->refused, lane->refusals, receive->peer))
            continue;
        int rc = post_receive(plan, lane, slot, receive, bytes);
        if (rc) { /* the message is due all the same: tries again before it is given up */
            trv_run_fail(plan, rc);
            rc = post_receive(plan, lane, slot, receive, bytes);
        }
        if (rc) {
            drop_peer(plan, lane, receive->peer);
            continue;
        }
        ready->pending[i / 64] |= (uint64_t)1 << (i % 64);
        ready->missing++;
    }
}

static void post_sends(trv_plan_t *plan, trv_lane_t *lane, const trv_stage_t *stage)
{
    for (int i = 0; i < stage->sends && !plan->failure; i++) {
        const trv_extent_t *send = &program_of(lane)->send[stage->send + i];
        const size_t bytes = lane->sized->sent[stage->send + i];
        int rc = 0;
        if (bytes) {
            perform(plan, lane, send->work, send->works);
            if (plan->transport.port)
                plan->transport.port(plan->transport.context, plan->handle, send->port);
            rc = plan->transport.send(plan->transport.context, plan->handle, slot_of(plan, lane, i), send->peer,
                                      tag_of(plan, lane), address(plan, lane, send), bytes);
        }
        if (rc) {
            trv_run_fail(plan, rc);
            return;
        }
        lane->posted++;
        if (bytes == 0)
            continue;
        lane->pending_send[i / 64] |= (uint64_t)1 << (i % 64);
        lane->sending++;
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

/* Makes the chunk the lane's present one, before its first stage. */
static void load_chunk(trv_plan_t *plan, trv_lane_t *lane, size_t chunk)
{
    const size_t offset = chunk * plan->chunk_elements * plan->element_size;
    lane->chunk = chunk;
    lane->sized = sized_of(plan, lane, chunk);
    lane->base[TRV_AT_INPUT] = plan->input ? (char *)plan->input + offset : NULL;
    lane->base[TRV_AT_OUTPUT] = plan->output ? plan->output + offset : NULL;
    lane->base[TRV_AT_SCRATCH] = plan->scratch ? plan->scratch + (size_t)lane->number * plan->lane_scratch_bytes : NULL;
    lane->stage = lane->posted = 0;
    lane->generation++;
}

/* The lane is done, unless there is somebody left to tell. */
static void end_lane(trv_plan_t *plan, trv_lane_t *lane)
{
    lane->done = lane->told_next == lane->tolds && lane->sending == 0;
    plan->unfinished -= lane->done;
}

/* Begins the lane's next chunk, or ends the lane; programs without stages are over at once. A chunk whose input is not
 * there yet is only loaded. */
static void begin_chunk(trv_plan_t *plan, trv_lane_t *lane, size_t chunk)
{
    for (; chunk < plan->chunks; chunk += (size_t)plan->window) {
        load_chunk(plan, lane, chunk);
        lane->hungry = !plan->failure && !trv_run_fed(plan, chunk);
        if (lane->hungry)
            return;
        if (program_of(lane)->stages) {
            enter_stage(plan, lane);
            return;
        }
        perform(plan, lane, program_of(lane)->tail, program_of(lane)->tails);
    }
    lane->over = true;
    end_lane(plan, lane);
}

void trv_run_start(trv_plan_t *plan, int failure)
{
    plan->unfinished = plan->lanes;
    plan->failure = 0;
    for (int i = 0; i < plan->lanes; i++) {
        trv_lane_t *lane = &plan->lane[i];
        lane->done = lane->over = false;
        lane->sending = lane->telling = lane->ready[0].missing = lane->ready[1].missing = 0;
        lane->refusals = lane->tolds = lane->told_next = 0;
        load_chunk(plan, lane, (size_t)(i / plan->streams));
    }
    if (failure)
        trv_run_fail(plan, failure);
    for (int i = 0; i < plan->lanes; i++)
        begin_chunk(plan, &plan->lane[i], plan->lane[i].chunk);
}

/* Tests the requests whose bits are set and clears those of the complete ones; `receives` of a stage, or else sends. */
static void poll_bits(trv_plan_t *plan, trv_lane_t *lane, uint64_t *bits, int *missing, int slot, int count,
                      const trv_extent_t *receives)
{
    const trv_transport_t *t = &plan->transport;
    for (int word = 0; *missing > 0 && word < (count + 63) / 64; word++)
        for (uint64_t left = bits[word]; left; left &= left - 1) {
            const int bit = __builtin_ctzll(left), i = 64 * word + bit;
            if (!(bits[word] >> bit & 1))
                continue; /* given up meanwhile */
            int rc = t->test(t->context, plan->handle, slot + i);
            if (rc == 0)
                continue;
            bits[word] &= ~((uint64_t)1 << bit);
            --*missing;
            if (!receives && lane->pending_told[word] >> bit & 1) {
                lane->pending_told[word] &= ~((uint64_t)1 << bit);
                lane->telling--;
            }
            if (receives && rc == TRV_REFUSED) {
                trv_run_fail(plan, trv_fail(TRV_ERR_TRANSPORT, "rank %d has given up: its part of the run failed",
                                            receives[i].peer));
                drop_peer(plan, lane, receives[i].peer);
            } else if (rc < 0) {
                trv_run_fail(plan, rc);
            }
        }
}

/* Polls sends, and tells who is to be told. */
static void poll_sends(trv_plan_t *plan, trv_lane_t *lane)
{
    if (lane->sending)
        poll_bits(plan, lane, lane->pending_send, &lane->sending, slot_of(plan, lane, 0), plan->lane_sends, NULL);
    if (lane->told_next < lane->tolds)
        tell(plan, lane);
}

/* Whether the stage's messages are complete. Who is told need not have taken it: it may come to that only later. */
static bool poll_stage(trv_plan_t *plan, trv_lane_t *lane, bool *moved)
{
    trv_ready_t *ready = &lane->ready[lane->stage % 2];
    const trv_stage_t *stage = &program_of(lane)->stage[lane->stage];
    const int before = ready->missing + lane->sending;
    assert(ready->stage == lane->stage && ready->generation == lane->generation);
    if (ready->missing)
        poll_bits(plan, lane, ready->pending, &ready->missing, receive_slot(plan, lane, lane->stage, 0),
                  plan->lane_receives, program_of(lane)->receive + stage->receive);
    poll_sends(plan, lane);
    *moved = *moved || ready->missing + lane->sending < before;
    return ready->missing == 0 && lane->sending == lane->telling;
}

static void finish_stage(trv_plan_t *plan, trv_lane_t *lane)
{
    const trv_program_t *program = program_of(lane);
    const trv_stage_t *stage = &program->stage[lane->stage];
    perform(plan, lane, stage->work, stage->works);
    lane->posted = 0;
    if (++lane->stage < program->stages) {
        enter_stage(plan, lane);
        return;
    }
    perform(plan, lane, program->tail, program->tails);
    begin_chunk(plan, lane, lane->chunk + (size_t)plan->window);
}

int trv_run_progress(trv_plan_t *plan, bool *moved)
{
    for (int i = 0; i < plan->lanes; i++) {
        trv_lane_t *lane = &plan->lane[i];
        if (!lane->over && lane->hungry && (plan->failure || trv_run_fed(plan, lane->chunk))) {
            begin_chunk(plan, lane, lane->chunk);
            *moved = true;
        }
        while (!lane->over && !lane->hungry && poll_stage(plan, lane, moved)) {
            finish_stage(plan, lane);
            *moved = true;
        }
        if (lane->over && !lane->done) {
            poll_sends(plan, lane);
            end_lane(plan, lane);
        }
    }
    if (plan->unfinished)
        return 0;
    return plan->failure ? trv_fail(plan->failure, "%s", plan->reason) : 1;
}

void trv_run_cancel(trv_plan_t *plan)
{
    const trv_transport_t *t = &plan->transport;
    for (int i = 0; i < plan->lanes; i++) {
        trv_lane_t *lane = &plan->lane[i];
        if (lane->done || !lane->sized)
            continue;
        for (int s = 0; s < plan->lane_sends; s++)
            if (lane->sending && lane->pending_send[s / 64] >> (s % 64) & 1)
                t->cancel(t->context, plan->handle, slot_of(plan, lane, s));
        for (int half = 0; half < 2; half++)
            for (int r = 0; r < plan->lane_receives; r++)
                if (lane->ready[half].missing && lane->ready[half].pending[r / 64] >> (r % 64) & 1)
                    t->cancel(t->context, plan->handle, receive_slot(plan, lane, half, r));
        lane->done = true;
    }
}
