/*
 * Decides where every value is stored, and writes the work descriptors, step by step in the order of time.
 *
 * - A contribution is read from the user's buffer, so the first messages are sent directly from there.
 * - Values of register 0 are stored in the output; all others in scratch.
 * - A message that is one contiguous extent of the output is received there. Every other message is received packed
 * into scratch and used from there; results in it are copied to the output after the sends of the next step are posted.
 * - A combine writes to the output if its result belongs there, otherwise over a source that is not needed any more,
 * otherwise to new scratch.
 *
 * Two rules always hold. A place is not written while a value in it is needed: `busy_until` has, per unit, the time
 * until which its place in the output is in use. And a plan is the same whether it runs in place or not: `busy_until`
 * always counts the input of a unit as a use of that place in the output that is the same memory when the plan runs in
 * place.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "execute/compile/group.h"
#include "execute/compile/program.h"
#include "base/array.h"

typedef struct placement {
    trv_program_t *program;
    trv_dataflow_t dataflow;
    trv_group_t group;
    trv_collective_t collective;
    int rank;
    int *busy_until; /* per class: the last tick, so far, at which its place in the output is needed */
    int64_t send_capacity, receive_capacity, container_capacity, area_capacity;
    trv_location_t *location; /* scratch buffer: the places of one class's sources */
    int64_t place_capacity;
} placement_t;

static const trv_location_t output = {TRV_AT_OUTPUT, -1};

static trv_value_t *list_value(const placement_t *p, int i) { return &p->dataflow.value[p->dataflow.list[i]]; }

static const trv_cover_t *cover_of(const placement_t *p, int cover) { return &p->dataflow.partition.cover[cover]; }

static int eqclass_product(const placement_t *p, int eqclass)
{
    return p->dataflow.partition.node[p->dataflow.partition.leaf[eqclass]].product;
}

static void place_in_output(placement_t *p, trv_value_t *value, int last)
{
    value->location = output;
    value->area = -1;
    if (p->busy_until[value->eqclass] < last)
        p->busy_until[value->eqclass] = last;
}

/* The tick at which the step after `step` communicates. */
static int next_tick(const placement_t *p, const trv_dataflow_step_t *step)
{
    const trv_dataflow_step_t *next = step + 1;
    return next < p->dataflow.step + p->dataflow.steps ? next->tick : p->dataflow.end;
}

/* Whether a cover is one run of positions that is also contiguous in the user's buffers. */
static bool is_contiguous(const placement_t *p, int cover, int64_t *first, int64_t *units)
{
    const trv_cover_t *c = cover_of(p, cover);
    return trv_space_run(&p->program->space, c->product, c->products, first, units) &&
           *first / p->dataflow.block == (*first + *units - 1) / p->dataflow.block;
}

/* ---- Scratch ----------------------------------------------------------------------------------------------------- */

static int area_create(placement_t *p, int begin, int end)
{
    trv_program_t *program = p->program;
    if (trv_array_reserve(&program->area, &p->area_capacity, program->areas, 1, sizeof *program->area))
        return TRV_ERR_MEMORY;
    program->area[program->areas] = (trv_area_t){begin, end, program->containers, 0};
    return program->areas++;
}

/* Adds a container at the end of the newest area. */
static int container_create(placement_t *p, int product, int products)
{
    trv_program_t *program = p->program;
    if (trv_array_reserve(&program->container, &p->container_capacity, program->containers, 1,
                          sizeof *program->container))
        return TRV_ERR_MEMORY;
    trv_container_t added = {.product = product, .products = products, .area = program->areas - 1};
    added.run = trv_space_run(&program->space, product, products, &added.first, &added.units);
    added.units = 0;
    for (int i = product; i < product + products; i++)
        added.units += trv_space_count(&program->space, i);
    program->container[program->containers] = added;
    program->area[added.area].containers++;
    return program->containers++;
}

static void area_extend(const placement_t *p, int area, int end)
{
    if (p->program->area[area].end < end)
        p->program->area[area].end = end;
}

/* ---- Receives ---------------------------------------------------------------------------------------------------- */

typedef enum fit { FIT_NEVER, FIT_LATER, FIT_NOW } fit_t;

/* Whether a message can be received into the output from tick `now` on. FIT_LATER: only places that are still in use
 * at that tick prevent it. */
static fit_t fits_output(const placement_t *p, const trv_dataflow_message_t *message, int now)
{
    const trv_dataflow_part_t *part = &p->dataflow.part[message->part];
    int64_t first, units;
    fit_t fit = FIT_NOW;
    if (message->parts > 1 || !is_contiguous(p, part->cover, &first, &units))
        return FIT_NEVER;
    for (int i = 0; i < part->values; i++) {
        const trv_value_t *value = list_value(p, part->value + i);
        if (!value->prefers_output)
            return FIT_NEVER;
        if (p->busy_until[value->eqclass] >= now)
            fit = FIT_LATER;
    }
    return fit;
}

/* Stores the message's values packed in a new area: one container per part. */
static int receive_packed(placement_t *p, const trv_dataflow_message_t *message, int now, int end)
{
    int area = area_create(p, now, end);
    for (int m = message->part; area >= 0 && m < message->part + message->parts; m++) {
        const trv_dataflow_part_t *part = &p->dataflow.part[m];
        const trv_cover_t *cover = cover_of(p, part->cover);
        int container = container_create(p, cover->product, cover->products);
        if (container < 0)
            return container;
        for (int i = 0; i < part->values; i++) {
            list_value(p, part->value + i)->area = area;
            list_value(p, part->value + i)->location = (trv_location_t){TRV_AT_SCRATCH, container};
        }
    }
    return area;
}

/* Places one received message, which is in flight from tick `now` to the step's own. */
static int place_receive(placement_t *p, const trv_dataflow_step_t *step, const trv_dataflow_message_t *message,
                         int now)
{
    trv_program_t *program = p->program;
    const trv_dataflow_part_t *part = &p->dataflow.part[message->part];
    int end = step->tick, later = next_tick(p, step);
    for (int m = 0; m < message->parts; m++)
        for (int i = 0; i < part[m].values; i++) {
            const trv_value_t *value = list_value(p, part[m].value + i);
            int last = value->final ? later : value->last; /* results are copied to the output in the next step */
            end = last > end ? last : end;
        }
    int rc = trv_array_reserve(&program->receive, &p->receive_capacity, program->receives, 1, sizeof *program->receive);
    if (rc)
        return rc;
    trv_extent_t receive = {.peer = message->peer, .port = message->port, .location = output};
    if (fits_output(p, message, now) == FIT_NOW) {
        is_contiguous(p, part->cover, &receive.first, &receive.units);
        for (int i = 0; i < part->values; i++) {
            trv_value_t *value = list_value(p, part->value + i);
            place_in_output(p, value, value->last > step->tick ? value->last : step->tick);
        }
    } else {
        receive.location = (trv_location_t){TRV_AT_SCRATCH, program->containers};
        receive.containers = message->parts;
        rc = receive_packed(p, message, now, end);
    }
    program->receive[program->receives++] = receive;
    return rc < 0 ? rc : 0;
}

static int place_receives(placement_t *p, const trv_dataflow_step_t *step, trv_stage_t *stage, int now)
{
    int rc = 0;
    stage->receive = p->program->receives;
    for (int i = 0; !rc && i < step->receives; i++)
        rc = place_receive(p, step, &p->dataflow.receive[step->receive + i], now);
    stage->receives = step->receives;
    return rc;
}

/* Whether the receives of a step are posted one step ahead: all or none, so that they are posted in the order of the
 * messages. They are not if one of them would have to be copied only because its place in the output is still in
 * use. */
static bool receives_early(const placement_t *p, const trv_dataflow_step_t *step, int now)
{
    for (int i = 0; i < step->receives; i++)
        if (fits_output(p, &p->dataflow.receive[step->receive + i], now) == FIT_LATER)
            return false;
    return true;
}

/* ---- Sends ------------------------------------------------------------------------------------------------------- */

/* The common place of all values of a part; false if they have several places. */
static bool common_location(const placement_t *p, const trv_dataflow_part_t *part, trv_location_t *location)
{
    *location = list_value(p, part->value)->location;
    for (int i = 1; i < part->values; i++) {
        const trv_location_t other = list_value(p, part->value + i)->location;
        if (other.base != location->base || other.container != location->container)
            return false;
    }
    return true;
}

/* Whether part m is exactly the m-th container from `container` on, in the same area. */
static bool is_container(const placement_t *p, const trv_dataflow_part_t *part, trv_location_t location, int container,
                         int m)
{
    const trv_program_t *program = p->program;
    const trv_cover_t *cover = cover_of(p, part->cover);
    int64_t units = 0;
    if (location.base != TRV_AT_SCRATCH || location.container != container + m ||
        program->container[location.container].area != program->container[container].area)
        return false;
    for (int i = 0; i < cover->products; i++)
        units += trv_space_count(&program->space, cover->product + i);
    return units == program->container[location.container].units;
}

/* Whether the message can be sent from the places of its values, without packing. If so, sets the extent. */
static bool find_extent(const placement_t *p, const trv_dataflow_message_t *message, trv_extent_t *send)
{
    const trv_dataflow_part_t *part = &p->dataflow.part[message->part];
    trv_location_t location;
    if (!common_location(p, part, &send->location))
        return false;
    if (message->parts == 1 && is_contiguous(p, part->cover, &send->first, &send->units) &&
        (send->location.base != TRV_AT_SCRATCH || p->program->container[send->location.container].run))
        return true;
    send->first = send->units = 0;
    send->containers = message->parts;
    for (int m = 0; m < message->parts; m++)
        if (!common_location(p, &part[m], &location) ||
            !is_container(p, &part[m], location, send->location.container, m))
            return false;
    return true;
}

/* Packs the message in a new area. */
static int pack_message(placement_t *p, const trv_dataflow_message_t *message, int now, trv_extent_t *send)
{
    trv_program_t *program = p->program;
    int rc = area_create(p, now, now);
    send->location = (trv_location_t){TRV_AT_SCRATCH, program->containers};
    send->containers = message->parts;
    send->work = program->works;
    for (int m = message->part; rc >= 0 && m < message->part + message->parts; m++) {
        const trv_dataflow_part_t *part = &p->dataflow.part[m];
        const trv_cover_t *cover = cover_of(p, part->cover);
        const trv_location_t to = {TRV_AT_SCRATCH, rc = container_create(p, cover->product, cover->products)};
        for (int i = 0; rc >= 0 && i < part->values; i++) {
            const trv_value_t *value = list_value(p, part->value + i);
            rc = trv_group_add(&p->group, value->eqclass, to, &value->location, 1);
        }
        if (rc >= 0)
            rc = trv_group_flush(&p->group, cover);
    }
    send->works = program->works - send->work;
    return rc < 0 ? rc : 0;
}

static int place_sends(placement_t *p, const trv_dataflow_step_t *step, trv_stage_t *stage)
{
    trv_program_t *program = p->program;
    int rc = 0;
    stage->send = program->sends;
    for (int i = 0; !rc && i < step->sends; i++) {
        const trv_dataflow_message_t *message = &p->dataflow.send[step->send + i];
        trv_extent_t send = {.peer = message->peer, .port = message->port};
        rc = trv_array_reserve(&program->send, &p->send_capacity, program->sends, 1, sizeof *program->send);
        if (!rc && !find_extent(p, message, &send))
            rc = pack_message(p, message, step->tick, &send);
        if (!rc)
            program->send[program->sends++] = send;
    }
    stage->sends = step->sends;
    return rc;
}

/* ---- Results that were received into scratch --------------------------------------------------------------------- */

/* Copies the results that the previous step received into scratch to the output, after the sends of this step are
 * posted. */
static int place_unpacks(placement_t *p, const trv_dataflow_step_t *before, trv_stage_t *stage, int now)
{
    int rc = 0;
    stage->unpack = p->program->works;
    for (int m = 0; !rc && m < before->receives; m++) {
        const trv_dataflow_message_t *message = &p->dataflow.receive[before->receive + m];
        for (int k = message->part; !rc && k < message->part + message->parts; k++) {
            const trv_dataflow_part_t *part = &p->dataflow.part[k];
            for (int i = 0; !rc && i < part->values; i++) {
                trv_value_t *value = list_value(p, part->value + i);
                const bool is_due = value->final && value->area >= 0;
                if (is_due &&
                    p->busy_until[value->eqclass] >= now) /* the place is in use: place_tail copies the value later */
                    area_extend(p, value->area, value->last);
                if (!is_due || p->busy_until[value->eqclass] >= now)
                    continue;
                rc = trv_group_add(&p->group, value->eqclass, output, &value->location, 1);
                place_in_output(p, value, value->last);
            }
            if (!rc)
                rc = trv_group_flush(&p->group, cover_of(p, part->cover));
        }
    }
    stage->unpacks = p->program->works - stage->unpack;
    return rc;
}

/* ---- Combines ---------------------------------------------------------------------------------------------------- */

/* Whether a source is stored at its unit's place in the output, or at a place in the input that is the same memory when
 * the plan runs in place. The result may then overwrite it. */
static bool is_in_output(const placement_t *p, const trv_value_t *source)
{
    const bool shared = p->collective == TRV_REDUCE_SCATTER
                            ? p->rank == 0
                            : p->dataflow.in[source->eqclass] && p->dataflow.out[source->eqclass];
    return source->location.base == TRV_AT_OUTPUT || (source->location.base == TRV_AT_INPUT && shared);
}

static trv_value_t *source_of(const placement_t *p, const trv_dataflow_combine_t *combine, int s, int i)
{
    return list_value(p, combine->source + s * combine->eqclasses + i);
}

/* Finds a place for result i that needs no new memory; false if there is none. */
static bool reuse_location(placement_t *p, const trv_dataflow_combine_t *combine, int i)
{
    trv_value_t *result = list_value(p, combine->result + i);
    bool replaces = false;
    for (int s = 0; s < combine->sources; s++)
        replaces = replaces || is_in_output(p, source_of(p, combine, s, i));
    int busy_until = result->prefers_output ? p->busy_until[result->eqclass] : 0;
    if (result->prefers_output && (busy_until < combine->tick || (busy_until == combine->tick && replaces))) {
        place_in_output(p, result, result->last);
        return true;
    }
    for (int s = 0; s < combine->sources; s++) {
        const trv_value_t *source = source_of(p, combine, s, i);
        if (source->area < 0 || source->last != combine->tick)
            continue;
        result->location = source->location;
        result->area = source->area;
        area_extend(p, result->area, result->last);
        return true;
    }
    return false;
}

static bool is_placed(const trv_value_t *result)
{
    return result->last < 0 || result->area >= 0 || result->location.base == TRV_AT_OUTPUT;
}

/* Adds a container for the next `remaining` results without a place, from number i on. */
static int pack_some_results(placement_t *p, const trv_dataflow_combine_t *combine, int i, int remaining)
{
    trv_space_t *space = &p->program->space;
    const int product = space->products;
    for (; i < combine->eqclasses && remaining > 0; i++) {
        const trv_value_t *result = list_value(p, combine->result + i);
        if (is_placed(result))
            continue;
        if (trv_space_add(space, space->id + (size_t)eqclass_product(p, result->eqclass) * (size_t)space->axes) < 0)
            return TRV_ERR_MEMORY;
        remaining--;
    }
    return container_create(p, product, space->products - product);
}

/* Packs the results without a place into containers: into one if they are few products, otherwise a few results into
 * each. */
static int pack_results(placement_t *p, const trv_dataflow_combine_t *combine)
{
    trv_space_t *space = &p->program->space;
    const int product = space->products;
    int rc = 0, container = -1, remaining = 0;
    for (int i = 0; !rc && i < combine->eqclasses; i++)
        if (!is_placed(list_value(p, combine->result + i)))
            rc = trv_group_add(&p->group, list_value(p, combine->result + i)->eqclass, output, &output, 1);
    int products = rc ? rc : trv_group_products(&p->group, cover_of(p, combine->cover));
    const bool single = products <= TRV_CONTAINER_PRODUCTS_MAX;
    if (products < 0)
        return products;
    if (!single)
        space->products = product;
    for (int i = 0; i < combine->eqclasses; i++) {
        trv_value_t *result = list_value(p, combine->result + i);
        if (is_placed(result))
            continue;
        if (container < 0 || (!single && remaining == 0)) {
            remaining = TRV_CONTAINER_PRODUCTS_MAX;
            container = single ? container_create(p, product, products) : pack_some_results(p, combine, i, remaining);
        }
        if (container < 0)
            return container;
        remaining--;
        result->area = p->program->areas - 1;
        result->location = (trv_location_t){TRV_AT_SCRATCH, container};
    }
    return 0;
}

/* Places the results of a combine. Those that need new scratch share one area. */
static int place_results(placement_t *p, const trv_dataflow_combine_t *combine)
{
    bool needs_scratch = false;
    int end = combine->tick;
    for (int i = 0; i < combine->eqclasses; i++) {
        trv_value_t *result = list_value(p, combine->result + i);
        if (result->last < 0 || reuse_location(p, combine, i))
            continue;
        needs_scratch = true;
        end = result->last > end ? result->last : end;
    }
    if (!needs_scratch)
        return 0;
    int rc = area_create(p, combine->tick, end);
    return rc < 0 ? rc : pack_results(p, combine);
}

static int place_combine(placement_t *p, const trv_dataflow_combine_t *combine)
{
    int rc = place_results(p, combine);
    if (!rc)
        rc = trv_array_reserve(&p->location, &p->place_capacity, 0, combine->sources, sizeof *p->location);
    for (int i = 0; !rc && i < combine->eqclasses; i++) {
        const trv_value_t *result = list_value(p, combine->result + i);
        if (result->last < 0)
            continue; /* the result is never used */
        for (int s = 0; s < combine->sources; s++)
            p->location[s] = source_of(p, combine, s, i)->location;
        rc = trv_group_add(&p->group, result->eqclass, result->location, p->location, combine->sources);
    }
    return rc ? rc : trv_group_flush(&p->group, cover_of(p, combine->cover));
}

/* ---- The steps in time ------------------------------------------------------------------------------------------- */

static int place_step(placement_t *p, int k)
{
    const trv_dataflow_step_t *step = &p->dataflow.step[k];
    trv_stage_t *stage = &p->program->stage[k];
    int rc = 0;
    stage->step = step->step;
    if (!stage->early)
        rc = place_receives(p, step, stage, step->tick);
    if (!rc)
        rc = place_sends(p, step, stage);
    if (!rc && k + 1 < p->dataflow.steps && receives_early(p, step + 1, step->tick)) {
        stage[1].early = true;
        rc = place_receives(p, step + 1, stage + 1, step->tick);
    }
    if (!rc && k > 0)
        rc = place_unpacks(p, step - 1, stage, step->tick);
    stage->work = p->program->works;
    for (int i = 0; !rc && i < step->combines; i++)
        if (p->dataflow.combine[step->combine + i].sources > 1)
            rc = place_combine(p, &p->dataflow.combine[step->combine + i]);
    stage->works = p->program->works - stage->work;
    return rc;
}

/* Copies the results that are not in the output yet, after all steps. */
static int place_tail(placement_t *p)
{
    trv_program_t *program = p->program;
    int rc = 0;
    program->tail = program->works;
    for (int eqclass = 0; !rc && eqclass < p->dataflow.partition.eqclasses; eqclass++) {
        const int value = p->dataflow.result[eqclass];
        if (value >= 0 && p->dataflow.value[value].location.base != TRV_AT_OUTPUT)
            rc = trv_group_add(&p->group, eqclass, output, &p->dataflow.value[value].location, 1);
    }
    if (!rc)
        rc = trv_group_flush(&p->group, cover_of(p, p->dataflow.all_units));
    program->tails = program->works - program->tail;
    return rc;
}

/* Marks as used those places in the output that are the memory of contributions when the plan runs in place. In a
 * Reduce-Scatter in place, the output is block 0 of the input; otherwise a contribution and the result of the same unit
 * have the same place. An All-to-All in place reads a copy of the input. */
static int place_contributions(placement_t *p)
{
    const int eqclasses = p->dataflow.partition.eqclasses;
    int first = -1;
    p->busy_until = malloc((size_t)eqclasses * sizeof *p->busy_until);
    if (!p->busy_until)
        return trv_fail_memory();
    for (int eqclass = 0; eqclass < eqclasses; eqclass++)
        p->busy_until[eqclass] = -1;
    for (int v = 0; p->collective != TRV_ALLTOALL && v < p->dataflow.contributions; v++) {
        const trv_value_t *value = &p->dataflow.value[v];
        p->busy_until[value->eqclass] = value->last;
        if (trv_space_first(&p->program->space, eqclass_product(p, value->eqclass)) < p->dataflow.block &&
            value->last > first)
            first = value->last;
    }
    for (int eqclass = 0; p->collective == TRV_REDUCE_SCATTER && p->rank != 0 && eqclass < eqclasses; eqclass++)
        p->busy_until[eqclass] = p->dataflow.out[eqclass] ? first : -1;
    return 0;
}

int trv_program_compile(trv_program_t *program, const trv_schedule_t *schedule, int rank, int stream)
{
    placement_t p = {.program = program, .rank = rank, .collective = trv_schedule_collective(schedule)};
    memset(program, 0, sizeof *program);
    int rc = trv_dataflow_create(&p.dataflow, &program->space, schedule, rank, stream);
    if (!rc)
        rc = trv_group_create(&p.group, program, &p.dataflow.partition);
    if (!rc)
        rc = place_contributions(&p);
    if (!rc && !(program->stage = calloc((size_t)p.dataflow.steps + 1, sizeof *program->stage)))
        rc = trv_fail_memory();
    if (!rc) {
        program->stages = p.dataflow.steps;
        program->block = p.dataflow.block;
        program->weight = trv_schedule_weight(schedule, stream);
        program->weights = trv_schedule_weights(schedule, trv_schedule_streams(schedule));
        program->weights_before = trv_schedule_weights(schedule, stream);
    }
    for (int k = 0; !rc && k < p.dataflow.steps; k++)
        rc = place_step(&p, k);
    if (!rc)
        rc = place_tail(&p);
    if (!rc) {
        trv_program_measure(program);
        rc = trv_program_unroll(program);
    }
    trv_sets_end(&program->space.sets);
    trv_group_clear(&p.group);
    trv_dataflow_clear(&p.dataflow);
    free(p.busy_until);
    free(p.location);
    if (rc)
        trv_program_clear(program);
    return rc;
}
