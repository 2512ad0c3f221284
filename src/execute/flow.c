/*
 * Follows the values of one rank through the steps of a stream.
 *
 * A register's unit holds a value; a received unit and a combined unit are new values, a copy (a combine of one source)
 * only lets another register hold the same one and costs nothing. Units without elements are left out everywhere: both
 * sides of a message leave out the same ones. A message carries its parts one after the other, each in the order of
 * positions, which is contiguous in memory more often than the order of units.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "execute/program.h"

int trv_room(void *array, int *room, int count, int more, size_t size)
{
    if (more <= *room - count)
        return 0;
    if (more > INT32_MAX / 2 - count)
        return trv_fail_memory();
    int wanted = *room * 2 > count + more ? *room * 2 : count + more + 8;
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, (size_t)wanted * size);
    if (!grown)
        return trv_fail_memory();
    memcpy(array, &grown, sizeof grown);
    *room = wanted;
    return 0;
}

/* What the functions below share. */
typedef struct walk {
    trv_flow_t *flow;
    const trv_shape_t *shape;
    const trv_layout_t *layout;
    int registers, tick, step;
    int *bound;      /* [register][unit]: the value held, or -1 */
    int64_t *units;  /* a list of units being looked at */
    int64_t room;    /* of it */
} walk_t;

static int new_value(walk_t *walk, int64_t unit)
{
    trv_flow_t *flow = walk->flow;
    if (trv_room(&flow->value, &flow->value_room, flow->values, 1, sizeof *flow->value))
        return TRV_ERR_MEMORY;
    flow->value[flow->values] = (trv_value_t){ .unit = unit, .last = -1, .area = -1 };
    return flow->values++;
}

static int append(walk_t *walk, int value)
{
    trv_flow_t *flow = walk->flow;
    if (trv_room(&flow->list, &flow->list_room, flow->listed, 1, sizeof *flow->list))
        return TRV_ERR_MEMORY;
    flow->list[flow->listed++] = value;
    return 0;
}

static int *holder(walk_t *walk, int reg, int64_t unit)
{
    return &walk->bound[(size_t)reg * (size_t)walk->layout->units + (size_t)unit];
}

static void bind(walk_t *walk, int reg, int64_t unit, int value)
{
    *holder(walk, reg, unit) = value;
    if (reg == 0 && walk->layout->output[unit] != TRV_NOWHERE)
        walk->flow->value[value].home = true;
}

/* The value that a register's unit holds, used now; negative if there is none. */
static int use(walk_t *walk, int reg, int64_t unit)
{
    int value = *holder(walk, reg, unit);
    if (value < 0)
        return trv_fail(TRV_ERR_INVALID, "'%s': in step %d of stream %d, rank %d uses unit %lld of register %d before "
                        "anything is in it", trv_schedule_name(walk->shape->schedule), walk->step, walk->shape->stream,
                        walk->shape->rank, (long long)unit, reg);
    walk->flow->value[value].last = walk->tick;
    return value;
}

static int check_register(const walk_t *walk, int64_t reg)
{
    if (reg >= 0 && reg < walk->registers)
        return 0;
    return trv_fail(TRV_ERR_INVALID, "'%s': step %d of stream %d names register %lld of rank %d; it has registers 0 "
                    "… %d", trv_schedule_name(walk->shape->schedule), walk->step, walk->shape->stream, (long long)reg,
                    walk->shape->rank, walk->registers - 1);
}

/* Lists a set's members in walk->units; returns how many. */
static int64_t list_set(walk_t *walk, const trv_blocks_t *blocks)
{
    int64_t count = trv_blocks_count(blocks);
    if (count > walk->room) {
        int64_t *grown = realloc(walk->units, (size_t)count * sizeof *grown);
        if (!grown)
            return trv_fail_memory();
        walk->units = grown;
        walk->room = count;
    }
    trv_blocks_list(blocks, walk->units);
    return count;
}

static int ascending(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

/* Lists a set of units in the order of their positions, without the empty ones. */
static int64_t list_units(walk_t *walk, const trv_blocks_t *blocks)
{
    const trv_layout_t *layout = walk->layout;
    int64_t count = list_set(walk, blocks), kept = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t unit = walk->units[i];
        if (unit >= layout->units)
            return trv_fail(TRV_ERR_INVALID, "'%s' names unit %lld of %lld", trv_schedule_name(walk->shape->schedule),
                            (long long)unit, (long long)layout->units);
        if (layout->bytes[unit])
            walk->units[kept++] = layout->position[unit];
    }
    if (count < 0)
        return count;
    qsort(walk->units, (size_t)kept, sizeof *walk->units, ascending);
    for (int64_t i = 0; i < kept; i++)
        walk->units[i] = layout->order[walk->units[i]];
    return kept;
}

/* One unit of a message: sent from where it is, or received as a new value. */
static int carry(walk_t *walk, int reg, int64_t unit, bool receive)
{
    int value = receive ? new_value(walk, unit) : use(walk, reg, unit);
    if (value < 0)
        return value;
    if (receive)
        bind(walk, reg, unit, value);
    return append(walk, value);
}

static int carry_registers(walk_t *walk, const trv_part_t *part, bool receive)
{
    const trv_layout_t *layout = walk->layout;
    int64_t count = list_set(walk, &part->blocks);
    int rc = count < 0 ? (int)count : 0;
    for (int64_t i = 0; !rc && i < count; i++) {
        int64_t reg = part->reg + walk->units[i];
        rc = check_register(walk, reg);
        for (int64_t p = 0; !rc && p < layout->units; p++)
            if (layout->bytes[layout->order[p]])
                rc = carry(walk, (int)reg, layout->order[p], receive);
    }
    return rc;
}

static int carry_units(walk_t *walk, const trv_part_t *part, bool receive)
{
    int rc = check_register(walk, part->reg);
    int64_t count = rc ? 0 : list_units(walk, &part->blocks);
    if (count < 0)
        rc = (int)count;
    for (int64_t i = 0; !rc && i < count; i++)
        rc = carry(walk, part->reg, walk->units[i], receive);
    return rc;
}

/* Adds a message to the sends or the receives, unless it is empty. */
static int add_message(walk_t *walk, const trv_message_t *message, bool receive)
{
    trv_flow_t *flow = walk->flow;
    trv_flow_message_t **messages = receive ? &flow->receive : &flow->send;
    int *count = receive ? &flow->receives : &flow->sends, first = flow->listed;
    int rc = trv_room(messages, receive ? &flow->receive_room : &flow->send_room, *count, 1, sizeof **messages);
    for (int p = 0; !rc && p < message->parts; p++)
        rc = message->part[p].slots ? carry_registers(walk, &message->part[p], receive)
                                    : carry_units(walk, &message->part[p], receive);
    if (!rc && flow->listed > first)
        (*messages)[(*count)++] = (trv_flow_message_t){ message->peer, first, flow->listed - first };
    return rc;
}

static int combine_source(const trv_combine_t *combine, int s)
{
    return combine->source ? combine->source[s] : combine->first + s;
}

/* A copy makes the destination hold the source's values. */
static int copy_values(walk_t *walk, const trv_combine_t *combine, int64_t count)
{
    int source = combine_source(combine, 0);
    for (int64_t i = 0; i < count; i++) {
        int value = *holder(walk, source, walk->units[i]);
        if (value < 0)
            return use(walk, source, walk->units[i]);
        bind(walk, combine->dst, walk->units[i], value);
    }
    return 0;
}

static int add_combine(walk_t *walk, const trv_combine_t *combine)
{
    trv_flow_t *flow = walk->flow;
    int rc = check_register(walk, combine->dst);
    for (int s = 0; !rc && s < combine->sources; s++)
        rc = check_register(walk, combine_source(combine, s));
    int64_t count = rc ? rc : list_units(walk, &combine->blocks);
    if (count <= 0)
        return (int)count;
    if (combine->sources == 1)
        return copy_values(walk, combine, count);
    rc = trv_room(&flow->combine, &flow->combine_room, flow->combines, 1, sizeof *flow->combine);
    trv_flow_combine_t added = { walk->tick, (int)count, 0, flow->listed, combine->sources };
    for (int s = 0; !rc && s < combine->sources; s++)
        for (int64_t i = 0; !rc && i < count; i++) {
            int value = use(walk, combine_source(combine, s), walk->units[i]);
            rc = value < 0 ? value : append(walk, value);
        }
    added.result = flow->listed;
    for (int64_t i = 0; !rc && i < count; i++)
        rc = carry(walk, combine->dst, walk->units[i], true);
    if (!rc) {
        flow->combine[flow->combines++] = added;
        walk->tick++;
    }
    return rc;
}

static int add_step(walk_t *walk, const trv_step_t *step)
{
    trv_flow_t *flow = walk->flow;
    int rc = trv_room(&flow->step, &flow->step_room, flow->steps, 1, sizeof *flow->step);
    trv_flow_step_t added = { .step = walk->step, .tick = walk->tick, .send = flow->sends, .receive = flow->receives,
                              .combine = flow->combines };
    for (int i = 0; !rc && i < step->sends; i++)
        rc = add_message(walk, &step->send[i], false);
    for (int i = 0; !rc && i < step->receives; i++)
        rc = add_message(walk, &step->receive[i], true);
    walk->tick++;
    for (int i = 0; !rc && i < step->combines; i++)
        rc = add_combine(walk, &step->combine[i]);
    added.sends = flow->sends - added.send;
    added.receives = flow->receives - added.receive;
    added.combines = flow->combines - added.combine;
    if (!rc && (added.sends || added.receives || added.combines))
        flow->step[flow->steps++] = added;
    return rc;
}

/* Register 0 holds the rank's contribution. */
static int begin(walk_t *walk)
{
    const trv_layout_t *layout = walk->layout;
    size_t held = (size_t)walk->registers * (size_t)layout->units;
    walk->bound = malloc((held ? held : 1) * sizeof *walk->bound);
    walk->flow->result = malloc((size_t)layout->units * sizeof *walk->flow->result);
    if (!walk->bound || !walk->flow->result)
        return trv_fail_memory();
    for (size_t i = 0; i < held; i++)
        walk->bound[i] = -1;
    for (int64_t p = 0; p < layout->units; p++) {
        int64_t u = layout->order[p];
        if (!layout->bytes[u] || layout->input[u] == TRV_NOWHERE)
            continue;
        int value = new_value(walk, u);
        if (value < 0)
            return value;
        walk->flow->value[value].place = (trv_place_t){ TRV_AT_INPUT, layout->input[u] };
        bind(walk, 0, u, value);
    }
    walk->flow->contributions = walk->flow->values;
    return 0;
}

/* And at the end the result, wherever one is due. */
static int finish(walk_t *walk)
{
    const trv_layout_t *layout = walk->layout;
    walk->flow->end = walk->tick;
    for (int64_t u = 0; u < layout->units; u++) {
        walk->flow->result[u] = -1;
        if (!layout->bytes[u] || layout->output[u] == TRV_NOWHERE)
            continue;
        int value = *holder(walk, 0, u);
        if (value < 0)
            return trv_fail(TRV_ERR_INVALID, "'%s' leaves rank %d without a result in unit %lld of stream %d",
                            trv_schedule_name(walk->shape->schedule), walk->shape->rank, (long long)u,
                            walk->shape->stream);
        walk->flow->result[u] = value;
        walk->flow->value[value].final = true;
        walk->flow->value[value].last = walk->tick;
    }
    return 0;
}

int trv_flow_make(trv_flow_t *flow, const trv_shape_t *shape, const trv_layout_t *layout)
{
    memset(flow, 0, sizeof *flow);
    walk_t walk = { .flow = flow, .shape = shape, .layout = layout,
                    .registers = trv_schedule_registers(shape->schedule) };
    trv_step_t step = TRV_STEP_INIT;
    int rc = begin(&walk);
    for (int k = 0; !rc && k < trv_schedule_steps(shape->schedule); k++) {
        walk.step = k;
        rc = trv_schedule_step(shape->schedule, shape->rank, shape->stream, k, &step);
        if (!rc)
            rc = add_step(&walk, &step);
    }
    if (!rc)
        rc = finish(&walk);
    trv_step_clear(&step);
    free(walk.bound);
    free(walk.units);
    return rc;
}

void trv_flow_clear(trv_flow_t *flow)
{
    free(flow->value);
    free(flow->step);
    free(flow->send);
    free(flow->receive);
    free(flow->combine);
    free(flow->list);
    free(flow->result);
    memset(flow, 0, sizeof *flow);
}
