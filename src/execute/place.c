/*
 * Decides where every value lies and writes the work descriptors, going through the steps in time.
 *
 * - A contribution is read where the user has it, so the first messages leave straight from the send buffer.
 * - Values of register 0 belong into the output; everything else lies in scratch.
 * - A message of one contiguous extent of the output is received there. Any other is received packed into scratch and
 *   used from there; results among it are copied to the output when the next step's messages are on their way.
 * - A combine writes to the output if that is where its result belongs, else over a source that nobody needs any more,
 *   else to new scratch.
 *
 * Two things never happen. A place is not written while a value in it is needed: `busy` keeps, per unit, until when its
 * place in the output is. And the plan does not care whether it runs in place: for `busy` a unit's input occupies the
 * output that it shares memory with when it does.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "execute/program.h"
#include "execute/scratch.h"

typedef struct placing {
    trv_program_t *program;
    const trv_layout_t *layout;
    trv_flow_t *flow;
    trv_scratch_t scratch;
    int *busy; /* by unit: last tick in which its place in the output is needed so far */
    size_t element_size;
    int stage_room, send_room, receive_room, copy_room, work_room, source_room;
} placing_t;

static trv_value_t *listed(const placing_t *p, int i)
{
    return &p->flow->value[p->flow->list[i]];
}

static size_t bytes_of(const placing_t *p, const trv_value_t *value)
{
    return p->layout->bytes[value->unit];
}

static trv_place_t home_of(const placing_t *p, const trv_value_t *value)
{
    return (trv_place_t){ TRV_AT_OUTPUT, p->layout->output[value->unit] };
}

static bool same_place(trv_place_t a, trv_place_t b)
{
    return a.base == b.base && a.offset == b.offset;
}

static bool follows(trv_place_t first, size_t bytes, trv_place_t second)
{
    return first.base == second.base && first.offset + bytes == second.offset;
}

static void settle_home(placing_t *p, trv_value_t *value, int last)
{
    value->place = home_of(p, value);
    value->area = -1;
    if (p->busy[value->unit] < last)
        p->busy[value->unit] = last;
}

/* The tick at which the step after `step` communicates. */
static int next_tick(const placing_t *p, const trv_flow_step_t *step)
{
    const trv_flow_step_t *next = step + 1;
    return next < p->flow->step + p->flow->steps ? next->tick : p->flow->end;
}

static int add_copy(placing_t *p, int first, trv_place_t to, trv_place_t from, size_t bytes)
{
    trv_program_t *program = p->program;
    if (program->copies > first) {
        trv_copy_t *last = &program->copy[program->copies - 1];
        if (follows(last->to, last->bytes, to) && follows(last->from, last->bytes, from)) {
            last->bytes += bytes;
            return 0;
        }
    }
    int rc = trv_room(&program->copy, &p->copy_room, program->copies, 1, sizeof *program->copy);
    if (!rc)
        program->copy[program->copies++] = (trv_copy_t){ to, from, bytes };
    return rc;
}

/* ---- Receives ---------------------------------------------------------------------------------------------------- */

typedef enum fit { FITS_NOT, FITS_LATER, FITS } fit_t;

/* Whether a message can be received into the output from tick `now` on: FITS_LATER if only busy places are in the way
 * now. */
static fit_t fits_output(const placing_t *p, const trv_flow_message_t *message, int now)
{
    fit_t fit = FITS;
    for (int i = 0; i < message->values; i++) {
        const trv_value_t *value = listed(p, message->value + i);
        if (!value->home)
            return FITS_NOT;
        if (i > 0) {
            const trv_value_t *before = listed(p, message->value + i - 1);
            if (!follows(home_of(p, before), bytes_of(p, before), home_of(p, value)))
                return FITS_NOT;
        }
        if (p->busy[value->unit] >= now)
            fit = FITS_LATER;
    }
    return fit;
}

/* Places one received message, which is on its way from tick `now` to the step's own. */
static int place_receive(placing_t *p, const trv_flow_step_t *step, const trv_flow_message_t *message, int now)
{
    trv_program_t *program = p->program;
    size_t bytes = 0;
    int end = step->tick, later = next_tick(p, step);
    for (int i = 0; i < message->values; i++) {
        const trv_value_t *value = listed(p, message->value + i);
        bytes += bytes_of(p, value);
        int last = value->final ? later : value->last; /* results move to the output in the next step */
        end = last > end ? last : end;
    }
    int rc = trv_room(&program->receive, &p->receive_room, program->receives, 1, sizeof *program->receive);
    if (rc)
        return rc;
    trv_place_t place = home_of(p, listed(p, message->value));
    if (fits_output(p, message, now) == FITS) {
        for (int i = 0; i < message->values; i++) {
            trv_value_t *value = listed(p, message->value + i);
            settle_home(p, value, value->last > step->tick ? value->last : step->tick);
        }
    } else {
        int area = trv_scratch_take(&p->scratch, bytes, now, end);
        if (area < 0)
            return area;
        place = (trv_place_t){ TRV_AT_SCRATCH, p->scratch.area[area].offset };
        size_t offset = place.offset;
        for (int i = 0; i < message->values; i++) {
            trv_value_t *value = listed(p, message->value + i);
            value->area = area;
            value->place = (trv_place_t){ TRV_AT_SCRATCH, offset };
            offset += bytes_of(p, value);
        }
    }
    program->receive[program->receives++] = (trv_extent_t){ message->peer, place, bytes, 0, 0 };
    return 0;
}

static int place_receives(placing_t *p, const trv_flow_step_t *step, trv_stage_t *stage, int now)
{
    int rc = 0;
    stage->receive = p->program->receives;
    for (int i = 0; !rc && i < step->receives; i++)
        rc = place_receive(p, step, &p->flow->receive[step->receive + i], now);
    stage->receives = step->receives;
    return rc;
}

/* A step's receives are posted one step ahead, all or none (so that they are posted in the order of the messages):
 * none if one of them would have to be copied only because its place in the output is still in use. */
static bool receives_early(const placing_t *p, const trv_flow_step_t *step, int now)
{
    for (int i = 0; i < step->receives; i++)
        if (fits_output(p, &p->flow->receive[step->receive + i], now) == FITS_LATER)
            return false;
    return true;
}

/* ---- Sends ------------------------------------------------------------------------------------------------------- */

static int place_send(placing_t *p, const trv_flow_message_t *message, int now)
{
    trv_program_t *program = p->program;
    size_t bytes = 0;
    bool contiguous = true;
    for (int i = 0; i < message->values; i++) {
        const trv_value_t *value = listed(p, message->value + i);
        if (i > 0) {
            const trv_value_t *before = listed(p, message->value + i - 1);
            contiguous = contiguous && follows(before->place, bytes_of(p, before), value->place);
        }
        bytes += bytes_of(p, value);
    }
    int rc = trv_room(&program->send, &p->send_room, program->sends, 1, sizeof *program->send);
    trv_extent_t send = { message->peer, listed(p, message->value)->place, bytes, program->copies, 0 };
    if (!rc && !contiguous) {
        int area = trv_scratch_take(&p->scratch, bytes, now, now);
        if (area < 0)
            return area;
        send.place = (trv_place_t){ TRV_AT_SCRATCH, p->scratch.area[area].offset };
        trv_place_t to = send.place;
        for (int i = 0; !rc && i < message->values; i++) {
            const trv_value_t *value = listed(p, message->value + i);
            rc = add_copy(p, send.copy, to, value->place, bytes_of(p, value));
            to.offset += bytes_of(p, value);
        }
        send.copies = program->copies - send.copy;
    }
    if (!rc)
        program->send[program->sends++] = send;
    program->bytes_sent += bytes;
    return rc;
}

static int place_sends(placing_t *p, const trv_flow_step_t *step, trv_stage_t *stage)
{
    int rc = 0;
    stage->send = p->program->sends;
    for (int i = 0; !rc && i < step->sends; i++)
        rc = place_send(p, &p->flow->send[step->send + i], step->tick);
    stage->sends = step->sends;
    return rc;
}

/* ---- Results that were received into scratch --------------------------------------------------------------------- */

/* Copies the results that the step before received into scratch to the output, once this step's sends are posted. */
static int place_unpacks(placing_t *p, const trv_flow_step_t *before, trv_stage_t *stage, int now)
{
    int rc = 0;
    stage->unpack = p->program->copies;
    for (int m = 0; m < before->receives; m++) {
        const trv_flow_message_t *message = &p->flow->receive[before->receive + m];
        for (int i = 0; !rc && i < message->values; i++) {
            trv_value_t *value = listed(p, message->value + i);
            if (!value->final || value->area < 0)
                continue;
            if (p->busy[value->unit] >= now) { /* its place is needed: at the very end, then */
                trv_scratch_extend(&p->scratch, value->area, value->last);
                continue;
            }
            rc = add_copy(p, stage->unpack, home_of(p, value), value->place, bytes_of(p, value));
            settle_home(p, value, value->last);
        }
    }
    stage->unpacks = p->program->copies - stage->unpack;
    return rc;
}

/* ---- Combines ---------------------------------------------------------------------------------------------------- */

/* Whether source value and result may share the output's place: the source is there, in place or not. */
static bool lies_at_home(const placing_t *p, const trv_value_t *source)
{
    return source->place.base == TRV_AT_OUTPUT ||
           (source->place.base == TRV_AT_INPUT && p->layout->shared[source->unit] == source->unit);
}

/* Finds a place for result i that needs no new memory; false if there is none. */
static bool reuse_place(placing_t *p, const trv_flow_combine_t *combine, int i)
{
    trv_value_t *result = listed(p, combine->result + i);
    bool replaces = false;
    for (int s = 0; s < combine->sources; s++)
        replaces = replaces || lies_at_home(p, listed(p, combine->source + s * combine->units + i));
    int busy = result->home ? p->busy[result->unit] : 0;
    if (result->home && (busy < combine->tick || (busy == combine->tick && replaces))) {
        settle_home(p, result, result->last);
        return true;
    }
    for (int s = 0; s < combine->sources; s++) {
        const trv_value_t *source = listed(p, combine->source + s * combine->units + i);
        if (source->area < 0 || source->last != combine->tick)
            continue;
        result->place = source->place;
        result->area = source->area;
        trv_scratch_extend(&p->scratch, result->area, result->last);
        return true;
    }
    return false;
}

/* Places the results of a combine; those that need new scratch get one area, in order. */
static int place_results(placing_t *p, const trv_flow_combine_t *combine)
{
    size_t bytes = 0;
    int end = combine->tick;
    for (int i = 0; i < combine->units; i++) {
        trv_value_t *result = listed(p, combine->result + i);
        if (result->last < 0 || reuse_place(p, combine, i))
            continue;
        bytes += bytes_of(p, result);
        end = result->last > end ? result->last : end;
    }
    if (!bytes)
        return 0;
    int area = trv_scratch_take(&p->scratch, bytes, combine->tick, end);
    if (area < 0)
        return area;
    size_t offset = p->scratch.area[area].offset;
    for (int i = 0; i < combine->units; i++) {
        trv_value_t *result = listed(p, combine->result + i);
        if (result->last < 0 || result->area >= 0 || result->place.base == TRV_AT_OUTPUT)
            continue;
        result->area = area;
        result->place = (trv_place_t){ TRV_AT_SCRATCH, offset };
        offset += bytes_of(p, result);
    }
    return 0;
}

/* Whether unit i continues the last descriptor: destination and all sources follow on. */
static bool continues(const placing_t *p, const trv_flow_combine_t *combine, int i)
{
    const trv_program_t *program = p->program;
    const trv_work_t *work = &program->work[program->works - 1];
    size_t bytes = work->count * p->element_size;
    bool yes = follows(work->to, bytes, listed(p, combine->result + i)->place);
    for (int s = 0; yes && s < combine->sources; s++)
        yes = follows(program->source[work->source + s], bytes,
                      listed(p, combine->source + s * combine->units + i)->place);
    return yes;
}

static int place_combine(placing_t *p, const trv_flow_combine_t *combine)
{
    trv_program_t *program = p->program;
    const int first = program->works;
    int rc = place_results(p, combine);
    for (int i = 0; !rc && i < combine->units; i++) {
        const trv_value_t *result = listed(p, combine->result + i);
        if (result->last < 0)
            continue; /* nobody ever asks for it */
        size_t count = bytes_of(p, result) / p->element_size;
        if (program->works > first && continues(p, combine, i)) {
            program->work[program->works - 1].count += count;
            continue;
        }
        rc = trv_room(&program->work, &p->work_room, program->works, 1, sizeof *program->work);
        if (!rc)
            rc = trv_room(&program->source, &p->source_room, program->sources, combine->sources,
                          sizeof *program->source);
        if (rc)
            break;
        program->work[program->works++] =
            (trv_work_t){ result->place, program->sources, combine->sources, count };
        for (int s = 0; s < combine->sources; s++)
            program->source[program->sources++] = listed(p, combine->source + s * combine->units + i)->place;
    }
    return rc;
}

/* ---- The steps in time ------------------------------------------------------------------------------------------- */

static int place_step(placing_t *p, int k)
{
    const trv_flow_step_t *step = &p->flow->step[k];
    trv_stage_t *stage = &p->program->stage[k];
    int rc = 0;
    stage->step = step->step;
    if (!stage->early)
        rc = place_receives(p, step, stage, step->tick);
    if (!rc)
        rc = place_sends(p, step, stage);
    if (!rc && k + 1 < p->flow->steps && receives_early(p, step + 1, step->tick)) {
        stage[1].early = true;
        rc = place_receives(p, step + 1, stage + 1, step->tick);
    }
    if (!rc && k > 0)
        rc = place_unpacks(p, step - 1, stage, step->tick);
    stage->work = p->program->works;
    for (int i = 0; !rc && i < step->combines; i++)
        rc = place_combine(p, &p->flow->combine[step->combine + i]);
    stage->works = p->program->works - stage->work;
    return rc;
}

/* What is not in the output yet goes there in the end. */
static int place_tail(placing_t *p)
{
    trv_program_t *program = p->program;
    int rc = 0;
    program->tail = program->copies;
    for (int64_t i = 0; !rc && i < p->layout->units; i++) {
        int64_t unit = p->layout->order[i];
        int value = p->flow->result[unit];
        if (value >= 0 && !same_place(p->flow->value[value].place, home_of(p, &p->flow->value[value])))
            rc = add_copy(p, program->tail, home_of(p, &p->flow->value[value]), p->flow->value[value].place,
                          p->layout->bytes[unit]);
    }
    program->tails = program->copies - program->tail;
    return rc;
}

/* The contributions occupy the output where they would in place. */
static int place_contributions(placing_t *p)
{
    const int64_t units = p->layout->units;
    int *last = malloc((size_t)units * sizeof *last);
    p->busy = malloc((size_t)units * sizeof *p->busy);
    if (!last || !p->busy) {
        free(last);
        return trv_fail_memory();
    }
    for (int64_t u = 0; u < units; u++)
        last[u] = -1;
    for (int v = 0; v < p->flow->contributions; v++)
        last[p->flow->value[v].unit] = p->flow->value[v].last;
    for (int64_t u = 0; u < units; u++)
        p->busy[u] = p->layout->shared[u] >= 0 ? last[p->layout->shared[u]] : -1;
    free(last);
    return 0;
}

static void measure(trv_program_t *program)
{
    for (int k = 0; k < program->stages; k++) {
        const trv_stage_t *stage = &program->stage[k];
        if (stage->sends > program->stage_sends)
            program->stage_sends = stage->sends;
        if (stage->receives > program->stage_receives)
            program->stage_receives = stage->receives;
    }
}

int trv_program_compile(trv_program_t *program, const trv_shape_t *shape)
{
    trv_layout_t layout = { 0 };
    trv_flow_t flow = { 0 };
    placing_t p = { .program = program, .layout = &layout, .flow = &flow, .element_size = shape->element_size };
    memset(program, 0, sizeof *program);
    int rc = trv_layout_make(&layout, shape);
    if (!rc)
        rc = trv_flow_make(&flow, shape, &layout);
    if (!rc)
        rc = place_contributions(&p);
    if (!rc && !(program->stage = calloc((size_t)flow.steps + 1, sizeof *program->stage)))
        rc = trv_fail_memory();
    if (!rc)
        program->stages = flow.steps;
    for (int k = 0; !rc && k < flow.steps; k++)
        rc = place_step(&p, k);
    if (!rc)
        rc = place_tail(&p);
    measure(program);
    program->scratch_bytes = p.scratch.bytes;
    trv_scratch_clear(&p.scratch);
    free(p.busy);
    trv_flow_clear(&flow);
    trv_layout_clear(&layout);
    if (rc)
        trv_program_clear(program);
    return rc;
}

void trv_program_clear(trv_program_t *program)
{
    free(program->stage);
    free(program->send);
    free(program->receive);
    free(program->copy);
    free(program->work);
    free(program->source);
    memset(program, 0, sizeof *program);
}
