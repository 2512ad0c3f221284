/*
 * Computes the dataflow of one rank in a stream: the values in its registers, step by step.
 *
 * First all sets of the schedule are collected, and the slice is partitioned by them into equivalence classes of units
 * (space.h). Each class of a register holds a value. A received class and a combined one are new values; a copy (a
 * combine of one source) only lets another register hold the same value and costs nothing. A message carries its parts
 * one after the other, each in the order of positions, which is contiguous in memory more often than the order of
 * units.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "execute/compile/program.h"
#include "base/array.h"
#include "schedule/collective.h"

/* The state shared by the functions below. */
typedef struct builder {
    trv_dataflow_t *dataflow;
    const trv_schedule_t *schedule;
    int rank, stream, registers, tick, step;
    bool needs_flat;   /* the sets are not products along the axes, so that a flat space is needed */
    int *held;         /* [register][class]: the value held, or -1 */
    int64_t *reg_list; /* scratch buffer for the registers of a message */
    int64_t reg_list_capacity;
} builder_t;

static int check_register(const builder_t *builder, int64_t reg)
{
    if (reg >= 0 && reg < builder->registers)
        return 0;
    return trv_fail(TRV_ERR_INVALID,
                    "'%s': step %d of stream %d names register %lld of rank %d, which has registers 0 … %d",
                    trv_schedule_name(builder->schedule), builder->step, builder->stream, (long long)reg, builder->rank,
                    builder->registers - 1);
}

/* ---- Collecting the sets ----------------------------------------------------------------------------------------- */

static int builder_add_part(builder_t *builder, int64_t reg, int cover)
{
    trv_dataflow_t *dataflow = builder->dataflow;
    if (cover < 0)
        return cover;
    if (builder->needs_flat || dataflow->partition.cover[cover].nodes == 0)
        return 0;
    int rc = check_register(builder, reg);
    if (!rc)
        rc = trv_array_reserve(&dataflow->part, &dataflow->part_capacity, dataflow->parts, 1, sizeof *dataflow->part);
    if (!rc)
        dataflow->part[dataflow->parts++] = (trv_dataflow_part_t){.reg = (int)reg, .cover = cover};
    return rc;
}

static int collect_registers(builder_t *builder, const trv_part_t *part)
{
    const int64_t count = trv_blocks_count(&part->blocks);
    if (trv_array_reserve(&builder->reg_list, &builder->reg_list_capacity, 0, count, sizeof *builder->reg_list))
        return TRV_ERR_MEMORY;
    trv_blocks_list(&part->blocks, builder->reg_list);
    int rc = 0;
    for (int64_t i = 0; !rc && i < count; i++)
        rc = builder_add_part(builder, part->reg + builder->reg_list[i], builder->dataflow->all_units);
    return rc;
}

/* Adds a message to the sends or the receives, unless it is empty. */
static int collect_message(builder_t *builder, const trv_message_t *message, bool receive)
{
    trv_dataflow_t *dataflow = builder->dataflow;
    trv_dataflow_message_t **messages = receive ? &dataflow->receive : &dataflow->send;
    int *count = receive ? &dataflow->receives : &dataflow->sends, first = dataflow->parts;
    int rc = trv_array_reserve(messages, receive ? &dataflow->receive_capacity : &dataflow->send_capacity, *count, 1,
                               sizeof **messages);
    for (int p = 0; !rc && !builder->needs_flat && p < message->parts; p++) {
        const trv_part_t *part = &message->part[p];
        rc = part->slots
                 ? collect_registers(builder, part)
                 : builder_add_part(builder, part->reg,
                                    trv_partition_cover(&dataflow->partition, &part->blocks, &builder->needs_flat));
    }
    if (!rc && dataflow->parts > first)
        (*messages)[(*count)++] = (trv_dataflow_message_t){message->peer, message->port, first,
                                                           dataflow->parts - first};
    return rc;
}

static int collect_combine(builder_t *builder, const trv_combine_t *combine)
{
    trv_dataflow_t *dataflow = builder->dataflow;
    int rc = check_register(builder, combine->dst);
    for (int s = 0; !rc && s < combine->sources; s++)
        rc = check_register(builder, combine->source ? combine->source[s] : combine->first + s);
    int cover = rc ? rc : trv_partition_cover(&dataflow->partition, &combine->blocks, &builder->needs_flat);
    if (cover < 0 || builder->needs_flat || dataflow->partition.cover[cover].nodes == 0)
        return cover < 0 ? cover : 0;
    rc = trv_array_reserve(&dataflow->combine, &dataflow->combine_capacity, dataflow->combines, 1,
                           sizeof *dataflow->combine);
    if (!rc)
        rc = trv_array_reserve(&dataflow->reg, &dataflow->reg_capacity, dataflow->regs, combine->sources,
                               sizeof *dataflow->reg);
    if (rc)
        return rc;
    dataflow->combine[dataflow->combines++] = (trv_dataflow_combine_t){.dst = combine->dst,
                                                                       .cover = cover,
                                                                       .sources = combine->sources,
                                                                       .reg = dataflow->regs};
    for (int s = 0; s < combine->sources; s++)
        dataflow->reg[dataflow->regs++] = combine->source ? combine->source[s] : combine->first + s;
    return 0;
}

static int collect_step(builder_t *builder, const trv_step_t *step)
{
    trv_dataflow_t *dataflow = builder->dataflow;
    int rc = trv_array_reserve(&dataflow->step, &dataflow->step_capacity, dataflow->steps, 1, sizeof *dataflow->step);
    trv_dataflow_step_t added = {.step = builder->step,
                                 .send = dataflow->sends,
                                 .receive = dataflow->receives,
                                 .combine = dataflow->combines};
    for (int i = 0; !rc && !builder->needs_flat && i < step->sends; i++)
        rc = collect_message(builder, &step->send[i], false);
    for (int i = 0; !rc && !builder->needs_flat && i < step->receives; i++)
        rc = collect_message(builder, &step->receive[i], true);
    for (int i = 0; !rc && !builder->needs_flat && i < step->combines; i++)
        rc = collect_combine(builder, &step->combine[i]);
    added.sends = dataflow->sends - added.send;
    added.receives = dataflow->receives - added.receive;
    added.combines = dataflow->combines - added.combine;
    if (!rc && (added.sends || added.receives || added.combines))
        dataflow->step[dataflow->steps++] = added;
    return rc;
}

/* Finds the cover of the rank's block, or of all units if these have no owners. */
static int builder_find_block(builder_t *builder)
{
    const int64_t units = trv_schedule_units(builder->schedule), ranks = trv_schedule_torus(builder->schedule)->ranks;
    builder->dataflow->block = units;
    if (!trv_collective_has_blocks(trv_schedule_collective(builder->schedule)))
        return 0;
    builder->dataflow->block = units / ranks;
    if (units % ranks)
        return trv_fail(TRV_ERR_INVALID, "'%s' has %lld units, which is not a multiple of its %lld ranks",
                        trv_schedule_name(builder->schedule), (long long)units, (long long)ranks);
    if (trv_schedule_owner(builder->schedule, 0) < 0)
        return trv_fail(TRV_ERR_INVALID, "the units of '%s' have no owners, which %s requires",
                        trv_schedule_name(builder->schedule), trv_schedule_shape(builder->schedule)->title);
    return 0;
}

/* Collects all sets and computes the partition. Large sets come first, so that small ones do not divide them: the steps
 * of an AllGather or Gather are processed from the last to the first, and the rank's own block is added at the end. */
static int builder_collect(builder_t *builder, trv_space_t *space, bool flat)
{
    trv_dataflow_t *dataflow = builder->dataflow;
    trv_partition_t *partition = &dataflow->partition;
    trv_step_t step = TRV_STEP_INIT;
    const int steps = trv_schedule_steps(builder->schedule);
    const bool reversed = trv_schedule_shape(builder->schedule)->before == TRV_OWNER;
    int rc = trv_partition_begin(partition, space, builder->schedule, builder->stream, flat);
    if (!rc)
        rc = builder_find_block(builder);
    if (!rc)
        rc = dataflow->all_units = trv_partition_run(partition, 0, space->units, &builder->needs_flat);
    for (int k = 0; rc >= 0 && !builder->needs_flat && k < steps; k++) {
        builder->step = reversed ? steps - 1 - k : k;
        rc = trv_schedule_step(builder->schedule, builder->rank, builder->stream, builder->step, &step);
        if (!rc)
            rc = collect_step(builder, &step);
    }
    trv_step_clear(&step);
    for (int i = 0, j = dataflow->steps - 1; reversed && i < j; i++, j--) {
        const trv_dataflow_step_t swapped = dataflow->step[i];
        dataflow->step[i] = dataflow->step[j];
        dataflow->step[j] = swapped;
    }
    if (rc >= 0 && !builder->needs_flat && dataflow->block < space->units)
        rc = trv_partition_run(partition, builder->rank * dataflow->block, dataflow->block, &builder->needs_flat);
    return rc < 0 || builder->needs_flat ? (rc < 0 ? rc : 0) : trv_partition_end(partition);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static int value_create(builder_t *builder, int eqclass)
{
    trv_dataflow_t *dataflow = builder->dataflow;
    if (trv_array_reserve(&dataflow->value, &dataflow->value_capacity, dataflow->values, 1, sizeof *dataflow->value))
        return TRV_ERR_MEMORY;
    dataflow->value[dataflow->values] = (trv_value_t){.eqclass = eqclass, .last = -1, .area = -1};
    return dataflow->values++;
}

static int list_append(builder_t *builder, int value)
{
    trv_dataflow_t *dataflow = builder->dataflow;
    if (trv_array_reserve(&dataflow->list, &dataflow->list_capacity, dataflow->listed, 1, sizeof *dataflow->list))
        return TRV_ERR_MEMORY;
    dataflow->list[dataflow->listed++] = value;
    return 0;
}

static int *held_value(builder_t *builder, int reg, int eqclass)
{
    return &builder->held[(size_t)reg * (size_t)builder->dataflow->partition.eqclasses + (size_t)eqclass];
}

static void set_held_value(builder_t *builder, int reg, int eqclass, int value)
{
    *held_value(builder, reg, eqclass) = value;
    if (reg == 0 && builder->dataflow->out[eqclass])
        builder->dataflow->value[value].prefers_output = true;
}

static long long first_unit(const builder_t *builder, int eqclass)
{
    const trv_partition_t *p = &builder->dataflow->partition;
    return trv_partition_unit(p, trv_space_first(p->space, p->node[p->leaf[eqclass]].product));
}

/* Records a use of the value that a register's class holds, at the present tick. Returns a negative value if the
 * class is empty. */
static int value_use(builder_t *builder, int reg, int eqclass)
{
    int value = *held_value(builder, reg, eqclass);
    if (value < 0)
        return trv_fail(TRV_ERR_INVALID,
                        "'%s': in step %d of stream %d, rank %d uses unit %lld of register %d, which is empty",
                        trv_schedule_name(builder->schedule), builder->step, builder->stream, builder->rank,
                        first_unit(builder, eqclass), reg);
    builder->dataflow->value[value].last = builder->tick;
    return value;
}

/* Visits the classes of a cover: the values of register `reg` are used or, with `creates`, replaced by new ones. */
static int visit_cover(builder_t *builder, int reg, int cover, bool creates)
{
    const trv_partition_t *p = &builder->dataflow->partition;
    const trv_cover_t *c = &p->cover[cover];
    for (int n = c->node; n < c->node + c->nodes; n++) {
        const trv_node_t *node = &p->node[p->list[n]];
        for (int eqclass = node->eqclass; eqclass < node->eqclass + node->eqclasses; eqclass++) {
            int value = creates ? value_create(builder, eqclass) : value_use(builder, reg, eqclass);
            if (value < 0)
                return value;
            if (creates)
                set_held_value(builder, reg, eqclass, value);
            if (list_append(builder, value))
                return TRV_ERR_MEMORY;
        }
    }
    return 0;
}

static int trace_message(builder_t *builder, const trv_dataflow_message_t *message, bool receive)
{
    trv_dataflow_t *dataflow = builder->dataflow;
    int rc = 0;
    for (int i = message->part; !rc && i < message->part + message->parts; i++) {
        trv_dataflow_part_t *part = &dataflow->part[i];
        part->value = dataflow->listed;
        rc = visit_cover(builder, part->reg, part->cover, receive);
        part->values = dataflow->listed - part->value;
    }
    return rc;
}

/* A copy makes the destination hold the source's values. */
static int trace_copy(builder_t *builder, const trv_dataflow_combine_t *combine)
{
    const trv_partition_t *p = &builder->dataflow->partition;
    const trv_cover_t *c = &p->cover[combine->cover];
    const int source = builder->dataflow->reg[combine->reg];
    for (int n = c->node; n < c->node + c->nodes; n++) {
        const trv_node_t *node = &p->node[p->list[n]];
        for (int eqclass = node->eqclass; eqclass < node->eqclass + node->eqclasses; eqclass++) {
            int value = *held_value(builder, source, eqclass);
            if (value < 0)
                return value_use(builder, source, eqclass);
            set_held_value(builder, combine->dst, eqclass, value);
        }
    }
    return 0;
}

static int trace_combine(builder_t *builder, trv_dataflow_combine_t *combine)
{
    trv_dataflow_t *dataflow = builder->dataflow;
    int rc = 0;
    combine->tick = builder->tick;
    combine->source = combine->result = dataflow->listed;
    if (combine->sources == 1)
        return trace_copy(builder, combine);
    for (int s = 0; !rc && s < combine->sources; s++) {
        rc = visit_cover(builder, dataflow->reg[combine->reg + s], combine->cover, false);
        if (s == 0)
            combine->eqclasses = dataflow->listed - combine->source;
    }
    combine->result = dataflow->listed;
    if (!rc)
        rc = visit_cover(builder, combine->dst, combine->cover, true);
    builder->tick++;
    return rc;
}

static int trace_step(builder_t *builder, trv_dataflow_step_t *step)
{
    trv_dataflow_t *dataflow = builder->dataflow;
    int rc = 0;
    builder->step = step->step;
    step->tick = builder->tick;
    for (int i = 0; !rc && i < step->sends; i++)
        rc = trace_message(builder, &dataflow->send[step->send + i], false);
    for (int i = 0; !rc && i < step->receives; i++)
        rc = trace_message(builder, &dataflow->receive[step->receive + i], true);
    builder->tick++;
    for (int i = 0; !rc && i < step->combines; i++)
        rc = trace_combine(builder, &dataflow->combine[step->combine + i]);
    return rc;
}

/* Whether the rank has a block before or after the steps. */
static bool holds(const builder_t *builder, trv_holders_t holders, int64_t block)
{
    return holders == TRV_EVERY_RANK ||
           builder->rank == (holders == TRV_OWNER ? block : trv_schedule_root(builder->schedule));
}

/* Creates the rank's contributions, which register 0 holds at the start. */
static int create_contributions(builder_t *builder)
{
    trv_dataflow_t *dataflow = builder->dataflow;
    trv_partition_t *p = &dataflow->partition;
    const size_t eqclasses = (size_t)p->eqclasses, held = (size_t)builder->registers * eqclasses;
    const trv_collective_shape_t *shape = trv_schedule_shape(builder->schedule);
    builder->held = malloc((held ? held : 1) * sizeof *builder->held);
    dataflow->result = malloc(eqclasses * sizeof *dataflow->result);
    dataflow->in = malloc(eqclasses * sizeof *dataflow->in);
    dataflow->out = malloc(eqclasses * sizeof *dataflow->out);
    if (!builder->held || !dataflow->result || !dataflow->in || !dataflow->out)
        return trv_fail_memory();
    memset(builder->held, 0xff, held * sizeof *builder->held);
    for (int eqclass = 0; eqclass < p->eqclasses; eqclass++) {
        const int64_t block = trv_space_first(p->space, p->node[p->leaf[eqclass]].product) / dataflow->block;
        dataflow->in[eqclass] = holds(builder, shape->before, block);
        dataflow->out[eqclass] = holds(builder, shape->after, block);
    }
    for (int eqclass = 0; builder->registers > 0 && eqclass < p->eqclasses; eqclass++) {
        int value = dataflow->in[eqclass] ? value_create(builder, eqclass) : 0;
        if (value < 0)
            return value;
        if (!dataflow->in[eqclass])
            continue;
        dataflow->value[value].location = (trv_location_t){TRV_AT_INPUT, -1};
        set_held_value(builder, 0, eqclass, value);
    }
    dataflow->contributions = dataflow->values;
    return 0;
}

/* Records the results, which register 0 holds at the end for every class that has one. */
static int record_results(builder_t *builder)
{
    trv_dataflow_t *dataflow = builder->dataflow;
    dataflow->end = builder->tick;
    for (int eqclass = 0; eqclass < dataflow->partition.eqclasses; eqclass++) {
        dataflow->result[eqclass] = -1;
        if (!dataflow->out[eqclass])
            continue;
        int value = *held_value(builder, 0, eqclass);
        if (value < 0)
            return trv_fail(TRV_ERR_INVALID, "'%s' leaves rank %d without a result in unit %lld of stream %d",
                            trv_schedule_name(builder->schedule), builder->rank, first_unit(builder, eqclass),
                            builder->stream);
        dataflow->result[eqclass] = value;
        dataflow->value[value].final = true;
        dataflow->value[value].last = builder->tick;
    }
    return 0;
}

int trv_dataflow_create(trv_dataflow_t *dataflow, trv_space_t *space, const trv_schedule_t *schedule, int rank,
                        int stream)
{
    builder_t builder = {.dataflow = dataflow,
                         .schedule = schedule,
                         .rank = rank,
                         .stream = stream,
                         .registers = trv_schedule_registers(schedule)};
    memset(dataflow, 0, sizeof *dataflow);
    int rc = builder_collect(&builder, space, false);
    if (!rc && builder.needs_flat) {
        trv_dataflow_clear(dataflow);
        trv_space_clear(space);
        builder.needs_flat = false;
        rc = builder_collect(&builder, space, true);
    }
    if (!rc)
        rc = create_contributions(&builder);
    for (int k = 0; !rc && k < dataflow->steps; k++)
        rc = trace_step(&builder, &dataflow->step[k]);
    if (!rc)
        rc = record_results(&builder);
    free(builder.held);
    free(builder.reg_list);
    return rc;
}

void trv_dataflow_clear(trv_dataflow_t *dataflow)
{
    trv_partition_clear(&dataflow->partition);
    free(dataflow->value);
    free(dataflow->step);
    free(dataflow->send);
    free(dataflow->receive);
    free(dataflow->part);
    free(dataflow->combine);
    free(dataflow->list);
    free(dataflow->reg);
    free(dataflow->result);
    free(dataflow->in);
    free(dataflow->out);
    memset(dataflow, 0, sizeof *dataflow);
}
